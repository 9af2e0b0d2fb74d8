import type { Admission, OriginHealth } from "../../ports/gateway.ts";
import {
  afterAnswer,
  afterFailure,
  afterInconclusive,
  allowRequest,
  type Breaker,
  CLOSED,
} from "../../proxy/breaker.ts";
import type { OriginFault } from "../../proxy/errors.ts";
import type { BreakerPolicy } from "../../routing/table.ts";
import type { OriginHint, OriginUpdate } from "../metrics/store.ts";
import { setLast } from "../platform.ts";

/** Origins remembered at once. A table names fewer; those of tables long gone make room, the oldest first. */
const ORIGINS_MAX = 8_192;

class Known {
  breaker: Breaker = CLOSED;
  /** Counts of this half window, and of the one before. */
  answers = 0;
  failures = 0;
  answersBefore = 0;
  failuresBefore = 0;
  halfEndsMs = 0;
  /** Requests that an origin with an open breaker got for want of another, and since when they are counted. */
  waiting = 0;
  waitingSinceMs = 0;
  trickledAtMs = 0;
  answeredAtMs: number | undefined;
  fault: OriginUpdate["fault"];
  turned: OriginUpdate["breaker"];
  /** Whether the breaker was last told to be open, and when. */
  isToldOpen = false;
  toldAtMs = -Infinity;
  /** News that no report has carried yet. */
  isNew = false;
  hint: OriginHint | undefined;
  /** A breaker that stands half open on others' word alone is closed again at this time. */
  hintedUntilMs: number | undefined;
}

export interface HealthWatch {
  /** Called with the outcome of each attempt. */
  readonly attempts: { attempt(region: string, fault: OriginFault | undefined): void };
  /** `state`: what the breaker has become. One that opens and closes many times in some seconds is told once. */
  readonly onStateChange: (region: string, url: string, state: "open" | "closed") => void;
}

export interface IsolateHealth extends OriginHealth {
  /** The changes found since the last call. */
  drainUpdates(): readonly OriginUpdate[];
  /** Takes hints from other isolates. */
  learn(hints: readonly OriginHint[]): void;
  stateOf(url: string): OriginUpdate | undefined;
}

/**
 * One breaker for each origin in this isolate. Others' word makes it half open at the most: the next request tries the
 * origin, and the rest wait for its outcome, but no longer than the policy's `openMs` since the word was true, and not at all when
 * this isolate has had an answer since.
 */
export function originHealth({ attempts, onStateChange }: HealthWatch): IsolateHealth {
  const origins = new Map<string, Known>();

  const add = (url: string): Known => {
    const fresh = new Known();
    setLast(origins, url, fresh, ORIGINS_MAX);
    return fresh;
  };

  return {
    admit({ url }, policy, nowMs) {
      const known = origins.get(url);
      if (known === undefined || policy === undefined) return ADMITTED;
      if (known.hint !== undefined) takeHint(known, policy, nowMs);
      if (known.hintedUntilMs !== undefined && nowMs >= known.hintedUntilMs) {
        known.hintedUntilMs = undefined;
        known.breaker = CLOSED;
      }
      if (known.breaker === CLOSED) return ADMITTED;
      const given = allowRequest(known.breaker, policy, nowMs);
      if (given.state === "closed") return ADMITTED;
      if (given.state === "open") return given;
      known.breaker = given.breaker;
      return PROBE;
    },

    admitLast({ url }, policy, nowMs) {
      const known = origins.get(url) ?? add(url);
      // The word of others refuses nothing.
      if (known.hintedUntilMs !== undefined) return LAST;
      // A client that leaves takes its request with it, and that is not reported: counts end with their period.
      if (nowMs - known.waitingSinceMs >= policy.openMs || nowMs < known.waitingSinceMs) {
        known.waiting = 0;
        known.waitingSinceMs = nowMs;
      }
      // Slow requests may hold all places, though the origin would answer others at once.
      const isTrickle = nowMs - known.trickledAtMs >= TRICKLE_MS || nowMs < known.trickledAtMs;
      // An origin that answers meanwhile is there, however many requests wait for it and whatever others break.
      const isThere = Math.abs(nowMs - (known.answeredAtMs ?? -Infinity)) < THERE_MS;
      if (known.waiting >= WAITING_MAX && !isTrickle && !isThere) {
        return { state: "open", retryAfterMs: RETRY_AFTER_MS };
      }
      if (isTrickle) known.trickledAtMs = nowMs;
      known.waiting += 1;
      return LAST;
    },

    report({ name, breaker: policy }, { url }, fault, nowMs, as = "closed") {
      attempts.attempt(name, fault);
      const known = origins.get(url) ?? add(url);
      known.isNew = true;
      if (as === "last" && known.waiting > 0) known.waiting -= 1;
      if (nowMs >= known.halfEndsMs) startHalf(known, nowMs);
      const silentMs = nowMs - (known.answeredAtMs ?? -Infinity);
      if (fault === undefined) {
        known.answeredAtMs = nowMs;
        known.answers += 1;
      } else {
        known.fault = { fault, atMs: nowMs };
        // A further fault of one request is shown and not counted.
        if (as !== "again") known.failures += 1;
      }
      const { breaker: before } = known;
      const mayTurn = fault === undefined ? before !== CLOSED : as !== "again";
      if (policy === undefined || !mayTurn) return;
      const traffic = {
        silentMs,
        answers: known.answers + known.answersBefore,
        failures: known.failures + known.failuresBefore,
      };
      const after =
        fault === undefined ? afterAnswer(before) : afterFailure(before, policy, nowMs, traffic, as === "probe");
      if (after === before) return;
      turn(known, after, nowMs);
      const state = newsOf(known, nowMs);
      if (state !== undefined) onStateChange(name, url, state);
    },

    release({ url }, as) {
      const known = origins.get(url);
      if (known === undefined) return;
      if (as === "probe") known.breaker = afterInconclusive(known.breaker);
      if (as === "last" && known.waiting > 0) known.waiting -= 1;
    },

    drainUpdates() {
      const news = [...origins].filter(([, { isNew }]) => isNew);
      for (const [, known] of news) known.isNew = false;
      return news.map(([url, known]) => updateOf(url, known));
    },

    learn(hints) {
      for (const hint of hints) {
        const known = origins.get(hint.url) ?? add(hint.url);
        if (hint.seenAtMs > (known.hint?.seenAtMs ?? 0)) known.hint = hint;
      }
    },

    stateOf(url) {
      const known = origins.get(url);
      return known && updateOf(url, known);
    },
  };
}

