/** Outcomes of one kind of request, and when it failed. */
export interface Tally {
  readonly asked: number;
  readonly failed: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Unix time of the last that was not had at all: without an answer, or 503. `undefined` if there was none. */
  readonly lastFailedAtMs: number | undefined;
  /** The last of all that failed, in whatever way. */
  readonly lastRefusedAtMs: number | undefined;
}

export class Counting {
  #outcomes = new Map<string, number>();
  #asked = 0;
  #failed = 0;
  #last: number | undefined;
  #lastRefused: number | undefined;

  add(outcome: string, isGood: boolean, startedAtMs: number): void {
    this.#asked += 1;
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
    if (isGood) return;
    this.#failed += 1;
    this.#lastRefused = Math.max(this.#lastRefused ?? 0, startedAtMs);
    // A 4xx is an answer by the state.
    if (!outcome.startsWith("4")) this.#last = Math.max(this.#last ?? 0, startedAtMs);
  }

  tally(): Tally {
    return {
      asked: this.#asked,
      failed: this.#failed,
      outcomes: Object.fromEntries(this.#outcomes),
      lastFailedAtMs: this.#last,
      lastRefusedAtMs: this.#lastRefused,
    };
  }
}

/** Milliseconds, by rank. */
export const quantileOf = (all: readonly number[], share: number): number =>
  all.toSorted((a, b) => a - b)[Math.min(Math.floor(all.length * share), all.length - 1)] ?? Number.NaN;
