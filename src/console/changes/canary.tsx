import { useEffect, useId, useState } from "preact/hooks";
import type { CanaryVerdict } from "../../formats/canary-verdict.ts";
import { audienceInWords } from "../../formats/console-canary.ts";
import type { Audience, Status } from "../../formats/table-api.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { call, type Problem } from "../app/api.ts";
import { Badge, Busy, Choice, Facts, Field, Panel, ProblemBox } from "../app/parts.tsx";
import { fragmentOf } from "../app/router.ts";
import { knownTable, mayChange } from "../app/session.ts";
import { draft } from "../app/typed.ts";
import { type Change, ConfirmChange, post } from "../table/change.tsx";
import { tableIn } from "../table/check-text.ts";
import { DiffView } from "../table/diff-view.tsx";
import { Comparison } from "./comparison.tsx";
import { tableOf } from "./history.tsx";

type Running = NonNullable<Status["canary"]>;

const ASK_MS = 3_000;

/** Another table for some of the IDs: begun with a share, a country or an entity, then promoted or aborted. */
export default function Canary() {
  const [status, setStatus] = useState<Status>();
  const [problem, setProblem] = useState<Problem>();
  const [change, setChange] = useState<Change>();
  const load = async () => {
    const answer = await call<Status>("/-/table/status");
    setProblem(answer.ok ? undefined : answer.problem);
    if (answer.ok) setStatus(answer.value);
  };
  useEffect(() => {
    void load();
    const timer = setInterval(() => void load(), ASK_MS);
    return () => clearInterval(timer);
  }, []);
  const close = () => {
    setChange(undefined);
    void load();
  };
  return (
    <>
      <h1>Canary</h1>
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      {status === undefined && problem === undefined && <Busy what="Loading" />}
      {status?.canary && <RunningCanary canary={status.canary} isolate={status.isolate} onChange={setChange} />}
      {status && status.canary === null && (
        <p class="box">No canary runs: all IDs are decided by the table in force.</p>
      )}
      {status && <StartCanary running={status.canary} onChange={setChange} />}
      {change && <ConfirmChange change={change} onClose={close} />}
    </>
  );
}

interface RunningProps {
  readonly canary: Running;
  readonly isolate: Status["isolate"];
  readonly onChange: (change: Change) => void;
}

function RunningCanary({ canary, isolate, onChange }: RunningProps) {
  const known = knownTable.value;
  const [table, setTable] = useState<DeclaredTable>();
  const [problem, setProblem] = useState<Problem>();
  const [verdict, setVerdict] = useState<CanaryVerdict>();
  const { revision } = canary;
  useEffect(() => {
    void tableOf(revision).then((answer) => (answer.ok ? setTable(answer.value) : setProblem(answer.problem)));
  }, [revision]);
  const end = (verb: "Promote" | "Abort") => {
    if (known === undefined || table === undefined) return;
    const isPromotion = verb === "Promote";
    onChange({
      title: isPromotion
        ? `Promote revision ${revision}: all IDs go by it`
        : `Abort the canary: no ID goes by revision ${revision}`,
      verb,
      before: isPromotion ? known.declared : table,
      after: isPromotion ? table : known.declared,
      ...(isPromotion && verdict?.verdict === "too-few" && { about: <p class="box warn">{verdict.words}</p> }),
      ...(isPromotion &&
        verdict?.verdict === "worse" && { guard: { what: verdict.words, tick: "Promote it all the same" } }),
      send: async (note) => {
        const answer = await post(`/-/table/${verb.toLowerCase()}`, revision, { note });
        // An abort makes no revision to wait for.
        return answer.ok && !isPromotion ? { ...answer, value: {} } : answer;
      },
    });
  };
  return (
    <Panel title={`Revision ${revision} runs as a canary`}>
      <Facts
        rows={[
          ["For", audienceInWords(canary)],
          [
            "In force here",
            isolate.canary?.revision === revision ? (
              <Badge mood="good">yes</Badge>
            ) : (
              <Badge mood="warn">not yet in the isolate that answered</Badge>
            ),
          ],
        ]}
      />
      {problem && <ProblemBox problem={problem} />}
      <Comparison revision={revision} key={revision} onVerdict={setVerdict} />
      {known && table && <DiffView before={known.declared} after={table} />}
      {mayChange.value && (
        <div class="actions">
          <button type="button" class="main" disabled={table === undefined} onClick={() => end("Promote")}>
            Promote
          </button>
          <button type="button" class="danger" disabled={table === undefined} onClick={() => end("Abort")}>
            Abort
          </button>
        </div>
      )}
    </Panel>
  );
}

