import type { BreakerPolicy } from "../routing/table.ts";

/**
 * A circuit breaker as a pure state machine. Closed until so many failures in a row; then open for a while, in which nothing
 * is sent; then half open: one request at a time tries the origin, and an answer closes it again.
 *
 * ```text
 *             failures in a row          openMs have passed
 *   closed ───────────────────────▶ open ──────────────────▶ half open ──┐ answer: closed
 *     ▲  any answer                   ▲                          │       │
 *     └───────────────────────────────┴────── failure ───────────┘◀──────┘
 * ```
 */
export interface Breaker {
  /** In a row, up to now. */
  readonly failures: number;
  /** Unix ms; `undefined` while it is closed. */
  readonly openUntilMs: number | undefined;
  /** When the request that tries the origin was let through; `undefined` when there is none. */
  readonly probeSinceMs: number | undefined;
}

export const CLOSED: Breaker = Object.freeze({ failures: 0, openUntilMs: undefined, probeSinceMs: undefined });

/** A probe whose outcome was never reported, because its client left, stops counting after this. */
export const PROBE_LOST_MS = 60_000;

export type Permit =
  | { readonly state: "closed" }
  | { readonly state: "probe"; readonly breaker: Breaker }
  | { readonly state: "open"; readonly retryAfterMs: number };

/** Whether a request may go to the origin. For a probe the breaker is another one from now on. */
export function permit(breaker: Breaker, policy: BreakerPolicy, nowMs: number): Permit {
  const { openUntilMs, probeSinceMs } = breaker;
  if (openUntilMs === undefined) return { state: "closed" };
  if (nowMs < openUntilMs) return { state: "open", retryAfterMs: openUntilMs - nowMs };
  if (probeSinceMs !== undefined && nowMs - probeSinceMs < PROBE_LOST_MS) {
    return { state: "open", retryAfterMs: policy.openMs };
  }
  return { state: "probe", breaker: { ...breaker, probeSinceMs: nowMs } };
}

/** After any answer of the origin's own, whatever its status: it is there. */
export const afterAnswer = (breaker: Breaker): Breaker =>
  breaker.failures === 0 && breaker.openUntilMs === undefined ? breaker : CLOSED;

/** After no answer. A request that was let through before the breaker opened does not prolong it. */
export function afterFailure(breaker: Breaker, policy: BreakerPolicy, nowMs: number): Breaker {
  const failures = breaker.failures + 1;
  if (breaker.openUntilMs !== undefined) {
    return breaker.probeSinceMs === undefined ? breaker : open(failures, policy, nowMs);
  }
  return failures < policy.failures ? { ...breaker, failures } : open(failures, policy, nowMs);
}

/** After an attempt that says nothing of the origin: if it was the probe, another request is the next one. */
export const afterNothing = (breaker: Breaker): Breaker =>
  breaker.probeSinceMs === undefined ? breaker : { ...breaker, probeSinceMs: undefined };

const open = (failures: number, policy: BreakerPolicy, nowMs: number): Breaker => ({
  failures,
  openUntilMs: nowMs + policy.openMs,
  probeSinceMs: undefined,
});
