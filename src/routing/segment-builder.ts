import type { Ranges } from "./ranges.ts";
import { NO_ROUTE, Segments } from "./segments.ts";
import { applyChange, changesOf } from "./sweep.ts";

/** What indexes may still cost. It counts down; below 0 an index is given up. */
export interface Budget {
  cells: number;
}

/** A route's part of the dimensions of an index, in their order. */
export interface IndexedRoute {
  readonly ordinal: number;
  readonly ranges: readonly Ranges[];
}

/** What no route covers. */
const NOTHING = new Segments(Float64Array.of(Number.NEGATIVE_INFINITY), Float64Array.of(NO_ROUTE), []);

/** Cuts the dimensions from `depth` on into segments. Routes come by rising ordinal. `undefined`: beyond the budget. */
export const buildSegments = (
  routes: readonly IndexedRoute[],
  dimensions: number,
  budget: Budget,
  depth = 0,
): Segments | undefined =>
  depth === dimensions - 1 ? paint(routes, depth, budget) : sweep(routes, dimensions, budget, depth);

/** Last dimension: each route in order takes the cells of its ranges that none before it took. */
const paint = (routes: readonly IndexedRoute[], depth: number, budget: Budget): Segments | undefined => {
  const starts = startsOf(routes, depth, budget);
  if (starts === undefined) return undefined;
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
  return merge(starts, ordinals, []);
};

/** The place of a start that is known to be there. */
const cellOf = (starts: Float64Array, start: number): number => {
  let low = 0;
  let high = starts.length - 1;
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
  dimensions: number,
  budget: Budget,
  depth: number,
): Segments | undefined => {
  const starts = startsOf(routes, depth, budget);
  if (starts === undefined) return undefined;
  const changes = changesOf(routes.map(({ ranges }) => ranges[depth] as Ranges));
  const next: Segments[] = [NOTHING];
  const known = new Map<string, number>([["", 0]]);
  const leads = new Float64Array(starts.length);
  let active: readonly number[] = [];
  for (const [segment, start] of starts.entries()) {
    active = applyChange(active, changes.get(start));
    budget.cells -= active.length;
    if (budget.cells < 0) return undefined;
    const key = active.join();
    let place = known.get(key);
    if (place === undefined) {
      const covering = active.map((index) => routes[index] as IndexedRoute);
      const built = buildSegments(covering, dimensions, budget, depth + 1);
      if (built === undefined) return undefined;
      place = next.push(built) - 1;
      known.set(key, place);
    }
    leads[segment] = place;
  }
  return merge(starts, leads, next);
};

/** Minus infinity, and every number at which a range begins or has just ended. */
const startsOf = (routes: readonly IndexedRoute[], depth: number, budget: Budget): Float64Array | undefined => {
  const count = routes.reduce((sum, { ranges }) => sum + (ranges[depth] as Ranges).length, 1);
  budget.cells -= count;
  if (budget.cells < 0) return undefined;
  const bounds = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  let next = 1;
  for (const { ranges } of routes) {
    for (const [at, bound] of (ranges[depth] as Ranges).entries()) bounds[next++] = at % 2 === 0 ? bound : bound + 1;
  }
  bounds.sort();
  return bounds.filter((bound, at) => at === 0 || bound !== bounds[at - 1]);
};

/** Joins neighbours that lead to the same. */
const merge = (starts: Float64Array, leads: Float64Array, next: readonly Segments[]): Segments => {
  const isKept = (_: number, at: number): boolean => at === 0 || leads[at] !== leads[at - 1];
  return new Segments(starts.filter(isKept), leads.filter(isKept), next);
};
