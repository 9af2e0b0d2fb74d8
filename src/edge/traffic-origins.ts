import type { OriginCheck } from "../ports.ts";
import type { OriginFault } from "../proxy/errors.ts";

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

/** To isolates: the origin was found not to answer, and nobody has had an answer since. */
export interface OriginHint {
  readonly url: string;
  readonly seenAtMs: number;
}

/** Newer news goes before older, whoever brings it, in whatever order it comes. */
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
