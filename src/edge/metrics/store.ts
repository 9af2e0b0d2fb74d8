import type { OriginCheck } from "../../ports.ts";
import type { OriginFault } from "../../proxy/errors.ts";
import { throwTimeout, withTimeout } from "../platform.ts";

/** What an isolate has found of an origin since its last report. Times are Unix ms of its own clock. */
export interface OriginUpdate {
  readonly url: string;
  readonly answeredAtMs: number | undefined;
  readonly fault: { readonly fault: OriginFault; readonly atMs: number } | undefined;
  /** Of the breaker that opened, or closed again: then `untilMs` is 0. */
  readonly breaker: { readonly atMs: number; readonly untilMs: number } | undefined;
}

/** All that is known of an origin. The shape of the Durable Object's rows: members may be added, none may change. */
export interface OriginState {
  readonly heardAtMs: number;
  readonly answeredAtMs?: number | undefined;
  readonly fault?: { readonly fault: OriginFault; readonly atMs: number } | undefined;
  readonly breaker?: { readonly atMs: number; readonly untilMs: number } | undefined;
  /** The last active check of each path. */
  readonly checks?: Readonly<Record<string, OriginCheck>> | undefined;
}

/** For isolates: the origin did not answer, and no isolate has had an answer since. */
export interface OriginHint {
  readonly url: string;
  readonly seenAtMs: number;
}

/** The newest update wins, whatever its source and the order of arrival. */
export function applyUpdate(state: OriginState | undefined, news: OriginUpdate, nowMs: number): OriginState {
  return {
    ...state,
    heardAtMs: nowMs,
    answeredAtMs: latest(state?.answeredAtMs, news.answeredAtMs),
    fault: later(state?.fault, news.fault),
    breaker: later(state?.breaker, news.breaker),
  };
}

export function withCheck(state: OriginState | undefined, path: string, check: OriginCheck): OriginState {
  return {
    ...state,
    heardAtMs: check.atMs,
    // Any answer shows that the origin is there; whether it is a good one is another question.
    answeredAtMs: latest(state?.answeredAtMs, check.fault === undefined ? check.atMs : undefined),
    checks: { ...state?.checks, [path]: check },
  };
}

/** Whether others should try the origin before they rely on it. */
export function hintOf(url: string, state: OriginState): OriginHint | undefined {
  let seenAtMs = state.breaker !== undefined && state.breaker.untilMs > 0 ? state.breaker.atMs : 0;
  for (const { atMs, fault } of Object.values(state.checks ?? {})) {
    if (fault !== undefined && atMs > seenAtMs) seenAtMs = atMs;
  }
  return seenAtMs > (state.answeredAtMs ?? 0) ? { url, seenAtMs } : undefined;
}

function latest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.max(one, other);
}

function later<Event extends { readonly atMs: number }>(
  one: Event | undefined,
  other: Event | undefined,
): Event | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other.atMs >= one.atMs ? other : one;
}

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

/** All isolates of a deployment meet in one object. */
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

/** For the platform's timer. */
export const scheduleChecks = (namespace: DurableObjectNamespace<MetricsRpc>): Promise<void> =>
  withTimeout(namespace.get(namespace.idFromName(NAME)).scheduleChecks(), DEADLINE_MS, throwTimeout);
