import { pairsOf, type Ranges } from "./ranges.ts";
import { NO_ROUTE, Segments } from "./segments.ts";

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
const NOTHING = new Segments([Number.NEGATIVE_INFINITY], [], [NO_ROUTE]);

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
  const cellOf = new Map(starts.map((start, cell) => [start, cell]));
  const ordinals = new Array<number>(starts.length).fill(NO_ROUTE);
  /** For each cell the first one at or after it that may still be free. */
  const free = Uint32Array.from({ length: starts.length + 1 }, (_, cell) => cell);
  for (const { ordinal, ranges } of routes) {
    for (const [low, high] of pairsOf(ranges[depth] as Ranges)) {
      const end = cellOf.get(high + 1) as number;
      for (let cell = firstFree(free, cellOf.get(low) as number); cell < end; cell = firstFree(free, cell)) {
        ordinals[cell] = ordinal;
        free[cell] = cell + 1;
      }
    }
  }
  return merge(starts, ordinals, (kept, values) => new Segments(kept, [], values));
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
  const changes = changesAt(routes, depth);
  const known = new Map<string, Segments>([["", NOTHING]]);
  const next: Segments[] = [];
  let active: readonly number[] = [];
  for (const start of starts) {
    const change = changes.get(start);
    if (change !== undefined) active = apply(active, change);
    budget.cells -= active.length;
    if (budget.cells < 0) return undefined;
    const key = active.join();
    const built =
      known.get(key) ??
      buildSegments(
        active.map((index) => routes[index] as IndexedRoute),
        dimensions,
        budget,
        depth + 1,
      );
    if (built === undefined) return undefined;
    known.set(key, built);
    next.push(built);
  }
  return merge(starts, next, (kept, values) => new Segments(kept, values, []));
};

/** Minus infinity, and every number at which a range begins or has just ended. */
const startsOf = (routes: readonly IndexedRoute[], depth: number, budget: Budget): number[] | undefined => {
  const bounds: number[] = [Number.NEGATIVE_INFINITY];
  for (const { ranges } of routes) {
    for (const [low, high] of pairsOf(ranges[depth] as Ranges)) bounds.push(low, high + 1);
  }
  budget.cells -= bounds.length;
  return budget.cells < 0 ? undefined : [...new Set(Float64Array.from(bounds).sort())];
};

interface Change {
  readonly begin: number[];
  readonly end: Set<number>;
}

/** Which routes, by their place in the list, begin and end at each bound. */
const changesAt = (routes: readonly IndexedRoute[], depth: number): ReadonlyMap<number, Change> => {
  const changes = new Map<number, Change>();
  const at = (bound: number): Change => {
    const change = changes.get(bound) ?? { begin: [], end: new Set() };
    changes.set(bound, change);
    return change;
  };
  for (const [index, { ranges }] of routes.entries()) {
    for (const [low, high] of pairsOf(ranges[depth] as Ranges)) {
      at(low).begin.push(index);
      at(high + 1).end.add(index);
    }
  }
  return changes;
};

const apply = (active: readonly number[], { begin, end }: Change): readonly number[] => {
  const kept = end.size === 0 ? active : active.filter((index) => !end.has(index));
  return begin.length === 0 ? kept : [...kept, ...begin].sort((a, b) => a - b);
};

/** Joins neighbours of one value. */
const merge = <Value>(
  starts: readonly number[],
  values: readonly Value[],
  make: (starts: readonly number[], values: readonly Value[]) => Segments,
): Segments => {
  const keep = starts.map((_, index) => index).filter((index) => index === 0 || values[index] !== values[index - 1]);
  return make(
    keep.map((index) => starts[index] as number),
    keep.map((index) => values[index] as Value),
  );
};
