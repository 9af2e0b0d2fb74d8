import type { Budget } from "./budget.ts";
import type { Ranges } from "./ranges.ts";
import { NO_ROUTE, Segments } from "./segments.ts";
import { applyChange, changesOf } from "./sweep.ts";

/** A route's part of the dimensions of an index, in their order. */
export interface IndexedRoute {
  readonly ordinal: number;
  readonly ranges: readonly Ranges[];
}

/** The least and the greatest value of a dimension. */
export interface Span {
  readonly min: number;
  readonly max: number;
}

/** Segments cost something however few they are, and so do the changes between them while they are made. */
const SEGMENTS_CELLS = 32;
const CHANGE_CELLS = 8;

/** What no route covers. */
const NOTHING = new Segments(Float64Array.of(0), Float64Array.of(NO_ROUTE), [], 0);

/** Cuts the dimensions from `depth` on into segments. Routes come by rising ordinal. `undefined`: beyond the budget. */
export const buildSegments = (
  routes: readonly IndexedRoute[],
  spans: readonly Span[],
  budget: Budget,
  depth = 0,
): Segments | undefined => {
  const starts = startsOf(routes, spans[depth] as Span, budget, depth);
  if (starts === undefined) return undefined;
  const isLast = depth === spans.length - 1;
  if (!budget.spend(SEGMENTS_CELLS + (isLast ? 0 : starts.length * CHANGE_CELLS))) return undefined;
  return isLast ? paint(routes, starts, spans, depth) : sweep(routes, starts, spans, budget, depth);
};

/** Last dimension: each route in order takes the cells of its ranges that none before it took. */
const paint = (
  routes: readonly IndexedRoute[],
  starts: Float64Array,
  spans: readonly Span[],
  depth: number,
): Segments => {
  const ordinals = new Float64Array(starts.length).fill(NO_ROUTE);
  /** For each cell the first one at or after it that may still be free. */
  const free = Uint32Array.from({ length: starts.length + 1 }, (_, cell) => cell);
  for (const { ordinal, ranges } of routes) {
    const own = ranges[depth] as Ranges;
    for (let at = 0; at < own.length; at += 2) {
      const end = cellOf(starts, (own[at + 1] as number) + 1);
      for (let cell = firstFree(free, cellOf(starts, own[at] as number)); cell < end; cell = firstFree(free, cell)) {
        ordinals[cell] = ordinal;
        free[cell] = cell + 1;
      }
    }
  }
  return merge(starts, ordinals, [], spans[depth] as Span);
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
  routes: readonly IndexedRoute[],
  starts: Float64Array,
  spans: readonly Span[],
  budget: Budget,
  depth: number,
): Segments | undefined => {
  const changes = changesOf(routes.map(({ ranges }) => ranges[depth] as Ranges));
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
      const covering = active.map((index) => routes[index] as IndexedRoute);
      const built = buildSegments(covering, spans, budget, depth + 1);
      if (built === undefined) return undefined;
      place = next.push(built) - 1;
      known.set(key, place);
    }
    leads[segment] = place;
  }
  return merge(starts, leads, next, spans[depth] as Span);
};

/** The least value, and every one at which a range begins or has just ended. */
const startsOf = (
  routes: readonly IndexedRoute[],
  { min, max }: Span,
  budget: Budget,
  depth: number,
): Float64Array | undefined => {
  const count = routes.reduce((sum, { ranges }) => sum + (ranges[depth] as Ranges).length, 1);
  if (!budget.spend(count)) return undefined;
  const bounds = new Float64Array(count).fill(min);
  let next = 1;
  for (const { ranges } of routes) {
    for (const [at, bound] of (ranges[depth] as Ranges).entries()) bounds[next++] = at % 2 === 0 ? bound : bound + 1;
  }
  bounds.sort();
  return bounds.filter((bound, at) => bound <= max && (at === 0 || bound !== bounds[at - 1]));
};

/** Joins neighbours that lead to the same. */
const merge = (starts: Float64Array, leads: Float64Array, next: readonly Segments[], { max }: Span): Segments => {
  const isKept = (_: number, at: number): boolean => at === 0 || leads[at] !== leads[at - 1];
  return new Segments(starts.filter(isKept), leads.filter(isKept), next, max);
};
