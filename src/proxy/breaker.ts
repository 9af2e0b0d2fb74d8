import type { BreakerPolicy } from "../routing/table.ts";

/**
 * A circuit breaker as a pure state machine. It opens after consecutive failures in a time without any answer, or when
 * half of much traffic fails. While it is open, nothing is sent. Then it is half open: one request at a time tries the
 * origin, and an answer closes it.
 *
 * ```text
 *                  failures         openMs have passed
 *   closed ───────────────────▶ open ──────────────────▶ half open ──┐ answer: closed
 *     ▲  any answer               ▲                          │       │
 *     └───────────────────────────┴────── failure ───────────┘◀──────┘
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

/** Outcomes of the last requests to an origin, the failure that is being reported included. */
export interface Traffic {
  /** Since the origin last answered; infinite where it never did. */
  readonly silentMs: number;
  /** In the last 5 to 10 s. */
  readonly answers: number;
  readonly failures: number;
}

/** A burst of requests that break their own connections ends sooner than an origin that serves others is silent. */
const SILENT_MS_MIN = 100;

/** Failures of an origin that also answers count from this multiple of the policy's failures on. */
const MUCH_TRAFFIC = 4;

export type Admittance =
  | { readonly state: "closed" }
  | { readonly state: "probe"; readonly breaker: Breaker }
  | { readonly state: "open"; readonly retryAfterMs: number };

/** Whether a request may go to the origin. For a probe the breaker is another one from now on. */
export function allowRequest(breaker: Breaker, policy: BreakerPolicy, nowMs: number): Admittance {
  const { openUntilMs, probeSinceMs } = breaker;
  if (openUntilMs === undefined) return { state: "closed" };
  if (nowMs < openUntilMs) return { state: "open", retryAfterMs: openUntilMs - nowMs };
  // The longest that a slow probe, or one whose client left, delays the next one.
  if (probeSinceMs !== undefined && nowMs < probeSinceMs + policy.openMs) {
    return { state: "open", retryAfterMs: probeSinceMs + policy.openMs - nowMs };
  }
  return { state: "probe", breaker: { ...breaker, probeSinceMs: nowMs } };
}

/** After any answer of the origin's own, whatever its status: it is there. */
export const afterAnswer = (breaker: Breaker): Breaker =>
  breaker.failures === 0 && breaker.openUntilMs === undefined ? breaker : CLOSED;

/** After no answer. A request that was let through before the breaker opened does not prolong it: only its probe does. */
export function afterFailure(
  breaker: Breaker,
  policy: BreakerPolicy,
  nowMs: number,
  { silentMs, answers, failures: recent }: Traffic,
  wasProbe = false,
): Breaker {
  const failures = breaker.failures + 1;
  if (breaker.openUntilMs !== undefined) return wasProbe ? open(failures, policy, nowMs) : breaker;
  const isSilent = failures >= policy.failures && silentMs >= SILENT_MS_MIN;
  const isFailing = recent >= policy.failures * MUCH_TRAFFIC && recent >= answers;
  return isSilent || isFailing ? open(failures, policy, nowMs) : { ...breaker, failures };
}

/** After a probe that says nothing of the origin: the next request is another one. */
export const afterInconclusive = (breaker: Breaker): Breaker =>
  breaker.probeSinceMs === undefined ? breaker : { ...breaker, probeSinceMs: undefined };

const open = (failures: number, policy: BreakerPolicy, nowMs: number): Breaker => ({
  failures,
  openUntilMs: nowMs + policy.openMs,
  probeSinceMs: undefined,
});