const ADMITTED: Admission = Object.freeze({ state: "closed" });
const PROBE: Admission = Object.freeze({ state: "probe" });
const LAST: Admission = Object.freeze({ state: "last" });

/** Requests that wait at once for an open origin without another: enough if it is there, few enough for the memory. */
const WAITING_MAX = 100;

/** One probe per interval, beside the requests that wait. */
const TRICKLE_MS = 100;

/** Grace after an answer, in which nothing is refused: a silent origin gathers only its requests of this time. */
const THERE_MS = 1_000;

/** One of those that wait will soon know more. */
const RETRY_AFTER_MS = 1_000;

/** Between two openings of one origin's breaker that are told. */
const TOLD_MS_MIN = 10_000;

const HALF_WINDOW_MS = 5_000;

function startHalf(known: Known, nowMs: number): void {
  const isNext = nowMs < known.halfEndsMs + HALF_WINDOW_MS;
  known.answersBefore = isNext ? known.answers : 0;
  known.failuresBefore = isNext ? known.failures : 0;
  known.answers = 0;
  known.failures = 0;
  known.halfEndsMs = nowMs + HALF_WINDOW_MS;
}

/** Sets the breaker, and keeps when it opened or closed. */
function turn(known: Known, after: Breaker, nowMs: number): void {
  const wasOpen = known.breaker.openUntilMs !== undefined && known.hintedUntilMs === undefined;
  known.breaker = after;
  known.hintedUntilMs = undefined;
  if (after.openUntilMs !== undefined) known.turned = { atMs: nowMs, untilMs: after.openUntilMs };
  else if (wasOpen) known.turned = { atMs: nowMs, untilMs: 0 };
}

/** The breaker's state, if it is to be told: one that a client opens and closes with every other request is told once. */
function newsOf(known: Known, nowMs: number): "open" | "closed" | undefined {
  const isOpen = known.breaker.openUntilMs !== undefined;
  const isNews = isOpen ? nowMs - known.toldAtMs >= TOLD_MS_MIN : known.isToldOpen;
  if (isOpen === known.isToldOpen || !isNews) return undefined;
  known.isToldOpen = isOpen;
  if (isOpen) known.toldAtMs = nowMs;
  return isOpen ? "open" : "closed";
}

function updateOf(url: string, { answeredAtMs, fault, turned }: Known): OriginUpdate {
  return { url, answeredAtMs, fault, breaker: turned };
}

/** Uses a hint once: when it is fresh, the breaker is closed, and nothing was seen here since it was true. */
function takeHint(known: Known, { failures, openMs }: BreakerPolicy, nowMs: number): void {
  const { seenAtMs = 0 } = known.hint ?? {};
  known.hint = undefined;
  // Clocks differ a little: what is said of the future counts from now.
  const untilMs = Math.min(seenAtMs, nowMs) + openMs;
  const isNews = seenAtMs > (known.answeredAtMs ?? 0) && seenAtMs > (known.fault?.atMs ?? 0);
  if (!isNews || nowMs >= untilMs || known.breaker.openUntilMs !== undefined) return;
  known.breaker = { failures, openUntilMs: nowMs, probeSinceMs: undefined };
  known.hintedUntilMs = untilMs;
}
