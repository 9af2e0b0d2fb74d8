import { useEffect, useMemo, useState } from "preact/hooks";
import type { MetricsHistory } from "../../formats/console-api.ts";
import type { TableRevision } from "../../formats/table-api.ts";
import type { Answer } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { Note, ProblemNote, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { fragmentOf } from "../app/router.ts";
import { knownTable, mayChange } from "../app/session.ts";
import { plural } from "../app/words.ts";
import { momentText } from "../overview/plot/words.ts";
import { ChangesView } from "../publish/changes-view.tsx";
import { changesInWords } from "../publish/diff-words.ts";
import { type RevisionTable, revisionOf } from "../publish/table-of.ts";
import { diffTexts, type TextDiff } from "../publish/text/text-lines.ts";
import { TextView } from "../publish/text/text-view.tsx";
import { pastEffect } from "./summaries.ts";

interface Props {
  readonly from: TableRevision | undefined;
  readonly to: TableRevision | undefined;
  readonly fromNumber: number;
  readonly toNumber: number;
  readonly histories: readonly (MetricsHistory | undefined)[] | undefined;
  readonly onRollBack: (revision: number) => void;
}

type Both = readonly [Answer<RevisionTable>, Answer<RevisionTable>];

/** Two revisions: their difference in words, in shares and in text. */
export function Pair({ from, to, fromNumber, toNumber, histories, onRollBack }: Props) {
  const [both, setBoth] = useState<Both>();
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    let isOld = false;
    setBoth(undefined);
    void Promise.all([revisionOf(fromNumber), revisionOf(toNumber)]).then((found) => {
      if (!isOld) setBoth(found);
    });
    return () => {
      isOld = true;
    };
  }, [fromNumber, toNumber, asked]);
  const title = `From ${fromNumber} to ${toNumber}`;
  const failed = both?.find((answer) => !answer.ok);
  if (both === undefined || failed !== undefined) {
    return (
      <Sheet title={title}>
        {failed?.ok === false ? (
          <ProblemNote problem={failed.problem} onRetry={() => setAsked(asked + 1)} />
        ) : (
          <Skeleton label="Loading the two revisions" />
        )}
      </Sheet>
    );
  }
  const [before, after] = both;
  if (!before.ok || !after.ok) return null;
  const ends = [from, to].flatMap((each) => (each === undefined || each.kind === "canary" ? [] : [each.revision]));
  return (
    <Tables
      title={title}
      text={to === undefined ? undefined : aboutOf(to)}
      before={before.value}
      after={after.value}
      numbers={[fromNumber, toNumber]}
      histories={histories}
      ways={ends}
      onRollBack={onRollBack}
    />
  );
}

const aboutOf = ({ note, time, author }: TableRevision): string =>
  `${note === "" ? "Without a note" : `“${note}”`}, ${time === undefined ? "with the code" : momentText(Date.parse(time), gatewayNow())} by ${author}`;

function Tables(props: {
  title: string;
  text: string | undefined;
  before: RevisionTable;
  after: RevisionTable;
  numbers: readonly [number, number];
  histories: Props["histories"];
  /** Revisions that one may go back to. */
  ways: readonly number[];
  onRollBack: (revision: number) => void;
}) {
  const { before, after, numbers, histories, title } = props;
  const [from, to] = numbers;
  const inForce = knownTable.value?.revision;
  const changes = useMemo(() => changesInWords(before.declared, after.declared, gatewayNow()), [before, after]);
  const lines = useMemo(() => diffTexts(before.text, after.text), [before, after]);
  const effect = histories && pastEffect(changes, from, before.declared, histories);
  return (
    <>
      <section class="sheet compared" aria-label={title}>
        <header>
          <div>
            <h2>{title}</h2>
            {props.text && <p>{props.text}</p>}
          </div>
          <div class="row">
            {mayChange.value &&
              props.ways
                .filter((revision) => revision !== inForce)
                .map((revision) => (
                  <Button key={revision} icon="undo" onClick={() => props.onRollBack(revision)}>
                    Roll back to {revision}
                  </Button>
                ))}
          </div>
        </header>
        <ChangesView
          changes={changes}
          effect={effect}
          isPast
          names={[`${from}`, `${to}`]}
          uncounted={
            histories === undefined
              ? "Counting the requests…"
              : `How many requests these are is not known: no figures of revision ${from} are kept.`
          }
        />
      </section>
      <TextSheet lines={lines} line={to === inForce ? lineIn(lines) : undefined} />
    </>
  );
}

/** The first line of the text after that differs. */
function lineIn({ lines }: TextDiff): number | undefined {
  const line = lines.find(({ is }) => is === "came") ?? lines.find(({ is }) => is === "went");
  return line === undefined || line.is === "cut" ? undefined : line.number;
}

/** `line`: of the text that the editor has. */
const TextSheet = ({ lines, line }: { lines: TextDiff; line: number | undefined }) => (
  <Sheet
    title="The text"
    aside={
      <div class="row">
        <small>
          {plural(lines.differ, "line")} {lines.differ === 1 ? "differs" : "differ"}
        </small>
        {line !== undefined && (
          <Button size="small" icon="editor" href={fragmentOf("editor", { line: `${line}` })}>
            Open in the editor
          </Button>
        )}
      </div>
    }
  >
    <TextView diff={lines} isBare />
  </Sheet>
);

/** Nothing before it to compare with: the first one, or a number of a link. */
export const Unknown = ({ revision, hasOlder }: { revision: number; hasOlder: boolean }) =>
  hasOlder ? (
    <Note kind="know" isTop title={`Nothing older than ${revision} is in the list`}>
      Choose another one, or load older ones.
    </Note>
  ) : (
    <Note kind="first" isTop title={`Revision ${revision} is not in the list`}>
      Load older ones, or choose two of the list.
    </Note>
  );
