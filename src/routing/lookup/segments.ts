import type { Budget } from "../limits.ts";
import type { Box } from "./box.ts";
import { applyChange, changesOf, type Ranges } from "./ranges.ts";

/** No route: the ordinal of a segment that none covers. It comes after every route's. */
export const NO_ROUTE = 0xffffffff;

/**
 * One dimension, cut into segments. Each leads to segments of the next dimension or, at the last one, to a route.
 * A search begins in the bucket of its value, so its length depends on how unevenly the segments lie, not on their number.
 */
export class Segments {
  /**
   * Two cells for each segment, side by side so that one cache line has both: where it starts, and the lowest ordinal of
   * the routes that cover it, or the place in `next`. At 32 bits a cell, where that is enough, twice as many stay in cache.
   */
  private readonly cells: Uint32Array | Float64Array;
  /** Empty at the last dimension. */
  readonly next: readonly Segments[];
  /** For each bucket of equal width the segment at which a search begins; the next bucket's is where it ends. */
  private readonly buckets: Uint32Array;
  private readonly bucketCount: number;
  private readonly bucketsFrom: number;
  private readonly bucketsPerUnit: number;

  /**
   * `starts` rises from the least value of the dimension; `max` is its greatest. `leads` holds ordinals, or places in
   * `next` if that is not empty.
   */
  constructor(starts: Float64Array, leads: Float64Array, next: readonly Segments[], max: number) {
    const count = starts.length;
    const isNarrow = (starts[0] as number) >= 0 && max <= 0xffffffff;
    this.cells = isNarrow ? new Uint32Array(count * 2) : new Float64Array(count * 2);
    for (let segment = 0; segment < count; segment++) {
      this.cells[segment * 2] = starts[segment] as number;
      this.cells[segment * 2 + 1] = leads[segment] as number;
    }
    this.next = next;
    const first = starts[1] ?? 0;
    const last = starts.at(-1) as number;
    this.bucketCount = bucketCountFor(count);
    this.bucketsFrom = first;
    this.bucketsPerUnit = last > first ? this.bucketCount / (last - first) : 0;
    this.buckets = new Uint32Array(this.bucketCount + 1).fill(count - 1);
    let segment = 0;
    for (let bucket = 0; bucket < this.bucketCount; bucket++) {
      while (segment < count && this.bucketOf(starts[segment] as number) < bucket) segment++;
      // The segment before may reach into this bucket.
      this.buckets[bucket] = Math.max(0, segment - 1);
    }
  }

  /** How many segments there are, those of the next dimensions included. */
  get size(): number {
    return this.next.reduce((sum, inner) => sum + inner.size, this.cells.length / 2);
  }

  private bucketOf(value: number): number {
    const bucket = (value - this.bucketsFrom) * this.bucketsPerUnit;
    if (bucket >= this.bucketCount) return this.bucketCount - 1;
    return bucket > 0 ? bucket | 0 : 0;
  }

