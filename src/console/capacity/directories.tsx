import { useEffect, useState } from "preact/hooks";
import type { DirectoryCounts } from "../../formats/console-api.ts";
import { type Answer, call, type Problem } from "../app/api.ts";
import { Button } from "../app/parts/button.tsx";
import { Field } from "../app/parts/fields.tsx";
import { Empty, ProblemNote, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { Mark } from "../app/parts/state.tsx";
import { Facts } from "../app/parts/table.tsx";
import { knownTable } from "../app/session.ts";
import { clockText, plural, shortTime, wholeText } from "../app/words.ts";

/** The directories one after the other: each is spread over many objects. */
export function Directories() {
  const names = Object.keys(knownTable.value?.declared.directory ?? {});
  const [answers, setAnswers] = useState<ReadonlyMap<string, Answer<DirectoryCounts>>>(new Map());
  const [turn, setTurn] = useState(0);
  const of = names.join("/");
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
  }, [turn, of]);
  if (names.length === 0) {
    return (
      <Sheet title="Directories">
        <Empty icon="key" title="The table has no directories">
          They say the region of names that are no IDs, such as e-mail addresses.
        </Empty>
      </Sheet>
    );
  }
  return (
    <>
      {names.map((name) => (
        <Directory key={name} name={name} answer={answers.get(name)} onAgain={() => setTurn(turn + 1)} />
      ))}
    </>
  );
}

interface DirectoryProps {
  readonly name: string;
  readonly answer: Answer<DirectoryCounts> | undefined;
  readonly onAgain: () => void;
}

function Directory({ name, answer, onAgain }: DirectoryProps) {
  const [isFinding, setFinding] = useState(false);
  return (
    <Sheet
      title={`Directory ${name}`}
      aside={
        answer?.ok && (
          <small title={shortTime(answer.value.at)}>
            counted {clockText(Date.parse(answer.value.at) / 1000, false)}
          </small>
        )
      }
      footer={
        <>
          <Button size="small" icon="search" isPressed={isFinding} onClick={() => setFinding(!isFinding)}>
            Find a key
          </Button>
          <Button size="small" onClick={onAgain}>
            Count again
          </Button>
        </>
      }
    >
      {answer === undefined ? (
        <Skeleton label={`Counting the keys of ${name}`} lines={3} />
      ) : answer.ok ? (
        <Counts counts={answer.value} />
      ) : (
        <div class="in">
          <ProblemNote problem={answer.problem} still="Its keys are not counted: nothing is known of them now." />
        </div>
      )}
      {isFinding && <FindKey name={name} />}
    </Sheet>
  );
}

const STATES = [
  ["confirmed", "Keys that route", ""],
  ["reserved", "Reserved", "not confirmed yet: requests find none"],
  ["expired", "Reservation expired", "anyone may take the name"],
  ["missing", "Missing in their region", "the key says a region which has no such entity"],
] as const;

/** A count that lacks objects is no total, and says so first. */
function Counts({ counts: { shards, answered, total, atLeast } }: { counts: DirectoryCounts }) {
  const counts = total ?? atLeast;
  return (
    <>
      {total === undefined && (
        <p class="in about">
          <Mark mood="warn" icon="warn">
            At least {plural(counts?.confirmed ?? 0, "key")}. {answered} of {shards} parts answered.
          </Mark>
        </p>
      )}
      <ul class="list">
        {STATES.map(([state, title, about]) => {
          const count = counts?.[state] ?? 0;
          const isTrouble = state === "missing" && count > 0;
          return (
            <li key={state}>
              <div>
                {isTrouble ? (
                  <Mark mood="warn" icon="warn">
                    {title}
                  </Mark>
                ) : (
                  title
                )}
                {about !== "" && <small>{about}</small>}
              </div>
              <span class="num">
                {total === undefined && <small>at least </small>}
                {wholeText(count)}
              </span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function FindKey({ name }: { name: string }) {
  const [key, setKey] = useState("");
  const [entry, setEntry] = useState<Readonly<Record<string, unknown>>>();
  const [problem, setProblem] = useState<Problem>();
  const find = async () => {
    const answer = await call<Readonly<Record<string, unknown>>>(
      `/-/directory/${encodeURIComponent(name)}/${encodeURIComponent(key.trim())}`,
    );
    setEntry(answer.ok ? answer.value : undefined);
    setProblem(answer.ok ? undefined : answer.problem);
  };
  return (
    <div class="in find-key">
      <form
        class="beside"
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() !== "") void find();
        }}
      >
        <Field label="Key" value={key} onInput={setKey} isRequired />
        <Button kind="main" isSubmit>
          Find
        </Button>
      </form>
      {problem && <ProblemNote problem={problem} />}
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
    </div>
  );
}
