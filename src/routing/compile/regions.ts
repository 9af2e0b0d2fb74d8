import type { DeclaredBreaker, DeclaredDeadlines } from "../schema/parts.ts";
import type { DeclaredRegion } from "../schema/table.ts";
import type { BreakerPolicy, Deadlines, Region } from "../table.ts";

/** Regions and forwarding settings. The defaults are here and only here. */

/** Covers a client's next few requests; a new revision of the table takes longer. */
export const REMEMBER_MOVED_SECONDS = 60;

/** Five failures in a row are more than one bad connection, and fewer than ten lost requests. */
const BREAKER_FAILURES = 5;
const BREAKER_OPEN_MS = 10_000;

const HEALTH_TIMEOUT_MS = 2_000;

export const regionOf = (name: string, declared: DeclaredRegion): Region => {
  const { origins, failover = [], failoverWrites = false, deadlines, breaker, health } = declared;
  return Object.freeze({
    name,
    origins: origins.map(({ url, weight = 1, binding }) =>
      Object.freeze({ url: url.replace(/\/$/, ""), weight, binding }),
    ),
    failover,
    failoverWrites,
    deadlines: deadlinesOf(deadlines),
    breaker: breakerOf(breaker),
    health: health && Object.freeze({ path: health.path, timeoutMs: health.timeoutMs ?? HEALTH_TIMEOUT_MS }),
  });
};

const NO_DEADLINES: Deadlines = Object.freeze({ firstByteMs: undefined, idleMs: undefined, totalMs: undefined });

export const deadlinesOf = (declared: DeclaredDeadlines | undefined): Deadlines =>
  declared === undefined ? NO_DEADLINES : Object.freeze({ ...NO_DEADLINES, ...declared });

const breakerOf = (declared: DeclaredBreaker | undefined): BreakerPolicy | undefined => {
  if (declared === false) return undefined;
  const { failures = BREAKER_FAILURES, openMs = BREAKER_OPEN_MS } = declared ?? {};
  return Object.freeze({ failures, openMs });
};
