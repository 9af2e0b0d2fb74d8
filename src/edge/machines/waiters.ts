import type { Clock } from "../../ports/gateway.ts";
import { never, type Within } from "./timer.ts";
import { isToCome } from "./to-come.ts";

/** More than an edge gets answers for while they wait. */
const WAITING_MAX = 1_000;

/** A call that has not looked for this long was dropped: the runtime drops requests that their clients leave. */
const DROPPED_MS = 500;

export interface Waiter {
  /** When it looked last, Unix ms. */
  seenMs: number;
}

/** Calls that wait for the same thing, in their order: a client that is refused comes back after a second or more. */
export class Waiters<Own extends Waiter = Waiter> {
  readonly #clock: Clock;
  readonly #within: Within;
  readonly #lookMs: number;
  readonly #waiting = new Set<Own>();
  /** When a call came or looked last, Unix ms. */
  #seenMs = 0;
  #sparedUntilMs = 0;

  /** Each looks every `lookMs`. */
  constructor(clock: Clock, within: Within, lookMs: number) {
    this.#clock = clock;
    this.#within = within;
    this.#lookMs = lookMs;
  }

  /** Until there is something. `called`: it looks at once. `undefined`: nothing within `waitMs`, or too many wait. */
  async wait<Found>(
    own: Own,
    waitMs: number,
    look: () => Found | undefined,
    called: Promise<void> = never(),
  ): Promise<Found | undefined> {
    this.#note(own.seenMs);
    if (this.#isFull()) return undefined;
    const endMs = own.seenMs + waitMs;
    let found: Found | undefined;
    do {
      this.#waiting.add(own);
      await this.#within(called, Math.min(this.#lookMs, Math.max(0, endMs - own.seenMs)));
      own.seenMs = this.#clock.nowMs();
      this.#note(own.seenMs);
      // After the process stood still, or its clock was set: the caller has gone.
      if (own.seenMs > endMs) break;
      found = look();
    } while (found === undefined && isToCome(endMs, own.seenMs, waitMs));
    this.#waiting.delete(own);
    return found;
  }

  /** Those that wait, the first first, without those that were dropped. */
  *[Symbol.iterator](): Generator<Own> {
    const nowMs = this.#clock.nowMs();
    this.#note(nowMs);
    const isSpared = isToCome(this.#sparedUntilMs, nowMs, DROPPED_MS);
    for (const own of this.#waiting) {
      if (isSpared || Math.abs(nowMs - own.seenMs) <= DROPPED_MS) yield own;
      else this.#waiting.delete(own);
    }
  }

  /** After the process stood still none has looked, and all are about to: they keep their places. */
  #note(nowMs: number): void {
    if (Math.abs(nowMs - this.#seenMs) > DROPPED_MS) this.#sparedUntilMs = nowMs + DROPPED_MS;
    this.#seenMs = nowMs;
  }

  /** It has what it waits for. */
  leave(own: Own): void {
    this.#waiting.delete(own);
  }

  #isFull(): boolean {
    return this.#waiting.size >= WAITING_MAX && [...this].length >= WAITING_MAX;
  }
}
