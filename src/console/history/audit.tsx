import { useEffect, useState } from "preact/hooks";
import { audienceInWords } from "../../formats/console-canary.ts";
import type { AuditEntry } from "../../formats/table-api.ts";
import type { Problem } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { Choice, Field } from "../app/parts/fields.tsx";
import { Empty, ProblemNote, Skeleton } from "../app/parts/sheet.tsx";
import { Mark } from "../app/parts/state.tsx";
import { Table } from "../app/parts/table.tsx";
import { fragmentOf } from "../app/router.ts";
import { knownTable } from "../app/session.ts";
import { plural, shortTime } from "../app/words.ts";
import { momentText } from "../overview/plot/words.ts";
import { made } from "../publish/made/made.ts";
import { auditOf } from "../publish/send.ts";

const PAGE = 50;
const ALL = "";

/** People and programs that changed something, and changes that were refused. */
export function Audit() {
  const { entries, hasMore, problem, load } = useEntries();
  const { shown, controls } = useFilters(entries ?? NONE);
  if (entries === undefined) {
    return problem ? (
      <ProblemNote problem={problem} isTop onRetry={() => void load()} />
    ) : (
      <Skeleton label="Loading the log" />
    );
  }
  const all = plural(entries.length, "entry", "entries");
  return (
    <section class="sheet" aria-label="Who did what">
      {controls}
      {shown.length === 0 ? (
        <Empty icon="filter" title="No entry fits">
          {hasMore ? "Older entries are not loaded yet." : "Choose less, or other words."}
        </Empty>
      ) : (
        <Entries of={shown} />
      )}
      {problem && <ProblemNote problem={problem} isTop onRetry={() => void load()} />}
      <footer>
        <span>{shown.length === entries.length ? all : `${shown.length} of ${all} that are loaded`}</span>
        {hasMore && (
          <Button size="small" onClick={() => void load(entries.at(-1)?.id)}>
            Older ones
          </Button>
        )}
      </footer>
    </section>
  );
}

const NONE: readonly AuditEntry[] = [];

/** Filters of those that are loaded. */
function useFilters(entries: readonly AuditEntry[]) {
  const [author, setAuthor] = useState(ALL);
  const [action, setAction] = useState(ALL);
  const [outcome, setOutcome] = useState<"" | "done" | "refused">(ALL);
  const [text, setText] = useState("");
  const words = text.trim().toLowerCase();
  const shown = entries.filter(
    (entry) =>
      (author === ALL || entry.author === author) &&
      (action === ALL || entry.action === action) &&
      (outcome === ALL || (entry.outcome === "done") === (outcome === "done")) &&
      `${entry.note} ${entry.revision ?? ""}`.toLowerCase().includes(words),
  );
  const authors = namesOf(
    "Everyone",
    entries.map((each) => each.author),
  );
  const actions = namesOf(
    "Every action",
    entries.map((each) => each.action),
  );
  const controls = (
    <div class="filters log">
      <Choice label="Who" isBare value={author} options={authors} onChange={setAuthor} />
      <Choice label="What" isBare value={action} options={actions} onChange={setAction} />
      <Choice label="Outcome" isBare value={outcome} options={OUTCOMES} onChange={setOutcome} />
      <Field label="Note or revision" type="search" value={text} onInput={setText} />
    </div>
  );
  return { shown, controls };
}

const OUTCOMES = [
  [ALL, "Done and refused"],
  ["done", "Done"],
  ["refused", "Refused"],
] as const;

const namesOf = (all: string, names: readonly string[]): readonly (readonly [string, string])[] => [
  [ALL, all],
  ...[...new Set(names)].toSorted().map((name) => [name, name] as const),
];

function useEntries() {
  const [entries, setEntries] = useState<readonly AuditEntry[]>();
  const [hasMore, setMore] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const load = async (before?: number) => {
    const answer = await auditOf(PAGE, before);
    setProblem(answer.ok ? undefined : answer.problem);
    if (!answer.ok) return;
    const found = answer.value.entries;
    setEntries((already) => (before === undefined ? found : [...(already ?? []), ...found]));
    setMore(found.length === PAGE);
  };
  useEffect(() => void load(), [knownTable.value?.revision, made.value?.atMs]);
  return { entries, hasMore, problem, load };
}

const Entries = ({ of }: { of: readonly AuditEntry[] }) => (
  <Table
    label="Entries"
    columns={[
      { name: "What" },
      { name: "Who" },
      { name: "When" },
      { name: "Outcome" },
      { name: "Note", class: "wide" },
    ]}
    rows={of.map((entry) => ({
      key: entry.id,
      cells: [
        <Deed key="deed" of={entry} />,
        entry.author,
        <span key="when" class="nowrap" title={shortTime(entry.time)}>
          {momentText(Date.parse(entry.time), gatewayNow())}
        </span>,
        <Outcome key="outcome" of={entry} />,
        entry.note,
      ],
    }))}
  />
);

const DEEDS: Readonly<Record<AuditEntry["action"], string>> = {
  publish: "published",
  rollback: "rolled back, as",
  canary: "canary",
  promote: "promoted, as",
  abort: "aborted canary",
  pack: "stored pack",
  import: "imported",
};

function Deed({ of: { action, revision, audience, pack } }: { of: AuditEntry }) {
  return (
    <>
      {DEEDS[action] ?? action}{" "}
      {revision !== undefined && <a href={fragmentOf("history", { to: `${revision}` })}>{revision}</a>}
      {audience !== undefined && ` for ${audienceInWords(audience)}`}
      {pack !== undefined && <code>{pack.slice(0, 12)}</code>}
    </>
  );
}

const REFUSED: Readonly<Record<string, string>> = {
  "stale-revision": "refused: another change came first",
  "canary-running": "refused: a canary runs",
  "no-canary": "refused: no canary runs",
  "invalid-table": "refused: the table has faults",
  "unknown-revision": "refused: there is no such revision",
};

const Outcome = ({ of: { outcome, times } }: { of: AuditEntry }) => (
  <>
    {outcome === "done" ? (
      <Mark mood="good" icon="good">
        done
      </Mark>
    ) : (
      <Mark mood="warn" icon="warn">
        {REFUSED[outcome] ?? `refused: ${outcome}`}
      </Mark>
    )}
    {times !== undefined && <small> {times} times</small>}
  </>
);
