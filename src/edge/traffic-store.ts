import type { OriginHint, OriginState, OriginUpdate } from "./traffic-origins.ts";

/** What one isolate has counted and found since its last report. */
export interface MetricsReport {
  /** By series. */
  readonly sums: ReadonlyMap<string, number>;
  readonly origins: readonly OriginUpdate[];
}

/** What all of them have, since the Durable Object was first asked. */
export interface MetricsTotals {
  readonly sinceMs: number;
  readonly sums: ReadonlyMap<string, number>;
  /** By URL. */
  readonly origins: ReadonlyMap<string, OriginState>;
}

/** Where isolates meet. Both calls reject when it cannot be reached. */
export interface MetricsStore {
  report(report: MetricsReport): Promise<readonly OriginHint[]>;
  totals(): Promise<MetricsTotals>;
}

/** The Durable Object, as those who call it know it. */
export interface MetricsRpc extends MetricsStore, Rpc.DurableObjectBranded {
  /** Sees to it that the active checks go on: after a deployment, and should an alarm have been lost. */
  scheduleChecks(): Promise<void>;
}
