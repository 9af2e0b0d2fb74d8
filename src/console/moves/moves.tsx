import { useMemo, useState } from "preact/hooks";
import type { EntityLocation, Step } from "../../routing/moves/steps.ts";
import { Badge, Busy, Choice, Field, Panel } from "../app/parts.tsx";
import { type KnownTable, knownTable, mayChange, reader } from "../app/session.ts";
import { type Pasted, readOne } from "../lookup/read-pasted.ts";
import { chosenOf } from "../lookup/reader.ts";
import { readerOfTable } from "../lookup/table-reader.ts";
import { type Change, ConfirmChange, publish } from "../table/change.tsx";
import { tableIn } from "../table/check-text.ts";
import { locate, textAfter } from "./plan-move.ts";
import { stagesOf } from "./stages.ts";

/** The move of one entity to another region, step by step, with what is safe when. */
export default function Moves() {
  const known = knownTable.value;
  const [id, setId] = useState("");
  if (known === undefined) return <Busy what="Loading the table" />;
  const inProgress = Object.keys(known.declared.moves ?? {});
  return (
    <>
      <h1>Moves</h1>
      <Panel title="Which entity">
        <Field label="ID or URL" value={id} onInput={setId} />
        {inProgress.length > 0 && (
          <>
            <p>In progress:</p>
            <ul>
              {inProgress.slice(0, 50).map((each) => (
                <li key={each}>
                  <button type="button" class="link" onClick={() => setId(each)}>
                    {each}
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
      </Panel>
      {id.trim() !== "" && <OneMove key={id} text={id.trim()} known={known} />}
    </>
  );
}

function OneMove({ text, known }: { text: string; known: KnownTable }) {
  const pasted = useMemo(() => readOne(text, reader.value), [text]);
  const reading = useMemo(() => reader.value.read(pasted, Date.now()), [pasted, known]);
  const [to, setTo] = useState("");
  const [change, setChange] = useState<Change>();
  const [fault, setFault] = useState<string>();
  const chosen = chosenOf(reading);
  if (chosen?.entity === undefined) return <p class="box warn">No entity of the table has this ID.</p>;
  const texts = [...new Set([...reading.forms.map((form) => form.text), pasted.id])];
  const routed = reader.value.read(pasted, Date.now()).decision?.region;
  const located = locate(known.declared, texts, routed);
  const { at } = located;
  // Once the routes say the same, the entry is no longer needed.
  const byRoutes = at.state === "moved" ? regionByRoutes(known, pasted) : undefined;
  const others = Object.keys(known.declared.regions).filter((name) => !("region" in at) || name !== at.region);
  const target = others.includes(to) ? to : (others[0] ?? "");
  const take = (step: Step, verb: string) => {
    const next = textAfter(known.text, located, step);
    setFault(next.ok ? undefined : next.error);
    if (!next.ok) return;
    const after = tableIn(next.value);
    if (after === undefined) {
      setFault("the table would have a fault; change it as text");
      return;
    }
    setChange({
      title: `${verb}: ${chosen.entity} ${located.key}`,
      verb,
      before: known.declared,
      after,
      send: (note) =>
        publish(
          next.value,
          known.revision,
          note === "" ? `${verb.toLowerCase()} move of ${located.key}`.slice(0, 200) : note,
        ),
    });
  };
  return (
    <Panel title={`${chosen.entity} ${located.key}`}>
      <ol class="stepper">
        {stagesOf(located.key, at).map(({ state, name, holds, todo, safe }) => (
          <li key={state} aria-current={state === at.state ? "step" : undefined}>
            <strong>{name}</strong> {state === at.state && <Badge mood="good">{placeInWords(at)}</Badge>}
            <p>{holds}</p>
            {state === at.state && todo.length > 0 && (
              <ol>
                {todo.map((each) => (
                  <li key={each}>{each}</li>
                ))}
              </ol>
            )}
            <p>
              <small>{safe}</small>
            </p>
          </li>
        ))}
      </ol>
      {at.state === "gone" && <p class="box bad">It is removed from every region, for ever.</p>}
      {mayChange.value && (
        <div class="actions low">
          {(at.state === "routed" || at.state === "moved") && (
            <>
              <Choice label="To" value={target} options={others.map((name) => [name, name])} onChange={setTo} />
              <button
                type="button"
                class="main"
                disabled={target === ""}
                onClick={() =>
                  take({ name: "start", to: target, epochMin: 1 + (known.declared.epochFloor ?? 0) }, "Start")
                }
              >
                Start
              </button>
            </>
          )}
          {at.state === "moved" && byRoutes === at.region && (
            <button type="button" onClick={() => take({ name: "finish", routed: byRoutes }, "Finish")}>
              Finish
            </button>
          )}
          {at.state === "started" && (
            <button type="button" class="main" onClick={() => take({ name: "fence" }, "Fence")}>
              Fence
            </button>
          )}
          {at.state === "fenced" && (
            <button type="button" class="main" onClick={() => take({ name: "switch" }, "Switch")}>
              Switch
            </button>
          )}
          {(at.state === "started" || at.state === "fenced") && (
            <button type="button" class="danger" onClick={() => take({ name: "abort" }, "Abort")}>
              Abort
            </button>
          )}
        </div>
      )}
      {fault !== undefined && (
        <p class="box bad" role="alert">
          It cannot be done: {fault}.
        </p>
      )}
      {change && <ConfirmChange change={change} onClose={() => setChange(undefined)} />}
    </Panel>
  );
}

const regionByRoutes = ({ declared, revision }: KnownTable, pasted: Pasted): string | undefined =>
  readerOfTable({ ...declared, moved: {}, moves: {}, gone: {} }, revision)?.read(pasted, Date.now()).decision?.region;

function placeInWords(at: EntityLocation): string {
  switch (at.state) {
    case "routed":
      return `in ${at.region ?? "no region"}, by the routes`;
    case "moved":
      return `in ${at.region}${at.epoch === undefined ? "" : `, epoch ${at.epoch}`}`;
    case "gone":
      return "gone";
    default:
      return `${at.from} to ${at.to}, epoch ${at.epoch}`;
  }
}
