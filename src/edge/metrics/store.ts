import type { EventPage, EventQuery, HistorySpan, MetricsHistory, ProblemSamples } from "../../formats/console-api.ts";
import type { RecentTraffic, RegionSince } from "../../formats/region-state.ts";
import type { OriginCheck } from "../../ports/gateway.ts";
import type { OriginFault } from "../../proxy/errors.ts";
import { throwTimeout, withTimeout } from "../platform.ts";
import type { ReportedTable } from "./isolates.ts";
import type { RouteCount, SampledProblems } from "./request-shares.ts";
import type { RegionClasses } from "./steps.ts";

/** An isolate's observations of an origin since its last report. Times are Unix ms of its own clock. */
export interface OriginUpdate {
  readonly url: string;
  readonly answeredAtMs: number | undefined;
  readonly fault: { readonly fault: OriginFault; readonly atMs: number } | undefined;
  /** The last change of the breaker; `untilMs` is 0 if it closed. */
  readonly breaker: { readonly atMs: number; readonly untilMs: number } | undefined;
}

/** The state of an origin, as stored by the Durable Object: members may be added, none may change. */
export interface OriginState extends Partial<Omit<OriginUpdate, "url">> {
  readonly heardAtMs: number;
  /** The last active check of each path. */
  readonly checks?: Readonly<Record<string, OriginCheck>> | undefined;
}

/** Tells isolates that an origin failed and that no isolate has had a response since. */
export type OriginHint = Readonly<{ url: string; seenAtMs: number }>;

/** An isolate's counts by series, and its observations, since its last report. */
export type MetricsReport = Readonly<{ sums: ReadonlyMap<string, number>; origins: readonly OriginUpdate[] }> & {
  readonly table?: ReportedTable | undefined;
  /** Reports of an isolate are counted up; one that is sent again keeps its number. Absent from former versions. */
  readonly from?: { readonly isolate: string; readonly number: number };
  // Absent from former versions, and read by no object of one.
  readonly routes?: readonly RouteCount[];
  readonly classes?: RegionClasses;
  readonly problems?: SampledProblems;
};

/** The sums of all isolates since the Durable Object was created. */
export interface MetricsTotals {
  readonly sinceMs: number;
  readonly sums: ReadonlyMap<string, number>;
  /** By URL. */
  readonly origins: ReadonlyMap<string, OriginState>;
  /** Figures of the last minute, by region. Absent from an object of a former version. */
  readonly recent?: ReadonlyMap<string, RecentTraffic>;
  /** By region: since when it is as it is. */
  readonly states?: ReadonlyMap<string, RegionSince>;
}

/** The shared store. All calls reject if it cannot be reached. */
export interface MetricsStore {
  report(report: MetricsReport): Promise<readonly OriginHint[]>;
  totals(): Promise<MetricsTotals>;
  /** Steps of a span; `from`: Unix seconds of the first one that is asked for. */
  history(span: HistorySpan, from?: number): Promise<MetricsHistory>;
  /** The last requests that had a problem. Rejects at an object of a former version. */
  problem(slug: string): Promise<ProblemSamples>;
  /** The log of events. */
  events(query: EventQuery): Promise<EventPage>;
}

export interface MetricsRpc extends MetricsStore, Rpc.DurableObjectBranded {
  /** The control plane has made a change, or knows machines: it is asked for them. */
  noteNews(): Promise<void>;
  /** Resumes the active checks after a deployment or a lost alarm. */
  scheduleChecks(): Promise<void>;
}

/** A deployment has one object. */
export const METRICS_OBJECT = "all";

/** A call takes a few milliseconds from nearby and some hundred from afar; a scraper gives up after 10 s. */
const DEADLINE_MS = 4_000;

/** The Durable Object as a store. A stub is broken after a failure, so each call makes its own. */
export function durableMetrics(namespace: DurableObjectNamespace<MetricsRpc>): MetricsStore {
  const stub = () => namespace.get(namespace.idFromName(METRICS_OBJECT));
  return {
    report: (report) => withTimeout(stub().report(report), DEADLINE_MS, throwTimeout),
    totals: () => withTimeout(stub().totals(), DEADLINE_MS, throwTimeout),
    history: (span, from) => withTimeout(stub().history(span, from), DEADLINE_MS, throwTimeout),
    problem: (slug) => withTimeout(stub().problem(slug), DEADLINE_MS, throwTimeout),
    events: (query) => withTimeout(stub().events(query), DEADLINE_MS, throwTimeout),
  };
}

/** Called by the cron trigger. */
export const scheduleChecks = (namespace: DurableObjectNamespace<MetricsRpc>): Promise<void> =>
  withTimeout(namespace.get(namespace.idFromName(METRICS_OBJECT)).scheduleChecks(), DEADLINE_MS, throwTimeout);
