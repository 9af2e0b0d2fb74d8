import { Button } from "../app/parts/button.tsx";
import { fragmentOf } from "../app/router.ts";
import { mayChange, mayView, session } from "../app/session.ts";
import { type Answer, askOne, previewPath, showEntity } from "./answers.ts";
import type { Pasted } from "./read-pasted.ts";
import type { IdKnown } from "./verdict/known.ts";

/** Ways on from an ID that is known. */

export function Actions(props: { pasted: Pasted; known: IdKnown; answer: Answer; isSmall?: boolean }) {
  const { pasted, known, answer, isSmall } = props;
  const { verdict, chosen } = known;
  const size = isSmall ? "small" : "normal";
  const number = verdict.rule?.number;
  const country = chosen?.fields["country"];
  const path = answer.value && verdict.kind === "goes" ? previewPath(pasted, answer.value) : undefined;
  return (
    <>
      <AskButton pasted={pasted} answer={answer} size={size} />
      <MoveButton pasted={pasted} known={known} size={size} />
      {mayView.value && number !== undefined && (
        <Button icon="routes" size={size} href={fragmentOf("routes", { route: String(number) })}>
          See route {number}
        </Button>
      )}
      {mayChange.value && verdict.problem === "unassigned-key" && (
        <Button icon="plus" size={size} href={fragmentOf("routes", { new: chosen?.entity ?? "" })}>
          Add a route{country === undefined ? "" : ` for number ${country}`}
        </Button>
      )}
      {mayView.value && verdict.problem === "unassigned-key" && (
        <Button icon="routes" size={size} href={fragmentOf("routes")}>
          All routes
        </Button>
      )}
      {path !== undefined && (
        <Button
          icon="eye"
          size={size}
          isBusy={answer.preview?.isBusy === true}
          onClick={() => void showEntity(pasted, path.path)}
        >
          Show the {entityOf(chosen, answer)}
        </Button>
      )}
    </>
  );
}

const entityOf = (chosen: IdKnown["chosen"], { value }: Answer): string =>
  chosen?.entity ?? value?.explanation.decision?.entity ?? value?.whole?.owner ?? "entity";

type Sized = { readonly size: "small" | "normal" };

export function AskButton(props: { pasted: Pasted; answer: Answer; isPlain?: boolean } & Sized) {
  const { pasted, answer, size, isPlain } = props;
  const isAsked = answer.value !== undefined;
  return (
    <Button
      kind={isAsked || isPlain ? "plain" : "main"}
      icon="arrow"
      size={size}
      isBusy={answer.isBusy === true}
      disabledBecause={session.value ? undefined : "Sign in to ask the gateway."}
      onClick={() => void askOne(pasted)}
    >
      {answer.isBusy ? "Asking the gateway" : isAsked ? "Ask again" : "Ask the gateway"}
    </Button>
  );
}

/** An entity that the table names already has a move or had one. */
function MoveButton({ pasted, known, size }: { pasted: Pasted; known: IdKnown } & Sized) {
  const { chosen, verdict } = known;
  if (!mayView.value || chosen?.entity === undefined || verdict.kind !== "goes") return null;
  const kind = verdict.rule?.rule.kind;
  return (
    <Button icon="moves" size={size} href={fragmentOf("moves", { id: pasted.source })}>
      {kind === "moved" || kind === "moving" ? "Open its move" : `Move this ${chosen.entity}`}
    </Button>
  );
}
