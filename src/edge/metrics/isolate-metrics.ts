import type { Clock, Counters, Metrics, OriginHealth, RequestLine } from "../../ports.ts";
import { type HealthWatch, originHealth } from "../origins/health.ts";
import { IsolateCounters, SeriesTotals } from "./counters.ts";
import { snapshotOf } from "./snapshot.ts";
import type { MetricsReport, MetricsStore, MetricsTotals } from "./store.ts";

export interface MetricsOptions {
  /** `undefined`: this isolate reports nothing and knows only its own counts. */
  readonly store: MetricsStore | undefined;
  /** The least time between two reports. */
  readonly reportMs: number;
  readonly clock: Clock;
  readonly onBreaker: HealthWatch["onStateChange"];
  readonly onReportFailure: (why: string) => void;
}

export interface IsolateMetrics extends Metrics {
  readonly originHealth: OriginHealth;
  readonly counters: Counters;
  /** Counts a request, and sends a report when one is due. */
  observe(line: RequestLine, waitUntil: (work: Promise<unknown>) => void): void;
}

/** Limit of series of one isolate, far above names times outcomes. The rest is summed as `(other)`. */
export const ISOLATE_SERIES_MAX = 2_000;

/** The platform stops background work 30 s after a request. A report that takes longer is lost. */
const REPORT_LOST_MS = 60_000;

/**
 * Counts in this isolate and reports them to the Durable Object, beside requests and one report at a time. A failed report is
 * sent again with the next. A report whose request was cut off is lost; one whose response was lost is counted twice.
 */
export function isolateMetrics(options: MetricsOptions): IsolateMetrics {
  const { store, reportMs, clock, onReportFailure } = options;
  const startedAtMs = clock.nowMs();
  const cells = new IsolateCounters();
  /** Drained and not reported yet. */
  let pending = new SeriesTotals(ISOLATE_SERIES_MAX);
  let dueMs = 0;
  let isUrgent = false;
  /** No second report starts before this time while one is running. */
  let busyUntilMs = 0;

  const health = originHealth({
    onAttempt: (region, fault) => cells.attempt(region, fault),
    onStateChange(region, url, state) {
      if (state === "open") cells.breakerOpened(region);
      isUrgent = true;
      options.onBreaker(region, url, state);
    },
  });

  const take = (): MetricsReport => {
    pending.addAll(cells.drain());
    const sums = new Map(pending);
    pending = new SeriesTotals(ISOLATE_SERIES_MAX);
    return { sums, origins: health.drainUpdates() };
  };

  const send = async (to: MetricsStore): Promise<boolean> => {
    const report = take();
    isUrgent = false;
    dueMs = clock.nowMs() + reportMs;
    try {
      health.learn(await to.report(report));
      return true;
    } catch (error) {
      pending.addAll(report.sums);
      health.restoreUpdates(report.origins);
      onReportFailure(error instanceof Error ? error.message : String(error));
      return false;
    }
  };

  const sendAlone = async (to: MetricsStore, nowMs: number): Promise<void> => {
    busyUntilMs = nowMs + REPORT_LOST_MS;
    await send(to);
    busyUntilMs = 0;
  };

  /** This isolate's own counts. */
  const ownTotals = (): MetricsTotals => {
    pending.addAll(cells.drain());
    return { sinceMs: startedAtMs, sums: new Map(pending), origins: new Map() };
  };

  return {
    originHealth: health,
    counters: { count: (name, ...labels) => cells.event(name, labels) },

    observe(line, waitUntil) {
      cells.request(line);
      if (store === undefined) return;
      if (line.atMs < dueMs && !isUrgent) return;
      if (line.atMs >= busyUntilMs) waitUntil(sendAlone(store, line.atMs));
    },

    async snapshot(served) {
      const nowMs = clock.nowMs();
      const context = { served, nowMs, own: health };
      if (store === undefined) return snapshotOf({ ...context, source: "isolate", totals: ownTotals() });
      // Not the running report of another request: what belongs to that cannot be waited for here.
      const totals = (await send(store)) ? await totalsOf(store, onReportFailure) : undefined;
      return snapshotOf({ ...context, source: totals === undefined ? "isolate" : "all", totals });
    },
  };
}

async function totalsOf(
  store: MetricsStore,
  onReportFailure: (why: string) => void,
): Promise<MetricsTotals | undefined> {
  try {
    return await store.totals();
  } catch (error) {
    onReportFailure(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
