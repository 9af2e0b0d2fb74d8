import type { OriginCheck } from "../../ports.ts";
import type { OriginFault } from "../../proxy/errors.ts";
import { throwTimeout, withTimeout } from "../platform.ts";

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
export interface OriginHint {
  readonly url: string;
  readonly seenAtMs: number;
}

/** The newest update wins, whatever its source and the order of arrival. */
export function applyUpdate(state: OriginState | undefined, update: OriginUpdate, nowMs: number): OriginState {
  return {
    ...state,
    heardAtMs: nowMs,
    answeredAtMs: latest(state?.answeredAtMs, update.answeredAtMs),
    fault: later(state?.fault, update.fault),
    breaker: later(state?.breaker, update.breaker),
  };
}

export function withCheck(state: OriginState | undefined, path: string, check: OriginCheck): OriginState {
  return {
    ...state,
    heardAtMs: check.atMs,
    // Any response shows that the origin is reachable, even an unhealthy one.
    answeredAtMs: latest(state?.answeredAtMs, check.fault === undefined ? check.atMs : undefined),
    checks: { ...state?.checks, [path]: check },
  };
}

/** Whether other isolates should probe the origin first. */
export function hintOf(url: string, state: OriginState): OriginHint | undefined {
  let seenAtMs = state.breaker !== undefined && state.breaker.untilMs > 0 ? state.breaker.atMs : 0;
  for (const { atMs, fault } of Object.values(state.checks ?? {})) {
    if (fault !== undefined && atMs > seenAtMs) seenAtMs = atMs;
  }
  return seenAtMs > (state.answeredAtMs ?? 0) ? { url, seenAtMs } : undefined;
}

const latest = (one = 0, other = 0): number | undefined => Math.max(one, other) || undefined;

const later = <Event extends { readonly atMs: number }>(one: Event | undefined, other: Event | undefined) =>
  one === undefined || (other !== undefined && other.atMs >= one.atMs) ? other : one;

/** An isolate's counts and observations since its last report. */
export interface MetricsReport {
  /** By series. */
  readonly sums: ReadonlyMap<string, number>;
  readonly origins: readonly OriginUpdate[];
}

/** The sums of all isolates since the Durable Object was created. */
export interface MetricsTotals {
  readonly sinceMs: number;
  readonly sums: ReadonlyMap<string, number>;
  /** By URL. */
  readonly origins: ReadonlyMap<string, OriginState>;
}

/** The shared store. Both calls reject if it cannot be reached. */
export interface MetricsStore {
  report(report: MetricsReport): Promise<readonly OriginHint[]>;
  totals(): Promise<MetricsTotals>;
}

export interface MetricsRpc extends MetricsStore, Rpc.DurableObjectBranded {
  /** Resumes the active checks after a deployment or a lost alarm. */
  scheduleChecks(): Promise<void>;
}

/** A deployment has one object. */
const NAME = "all";

/** A call takes a few milliseconds from nearby and some hundred from afar; a scraper gives up after 10 s. */
const DEADLINE_MS = 4_000;

/** The Durable Object as a store. A stub is broken after a failure, so each call makes its own. */
export function durableMetrics(namespace: DurableObjectNamespace<MetricsRpc>): MetricsStore {
  const stub = () => namespace.get(namespace.idFromName(NAME));
  return {
    report: (report) => withTimeout(stub().report(report), DEADLINE_MS, throwTimeout),
    totals: () => withTimeout(stub().totals(), DEADLINE_MS, throwTimeout),
  };
}

/** Called by the cron trigger. */
export const scheduleChecks = (namespace: DurableObjectNamespace<MetricsRpc>): Promise<void> =>
  withTimeout(namespace.get(namespace.idFromName(NAME)).scheduleChecks(), DEADLINE_MS, throwTimeout);
