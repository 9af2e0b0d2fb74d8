import {
  type DistributedIdKind,
  type DistributedIdState,
  startDistributedId,
  stepDistributedId,
} from "../../src/ids/index.ts";
import { randomBits } from "../../src/ids/mint/mint.ts";
import { needed, seededWords } from "../lib/random.ts";

/** Start of the simulations. */
export const START_MS = Date.UTC(2026, 10, 21);

/** A generator on a simulated clock. */
export class SimulatedGenerator {
  nowMs: number;
  /** Number of calls that had to wait. */
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

  /** The state after an ID generated now; `undefined` if the generator would wait. */
  tryNext(): DistributedIdState | undefined {
    const random = randomBits(this.#rules.random.bits, this.#entropy);
    const step = needed(stepDistributedId(this.#rules, this.#state, this.nowMs, random));
    if (step.kind === "wait") return undefined;
    this.#state = step.state;
    return step.state;
  }

  /** The state after an ID. Waiting advances the clock. */
  next(): DistributedIdState {
    for (;;) {
      const state = this.tryNext();
      if (state !== undefined) return state;
      this.waits += 1;
      this.nowMs += 1;
    }
  }

  /** Number of IDs before the first wait. */
  burst(): number {
    let ids = 0;
    while (this.tryNext() !== undefined) ids += 1;
    return ids;
  }
}
