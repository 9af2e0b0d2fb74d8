import type { Clock } from "../../ports/gateway.ts";
import { isToCome } from "./to-come.ts";

/** A pong takes longer where the node, or the edge itself, has more work than it can do. */
export const BUSY_PONG_MS = 300;

/** So many calls are always let through: they find out that there is room again. */
const LIMIT_MIN = 8;

/** The effect of a lower limit is seen only after this long. */
const LOWERED_MS = 1_000;

/** For so long no node was busy or gone: all calls may go there again. */
const LIMITED_MS = 15_000;

/** So many more for each round of answers. */
const INCREASE = 4;

/**
 * A limit of calls under way, by additive increase and multiplicative decrease (RFC 5681 §3.1). After an outage all clients ask
 * again: without a limit nodes work on calls whose callers have given up meanwhile, and do not catch up. A limit begins when a node
 * is busy or none answers, and ends some time after: calls that hang for another reason keep nothing from the others.
 */
export class Admission {
  readonly #clock: Clock;
  /** Oldest first. The runtime drops a request that its client leaves: its calls end by time alone. */
  readonly #underWay = new Set<{ readonly untilMs: number }>();
  #limit = Number.POSITIVE_INFINITY;
  #limitedUntilMs = 0;
  #loweredUntilMs = 0;
  #isSlowStart = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isFull(): boolean {
    const nowMs = this.#clock.nowMs();
    for (const call of this.#underWay) {
      if (call.untilMs > nowMs) break;
      this.#underWay.delete(call);
    }
    if (!isToCome(this.#limitedUntilMs, nowMs, LIMITED_MS)) this.#limit = Number.POSITIVE_INFINITY;
    return this.#underWay.size >= this.#limit;
  }

  async count<Value>(work: Promise<Value>, untilMs: number): Promise<Value> {
    const call = { untilMs };
    this.#underWay.add(call);
    try {
      const value = await work;
      this.#limit += this.#isSlowStart ? 1 : INCREASE / this.#limit;
      return value;
    } finally {
      this.#underWay.delete(call);
    }
  }

  /** No node answers. Those that come back get a few calls, then twice as many each round (slow start, RFC 5681 §3.1). */
  startAgain(): void {
    this.#isSlowStart = true;
    this.#limitedUntilMs = this.#clock.nowMs() + LIMITED_MS;
    this.#limit = LIMIT_MIN;
  }

  /** A node is busy. */
  lower(): void {
    const nowMs = this.#clock.nowMs();
    this.#limitedUntilMs = nowMs + LIMITED_MS;
    if (isToCome(this.#loweredUntilMs, nowMs, LOWERED_MS)) return;
    this.#loweredUntilMs = nowMs + LOWERED_MS;
    this.#isSlowStart = false;
    this.#limit = Math.max(LIMIT_MIN, Math.floor(Math.min(this.#limit, this.#underWay.size) / 2));
  }
}
