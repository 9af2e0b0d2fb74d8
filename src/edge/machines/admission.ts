import type { Clock } from "../../ports/gateway.ts";
import { platformTimer } from "./timer.ts";
import { isToCome } from "./to-come.ts";

/** A pong takes longer where the node, or the edge itself, has more work than it can do. */
export const BUSY_PONG_MS = 300;

/** So many calls are always let through: they find out that there is room again. */
const LIMIT_MIN = 8;

/** The effect of another limit is seen only after this long. */
const SEEN_MS = 1_000;

/** For so long no node was busy or gone: the limit doubles, and again each time that its effect was seen. */
const LIMITED_MS = 15_000;

/** More than an edge gets answers for while they wait. */
const WAITING_MAX = 1_000;

/** A place is kept so long for a call that waited: the runtime may have dropped its request. */
const KEPT_MS = 200;

/** The part of the calls that goes on (RFC 9438 §4.6). */
const DECREASE = 0.7;

/** So many more for each round of answers. */
const INCREASE = 4;

interface Place {
  /** Its call has ended by then. */
  readonly untilMs: number;
}

interface Waiting {
  readonly givesUpAtMs: number;
  readonly call: (kept: Place) => void;
}

/**
 * A limit of calls under way, by additive increase and multiplicative decrease (RFC 5681 §3.1). After an outage all clients ask
 * again: without a limit nodes work on calls whose callers have given up meanwhile, and do not catch up. A limit begins when a node
 * is busy or none answers, and fades some time after: calls that hang for another reason keep nothing from the others. Calls wait for
 * a place in their order: a client that is refused comes back after a second or more, when there was room long before.
 */
export class Admission {
  readonly #clock: Clock;
  readonly #within: typeof platformTimer;
  /** Oldest first. The runtime drops a request that its client leaves: its calls end by time alone. */
  readonly #underWay = new Set<Place>();
  readonly #kept = new Set<Place>();
  readonly #waiting = new Set<Waiting>();
  #limit = Number.POSITIVE_INFINITY;
  #limitedUntilMs = 0;
  #loweredUntilMs = 0;
  #isSlowStart = false;

  constructor(clock: Clock, within = platformTimer) {
    this.#clock = clock;
    this.#within = within;
  }

  /** For a call that ends by a time. `undefined`: there was no place within `waitMs`. */
  async place(untilMs: number, waitMs: number): Promise<Place | undefined> {
    this.#letIn();
    if (this.#isFull()) {
      if (this.#waiting.size >= WAITING_MAX) return undefined;
      const called = new Promise<Place>((call) => {
        this.#waiting.add({ givesUpAtMs: this.#clock.nowMs() + waitMs, call });
      });
      const kept = await this.#within(called, waitMs);
      if (kept === undefined) return undefined;
      this.#kept.delete(kept);
    }
    const place = { untilMs };
    this.#underWay.add(place);
    return place;
  }

  async count<Value>(work: Promise<Value>, place: Place): Promise<Value> {
    try {
      const value = await work;
      this.#limit += this.#isSlowStart ? 1 : INCREASE / this.#limit;
      return value;
    } finally {
      this.#underWay.delete(place);
      this.#letIn();
    }
  }

  #isFull(): boolean {
    const nowMs = this.#clock.nowMs();
    dropEnded(this.#underWay, nowMs);
    dropEnded(this.#kept, nowMs);
    if (!isToCome(this.#limitedUntilMs, nowMs, LIMITED_MS)) {
      this.#limit *= 2;
      this.#limitedUntilMs = nowMs + SEEN_MS;
    }
    return this.#underWay.size + this.#kept.size >= this.#limit;
  }

  #letIn(): void {
    for (const waiting of this.#waiting) {
      if (this.#isFull()) return;
      this.#waiting.delete(waiting);
      const nowMs = this.#clock.nowMs();
      if (waiting.givesUpAtMs <= nowMs) continue;
      const kept = { untilMs: nowMs + KEPT_MS };
      this.#kept.add(kept);
      waiting.call(kept);
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
    if (isToCome(this.#loweredUntilMs, nowMs, SEEN_MS)) return;
    this.#loweredUntilMs = nowMs + SEEN_MS;
    this.#isSlowStart = false;
    this.#limit = Math.max(LIMIT_MIN, Math.floor(Math.min(this.#limit, this.#underWay.size) * DECREASE));
  }
}

/** The oldest are first. */
function dropEnded(places: Set<Place>, nowMs: number): void {
  for (const place of places) {
    if (place.untilMs > nowMs) break;
    places.delete(place);
  }
}
