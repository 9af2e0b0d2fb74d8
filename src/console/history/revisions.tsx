import { useEffect, useState } from "preact/hooks";
import type { MetricsHistory } from "../../formats/console-api.ts";
import type { Status, TableRevision } from "../../formats/table-api.ts";
import { call, type Problem } from "../app/api.ts";
import { Button } from "../app/parts/button.tsx";
import { ProblemNote, Skeleton } from "../app/parts/sheet.tsx";
import { place, setQuery } from "../app/router.ts";
import { knownTable } from "../app/session.ts";
import { plural, shortTime } from "../app/words.ts";
import { made } from "../publish/made.ts";
import { figuresOf } from "../publish/requests/figures.ts";
import { revisionsBefore } from "../publish/send.ts";
import { AfterView } from "./after-view.tsx";
import { Pair, Unknown } from "./pair.tsx";
import { RevisionLine } from "./revision-line.tsx";
import { RollBack } from "./roll-back.tsx";
import { beforeIn, useSummaries } from "./summaries.ts";

const PAGE = 20;

/** As often as isolates report. */
const ASK_MS = 10_000;

/** All revisions, and what any two of them differ in. */
export function Revisions() {
  const list = useList();
  const histories = useHistories();
  const [rollBack, setRollBack] = useState<number>();
  const { revisions, canary } = list;
  const inForce = knownTable.value?.revision;
  const { from, to, pick } = usePicked(revisions ?? [], inForce);
  const summaries = useSummaries(revisions ?? NONE, histories);
  const close = () => {
    setRollBack(undefined);
    void list.load();
  };
  if (revisions === undefined) {
    return list.problem ? (
      <ProblemNote problem={list.problem} onRetry={() => void list.load()} />
    ) : (
      <Skeleton label="Loading the revisions" />
    );
  }
  const oldest = revisions.at(-1);
  const own = revisions.find(({ revision }) => revision === to);
  return (
    <div class="split2">
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
              inForce={inForce}
              canary={canary}
              summary={summaries.get(each.revision)}
              from={from}
              to={to}
              onPick={pick}
            />
          ))}
        </ol>
        {list.problem && <ProblemNote problem={list.problem} onRetry={() => void list.load()} />}
        <footer>
          <span>
            {plural(revisions.length, "revision")}
            {oldest?.time !== undefined && ` since ${shortTime(oldest.time)}`}
          </span>
          {list.hasMore && (
            <Button size="small" onClick={() => void list.load(oldest?.revision)}>
              Older ones
            </Button>
          )}
        </footer>
      </section>
      <div class="pile">
        {from !== undefined && to !== undefined && (
          <>
            <Pair
              from={revisions.find(({ revision }) => revision === from)}
              to={own}
              fromNumber={from}
              toNumber={to}
              histories={histories}
              onRollBack={setRollBack}
            />
            {own && (
              <AfterView
                of={own}
                before={beforeIn(revisions, own.revision)}
                next={revisions.findLast(({ revision }) => revision > own.revision)}
                histories={histories}
              />
            )}
          </>
        )}
        {from === undefined && to !== undefined && <Unknown revision={to} />}
      </div>
      {rollBack !== undefined && <RollBack to={rollBack} onClose={close} />}
    </div>
  );
}

const NONE: readonly TableRevision[] = [];

function useList() {
  const [revisions, setRevisions] = useState<readonly TableRevision[]>();
  const [canary, setCanary] = useState<Status["canary"]>(null);
  const [hasMore, setMore] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const load = async (before?: number) => {
    const [answer, status] = await Promise.all([revisionsBefore(PAGE, before), call<Status>("/-/table/status")]);
    setProblem(answer.ok ? undefined : answer.problem);
    if (status.ok) setCanary(status.value.canary);
    if (!answer.ok) return;
    const found = answer.value.revisions;
    setRevisions((already) => (before === undefined ? found : [...(already ?? []), ...found]));
    setMore(found.length === PAGE);
  };
  // Those of others come with the table; the end of a canary makes none.
  useEffect(() => void load(), [knownTable.value?.revision, made.value?.atMs]);
  return { revisions, canary, hasMore, problem, load };
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

/** By the link, else the revision in force and the one before it. */
function usePicked(revisions: readonly TableRevision[], inForce: number | undefined) {
  const { query } = place.value;
  const numberIn = (name: string): number | undefined => {
    const text = query.get(name) ?? "";
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const to = numberIn("to") ?? numberIn("revision") ?? inForce;
  const from = numberIn("from") ?? (to === undefined ? undefined : beforeIn(revisions, to)?.revision);
  const pick = (side: "from" | "to", revision: number) => {
    const own = { from, to, [side]: revision };
    const pairs = Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
    setQuery("history", Object.fromEntries(pairs));
  };
  return { from, to, pick };
}
