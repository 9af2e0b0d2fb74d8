import type { Admission, OriginHealth } from "../../ports.ts";
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

/** Origins remembered at once. A table names fewer; those of tables long gone make room, the oldest first. */
const ORIGINS_MAX = 8_192;

interface Known {
  breaker: Breaker;
  answeredAtMs: number | undefined;
  fault: OriginUpdate["fault"];
  turned: OriginUpdate["breaker"];
  /** News that no report has carried yet. */
  isNew: boolean;
  hint: OriginHint | undefined;
  /** A breaker that stands half open on others' word alone is closed again at this time. */
  hintedUntilMs: number | undefined;
}

export interface HealthWatch {
  /** Told of each attempt, as it ended. */
  readonly attempts: { attempt(region: string, fault: OriginFault | undefined): void };
  /** `state`: what the breaker has just become. */
  readonly onStateChange: (region: string, url: string, state: "open" | "closed") => void;
}

export interface IsolateHealth extends OriginHealth {
  /** What was found since the last call. */
  drainUpdates(): readonly OriginUpdate[];
  /** Puts news back that could not be reported. */
  restoreUpdates(news: readonly OriginUpdate[]): void;
  /** What others have found. */
  learn(hints: readonly OriginHint[]): void;
  stateOf(url: string): OriginUpdate | undefined;
  breakerOf(url: string): Breaker;
}

/**
 * One breaker for each origin in this isolate. Others' word makes it half open at the most: the next request tries the
 * origin, and the rest wait for its outcome, but no longer than the policy's `openMs` since the word was true, and not at all when
 * this isolate has had an answer since.
 */
export function originHealth({ attempts, onStateChange }: HealthWatch): IsolateHealth {
  const origins = new Map<string, Known>();

  const add = (url: string): Known => {
    if (origins.size >= ORIGINS_MAX) origins.delete(origins.keys().next().value ?? "");
    const fresh: Known = {
      breaker: CLOSED,
      answeredAtMs: undefined,
      fault: undefined,
      turned: undefined,
      isNew: false,
      hint: undefined,
      hintedUntilMs: undefined,
    };
    origins.set(url, fresh);
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

    report({ name, breaker: policy }, { url }, fault, nowMs, wasProbe = false) {
      attempts.attempt(name, fault);
      const known = origins.get(url) ?? add(url);
      known.isNew = true;
      if (fault === undefined) known.answeredAtMs = nowMs;
      else known.fault = { fault, atMs: nowMs };
      if (policy === undefined || (fault === undefined && known.breaker === CLOSED)) return;
      const { breaker: before, hintedUntilMs } = known;
      const after = fault === undefined ? afterAnswer(before) : afterFailure(before, policy, nowMs, wasProbe);
      if (after === before) return;
      known.breaker = after;
      known.hintedUntilMs = undefined;
      const wasOpen = before.openUntilMs !== undefined && hintedUntilMs === undefined;
      if (after.openUntilMs !== undefined) known.turned = { atMs: nowMs, untilMs: after.openUntilMs };
      else if (wasOpen) known.turned = { atMs: nowMs, untilMs: 0 };
      const isOpen = after.openUntilMs !== undefined;
      if (isOpen !== wasOpen) onStateChange(name, url, isOpen ? "open" : "closed");
    },

    release({ url }) {
      const known = origins.get(url);
      if (known !== undefined) known.breaker = afterInconclusive(known.breaker);
    },

    drainUpdates() {
      const news: OriginUpdate[] = [];
      for (const [url, known] of origins) {
        if (!known.isNew) continue;
        known.isNew = false;
        news.push(updateOf(url, known));
      }
      return news;
    },

    restoreUpdates(news) {
      for (const { url } of news) {
        const known = origins.get(url);
        if (known !== undefined) known.isNew = true;
      }
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

    breakerOf: (url) => origins.get(url)?.breaker ?? CLOSED,
  };
}

const ADMITTED: Admission = Object.freeze({ state: "closed" });
const PROBE: Admission = Object.freeze({ state: "probe" });

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
