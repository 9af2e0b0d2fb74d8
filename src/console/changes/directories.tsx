import { useEffect, useState } from "preact/hooks";
import type { DirectoryCounts } from "../../formats/console-api.ts";
import { type Answer, call, type Problem } from "../app/api.ts";
import { Badge, Facts, Field, Panel, ProblemBox, Table } from "../app/parts.tsx";
import { knownTable } from "../app/session.ts";
import { shortTime, wholeText } from "../app/words.ts";

/** Directories with how many keys they have, and one key of them. */
export function Directories() {
  const names = Object.keys(knownTable.value?.declared.directory ?? {});
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const [entry, setEntry] = useState<Readonly<Record<string, unknown>>>();
  const [problem, setProblem] = useState<Problem>();
  if (names.length === 0) {
    return (
      <Panel title="Directories">
        <p>The table has no directories.</p>
      </Panel>
    );
  }
  const chosen = names.includes(name) ? name : (names[0] ?? "");
  const find = async () => {
    const answer = await call<Readonly<Record<string, unknown>>>(
      `/-/directory/${encodeURIComponent(chosen)}/${encodeURIComponent(key.trim())}`,
    );
    setEntry(answer.ok ? answer.value : undefined);
    setProblem(answer.ok ? undefined : answer.problem);
  };
  return (
    <Panel title="Directories">
      <Counts key={names.join("/")} names={names} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void find();
        }}
      >
        <div class="columns">
          <div class="field">
            <label for="directory">Directory</label>
            <select id="directory" value={chosen} onChange={(event) => setName(event.currentTarget.value)}>
              {names.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </div>
          <Field label="Key" value={key} onInput={setKey} isRequired />
        </div>
        <button type="submit" class="main">
          Find
        </button>
      </form>
      {problem && <ProblemBox problem={problem} />}
      {entry && (
        <div role="status">
          <Facts
            rows={Object.entries(entry).map(([member, value]) => [
              member,
              typeof value === "string" ? value : JSON.stringify(value),
            ])}
          />
        </div>
      )}
    </Panel>
  );
}

const COLUMNS = [
  "Directory",
  ...["Keys", "Reserved", "Lease over", "Missing at origins"].map((number) => ({ number })),
  "As of",
];

/** One directory after the other: each is spread over many objects. */
function Counts({ names }: { names: readonly string[] }) {
  const [answers, setAnswers] = useState<ReadonlyMap<string, Answer<DirectoryCounts>>>(new Map());
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const left = new AbortController();
    void (async () => {
      for (const name of names) {
        const path = `/-/directory/${encodeURIComponent(name)}/-/counts`;
        const answer = await call<DirectoryCounts>(path, { signal: left.signal });
        if (left.signal.aborted) return;
        setAnswers((before) => new Map(before).set(name, answer));
      }
    })();
    return () => left.abort();
  }, [turn]);
  return (
    <>
      <Table label="Keys of the directories" columns={COLUMNS}>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <CountCells answer={answers.get(name)} />
          </tr>
        ))}
      </Table>
      <div class="actions">
        <button type="button" onClick={() => setTurn(turn + 1)}>
          Count again
        </button>
      </div>
    </>
  );
}

function CountCells({ answer }: { answer: Answer<DirectoryCounts> | undefined }) {
  if (answer === undefined || !answer.ok) {
    return <td colSpan={5}>{answer === undefined ? "counting…" : `not counted: ${answer.problem.title}`}</td>;
  }
  const { at, shards, answered, total, atLeast } = answer.value;
  const counts = total ?? atLeast;
  return (
    <>
      {(["confirmed", "reserved", "expired", "missing"] as const).map((state) => (
        <td key={state} class="number">
          {total === undefined && "at least "}
          {wholeText(counts?.[state] ?? 0)}
        </td>
      ))}
      <td class="when">
        {shortTime(at)}{" "}
        {total === undefined && (
          <Badge mood="warn">
            only {answered} of {shards} objects answered
          </Badge>
        )}
      </td>
    </>
  );
}
