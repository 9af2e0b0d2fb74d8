import type { Conditions } from "../compile/conditions.ts";
import { fieldDimensionName, keyFieldOf } from "../layouts/fields.ts";
import { type Dimension, groupBy, type IdPlan, type LayoutPlan, sliceDimensionName } from "../layouts/plan.ts";
import type { Budget } from "../limits.ts";
import type { Slice } from "../table.ts";
import { NO_ROUTE, type SegmentIndex, Segments, type Span } from "./id-index.ts";
import type { Ranges } from "./ranges.ts";
import { applyChange, changesOf, clip, countOf, firstNotBelow, includes, narrow, pairsOf } from "./ranges.ts";

/** Makes the boxes of routes, and of them the segments of `id-index.ts`: once for each table. */

/** A part of a layout's ID space: for each dimension of its plan the values in it, `undefined` for all of them. */
export type Box = readonly (Ranges | undefined)[];

/** The most ranges of the key into which slices are turned that together begin at its first bit. */
const PREFIX_RANGES_MAX = 4096;

/** Whether the conditions ask for an entity's IDs, by its name and by the number that marks it. */
export const takesId = ({ entities, fields }: Conditions, { entity, service, group }: IdPlan): boolean =>
  (entities === undefined || entities.has(entity)) &&
  isAmong(fields.get("service"), service) &&
  isAmong(fields.get("group"), group);

const isAmong = (set: Ranges | undefined, value: number | undefined): boolean =>
  set === undefined || value === undefined || includes(set, value);

/** A box with its entry among a layout's placements. */
const BOX_CELLS = 6;

type Marks = Pick<IdPlan, "service" | "group">;

/** The box that conditions leave of a layout's IDs with such marks; `undefined` for none, or beyond the budget. */
export const boxOf = (conditions: Conditions, plan: LayoutPlan, marks: Marks, budget: Budget): Box | undefined => {
  const { layouts, fields, slices } = conditions;
  if (layouts !== undefined && !layouts.has(plan.layout.name)) return undefined;
  const sets = new Map(fields);
  if (slices !== undefined) {
    const own = slices.get(plan.layout.name);
    if (own === undefined || !addSlices(plan, own, sets, budget)) return undefined;
  }
  // A number that the entity's IDs have anyway decides its condition, see `takesId`.
  if (marks.service !== undefined) sets.delete("service");
  if (marks.group !== undefined) sets.delete("group");
  return cut(plan.dimensions, sets, budget);
};

/** Cuts sets to what the dimensions can hold. A set without a dimension is a condition that no ID can meet. */
const cut = (dimensions: readonly Dimension[], sets: Map<string, Ranges>, budget: Budget): Box | undefined => {
  // An array that grows takes far more memory than it needs.
  const box = new Array<Ranges | undefined>(dimensions.length).fill(undefined);
  let used = 0;
  if (!budget.spend(BOX_CELLS)) return undefined;
  for (const [slot, { name, min, max }] of dimensions.entries()) {
    const set = sets.get(name);
    if (set === undefined) continue;
    used++;
    if (!budget.spend(set.length)) return undefined;
    const part = clip(set, min, max);
    if (part.length === 0) return undefined;
    if (part[0] !== min || part[1] !== max) box[slot] = part;
  }
  return used === sets.size ? box : undefined;
};

type ReadonlySets = ReadonlyMap<string, Ranges>;

/** Adds slice conditions, if there is a key and the budget reaches: as ranges of the whole key where they begin at its first bit, else as dimensions of their own. */
const addSlices = (plan: LayoutPlan, values: ReadonlySets, sets: Map<string, Ranges>, budget: Budget): boolean => {
  const key = keyFieldOf(plan.layout);
  if (key === undefined) return false;
  const ordered = [...values].map(([name, ranges]) => ({ slice: plan.slices.get(name) as Slice, ranges }));
  ordered.sort((a, b) => a.slice.offset - b.slice.offset);
  let known = 0;
  let prefixes: Ranges = [0, 0];
  for (const { slice, ranges } of ordered) {
    const count = slice.offset === known ? (countOf(prefixes) * ranges.length) / 2 : Number.POSITIVE_INFINITY;
    if (count > PREFIX_RANGES_MAX) {
      sets.set(sliceDimensionName(slice.name), ranges);
      continue;
    }
    if (!budget.spend(count * 2)) return false;
    prefixes = extend(prefixes, slice.bits, ranges);
    known += slice.bits;
  }
  if (known === 0) return true;
  const below = 2 ** (key.bits - known);
  const ranges = prefixes.map((bound, at) => (at % 2 === 0 ? bound * below : (bound + 1) * below - 1));
  narrow(sets, fieldDimensionName(key.name), ranges);
  return true;
};