  /** Where the segment of a value leads. */
  find(value: number): number {
    const { cells, buckets } = this;
    const bucket = this.bucketOf(value);
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

const bucketCountFor = (segments: number): number =>
  segments < BUCKETS_FROM_SEGMENTS ? 1 : 2 ** Math.min(BUCKET_BITS_MAX, Math.ceil(Math.log2(segments)));

/** A route in a layout's ID space. */
export interface PlacedRoute {
  /** Place in the declared `routes`; the lowest one that matches wins. */
  readonly ordinal: number;
  readonly box: Box;
}

/** The least and the greatest value of a dimension. */
export interface Span {
  readonly min: number;
  readonly max: number;
}

/** A dimension of an index, and where it stands in the boxes of routes. */
export interface Axis extends Span {
  readonly slot: number;
}

const rangesOn = ({ slot }: Axis, { box }: PlacedRoute): Ranges => box[slot] as Ranges;

/** Segments cost something however few they are, and so do the changes between them while they are made. */
const SEGMENTS_CELLS = 32;
const CHANGE_CELLS = 8;

/** What no route covers. */
const NOTHING = new Segments(Float64Array.of(0), Float64Array.of(NO_ROUTE), [], 0);

/** Cuts the dimensions from `depth` on into segments. Routes come by rising ordinal. `undefined`: beyond the budget. */
export const buildSegments = (
  routes: readonly PlacedRoute[],
  axes: readonly Axis[],
  budget: Budget,
  depth = 0,
): Segments | undefined => {
  const starts = startsOf(routes, axes[depth] as Axis, budget);
  if (starts === undefined) return undefined;
  const isLast = depth === axes.length - 1;
  if (!budget.spend(SEGMENTS_CELLS + (isLast ? 0 : starts.length * CHANGE_CELLS))) return undefined;
  return isLast ? paint(routes, starts, axes[depth] as Axis) : sweep(routes, starts, axes, budget, depth);
};

/** Last dimension: each route in order takes the cells of its ranges that none before it took. */
const paint = (routes: readonly PlacedRoute[], starts: Float64Array, axis: Axis): Segments => {
  const ordinals = new Float64Array(starts.length).fill(NO_ROUTE);
  /** For each cell the first one at or after it that may still be free. */
  const free = new Uint32Array(starts.length + 1);
  for (let cell = 0; cell < free.length; cell++) free[cell] = cell;
  for (const route of routes) {
    const { ordinal } = route;
    const own = rangesOn(axis, route);
    for (let at = 0; at < own.length; at += 2) {
      const end = cellOf(starts, (own[at + 1] as number) + 1);
      for (let cell = firstFree(free, cellOf(starts, own[at] as number)); cell < end; cell = firstFree(free, cell)) {
        ordinals[cell] = ordinal;
        free[cell] = cell + 1;
      }
    }
  }
  return merge(starts, ordinals, [], axis);
};

/** The place of the first start that is not less; their count if all are. */
const cellOf = (starts: Float64Array, start: number): number => {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) < start) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Follows the links to a free cell and shortens them on the way. */
const firstFree = (free: Uint32Array, from: number): number => {
  let cell = from;
  while (free[cell] !== cell) {
    free[cell] = free[free[cell] as number] as number;
    cell = free[cell] as number;
  }
  return cell;
};

/** Other dimensions: each segment leads to an index of the routes that cover it. */
const sweep = (
  routes: readonly PlacedRoute[],
  starts: Float64Array,
  axes: readonly Axis[],
  budget: Budget,
  depth: number,
): Segments | undefined => {
  const changes = changesOf(routes.map((route) => rangesOn(axes[depth] as Axis, route)));
  const next: Segments[] = [NOTHING];
  const known = new Map<string, number>([["", 0]]);
  const leads = new Float64Array(starts.length);
  let active: readonly number[] = [];
  for (const [segment, start] of starts.entries()) {
    active = applyChange(active, changes.get(start));
    if (!budget.spend(1 + active.length)) return undefined;
    const key = active.join();
    let place = known.get(key);
    if (place === undefined) {
      const covering = active.map((index) => routes[index] as PlacedRoute);
      const built = buildSegments(covering, axes, budget, depth + 1);
      if (built === undefined) return undefined;
      place = next.push(built) - 1;
      known.set(key, place);
    }
    leads[segment] = place;
  }
  return merge(starts, leads, next, axes[depth] as Axis);
};

/** The least value, and every one at which a range begins or has just ended. */
const startsOf = (routes: readonly PlacedRoute[], axis: Axis, budget: Budget): Float64Array | undefined => {
  const { min, max } = axis;
  const count = routes.reduce((sum, route) => sum + rangesOn(axis, route).length, 1);
  if (!budget.spend(count)) return undefined;
  const bounds = new Float64Array(count).fill(min);
  let next = 1;
  for (const route of routes) {
    const ranges = rangesOn(axis, route);
    for (let at = 0; at < ranges.length; at++) bounds[next++] = (ranges[at] as number) + (at % 2);
  }
  bounds.sort();
  return bounds.filter((bound, at) => bound <= max && (at === 0 || bound !== bounds[at - 1]));
};

/** Joins neighbours that lead to the same. */
const merge = (starts: Float64Array, leads: Float64Array, next: readonly Segments[], { max }: Span): Segments => {
  const isKept = (_: number, at: number): boolean => at === 0 || leads[at] !== leads[at - 1];
  return new Segments(starts.filter(isKept), leads.filter(isKept), next, max);
};
