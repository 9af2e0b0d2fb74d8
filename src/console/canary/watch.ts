import { useCallback, useEffect, useState } from "preact/hooks";
import { figuresFrom } from "../../formats/canary-verdict.ts";
import type { MetricsHistory } from "../../formats/console-api.ts";
import type { Status, TableRevision } from "../../formats/table-api.ts";
import { call, inOrder, type Problem } from "../app/api.ts";

/** The page asks for these while it is open. */

const STATUS_MS = 3_000;
/** As often as isolates report. */
const FIGURES_MS = 10_000;

interface Asked<Value> {
  readonly value?: Value;
  readonly problem?: Problem;
}

export interface Watched<Value> extends Asked<Value> {
  readonly again: () => void;
}

/** Asks at once and in turn. A value stays while later answers fail: the problem stands beside it. */
function useAsked<Value>(ask: () => Promise<Asked<Value>>, everyMs: number, of: string): Watched<Value> {
  const [asked, setAsked] = useState<Asked<Value>>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isOver = false;
    const order = inOrder();
    const load = async () => {
      const isNews = order();
      const next = await ask();
      if (isOver || !isNews()) return;
      setAsked((before) => (next.problem === undefined ? next : { ...before, problem: next.problem }));
    };
    void load();
    const timer = setInterval(() => void load(), everyMs);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [of, turn]);
  return { ...asked, again: useCallback(() => setTurn((count) => count + 1), []) };
}

export const useStatus = (): Watched<Status> =>
  useAsked(
    async () => {
      const answer = await call<Status>("/-/table/status");
      return answer.ok ? { value: answer.value } : { problem: answer.problem };
    },
    STATUS_MS,
    "status",
  );

export interface CanaryFigures {
  /** Its author, time and note. */
  readonly record: TableRevision;
  /** Since it began, of the last hour at most. */
  readonly history: MetricsHistory;
}

export const useFigures = (revision: number): Watched<CanaryFigures> =>
  useAsked(
    async () => {
      const found = await call<{ revisions: readonly TableRevision[] }>(
        `/-/table/revisions?limit=1&before=${revision + 1}`,
      );
      if (!found.ok) return { problem: found.problem };
      const [record] = found.value.revisions;
      if (record?.revision !== revision || record.time === undefined) return {};
      const answer = await call<MetricsHistory>(`/-/metrics/history?span=hour&from=${figuresFrom(record.time)}`);
      return answer.ok ? { value: { record, history: answer.value } } : { problem: answer.problem };
    },
    FIGURES_MS,
    `${revision}`,
  );
