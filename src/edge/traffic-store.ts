import type { OriginHint, OriginNews, OriginState } from "./traffic-origins.ts";

/** What one isolate has counted and found since its last report. */
export interface TrafficReport {
  /** By series. */
  readonly sums: ReadonlyMap<string, number>;
  readonly origins: readonly OriginNews[];
}

/** What all of them have, since the Durable Object was first asked. */
export interface TrafficTotals {
  readonly sinceMs: number;
  readonly sums: ReadonlyMap<string, number>;
  /** By URL. */
  readonly origins: ReadonlyMap<string, OriginState>;
}

/** Where isolates meet. Both calls reject when it cannot be reached. */
export interface TrafficStore {
  report(report: TrafficReport): Promise<readonly OriginHint[]>;
  totals(): Promise<TrafficTotals>;
}

/** The Durable Object, as those who call it know it. */
export interface TrafficObject extends TrafficStore, Rpc.DurableObjectBranded {
  /** Sees to it that the active checks go on: after a deployment, and should an alarm have been lost. */
  keepChecking(): Promise<void>;
}