/** Every prefix followed by every value of the next `bits` bits. */
const extend = (prefixes: Ranges, bits: number, ranges: Ranges): Ranges => {
  const values = pairsOf(ranges);
  const extended: number[] = [];
  for (const [low, high] of pairsOf(prefixes)) {
    for (let prefix = low; prefix <= high; prefix++) {
      for (const [first, last] of values) {
        const from = prefix * 2 ** bits + first;
        // The end of one prefix may touch the begin of the next.
        if (extended.at(-1) === from - 1) extended.pop();
        else extended.push(from);
        extended.push(prefix * 2 ** bits + last);
      }
    }
  }
  return extended;
};

export interface PlacedRoute {
  /** Place in the declared `routes`; the lowest one that matches wins. */
  readonly ordinal: number;
  readonly box: Box;
}

type Routes = readonly PlacedRoute[];

/** A dimension of an index, and where it stands in the boxes of routes. */
export type Axis = Span & { readonly slot: number };

type Axes = readonly Axis[];

const rangesOn = ({ slot }: Axis, { box }: PlacedRoute): Ranges => box[slot] as Ranges;

/** Segments cost something however few they are, and so do the changes between them while they are made. */
const SEGMENTS_CELLS = 32;
const CHANGE_CELLS = 8;

const NOTHING = Segments.of(Float64Array.of(0), Float64Array.of(NO_ROUTE), [], 0);

/** Cuts the dimensions from `depth` on into segments. Routes come by rising ordinal. `undefined`: beyond the budget. */
export const buildSegments = (routes: Routes, axes: Axes, budget: Budget, depth = 0): Segments | undefined => {
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

const cellOf = (starts: Float64Array, start: number): number =>
  firstNotBelow(starts.length, (cell) => (starts[cell] as number) < start);

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
const sweep = (routes: Routes, starts: Float64Array, axes: Axes, budget: Budget, depth: number) => {
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

const merge = (starts: Float64Array, leads: Float64Array, next: readonly Segments[], { max }: Span): Segments => {
  const isKept = (_: number, at: number): boolean => at === 0 || leads[at] !== leads[at - 1];
  return Segments.of(starts.filter(isKept), leads.filter(isKept), next, max);
};

/** One index for each set of dimensions that routes constrain together; `undefined` beyond the budget. */
export const buildIndexes = (routes: Routes, dimensions: readonly Span[], budget: Budget) => {
  const indexes: SegmentIndex[] = [];
  for (const group of groupBy(routes, ({ box }) => slotsOf(box).join()).values()) {
    const [first] = group as readonly [PlacedRoute];
    const ownSlots = slotsOf(first.box);
    if (!budget.spend(1 + ownSlots.length * group.length)) return undefined;
    const slots = nestingOf(group, ownSlots);
    const axes = slots.map((slot) => ({ ...(dimensions[slot] as Span), slot }));
    const root = axes.length === 0 ? undefined : buildSegments(group, axes, budget);
    if (axes.length > 0 && root === undefined) return undefined;
    indexes.push({ first: first.ordinal, slots, root });
  }
  return indexes;
};

const slotsOf = (box: Box): readonly number[] => box.flatMap((set, slot) => (set === undefined ? [] : [slot]));

/** The dimension with most different bounds comes first: it leaves the fewest routes for those inside of it. */
const nestingOf = (routes: readonly PlacedRoute[], slots: readonly number[]): readonly number[] => {
  if (slots.length < 2) return slots;
  const bounds = new Map(slots.map((slot) => [slot, new Set(routes.flatMap(({ box }) => box[slot] as Ranges)).size]));
  return slots.toSorted((a, b) => (bounds.get(b) as number) - (bounds.get(a) as number));
};
