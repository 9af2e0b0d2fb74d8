import type { Clock } from "../../ports/gateway.ts";
import { STATE_DEADLINE_MS } from "./rpc.ts";

/** One call in this time finds out whether the object has an owner again. */
export const FIND_OUT_MS = 500;

/** Failures from before say nothing of now. */
const FORGOTTEN_MS = 5_000;

interface Failures {
  /** Unix times: of the first since the last answer, of the last, and of the next call that finds out. */
  readonly sinceMs: number;
  readonly lastMs: number;
  nextMs: number;
}

/**
 * Objects that no node owns: their node died or froze, and its lease has not ended. Nodes that are there fail each call, or do not
 * answer it in time. An object is one of these when none of its calls was answered for as long as a call waits.
 */
export class Ownerless {
  readonly #clock: Clock;
  /** By object. Their number is that of the tables' sequences and of fixed shards. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  noteFailure(object: string): void {
    const nowMs = this.#clock.nowMs();
    const before = this.#current(object, nowMs);
    this.#failures.set(object, { sinceMs: nowMs, nextMs: 0, ...before, lastMs: nowMs });
  }

  noteAnswer(object: string): void {
    this.#failures.delete(object);
  }

  /** `wait`: another call finds out. `find-out`: this one does, by one try. */
  turnOf(object: string): "usual" | "find-out" | "wait" {
    const nowMs = this.#clock.nowMs();
    const found = this.#current(object, nowMs);
    if (found === undefined || nowMs - found.sinceMs < STATE_DEADLINE_MS) return "usual";
    if (nowMs < found.nextMs) return "wait";
    found.nextMs = nowMs + FIND_OUT_MS;
    return "find-out";
  }

  #current(object: string, nowMs: number): Failures | undefined {
    const found = this.#failures.get(object);
    return found === undefined || nowMs - found.lastMs > FORGOTTEN_MS ? undefined : found;
  }
}
