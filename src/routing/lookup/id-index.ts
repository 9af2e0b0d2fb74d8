import { compareWords, mixWords, type Words } from "../../ids/index.ts";

/** The index of a table by an ID's bits: routes by ranges of its fields, and overrides by all of its words. */

/** No route: the ordinal of a segment that none covers. It comes after every route's. */
export const NO_ROUTE = 0xffffffff;

export type Cells = Uint32Array | Float64Array;

/** One dimension, cut into segments: each leads to those of the next dimension or, at the last one, to a route. */
export class Segments {
  /** For each segment where it starts, then its lead, side by side in one cache line; at 32 bits, where that is enough. */
  readonly cells: Cells;
  /** Empty at the last dimension. */
  readonly next: readonly Segments[];
  /** For each bucket of equal width the segment at which a search begins; the next bucket's is where it ends. */
  private readonly buckets: Uint32Array;
  private readonly bucketCount: number;
  private readonly bucketsFrom: number;
  private readonly bucketsPerUnit: number;

  /** `cells` rise from the least value. Leads are ordinals, or places in `next` if that is not empty. */
  constructor(cells: Cells, next: readonly Segments[]) {
    const count = cells.length / 2;
    const startOf = (segment: number): number => cells[segment * 2] as number;
    this.cells = cells;
    this.next = next;
    const first = count > 1 ? startOf(1) : 0;
    const last = startOf(count - 1);
    this.bucketCount = count < BUCKETS_FROM_SEGMENTS ? 1 : 2 ** Math.min(BUCKET_BITS_MAX, Math.ceil(Math.log2(count)));
    this.bucketsFrom = first;
    this.bucketsPerUnit = last > first ? this.bucketCount / (last - first) : 0;
    this.buckets = new Uint32Array(this.bucketCount + 1).fill(count - 1);
    const bucketOf = (value: number): number =>
      Math.min(this.bucketCount - 1, Math.max(0, Math.floor((value - first) * this.bucketsPerUnit)));
    let segment = 0;
    for (let bucket = 0; bucket < this.bucketCount; bucket++) {
      while (segment < count && bucketOf(startOf(segment)) < bucket) segment++;
      // The segment before may reach into this bucket.
      this.buckets[bucket] = Math.max(0, segment - 1);
    }
  }

  /** `max`: the greatest value. */
  static of(starts: Float64Array, leads: Float64Array, next: readonly Segments[], max: number): Segments {
    const count = starts.length;
    const isNarrow = (starts[0] as number) >= 0 && max <= 0xffffffff;
    const cells = isNarrow ? new Uint32Array(count * 2) : new Float64Array(count * 2);
    for (let segment = 0; segment < count; segment++) {
      cells[segment * 2] = starts[segment] as number;
      cells[segment * 2 + 1] = leads[segment] as number;
    }
    return new Segments(cells, next);
  }

  /** How many segments there are, those of the next dimensions included. */
  get size(): number {
    return this.next.reduce((sum, inner) => sum + inner.size, this.cells.length / 2);
  }

  /** Each segment's start with its lead, in rising order. */
  get leads(): readonly (readonly [start: number, lead: number])[] {
    const { cells } = this;
    return Array.from({ length: cells.length / 2 }, (_, at) => [cells[at * 2] as number, cells[at * 2 + 1] as number]);
  }

  find(value: number): number {
    const { cells, buckets, bucketCount } = this;
    const place = (value - this.bucketsFrom) * this.bucketsPerUnit;
    const bucket = place >= bucketCount ? bucketCount - 1 : place > 0 ? place | 0 : 0;
    let low = buckets[bucket] as number;
    let high = buckets[bucket + 1] as number;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((cells[middle * 2] as number) <= value) low = middle;
      else high = middle - 1;
    }
    return cells[low * 2 + 1] as number;
  }
}

/** A few segments are found sooner by search alone. */
const BUCKETS_FROM_SEGMENTS = 8;
const BUCKET_BITS_MAX = 18;

