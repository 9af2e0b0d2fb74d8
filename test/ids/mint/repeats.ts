import type { Layout } from "../../../src/ids/index.ts";
import type { WordRows } from "../../../src/ids/mint/mint.ts";

/** Many IDs, row after row of words. Sets of a million texts would take most of a test's time. */
export class IdList {
  readonly #width: number;
  readonly #rows: Uint32Array;
  #end = 0;

  constructor(width: number, idsMax: number) {
    this.#width = width;
    this.#rows = new Uint32Array(width * idsMax);
  }

  get length(): number {
    return this.#end / this.#width;
  }

  push(rows: WordRows): void {
    this.#rows.set(rows, this.#end);
    this.#end += rows.length;
  }

  /** The words of IDs that an earlier one already has. */
  repeats(): readonly (readonly number[])[] {
    const found: number[][] = [];
    const slots = new Int32Array(2 ** Math.ceil(Math.log2(this.length * 2 + 2))).fill(-1);
    for (let from = 0; from < this.#end; from += this.#width) {
      let slot = this.#hash(from) & (slots.length - 1);
      let held = slots[slot] as number;
      while (held !== -1 && !this.#isSame(held, from)) {
        slot = (slot + 1) & (slots.length - 1);
        held = slots[slot] as number;
      }
      if (held === -1) slots[slot] = from;
      else found.push([...this.#rows.subarray(from, from + this.#width)]);
    }
    return found;
  }

  #hash(from: number): number {
    let hash = 0;
    for (let at = from; at < from + this.#width; at++) {
      hash = Math.imul(hash ^ (this.#rows[at] as number), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash >>> 0;
  }

  #isSame(a: number, b: number): boolean {
    for (let word = 0; word < this.#width; word++) {
      if (this.#rows[a + word] !== this.#rows[b + word]) return false;
    }
    return true;
  }
}

/** Whether the layout promises an order: not where its time wraps or is missing. An LUUID's key is its time. */
export const isOrdered = ({ name }: Layout): boolean => !UNORDERED.has(name);

const UNORDERED: ReadonlySet<string> = new Set(["short-prefix-comb", "short-suffix-comb", "uuid-v4"]);

/** The first ID of `rows` that is not above the one before it in the layout's order; `before`: the one before the first. */
export const firstFall = (layout: Layout, rows: WordRows, before: WordRows | undefined): number | undefined => {
  const width = layout.fixed.value.length;
  const compare = comparer(layout, width);
  if (before !== undefined && compare(before, 0, rows, 0) >= 0) return 0;
  for (let from = width; from < rows.length; from += width) {
    if (compare(rows, from - width, rows, from) >= 0) return from / width;
  }
  return undefined;
};

type Compare = (a: WordRows, atA: number, b: WordRows, atB: number) => number;

/** By the bits in row order, which defines the order of IDs: some layouts move the bytes. */
const comparer = ({ table: { octetOrder } }: Layout, width: number): Compare => {
  if (octetOrder === undefined) {
    return (a, atA, b, atB) => {
      for (let word = 0; word < width; word++) {
        const difference = (a[atA + word] as number) - (b[atB + word] as number);
        if (difference !== 0) return difference;
      }
      return 0;
    };
  }
  const byteAt = (rows: WordRows, from: number, byte: number): number =>
    ((rows[from + (byte >>> 2)] as number) >>> (24 - 8 * (byte & 3))) & 0xff;
  return (a, atA, b, atB) => {
    for (const byte of octetOrder) {
      const difference = byteAt(a, atA, byte) - byteAt(b, atB, byte);
      if (difference !== 0) return difference;
    }
    return 0;
  };
};
