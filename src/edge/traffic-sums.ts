import { overflowKey } from "./traffic-catalogue.ts";

/** Sums by series, at most so many: what comes beyond is summed under `(other)`, so that totals stay right. */
export class SeriesTotals {
  readonly #sums: Map<string, number>;
  readonly #seriesMax: number;

  constructor(seriesMax: number, sums: Iterable<readonly [string, number]> = []) {
    this.#seriesMax = seriesMax;
    this.#sums = new Map(sums);
  }

  get size(): number {
    return this.#sums.size;
  }

  /** The key under which it was added. */
  add(key: string, by: number): string {
    const sum = this.#sums.get(key);
    if (sum === undefined && this.#sums.size >= this.#seriesMax) {
      const other = overflowKey(key);
      this.#sums.set(other, (this.#sums.get(other) ?? 0) + by);
      return other;
    }
    this.#sums.set(key, (sum ?? 0) + by);
    return key;
  }

  addAll(others: Iterable<readonly [string, number]>): void {
    for (const [key, by] of others) this.add(key, by);
  }

  get(key: string): number {
    return this.#sums.get(key) ?? 0;
  }

  [Symbol.iterator](): IterableIterator<[string, number]> {
    return this.#sums[Symbol.iterator]();
  }
}