export interface SegmentIndex {
  readonly first: number;
  /** Places of the dimensions among those of the layout, in the order of nesting. */
  readonly slots: readonly number[];
  /** Without it every ID matches the first route. */
  readonly root: Segments | undefined;
}

export type Span = { readonly min: number; readonly max: number };

type Dimension = Span & { readonly read: (words: Words) => number };

/** One or two small dimensions as one array with an entry for each of their values: a look-up is one load. */
export interface DirectTable {
  /** The lowest ordinal for each value of the first dimension, and within it for each of the second. */
  readonly ordinals: Uint32Array;
  readonly placeOf: (words: Words) => number;
}

/** 16 bits together. */
const ENTRIES_MAX = 65_536;

/** A segment takes 8 bytes and more, an entry takes no more than 12. */
const ENTRIES_PER_SEGMENT_MAX = 8;

/** `undefined` for too many or too large dimensions, or where the table would be much larger than the segments. */
export const directTable = (
  dimensions: readonly Dimension[],
  segmentCount: number,
  find: (first: number, second: number) => number,
): DirectTable | undefined => {
  const [first, second, third] = dimensions;
  if (first === undefined || third !== undefined) return undefined;
  const secondCount = second === undefined ? 1 : second.max - second.min + 1;
  const count = (first.max - first.min + 1) * secondCount;
  if (count > ENTRIES_MAX || count > segmentCount * ENTRIES_PER_SEGMENT_MAX) return undefined;
  const ordinals = new Uint32Array(count);
  for (let place = 0; place < count; place++) {
    ordinals[place] = find(first.min + Math.floor(place / secondCount), (second?.min ?? 0) + (place % secondCount));
  }
  return { ordinals, placeOf: placeReader(first, second, secondCount) };
};

const placeReader = (first: Dimension, second: Dimension | undefined, secondCount: number): DirectTable["placeOf"] => {
  const { read, min } = first;
  if (second === undefined) return min === 0 ? read : (words) => read(words) - min;
  const { read: readSecond, min: secondMin } = second;
  return (words) => (read(words) - min) * secondCount + (readSecond(words) - secondMin);
};

export type RouteTargets<Target> = { readonly byOrdinal: readonly Target[]; readonly fallback: Target };

export class IdIndex {
  readonly indexes: readonly SegmentIndex[];
  private readonly slots: readonly number[];
  private readonly reads: readonly Dimension["read"][];
  private readonly values: Float64Array;
  private readonly direct: DirectTable | undefined;

  /** `values` has room for a value of each dimension. One look-up at a time fills it and is done with it, so indexes may share it. */
  constructor(
    dimensions: readonly Dimension[],
    indexes: readonly SegmentIndex[],
    values = new Float64Array(dimensions.length),
  ) {
    this.indexes = indexes.toSorted((a, b) => a.first - b.first);
    this.slots = [...new Set(this.indexes.flatMap(({ slots }) => slots))];
    const used = this.slots.map((slot) => dimensions[slot] as Dimension);
    this.reads = used.map(({ read }) => read);
    this.values = values;
    const segmentCount = indexes.reduce((sum, { root }) => sum + (root?.size ?? 0), 0);
    const [firstSlot = 0, secondSlot = firstSlot] = this.slots;
    this.direct = directTable(used, segmentCount, (first, second) => {
      values[secondSlot] = second;
      values[firstSlot] = first;
      return this.findValues(values);
    });
  }

  targetFinder<Target>({ byOrdinal, fallback }: RouteTargets<Target>): (words: Words) => Target | undefined {
    if (this.direct !== undefined) {
      const { ordinals, placeOf } = this.direct;
      const targets = Array.from(ordinals, (ordinal) => (ordinal === NO_ROUTE ? fallback : byOrdinal[ordinal]));
      return (words) => targets[placeOf(words)];
    }
    const { slots, reads, values } = this;
    const [only, second] = this.indexes;
    const segments = second === undefined && slots.length === 1 ? only?.root : undefined;
    const [readOnly] = reads;
    if (segments !== undefined && readOnly !== undefined) {
      return (words) => {
        const ordinal = segments.find(readOnly(words));
        return ordinal === NO_ROUTE ? fallback : byOrdinal[ordinal];
      };
    }
    return (words) => {
      for (let at = 0; at < slots.length; at++) {
        const read = reads[at] as Dimension["read"];
        values[slots[at] as number] = read(words);
      }
      const ordinal = this.findValues(values);
      return ordinal === NO_ROUTE ? fallback : byOrdinal[ordinal];
    };
  }