type Kind = "share" | "countries" | "entities";

function StartCanary({ running, onChange }: { running: Running | null; onChange: (change: Change) => void }) {
  const known = knownTable.value;
  const [kind, setKind] = useState<Kind>("share");
  const [share, setShare] = useState(running?.share ?? 5);
  const [names, setNames] = useState("");
  const [text, setText] = useState<string>();
  useEffect(() => {
    if (draft.value !== undefined || running === null) return;
    void call<string>(`/-/table/revisions/${running.revision}`, { asText: true }).then((answer) => {
      if (answer.ok) setText(answer.value);
    });
  }, [running?.revision]);
  if (known === undefined || !mayChange.value) return null;
  const own = draft.value?.text ?? text;
  if (own === undefined) {
    return (
      <Panel title="Start one">
        <p>
          Change the <a href={fragmentOf("editor")}>table</a> first, then come back: the changed text becomes the
          canary.
        </p>
      </Panel>
    );
  }
  const after = tableIn(own);
  const list = names.split(/[\s,]+/).filter((name) => name !== "");
  const audience: Audience =
    kind === "share" ? { share } : kind === "countries" ? { countries: list } : { entities: list };
  const start = () => {
    if (after === undefined) return;
    onChange({
      title: `Start a canary for ${audienceInWords(audience)}`,
      verb: running === null ? "Start" : "Replace the canary",
      before: known.declared,
      after,
      send: async (note) => {
        // The table's text goes as it is: to parse it and write it again could change it. A comment may end it.
        const body = `{"table":${own}\n,${JSON.stringify({ ...audience, note }).slice(1)}`;
        const sent = await post("/-/table/canary", running?.revision ?? known.revision, {}, body);
        if (sent.ok) draft.value = undefined;
        return sent;
      },
    });
  };
  return (
    <Panel title={running === null ? "Start one" : "Change the share"}>
      <Choice
        label="For"
        value={kind}
        options={[
          ["share", "a share of the IDs"],
          ["countries", "countries"],
          ["entities", "entities"],
        ]}
        onChange={setKind}
      />
      {kind === "share" ? (
        <Share value={share} onChange={setShare} />
      ) : (
        <Field
          label={kind === "countries" ? "Country codes" : "Entities"}
          hint="Separated by commas."
          value={names}
          onInput={setNames}
        />
      )}
      <button
        type="button"
        class="main"
        disabled={after === undefined || (kind !== "share" && list.length === 0)}
        onClick={start}
      >
        Look at the difference
      </button>
      {after === undefined && <p class="box bad">The text has faults; correct them in the table first.</p>}
    </Panel>
  );
}

const SHARES = [1, 5, 25, 50, 100];

/** A slider, and beside it a number and steps: nothing needs dragging (WCAG 2.5.7). */
function Share({ value, onChange }: { value: number; onChange: (value: number) => void }) {
  const id = useId();
  const set = (next: number) => onChange(Math.min(100, Math.max(0, Number.isNaN(next) ? 0 : next)));
  return (
    <div class="field">
      <label for={id}>Share in percent</label>
      <input
        id={id}
        type="range"
        min={0}
        max={100}
        step={1}
        value={value}
        onInput={(event) => set(event.currentTarget.valueAsNumber)}
      />
      <div class="actions">
        <input
          type="number"
          aria-label="Share in percent, as a number"
          min={0}
          max={100}
          step="any"
          value={value}
          onInput={(event) => set(event.currentTarget.valueAsNumber)}
        />
        {SHARES.map((share) => (
          <button key={share} type="button" class="small" aria-pressed={share === value} onClick={() => set(share)}>
            {share} %
          </button>
        ))}
      </div>
    </div>
  );
}
