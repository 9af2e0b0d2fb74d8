import { useEffect, useRef, useState } from "preact/hooks";
import type { AuditEntry, TableRevision } from "../../formats/table-api.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { type Answer, call, type Problem } from "../app/api.ts";
import { Badge, Busy, Panel, ProblemBox, Table } from "../app/parts.tsx";
import { knownTable, mayChange } from "../app/session.ts";
import { agoText, shortTime } from "../app/words.ts";
import { tableIn } from "../routing/check-text.ts";
import { type Change, ConfirmChange, post } from "../table/change.tsx";
import { DiffView } from "../table/diff-view.tsx";

const PAGE = 20;

/** All revisions, what any two of them differ in, the way back to one, and who did what. */
export default function History() {
  return (
    <>
      <h1>History</h1>
      <Revisions />
      <Audit />
    </>
  );
}

/** The text of a revision, checked as it was when it was published. */
export async function tableOf(revision: number): Promise<Answer<DeclaredTable>> {
  const answer = await call<string>(`/-/table/revisions/${revision}`, { asText: true });
  if (!answer.ok) return answer;
  const table = tableIn(answer.value);
  if (table !== undefined) return { ...answer, value: table };
  const title = `Revision ${revision} is not valid for this version`;
  return { ok: false, problem: { slug: "invalid-table", title, detail: "", status: 0, members: {} } };
}

interface Pair {
  readonly before: DeclaredTable;
  readonly after: DeclaredTable;
  readonly title: string;
}

function Revisions() {
  const [revisions, setRevisions] = useState<readonly TableRevision[]>();
  const [hasMore, setMore] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [picked, setPicked] = useState<readonly number[]>([]);
  const [pair, setPair] = useState<Pair>();
  const [change, setChange] = useState<Change>();
  const known = knownTable.value;
  const load = async (before?: number) => {
    const query = before === undefined ? "" : `&before=${before}`;
    const answer = await call<{ revisions: readonly TableRevision[] }>(`/-/table/revisions?limit=${PAGE}${query}`);
    setProblem(answer.ok ? undefined : answer.problem);
    if (!answer.ok) return;
    const found = answer.value.revisions;
    setRevisions((already) => (before === undefined ? found : [...(already ?? []), ...found]));
    setMore(found.length === PAGE);
  };
  useEffect(() => void load(), [known?.revision]);
  const compare = async () => {
    const [older = 0, newer = 0] = picked.toSorted((a, b) => a - b);
    const [before, after] = await Promise.all([tableOf(older), tableOf(newer)]);
    const failed = [before, after].find((answer) => !answer.ok);
    setProblem(failed?.ok === false ? failed.problem : undefined);
    if (before.ok && after.ok)
      setPair({ before: before.value, after: after.value, title: `From ${older} to ${newer}` });
  };
  const rollBack = async (to: number) => {
    const after = await tableOf(to);
    setProblem(after.ok ? undefined : after.problem);
    if (!after.ok || known === undefined) return;
    setChange({
      title: `Roll back to revision ${to}`,
      verb: "Roll back",
      before: known.declared,
      after: after.value,
      send: (note) => post("/-/table/rollback", known.revision, { to, note }),
    });
  };
  const pick = (revision: number, isPicked: boolean) =>
    setPicked(isPicked ? [...picked, revision].slice(-2) : picked.filter((each) => each !== revision));
  return (
    <Panel
      title="Revisions"
      aside={
        <button type="button" disabled={picked.length !== 2} onClick={() => void compare()}>
          Compare the two
        </button>
      }
    >
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      {revisions === undefined && problem === undefined && <Busy what="Loading the revisions" />}
      {pair && (
        <div class="box">
          <h3>{pair.title}</h3>
          <DiffView before={pair.before} after={pair.after} />
          <Texts key={pair.title} pair={pair} />
        </div>
      )}
      {revisions && (
        <Table class="cards" label="All revisions" columns={["Compare", "Revision", "When", "Who", "Note", "Back"]}>
          {revisions.map(({ revision, time, author, note, kind, basedOn }) => (
            <tr key={revision}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Compare revision ${revision}`}
                  checked={picked.includes(revision)}
                  onChange={(event) => pick(revision, event.currentTarget.checked)}
                />
              </td>
              <td>
                {revision} <small>{kind === "publish" ? "" : kind}</small>{" "}
                {basedOn !== undefined && kind !== "publish" && <small>of {basedOn}</small>}
                {revision === known?.revision && <Badge mood="good">in force</Badge>}
              </td>
              <td class="when">{time === undefined ? "with the code" : <When time={time} />}</td>
              <td>{author}</td>
              <td class="note">{note}</td>
              <td>
                {mayChange.value && revision !== known?.revision && kind !== "canary" && (
                  <button type="button" class="small" onClick={() => void rollBack(revision)}>
                    Roll back<span class="hidden"> to revision {revision}</span>
                  </button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {hasMore && (
        <button type="button" onClick={() => void load(revisions?.at(-1)?.revision)}>
          Older ones
        </button>
      )}
      {change && <ConfirmChange change={change} onClose={() => setChange(undefined)} />}
    </Panel>
  );
}

const When = ({ time }: { time: string }) => (
  <>
    {shortTime(time)} <small>{agoText(time)}</small>
  </>
);

const textOf = (table: DeclaredTable): string => `${JSON.stringify(table, null, 2)}\n`;

/** The two as text, for those who know the table by heart. */
function Texts({ pair }: { pair: Pair }) {
  const host = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (!isOpen) return;
    let stop: (() => void) | undefined;
    let isGone = false;
    void import("../routing/editor/editor.ts").then(({ startComparison }) => {
      if (host.current !== null && !isGone)
        stop = startComparison(host.current, textOf(pair.before), textOf(pair.after));
    });
    return () => {
      isGone = true;
      stop?.();
    };
  }, [isOpen, pair]);
  return (
    <>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Hide the texts" : "Compare the texts"}
      </button>
      {isOpen && <div ref={host} class="comparison" />}
    </>
  );
}

function Audit() {
  const [entries, setEntries] = useState<readonly AuditEntry[]>();
  const [hasMore, setMore] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const load = async (before?: number) => {
    const query = before === undefined ? "" : `&before=${before}`;
    const answer = await call<{ entries: readonly AuditEntry[] }>(`/-/table/audit?limit=${PAGE}${query}`);
    setProblem(answer.ok ? undefined : answer.problem);
    if (!answer.ok) return;
    const found = answer.value.entries;
    setEntries((already) => (before === undefined ? found : [...(already ?? []), ...found]));
    setMore(found.length === PAGE);
  };
  useEffect(() => void load(), [knownTable.value?.revision]);
  return (
    <Panel title="Changes and their authors">
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      {entries && (
        <Table class="cards" label="Audit log" columns={["When", "Who", "What", "Outcome", "Note"]}>
          {entries.map(({ id, time, author, action, revision, outcome, note, times }) => (
            <tr key={id}>
              <td class="when">
                <When time={time} />
              </td>
              <td>{author}</td>
              <td>
                {action} {revision}
              </td>
              <td>
                <Badge mood={outcome === "done" ? "good" : "warn"}>{outcome}</Badge>{" "}
                {times !== undefined && `${times} times`}
              </td>
              <td class="note">{note}</td>
            </tr>
          ))}
        </Table>
      )}
      {hasMore && (
        <button type="button" onClick={() => void load(entries?.at(-1)?.id)}>
          Older ones
        </button>
      )}
    </Panel>
  );
}
