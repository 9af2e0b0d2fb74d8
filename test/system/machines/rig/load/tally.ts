/** Outcomes of one kind of request, with the time at which the last that failed began. */
export interface Tally {
  readonly asked: number;
  readonly failed: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Unix time; `undefined` if none failed. */
  readonly lastFailedAtMs: number | undefined;
  readonly firstFailedAtMs: number | undefined;
}

export class Counting {
  #outcomes = new Map<string, number>();
  #asked = 0;
  #failed = 0;
  #first: number | undefined;
  #last: number | undefined;

  add(outcome: string, isGood: boolean, startedAtMs: number): void {
    this.#asked += 1;
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
    if (isGood) return;
    this.#failed += 1;
    this.#first = Math.min(this.#first ?? startedAtMs, startedAtMs);
    this.#last = Math.max(this.#last ?? 0, startedAtMs);
  }

  tally(): Tally {
    return {
      asked: this.#asked,
      failed: this.#failed,
      outcomes: Object.fromEntries(this.#outcomes),
      firstFailedAtMs: this.#first,
      lastFailedAtMs: this.#last,
    };
  }
}

/** Milliseconds, by rank. */
export const quantileOf = (all: readonly number[], share: number): number =>
  all.toSorted((a, b) => a - b)[Math.min(Math.floor(all.length * share), all.length - 1)] ?? Number.NaN;
