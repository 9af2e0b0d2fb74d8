import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { gatewayNow } from "../app/clock.ts";
import { force } from "../app/force.ts";
import { Copy } from "../app/parts/button.tsx";
import { Icon } from "../app/parts/icons.tsx";
import { ProblemNote } from "../app/parts/sheet.tsx";
import { fragmentOf } from "../app/router.ts";
import { keyed, knownTable, mayView, reader, session } from "../app/session.ts";
import { asksAtOnce } from "../app/settings.ts";
import { clockText } from "../app/words.ts";
import { Actions } from "./actions.tsx";
import { type Answer, answerOf, askOne, showEntity } from "./answers.ts";
import { noteLookedUp } from "./empty.tsx";
import { EntitySheet } from "./label/entity.tsx";
import { Keys } from "./label/keys.tsx";
import { Bits, IdLine, Label } from "./label/label.tsx";
import { Side } from "./label/side.tsx";
import type { Pasted } from "./read-pasted.ts";
import { UnclearSheet } from "./unclear.tsx";
import { type IdKnown, knownOf } from "./verdict/known.ts";

/** One ID: the verdict first, then everything that is known of it. */

/** By the page itself or the gateway, and again as soon as either knows more. */
export function useKnown(pasted: Pasted, answer: Answer): IdKnown {
  return useMemo(
    () =>
      knownOf({
        reader: reader.value,
        pasted,
        asked: answer.value,
        table: mayView.value ? knownTable.value : undefined,
        keyed: keyed.value,
        canary: force.value?.canary,
        nowMs: gatewayNow(),
      }),
    [pasted, answer.value, reader.value, knownTable.value, keyed.value, mayView.value, force.value?.canary?.revision],
  );
}

export function OneId({
  pasted,
  onPick,
  before,
}: {
  pasted: Pasted;
  onPick: (text: string) => void;
  before?: ComponentChildren;
}) {
  const answer = answerOf(pasted);
  const known = useKnown(pasted, answer);
  const isSignedIn = Boolean(session.value);
  useEffect(() => {
    const isNew = answer.value === undefined && answer.problem === undefined;
    if (isSignedIn && isNew && asksAtOnce.peek()) void askOne(pasted);
  }, [isSignedIn, pasted.source]);
  const { chosen, verdict, title, unclear } = known;
  useEffect(() => {
    if (unclear === undefined) noteLookedUp(pasted, known, reader.value);
  }, [pasted.source, verdict.code, verdict.kind, title, chosen?.entity]);
  return (
    <div data-reading={pasted.id}>
      <Under answer={answer} pasted={pasted} />
      {before}
      <div class="two">
        <div class="pile">
          {answer.problem && <ProblemNote problem={answer.problem} isTop onRetry={() => void askOne(pasted)} />}
          {unclear === undefined ? (
            <Found pasted={pasted} known={known} answer={answer} />
          ) : (
            <UnclearSheet
              kind={unclear}
              pasted={pasted}
              reading={known.reading}
              answer={answer}
              reader={reader.value}
              onPick={onPick}
            />
          )}
          {answer.value?.keys && <Keys keys={answer.value.keys} text={pasted.id} health={answer.value.health} />}
        </div>
        <div class="pile">
          <Side known={known} asked={answer.value} canary={force.value?.canary} />
        </div>
      </div>
    </div>
  );
}

function Found({ pasted, known, answer }: { pasted: Pasted; known: IdKnown; answer: Answer }) {
  const { chosen, strip, reading } = known;
  const shown = answer.preview;
  const bits = (
    <>
      <IdLine text={pasted.id} of={strip} />
      {strip && chosen && <Bits reader={reader.value} chosen={chosen} of={strip} />}
      {reading.publicOf && <p class="soft">The bits are encrypted: nothing in them says a country or a time.</p>}
    </>
  );
  return (
    <>
      <Label
        reader={reader.value}
        known={known}
        asked={answer.value}
        actions={<Actions pasted={pasted} known={known} answer={answer} />}
      >
        {shown === undefined && bits}
      </Label>
      {shown && (
        <EntitySheet shown={shown} chosen={chosen} onRetry={() => void showEntity(pasted, shown.value?.path)} />
      )}
      {shown && (
        <section class="sheet label-card" aria-label="The bits">
          <div class="label-bits">{bits}</div>
        </section>
      )}
    </>
  );
}

/** Whether anything was sent, and the link of the view. */
function Under({ answer, pasted }: { answer: Answer; pasted: Pasted }) {
  const link = `${location.origin}${location.pathname}${fragmentOf("look-up", { id: pasted.source })}`;
  const { value, preview } = answer;
  return (
    <div class="under">
      {value === undefined ? (
        <span>
          <Icon name="lock" /> Read in this browser. Nothing was sent.
        </span>
      ) : (
        <span>
          <Icon name="sign-out" /> Asked at {clockText(value.askedAtMs / 1000, true)}. The ID was sent to the gateway
          {preview?.value?.region ? `, and a GET to ${preview.value.region}` : ""}.
        </span>
      )}
      <Copy text={link} label="link" name="Copy a link to this view" />
    </div>
  );
}
