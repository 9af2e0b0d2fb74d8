import { useMemo, useState } from "preact/hooks";
import { Button } from "../app/parts/button.tsx";
import { Check } from "../app/parts/fields.tsx";
import { Note } from "../app/parts/sheet.tsx";
import { draft } from "../app/typed.ts";
import { plural } from "../app/words.ts";
import { routeTitle, routeWords } from "../routing/route-words.ts";
import { DiffView } from "./changes-view.tsx";
import type { Plan } from "./plan.ts";
import { type Conflict, mergeTexts, type Side } from "./text/merge.ts";

/** Another revision came since the draft began: nothing is published before both are put together. */
export function Meanwhile({ plan, newest }: { plan: Plan; newest: NonNullable<Plan["newest"]> }) {
  const { basedOn, before, text } = plan;
  const { revision, table } = newest;
  const [isShown, setShown] = useState(false);
  const [chosen, setChosen] = useState<ReadonlyMap<string, Side>>(new Map());
  const [isOpen, setOpen] = useState(false);
  const merged = useMemo(
    () => mergeTexts(before.text, text, table.text, chosen),
    [before.text, text, table.text, chosen],
  );
  const conflicts = merged?.conflicts ?? [];
  const left = conflicts.filter(({ id }) => !chosen.has(id)).length;
  const take = () => {
    if (left > 0) setOpen(true);
    else if (merged !== undefined) draft.value = { text: merged.text, basedOn: revision.revision };
  };
  const undecided = isOpen && left > 0 ? `${plural(left, "place")} left to decide.` : undefined;
  return (
    <section>
      <Note
        kind="first"
        isAlert
        title={`Revision ${revision.revision} was published meanwhile`}
        actions={
          <>
            <Button onClick={() => setShown(!isShown)} isPressed={isShown}>
              See {basedOn} to {revision.revision}
            </Button>
            <Button kind={undecided === undefined ? "main" : "plain"} onClick={take} disabledBecause={undecided}>
              Put my lines on {revision.revision}
            </Button>
          </>
        }
      >
        By {revision.author}
        {revision.note === "" ? "." : `: “${revision.note}”.`} Your draft began with {basedOn} and is kept.
      </Note>
      {isShown && <DiffView before={before.declared} after={table.declared} revision={basedOn} />}
      {merged === undefined && <p>The two texts cannot be read as JSON: open the editor.</p>}
      {isOpen && conflicts.length > 0 && (
        <Conflicts
          conflicts={conflicts}
          chosen={chosen}
          onChoose={(id, side) => setChosen(new Map([...chosen, [id, side]]))}
          number={revision.revision}
          titleOf={(pointer) => titleOf(pointer, newest)}
        />
      )}
    </section>
  );
}

/** `Route 3: IDs of Brazil or Mexico`; other places by their names. */
function titleOf(pointer: string, { table }: NonNullable<Plan["newest"]>): string {
  const words = /^\/routes\/\d+$/.test(pointer) ? routeWords(table.declared, pointer) : undefined;
  if (words !== undefined) return routeTitle(words);
  if (/^\/routes(\/\d+)?$/.test(pointer)) return "The end of the list of routes";
  return pointer
    .slice(1)
    .split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(", ");
}

function Conflicts(props: {
  conflicts: readonly Conflict[];
  chosen: ReadonlyMap<string, Side>;
  onChoose: (id: string, side: Side) => void;
  number: number;
  titleOf: (pointer: string) => string;
}) {
  return (
    <div class="conflicts">
      <p>
        Both changed {plural(props.conflicts.length, "place")}, each to something else. Nothing is guessed: choose one
        of the two.
      </p>
      {props.conflicts.map(({ id, pointer, mine, theirs }) => (
        <fieldset key={id}>
          <legend>{props.titleOf(pointer)}</legend>
          <div class="steps2">
            {(
              [
                ["theirs", `Revision ${props.number}`, theirs],
                ["mine", "My draft", mine],
              ] as const
            ).map(([side, name, text]) => (
              <div key={side} class="opt">
                <Check group={id} isOn={props.chosen.get(id) === side} onChange={() => props.onChoose(id, side)}>
                  <b>{name}</b>
                </Check>
                {text === "" ? <small>removed</small> : <pre>{text}</pre>}
              </div>
            ))}
          </div>
        </fieldset>
      ))}
    </div>
  );
}
