import type { Clock } from "../../ports/gateway.ts";
import { isToCome } from "./to-come.ts";

/** A slow bucket hands an object over in less. */
const UNANSWERED_MS = 4_000;

/** One call in this time finds out whether the object has an owner again. */
const FIND_OUT_MS = 500;

/** Failures from before say nothing of now. */
const FORGOTTEN_MS = 5_000;

interface Failures {
  /** Unix times: of the first since the last answer, and of the last. */
  readonly sinceMs: number;
  readonly lastMs: number;
  nextMs: number;
}

/**
 * Objects that no node owns: their node died or froze, and its lease has not ended. Nodes that are there fail each call, or do not
 * answer it in time. An object is one of these when its calls have failed for longer than it takes to hand it over. Each method
 * counts alone: an object may have one that always fails.
 */
export class Ownerless {
  readonly #clock: Clock;
  /** By object and method. Their number is that of the tables' sequences and of fixed shards. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  noteFailure(method: string): void {
    const nowMs = this.#clock.nowMs();
    const before = this.#current(method, nowMs);
    this.#failures.set(method, { sinceMs: nowMs, nextMs: 0, ...before, lastMs: nowMs });
  }

  noteAnswer(method: string): void {
    this.#failures.delete(method);
  }

  /** `wait`: another call finds out. `find-out`: this one does, by one try. */
  turnOf(method: string): "usual" | "find-out" | "wait" {
    const nowMs = this.#clock.nowMs();
    const found = this.#current(method, nowMs);
    if (found === undefined || found.lastMs - found.sinceMs < UNANSWERED_MS) return "usual";
    if (isToCome(found.nextMs, nowMs, FIND_OUT_MS)) return "wait";
    found.nextMs = nowMs + FIND_OUT_MS;
    return "find-out";
  }

  #current(method: string, nowMs: number): Failures | undefined {
    const found = this.#failures.get(method);
    return found === undefined || Math.abs(nowMs - found.lastMs) > FORGOTTEN_MS ? undefined : found;
  }
}
