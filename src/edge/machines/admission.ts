import type { Clock } from "../../ports/gateway.ts";
import { STATE_DEADLINE_MS } from "./rpc.ts";
import type { Within } from "./timer.ts";
import { isToCome } from "./to-come.ts";
import { type Waiter, Waiters } from "./waiters.ts";

/** A pong takes longer where the node, or the edge itself, has more work than it can do. */
export const BUSY_PONG_MS = 300;

/** So many calls are always let through: they find out that there is room again. */
const LIMIT_MIN = 8;

/** The effect of another limit is seen only after this long. */
const SEEN_MS = 1_000;

/** For so long no node was busy or gone: the limit doubles, and again each time that its effect was seen. */
const LIMITED_MS = 15_000;

/** Places are left by time, too: calls that wait look for them. */
const LOOK_MS = 200;

/** A call that waited takes its place within this time, or was dropped with its request. */
const KEPT_MS = 200;

/** The part of the calls that goes on (RFC 9438 §4.6). */
const DECREASE = 0.7;

/** So many more for each round of answers. */
const INCREASE = 4;

interface Place {
  /** Its call has ended by then. */
  readonly untilMs: number;
}

/** A call that waits for a place. */
interface Waiting extends Waiter {
  kept?: Place;
  readonly call: () => void;
}

/**
 * A limit of calls under way, by additive increase and multiplicative decrease (RFC 5681 §3.1). After an outage all clients ask
 * again: without a limit nodes work on calls whose callers have given up meanwhile, and do not catch up. A limit begins when a node
 * is busy or none answers, and fades some time after: calls that hang for another reason keep nothing from the others. Calls wait for
 * a place in their order.
 */
export class Admission {
  readonly #clock: Clock;
  /** Oldest first, nearly. The runtime drops a request that its client leaves: its calls end by time alone. */
  readonly #underWay = new Set<Place>();
  /** For calls that waited and have not taken theirs yet. */
  readonly #kept = new Set<Place>();
  readonly #waiting: Waiters<Waiting>;
  #limit = Number.POSITIVE_INFINITY;
  #limitedUntilMs = 0;
  #loweredUntilMs = 0;
  #isSlowStart = false;

  constructor(clock: Clock, within: Within) {
    this.#clock = clock;
    this.#waiting = new Waiters(clock, within, LOOK_MS);
  }

  /** For a call that ends `forMs` after it has its place. `undefined`: there was none within `waitMs`. */
  async place(forMs: number, waitMs: number): Promise<Place | undefined> {
    this.#letIn();
    if (this.#isFull()) {
      const kept = await this.#wait(waitMs);
      if (kept === undefined) return undefined;
      this.#kept.delete(kept);
    }
    const place = { untilMs: this.#clock.nowMs() + forMs };
    this.#underWay.add(place);
    return place;
  }

  #wait(waitMs: number): Promise<Place | undefined> {
    const { called, waiting } = waitingFrom(this.#clock.nowMs());
    const look = () => {
      this.#letIn();
      return waiting.kept;
    };
    return this.#waiting.wait(waiting, waitMs, look, called);
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
      this.#limit *= 2 ** Math.max(1, Math.ceil((nowMs - this.#limitedUntilMs) / SEEN_MS));
      this.#limitedUntilMs = nowMs + SEEN_MS;
    }
    return this.#underWay.size + this.#kept.size >= this.#limit;
  }

  #letIn(): void {
    for (const waiting of this.#waiting) {
      if (this.#isFull()) return;
      waiting.kept = { untilMs: this.#clock.nowMs() + KEPT_MS };
      this.#kept.add(waiting.kept);
      this.#waiting.leave(waiting);
      waiting.call();
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

function waitingFrom(seenMs: number) {
  let call = () => {};
  const called = new Promise<void>((resolve) => {
    call = resolve;
  });
  return { called, waiting: { seenMs, call } as Waiting };
}

/** The oldest are first. */
function dropEnded(places: Set<Place>, nowMs: number): void {
  for (const place of places) {
    if (isToCome(place.untilMs, nowMs, STATE_DEADLINE_MS)) break;
    places.delete(place);
  }
}