  /** The lowest ordinal that takes an ID, or `NO_ROUTE`; by the values of all dimensions, in the order of the layout's plan. */
  findValues(values: Float64Array): number {
    const { indexes } = this;
    let lowest = NO_ROUTE;
    for (let at = 0; at < indexes.length; at++) {
      const { first, slots, root } = indexes[at] as SegmentIndex;
      if (first > lowest) break;
      let ordinal = first;
      for (let depth = 0, node = root; node !== undefined; depth++) {
        ordinal = node.find(values[slots[depth] as number] as number);
        node = node.next.length === 0 ? undefined : node.next[ordinal];
      }
      if (ordinal < lowest) lowest = ordinal;
    }
    return lowest;
  }
}

/** Numbers by words, which clients choose: all may have one hash, so each bucket is sorted. The first of equal words counts. */
export class WordsMap {
  readonly width: number;
  /** By bucket, and sorted in each. */
  readonly rows: Uint32Array;
  readonly values: Uint32Array;
  /** Where each bucket begins in the rows; the next one begins where it ends. */
  readonly starts: Uint32Array;

  constructor({ width, rows, values, starts }: Pick<WordsMap, "width" | "rows" | "values" | "starts">) {
    this.width = width;
    this.rows = rows;
    this.values = values;
    this.starts = starts;
  }

  /** `words`: row after row. `numbers`: one of 32 bits for each row. */
  static of(width: number, words: readonly number[], numbers: readonly number[]): WordsMap {
    const rowOf = (entry: number): Words => words.slice(entry * width, (entry + 1) * width);
    const mask = 2 ** Math.ceil(Math.log2(Math.max(1, numbers.length))) - 1;
    const buckets = Uint32Array.from(numbers, (_, entry) => mixWords(rowOf(entry)) & mask);
    const compare = (a: number, b: number): number =>
      (buckets[a] as number) - (buckets[b] as number) || compareWords(rowOf(a), rowOf(b));
    const order = Uint32Array.from(numbers, (_, entry) => entry).sort((a, b) => compare(a, b) || a - b);
    const kept = order.filter((entry, at) => at === 0 || compare(entry, order[at - 1] as number) !== 0);
    const rows = new Uint32Array(kept.length * width);
    const starts = new Uint32Array(mask + 2);
    for (const [at, entry] of kept.entries()) {
      rows.set(rowOf(entry), at * width);
      starts[(buckets[entry] as number) + 1] = at + 1;
    }
    for (let bucket = 1; bucket <= mask + 1; bucket++) starts[bucket] ||= starts[bucket - 1] as number;
    return new WordsMap({ width, rows, values: kept.map((entry) => numbers[entry] as number), starts });
  }

  get size(): number {
    return this.values.length;
  }

  /** Calls for every key, in no order, until the answer is true. */
  some(test: (words: Words) => boolean): boolean {
    const { rows, width } = this;
    for (let row = 0; row < rows.length; row += width) if (test([...rows.subarray(row, row + width)])) return true;
    return false;
  }

  get(words: Words): number | undefined {
    const { rows, width, starts } = this;
    const bucket = mixWords(words) & (starts.length - 2);
    let low = starts[bucket] as number;
    let high = (starts[bucket + 1] as number) - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const row = middle * width;
      let word = 0;
      while (word < width && rows[row + word] === words[word]) word++;
      if (word === width) return this.values[middle];
      if ((rows[row + word] as number) < (words[word] as number)) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }
}
