import { useEffect, useState } from "preact/hooks";
import type { MetricsHistory } from "../../formats/console-api.ts";
import type { Status, TableRevision } from "../../formats/table-api.ts";
import { call, type Problem } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { ProblemNote, Skeleton } from "../app/parts/sheet.tsx";
import { goTo, place } from "../app/router.ts";
import { knownTable } from "../app/session.ts";
import { plural } from "../app/words.ts";
import { momentText } from "../overview/plot/words.ts";
import { made } from "../publish/made/made.ts";
import { figuresOf } from "../publish/requests/figures.ts";
import { revisionsBefore } from "../publish/send.ts";
import { AfterView } from "./after-view.tsx";
import { Pair, Unknown } from "./pair.tsx";
import { RevisionLine } from "./revision-line.tsx";
import { RollBack } from "./roll-back.tsx";
import { beforeIn, useSummaries } from "./summaries.ts";

const PAGE = 20;

/** For a link to an old revision; older ones still are found by hand. */
const PAGES_MAX = 10;

/** As often as isolates report. */
const ASK_MS = 10_000;

/** All revisions, and the difference of any two. */
export function Revisions() {
  const list = useList();
  const histories = useHistories();
  const [rollBack, setRollBack] = useState<number>();
  const { revisions } = list;
  const picked = usePicked(revisions ?? NONE, knownTable.value?.revision);
  const close = () => {
    setRollBack(undefined);
    void list.load();
  };
  if (revisions === undefined) {
    return list.problem ? (
      <ProblemNote problem={list.problem} isTop onRetry={() => void list.load()} />
    ) : (
      <Skeleton label="Loading the revisions" />
    );
  }
  return (
    <div class="split2">
      <List list={list} revisions={revisions} histories={histories} picked={picked} />
      <div class="pile">
        <Compared revisions={revisions} histories={histories} picked={picked} onRollBack={setRollBack} />
      </div>
      {rollBack !== undefined && <RollBack to={rollBack} onClose={close} />}
    </div>
  );
}

type Histories = ReturnType<typeof useHistories>;
type Picked = ReturnType<typeof usePicked>;

function List(props: {
  list: ReturnType<typeof useList>;
  revisions: readonly TableRevision[];
  histories: Histories;
  picked: Picked;
}) {
  const { list, revisions, histories, picked } = props;
  const summaries = useSummaries(revisions, histories);
  const oldest = revisions.at(-1);
  return (
    <section class="sheet" aria-label="Revisions">
      <div class="rev-head">
        <span>from</span>
        <span>to</span>
        <span>Choose two to compare</span>
      </div>
      <ol>
        {revisions.map((each) => (
          <RevisionLine
            key={each.revision}
            of={each}
            inForce={knownTable.value?.revision}
            canary={list.canary}
            summary={summaries.get(each.revision)}
            from={picked.from}
            to={picked.to}
            onPick={picked.pick}
          />
        ))}
      </ol>
      {list.problem && <ProblemNote problem={list.problem} isTop onRetry={() => void list.load()} />}
      <footer>
        <span>
          {plural(revisions.length, "revision")}
          {oldest?.time !== undefined && ` since ${momentText(Date.parse(oldest.time), gatewayNow())}`}
        </span>
        {list.hasMore && (
          <Button size="small" onClick={() => void list.load(oldest?.revision)}>
            Older ones
          </Button>
        )}
      </footer>
    </section>
  );
}

function Compared(props: {
  revisions: readonly TableRevision[];
  histories: Histories;
  picked: Picked;
  onRollBack: (revision: number) => void;
}) {
  const { revisions, histories, onRollBack } = props;
  const { from, to } = props.picked;
  if (to === undefined) return null;
  if (from === undefined) return <Unknown revision={to} hasOlder={revisions.some(({ revision }) => revision === to)} />;
  const own = revisions.find(({ revision }) => revision === to);
  return (
    <>
      <Pair
        from={revisions.find(({ revision }) => revision === from)}
        to={own}
        fromNumber={from}
        toNumber={to}
        histories={histories}
        onRollBack={onRollBack}
      />
      {own && (
        <AfterView
          of={own}
          next={revisions.findLast(({ revision }) => revision > own.revision)}
          histories={histories}
        />
      )}
    </>
  );
}

const NONE: readonly TableRevision[] = [];

function useList() {
  const [revisions, setRevisions] = useState<readonly TableRevision[]>();
  const [canary, setCanary] = useState<Status["canary"]>(null);
  const [hasMore, setMore] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const load = async (before?: number) => {
    const [found, status] = await Promise.all([pagesFrom(before), call<Status>("/-/table/status")]);
    if (status.ok) setCanary(status.value.canary);
    setProblem(found.problem);
    if (found.problem !== undefined && found.revisions.length === 0) return;
    setRevisions((already) => (before === undefined ? found.revisions : [...(already ?? []), ...found.revisions]));
    setMore(found.hasMore);
  };
  // Those of others come with the table; the end of a canary makes none.
  useEffect(() => void load(), [knownTable.value?.revision, made.value?.atMs]);
  return { revisions, canary, hasMore, problem, load };
}

/** A page of the list; the first time so many that a linked revision and the one before it are among them. */
async function pagesFrom(before: number | undefined) {
  const linked = before === undefined ? numberIn("to") : undefined;
  const revisions: TableRevision[] = [];
  for (let page = 1; ; page++) {
    const answer = await revisionsBefore(PAGE, revisions.at(-1)?.revision ?? before);
    if (!answer.ok) return { revisions, hasMore: true, problem: answer.problem };
    revisions.push(...answer.value.revisions);
    const hasMore = answer.value.revisions.length === PAGE;
    const isFound = linked === undefined || beforeIn(revisions, linked) !== undefined;
    if (!hasMore || isFound || page === PAGES_MAX) return { revisions, hasMore, problem: undefined };
  }
}

/** From fine steps to coarse ones; a span that could not be read is `undefined`. */
function useHistories(): readonly (MetricsHistory | undefined)[] | undefined {
  const [histories, setHistories] = useState<readonly (MetricsHistory | undefined)[]>();
  const inForce = knownTable.value?.revision;
  useEffect(() => {
    let isGone = false;
    void Promise.all((["hour", "day", "month"] as const).map(figuresOf)).then((found) => {
      if (!isGone) setHistories(found);
    });
    // Answers after a new revision come step by step; older spans do not change meanwhile.
    const timer = setInterval(() => {
      void figuresOf("hour").then((hour) => {
        if (!isGone && hour !== undefined) setHistories((known) => known && [hour, ...known.slice(1)]);
      });
    }, ASK_MS);
    return () => {
      isGone = true;
      clearInterval(timer);
    };
  }, [inForce]);
  return histories;
}

function numberIn(name: "from" | "to"): number | undefined {
  const { query } = place.peek();
  const text = query.get(name) ?? (name === "to" ? query.get("revision") : null) ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** By the link, else the revision in force and the one before it. */
function usePicked(revisions: readonly TableRevision[], inForce: number | undefined) {
  // Read for its changes.
  void place.value;
  const to = numberIn("to") ?? inForce;
  const from = numberIn("from") ?? (to === undefined ? undefined : beforeIn(revisions, to)?.revision);
  const pick = (side: "from" | "to", revision: number) => {
    const own = { from, to, [side]: revision };
    const pairs = Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
    goTo("history", Object.fromEntries(pairs));
  };
  return { from, to, pick };
}
