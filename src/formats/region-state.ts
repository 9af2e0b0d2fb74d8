/** How a region is, and what that is based on: one judge for `/-/regions`, the console and support. Pure. */

export type RegionState = "healthy" | "testing" | "degraded" | "down" | "not-asked";

export interface RegionHealth {
  readonly state: RegionState;
  /** A sentence without a host and without a number of requests: support sees it too. */
  readonly basis: string;
  /** ISO 8601: when it came to be so; absent where that is not known. */
  readonly since?: string;
}

/** Unix ms; `state`: as `judgeRegion` has it. */
export interface RegionSince {
  readonly state: string;
  readonly sinceMs: number;
}

/** Evidence about one origin. Times are Unix ms. */
export interface ObservedOrigin {
  /** 0: it is drained, and gets no request. */
  readonly weight: number;
  readonly breaker: "closed" | "open" | "half-open";
  readonly lastFault: { readonly atMs: number } | undefined;
  readonly lastAnswerAtMs: number | undefined;
  readonly lastCheck: { readonly atMs: number; readonly isGood: boolean } | undefined;
}

/** Figures of the last minute or so, in all isolates. */
export interface RecentTraffic {
  readonly requests: number;
  /** Answered with a status from 500 on, by an origin or the gateway. */
  readonly errors: number;
  /** Attempts without a response; a retry may have made up for them. */
  readonly faults: number;
  /** Requests that an origin answered. */
  readonly answers: number;
}

/** Errors are many from this share on, or from half where they are few. */
export const MANY_SHARE = 0.05;
export const FEW_ERRORS = 3;

/** A region is down after this many requests, if all of them failed. */
export const ALL_FAILED_MIN = 5;

/** Evidence that is older says nothing of now. */
export const FRESH_MS = 300_000;

/** A fault within this time of an answer is one of many requests at once. */
const BESIDE_MS = 10_000;

/** The worst that is known counts. `recent`: `undefined` where the counters of all isolates cannot be read. */
export function judgeRegion(
  origins: readonly ObservedOrigin[],
  recent: RecentTraffic | undefined,
  nowMs: number,
): RegionHealth {
  const used = origins.filter(({ weight }) => weight > 0);
  if (used.length === 0) return { state: "not-asked", basis: "Its origins are drained: their weight is 0." };
  const count = (is: (origin: ObservedOrigin) => boolean): number => used.filter(is).length;
  const open = count(({ breaker }) => breaker === "open");
  const unfit = count((origin) => origin.breaker !== "open" && hasFailedCheck(origin, nowMs));
  const halfOpen = count((origin) => origin.breaker === "half-open" && !hasFailedCheck(origin, nowMs));
  const down = open + unfit;
  const all = used.length;
  const traffic = recent === undefined ? undefined : judgeTraffic(recent);
  if (down === all) return { state: "down", basis: open > 0 ? openText(open, all) : unfitText(unfit, all) };
  if (down + halfOpen === all) return { state: "testing", basis: testingText(halfOpen, all) };
  if (traffic !== undefined) return traffic;
  if (down > 0) return { state: "degraded", basis: open > 0 ? openText(open, all) : unfitText(unfit, all) };
  if (halfOpen > 0) return { state: "testing", basis: testingText(halfOpen, all) };
  const silent = count(hasLastFailed);
  if (silent > 0)
    return {
      state: "degraded",
      basis: `${of(silent, all)} did not answer when ${silent === 1 ? "it was" : "they were"} last asked.`,
    };
  return judgeEvidence(used, recent, nowMs);
}

const hasFailedCheck = ({ lastCheck }: ObservedOrigin, nowMs: number): boolean =>
  lastCheck?.isGood === false && nowMs - lastCheck.atMs < FRESH_MS;

const hasLastFailed = ({ lastFault, lastAnswerAtMs = -Infinity }: ObservedOrigin): boolean =>
  lastFault !== undefined && lastFault.atMs - lastAnswerAtMs > BESIDE_MS;

const of = (some: number, all: number): string => (all === 1 ? "Its origin" : `${some} of its ${all} origins`);

const openText = (open: number, all: number): string =>
  `${of(open, all)} ${open === 1 ? "gets no request: its circuit breaker is" : "get no request: their circuit breakers are"} open.`;

const unfitText = (unfit: number, all: number): string =>
  `${of(unfit, all)} failed ${unfit === 1 ? "its last check" : "their last checks"}.`;

const testingText = (halfOpen: number, all: number): string =>
  `${of(halfOpen, all)} ${halfOpen === 1 ? "gets one request at a time: its circuit breaker is" : "get one request at a time each: their circuit breakers are"} half open.`;

function judgeTraffic({ requests, errors, faults }: RecentTraffic): RegionHealth | undefined {
  if (requests >= ALL_FAILED_MIN && errors >= requests) {
    return { state: "down", basis: "Every request of the last minute failed." };
  }
  if (areMany(errors, requests)) {
    return { state: "degraded", basis: `${shareText(errors / requests)} of the requests of the last minute failed.` };
  }
  const attempts = requests + faults;
  if (!areMany(faults, attempts)) return undefined;
  return {
    state: "degraded",
    basis: `${shareText(faults / attempts)} of the attempts of the last minute got no answer.`,
  };
}

const areMany = (some: number, all: number): boolean =>
  some > 0 && some / all >= (some < FEW_ERRORS ? 0.5 : MANY_SHARE);

function judgeEvidence(
  used: readonly ObservedOrigin[],
  recent: RecentTraffic | undefined,
  nowMs: number,
): RegionHealth {
  if (recent !== undefined && recent.answers > 0) {
    const failed = recent.errors === 0 ? "No request" : `${shareText(recent.errors / recent.requests)} of the requests`;
    return { state: "healthy", basis: `${failed} of the last minute failed.` };
  }
  const lastCheckMs = Math.max(...used.map(({ lastCheck }) => lastCheck?.atMs ?? -Infinity));
  const lastAnswerMs = Math.max(...used.map(({ lastAnswerAtMs = -Infinity }) => lastAnswerAtMs));
  if (nowMs - lastCheckMs < FRESH_MS) return { state: "healthy", basis: "Its last check passed." };
  if (nowMs - lastAnswerMs < FRESH_MS) {
    return { state: "healthy", basis: `It answered ${durationText(nowMs - lastAnswerMs)} ago.` };
  }
  const since = Number.isFinite(lastAnswerMs) ? ` for ${durationText(nowMs - lastAnswerMs)}` : " yet";
  return { state: "not-asked", basis: `No request was answered${since}.` };
}

/** Two digits, and never 0 or 100 for what is not. */
export function shareText(share: number): string {
  const percent = share * 100;
  if (percent >= 100) return "100 %";
  const shown = percent >= 10 ? Math.min(99, Math.round(percent)) : Number(percent.toPrecision(2));
  return `${Math.max(0.01, shown)} %`;
}

export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
