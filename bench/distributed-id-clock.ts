import {
  type DistributedIdKind,
  type DistributedIdState,
  startDistributedId,
  stepDistributedId,
} from "../src/ids/index.ts";
import { randomBits } from "../src/ids/random.ts";
import { needed } from "./random-ids.ts";
import { seededWords } from "./random-words.ts";

/** When the simulations begin. */
export const START_MS = Date.UTC(2026, 10, 21);

/** A generator on a clock that only the simulation moves. */
export class SimulatedGenerator {
  nowMs: number;
  /** How often a call had to wait. */
  waits = 0;
  #state: DistributedIdState;
  readonly #rules: DistributedIdKind;
  readonly #entropy;

  constructor(rules: DistributedIdKind, seed: number, state = startDistributedId, nowMs = START_MS) {
    this.#rules = rules;
    this.#state = state;
    this.#entropy = seededWords(seed);
    this.nowMs = nowMs;
  }

  /** The state after an ID made now; `undefined` if the generator would wait first. */
  tryNext(): DistributedIdState | undefined {
    const random = randomBits(this.#rules.random.bits, this.#entropy);
    const step = needed(stepDistributedId(this.#rules, this.#state, this.nowMs, random));
    if (step.kind === "wait") return undefined;
    this.#state = step.state;
    return step.state;
  }

  /** The state after an ID; waiting moves the clock. */
  next(): DistributedIdState {
    for (;;) {
      const state = this.tryNext();
      if (state !== undefined) return state;
      this.waits += 1;
      this.nowMs += 1;
    }
  }

  /** How many IDs there are before the first wait. */
  burst(): number {
    let ids = 0;
    while (this.tryNext() !== undefined) ids += 1;
    return ids;
  }
}
