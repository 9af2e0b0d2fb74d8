import type { Words } from "../../ids/index.ts";
import type { Dimension } from "../layouts/plan.ts";
import type { Budget } from "../limits.ts";
import type { Box } from "./box.ts";
import type { Ranges } from "./ranges.ts";
import { buildSegments, NO_ROUTE, type PlacedRoute, type Segments, type Span } from "./segments.ts";

/** One or two small dimensions as one array with an entry for each of their values: a look-up is one load. */
export interface DirectTable {
  /** The lowest ordinal for each value of the first dimension, and within it for each of the second. */
  readonly ordinals: Uint32Array;
  /** Where the entry of an ID stands. */
  readonly placeOf: (words: Words) => number;
}

/** 16 bits together. */
const ENTRIES_MAX = 65_536;

/** A segment takes 8 bytes and more, an entry takes no more than 12. */
const ENTRIES_PER_SEGMENT_MAX = 8;

/**
 * The table of what `find` says about each pair of values. `undefined` where the dimensions are too many or too large, or
 * where the table would be much larger than the segments that it stands for.
 */
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

export type { PlacedRoute } from "./segments.ts";

/** Routes that constrain the same dimensions, as nested segments. */
export class SegmentIndex {
  /** Lowest ordinal in the index. */
  readonly first: number;
  /** Places of the dimensions among those of the layout, in the order of nesting. */
  readonly slots: readonly number[];
  private readonly root: Segments | undefined;

  /** Without a root every ID matches the first route. */
  constructor(first: number, slots: readonly number[], root: Segments | undefined) {
    this.first = first;
    this.slots = slots;
    this.root = root;
  }

  /** The segments of an index of one dimension. */
  get onlySegments(): Segments | undefined {
    return this.slots.length === 1 ? this.root : undefined;
  }

  get size(): number {
    return this.root?.size ?? 0;
  }

  /** The lowest ordinal that takes the values, or `NO_ROUTE`. */
  find(values: Float64Array): number {
    const { slots } = this;
    let node = this.root;
    if (node === undefined) return this.first;
    for (let depth = 0; ; depth++) {
      const lead: number = node.find(values[slots[depth] as number] as number);
      if (node.next.length === 0) return lead;
      node = node.next[lead] as Segments;
    }
  }
}

/** One index for each set of dimensions that routes constrain together; `undefined` beyond the budget. */
export const buildIndexes = (
  routes: readonly PlacedRoute[],
  dimensions: readonly Span[],
  budget: Budget,
): readonly SegmentIndex[] | undefined => {
  const indexes: SegmentIndex[] = [];
  for (const group of groupBySlots(routes)) {
    const [first] = group as readonly [PlacedRoute];
    const ownSlots = slotsOf(first.box);
    if (!budget.spend(1 + ownSlots.length * group.length)) return undefined;
    const slots = nestingOf(group, ownSlots);
    const root =
      slots.length === 0
        ? undefined
        : buildSegments(
            group,
            slots.map((slot) => ({ ...(dimensions[slot] as Span), slot })),
            budget,
          );
    if (slots.length > 0 && root === undefined) return undefined;
    indexes.push(new SegmentIndex(first.ordinal, slots, root));
  }
  return indexes;
};

const groupBySlots = (routes: readonly PlacedRoute[]): Iterable<readonly PlacedRoute[]> => {
  const groups = new Map<string, PlacedRoute[]>();
  let last: PlacedRoute[] | undefined;
  for (const route of routes) {
    // Most routes ask for the same as the one before.
    if (last !== undefined && haveSameSlots(route, last[0] as PlacedRoute)) {
      last.push(route);
      continue;
    }
    const key = keyOf(route.box);
    last = groups.get(key) ?? [];
    groups.set(key, last);
    last.push(route);
  }
  return groups.values();
};

const haveSameSlots = ({ box }: PlacedRoute, { box: other }: PlacedRoute): boolean => {
  for (let slot = 0; slot < box.length; slot++) {
    if ((box[slot] === undefined) !== (other[slot] === undefined)) return false;
  }
  return true;
};

/** The slots as text. */
const keyOf = (box: Box): string => {
  let key = "";
  for (let slot = 0; slot < box.length; slot++) if (box[slot] !== undefined) key += `${slot},`;
  return key;
};

const slotsOf = (box: Box): readonly number[] => box.flatMap((set, slot) => (set === undefined ? [] : [slot]));

/** The dimension with most different bounds comes first: it leaves the fewest routes for those inside of it. */
const nestingOf = (routes: readonly PlacedRoute[], slots: readonly number[]): readonly number[] => {
  if (slots.length < 2) return slots;
  const bounds = new Map(slots.map((slot) => [slot, new Set(routes.flatMap(({ box }) => box[slot] as Ranges)).size]));
  return slots.toSorted((a, b) => (bounds.get(b) as number) - (bounds.get(a) as number));
};

/** All routes of one entity's IDs of one layout. */
export class IdIndex {
  private readonly indexes: readonly SegmentIndex[];
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
    this.slots = [...new Set(indexes.flatMap(({ slots }) => slots))];
    const used = this.slots.map((slot) => dimensions[slot] as Dimension);
    this.reads = used.map(({ read }) => read);
    this.values = values;
    const segmentCount = indexes.reduce((sum, { size }) => sum + size, 0);
    const [firstSlot = 0, secondSlot = firstSlot] = this.slots;
    this.direct = directTable(used, segmentCount, (first, second) => {
      values[secondSlot] = second;
      values[firstSlot] = first;
      return this.findValues(values);
    });
  }

  /** Makes the look-up of what routes lead to; `targetOf` is asked for each ordinal that there may be. */
  targetFinder<Target>(targetOf: (ordinal: number) => Target): (words: Words) => Target | undefined {
    if (this.direct !== undefined) {
      const { ordinals, placeOf } = this.direct;
      const targets = Array.from(ordinals, targetOf);
      return (words) => targets[placeOf(words)];
    }
    const [read] = this.reads;
    const [only, second] = this.indexes;
    const segments = second === undefined ? only?.onlySegments : undefined;
    if (segments === undefined || read === undefined) return (words) => targetOf(this.find(words));
    return (words) => targetOf(segments.find(read(words)));
  }

  /** The lowest ordinal that takes the ID, or `NO_ROUTE`. */
  find(words: Words): number {
    const { slots, reads, values } = this;
    for (let at = 0; at < slots.length; at++) {
      const read = reads[at] as Dimension["read"];
      values[slots[at] as number] = read(words);
    }
    return this.findValues(values);
  }

  /** The same by the values of all dimensions, in the order of the layout's plan. */
  findValues(values: Float64Array): number {
    const { indexes } = this;
    let lowest = NO_ROUTE;
    for (let at = 0; at < indexes.length; at++) {
      const index = indexes[at] as SegmentIndex;
      if (index.first > lowest) break;
      const ordinal = index.find(values);
      if (ordinal < lowest) lowest = ordinal;
    }
    return lowest;
  }
}
