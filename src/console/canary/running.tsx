import { useEffect, useMemo, useState } from "preact/hooks";
import type { Status } from "../../formats/table-api.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import type { Problem } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { Icon } from "../app/parts/icons.tsx";
import { Note, ProblemNote, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { fragmentOf } from "../app/router.ts";
import { type KnownTable, mayChange } from "../app/session.ts";
import { percentText } from "../app/words.ts";
import { Chart } from "../overview/chart.tsx";
import { resetCursor } from "../overview/plot/cursor.ts";
import { ChangesView } from "../publish/changes-view.tsx";
import type { Change } from "../publish/confirm-change.tsx";
import { changesInWords } from "../publish/diff-words.ts";
import { effectOf } from "../publish/requests/effect.ts";
import { useFigures as useRequests } from "../publish/requests/figures.ts";
import { tableOf } from "../publish/table-of.ts";
import { tableDraft } from "../routing/draft.ts";
import { Comparison } from "./comparison.tsx";
import { aborted, promoted, type Running, withShare } from "./ends.ts";
import { refusedShares, type ShownVerdict, shownConditions, shownVerdict } from "./figures.ts";
import { Shares } from "./shares.tsx";
import { StartCanary } from "./start.tsx";
import { type CanaryFigures, useFigures } from "./watch.ts";

interface Props {
  readonly status: Status;
  readonly canary: Running;
  readonly known: KnownTable | undefined;
  readonly onChange: (change: Change) => void;
}

export function RunningCanary({ status, canary, known, onChange }: Props) {
  const { value: figures, problem, again } = useFigures(canary.revision);
  const [table, setTable] = useState<DeclaredTable>();
  const [tableProblem, setProblem] = useState<Problem>();
  const { revision } = canary;
  useEffect(() => {
    void tableOf(revision).then((answer) => (answer.ok ? setTable(answer.value) : setProblem(answer.problem)));
  }, [revision]);
  useEffect(() => resetCursor, []);
  const verdict = shownVerdict(figures?.history, problem !== undefined);
  const isHere = status.isolate.canary?.revision === revision;
  const draft = tableDraft.value;
  return (
    <div class="two wide">
      <div class="pile">
        {problem && <ProblemNote isTop problem={problem} onRetry={again} />}
        {tableProblem && <ProblemNote isTop problem={tableProblem} />}
        {!isHere && (
          <Note isTop kind="first" title="Not yet in force in the isolate that answered">
            On Cloudflare it takes up to 2 minutes everywhere. Until then fewer IDs go by it.
          </Note>
        )}
        <section class="sheet" aria-label="Verdict">
          <Verdict verdict={verdict}>
            {mayChange.value && <Ends mood={verdict.mood} {...{ canary, known, table, figures, onChange }} />}
          </Verdict>
          {figures === undefined ? (
            <Skeleton label="Loading the figures" lines={6} />
          ) : (
            <Comparison figures={figures.history} inForce={status.controlPlane.revision} canary={revision} />
          )}
        </section>
        {figures && <RefusedChart {...{ figures, canary }} inForce={status.controlPlane.revision} />}
      </div>
      <div class="pile">
        <Conditions {...{ figures, canary }} />
        {mayChange.value && <ShareSheet {...{ canary, known, table, figures, onChange }} mood={verdict.mood} />}
        <ChangesSheet {...{ revision, known, table, figures }} />
        {mayChange.value && draft !== undefined && known !== undefined && (
          <StartCanary running={canary} {...{ draft, known, onChange }} />
        )}
      </div>
    </div>
  );
}

interface ChangesProps {
  readonly revision: number;
  readonly known: KnownTable | undefined;
  readonly table: DeclaredTable | undefined;
  readonly figures: CanaryFigures | undefined;
}

function ChangesSheet({ revision, known, table, figures }: ChangesProps) {
  if (table === undefined || known === undefined) return null;
  return (
    <Sheet
      title={`What ${revision} changes`}
      aside={<a href={fragmentOf("history", { revision: `${revision}` })}>In full</a>}
      {...(figures?.record.note && { footer: `Its note says: ${figures.record.note}` })}
    >
      <Changes known={known} table={table} />
    </Sheet>
  );
}

/** In words, with the requests of the last hour by the table in force. */
function Changes({ known, table }: { known: KnownTable; table: DeclaredTable }) {
  const figures = useRequests();
  const changes = useMemo(() => changesInWords(known.declared, table, gatewayNow()), [known, table]);
  return (
    <div class="changes-of">
      <ChangesView changes={changes} effect={effectOf(changes, known.revision, figures?.hour, figures?.day)} />
    </div>
  );
}

const ICONS = { bad: "bad", good: "good", plain: "none" } as const;

function Verdict({ verdict, children }: { verdict: ShownVerdict; children: preact.ComponentChildren }) {
  return (
    <div class={`judge ${verdict.mood}`}>
      <Icon name={ICONS[verdict.mood]} />
      <div role="status">
        <h2>{verdict.title}</h2>
        <p>{verdict.text}</p>
      </div>
      <div class="row">{children}</div>
    </div>
  );
}

interface EndProps {
  readonly canary: Running;
  readonly known: KnownTable | undefined;
  readonly table: DeclaredTable | undefined;
  readonly figures: CanaryFigures | undefined;
  readonly mood: ShownVerdict["mood"];
  readonly onChange: (change: Change) => void;
}

/** The action of the verdict: a bad one offers the end alone. */
function Ends({ canary, known, table, figures, mood, onChange }: EndProps) {
  if (table === undefined || known === undefined) return null;
  return (
    <>
      {mood === "good" && (
        <Button kind="main" onClick={() => onChange(promoted(canary, known, table, figures?.history.canaryVerdict))}>
          Promote for all
        </Button>
      )}
      <Button kind={mood === "bad" ? "danger main" : "danger"} onClick={() => onChange(aborted(canary, known, table))}>
        Abort the canary
      </Button>
    </>
  );
}

const MARKS = [
  [true, "good", "good", "holds"],
  [false, "bad", "bad", "does not hold"],
  [undefined, "plain", "none", "open"],
] as const;

function Conditions({ figures, canary }: { figures: CanaryFigures | undefined; canary: Running }) {
  if (figures === undefined || figures.history.source === "none") return null;
  return (
    <Sheet title="How the verdict is made">
      <ul class="tests">
        {shownConditions(figures.history.canaryVerdict, canary).map(({ name, words, holds }) => {
          const [, mood, icon, said] = MARKS.find(([each]) => each === holds) ?? MARKS[2];
          return (
            <li key={name}>
              <span class={mood}>
                <Icon name={icon} />
                <span class="hidden">{said}: </span>
              </span>
              <b>{name}</b>
              <span class={mood === "bad" ? "bad" : "soft"}>{words}</span>
            </li>
          );
        })}
      </ul>
    </Sheet>
  );
}

function ShareSheet({ canary, known, table, figures, mood, onChange }: EndProps) {
  const isBad = mood === "bad";
  const [problem, setProblem] = useState<Problem>();
  if (known === undefined || table === undefined) return null;
  const verdict = figures?.history.source === "all" ? figures.history.canaryVerdict : undefined;
  const choose = async (share: number) => {
    if (share === canary.share) return;
    const change = await withShare(canary, share, known, table, verdict);
    setProblem(change.ok ? undefined : change.problem);
    if (change.ok) onChange(change.value);
  };
  return (
    <Sheet title="Share of the IDs" aside={<small>who is in, stays in</small>} isIn>
      <div class="pile small">
        {canary.share === undefined && (
          <p class="soft small-text">
            It serves {canary.countries ? "countries" : "entities"} now; a share is of all IDs.
          </p>
        )}
        <Shares
          {...(canary.share !== undefined && { now: canary.share, value: canary.share })}
          verb="Set"
          onChoose={(share) => void choose(share)}
        />
        {problem && <ProblemNote problem={problem} />}
        {isBad && <p class="soft small-text">More is possible with a reason: the verdict is against it.</p>}
        <div class="row">
          {mood !== "good" && (
            <Button
              disabledBecause={isBad ? "The verdict is against it." : undefined}
              onClick={() => onChange(promoted(canary, known, table, verdict))}
            >
              Promote for all
            </Button>
          )}
          {isBad && (
            <button
              type="button"
              class="link small-text"
              onClick={() => onChange(promoted(canary, known, table, verdict))}
            >
              Promote in spite of it…
            </button>
          )}
        </div>
      </div>
    </Sheet>
  );
}

/** The refused requests of both tables over time. */
function RefusedChart({ figures, canary, inForce }: { figures: CanaryFigures; canary: Running; inForce: number }) {
  const { at, tables } = figures.history;
  const [stable, own] = [refusedShares(tables.stable), refusedShares(tables.canary)];
  if (stable === undefined || own === undefined || at.length < 2) return null;
  const { record } = figures;
  const begun = Date.parse(record.time ?? "") / 1000;
  const what = canary.share === undefined ? "" : ` at ${canary.share} %`;
  return (
    <section class="sheet">
      <Chart
        title="Refused, 4xx"
        unit="share of the requests"
        at={at}
        lines={[
          { name: `in force, ${inForce}`, style: "solid", values: stable },
          { name: `canary, ${canary.revision}`, style: "dashed", values: own },
        ]}
        flags={[
          {
            at: begun,
            text: `${canary.revision}${what}`,
            isCanary: true,
            href: fragmentOf("history", { revision: `${canary.revision}` }),
          },
        ]}
        text={percentText}
      />
    </section>
  );
}
