import type { RandomWords } from "../../src/ids/index.ts";
import { randomBelow } from "../lib/random.ts";

/** Random choices that are the same for the same seed. */
export class Dice {
  readonly words: RandomWords;

  constructor(words: RandomWords) {
    this.words = words;
  }

  below(end: number): number {
    return randomBelow(this.words, end);
  }

  /** `from` and `to` included. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value;
  }

  /** So many different ones, in random order; fewer where there are fewer. */
  some<Value>(values: readonly Value[], count: number): Value[] {
    const left = [...values];
    return Array.from(
      { length: Math.min(count, left.length) },
      () => left.splice(this.below(left.length), 1)[0] as Value,
    );
  }

  /** `members` in that many of a hundred cases. */
  maybe<Members extends object>(percent: number, members: () => Members): Members | Record<never, never> {
    return this.chance(percent) ? members() : {};
  }
}
