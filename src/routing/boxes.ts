import type { Conditions } from "./conditions.ts";
import { fieldDimensionName, keyFieldOf } from "./layout-fields.ts";
import { type Dimension, type IdPlan, type LayoutPlan, sliceDimensionName } from "./layout-plans.ts";
import { includes, intersect, pairsOf, type Ranges, rangesOf } from "./ranges.ts";
import type { Slice } from "./table.ts";

/** A part of a layout's ID space: for each dimension of its plan the values in it, `undefined` for all of them. */
export type Box = readonly (Ranges | undefined)[];

/** Slices that together begin at the key's first bit are turned into ranges of the key, up to so many of them. */
const PREFIX_RANGES_MAX = 4096;

/** The box that some conditions leave of an entity's IDs of one layout; `undefined` if nothing is left. */
export const boxOf = (conditions: Conditions, plan: LayoutPlan, id: IdPlan): Box | undefined => {
  const { layouts, entities, fields, slices } = conditions;
  if (layouts !== undefined && !layouts.has(plan.layout.name)) return undefined;
  if (entities !== undefined && !entities.has(id.entity)) return undefined;
  const sets = new Map(fields);
  if (slices !== undefined) {
    const own = slices.get(plan.layout.name);
    if (own === undefined || !addSlices(plan, own, sets)) return undefined;
  }
  if (!settle(sets, "service", id.service) || !settle(sets, "group", id.group)) return undefined;
  return cut(plan.dimensions, sets);
};

/** A number that the entity's IDs have anyway decides its condition now. */
const settle = (sets: Map<string, Ranges>, name: string, value: number | undefined): boolean => {
  const set = sets.get(name);
  if (set === undefined || value === undefined) return true;
  sets.delete(name);
  return includes(set, value);
};

/** Cuts sets to what the dimensions can hold. A set without a dimension is a condition that no ID can meet. */
const cut = (dimensions: readonly Dimension[], sets: Map<string, Ranges>): Box | undefined => {
  const box: (Ranges | undefined)[] = [];
  let used = 0;
  for (const { name, min, max } of dimensions) {
    const set = sets.get(name);
    if (set !== undefined) used++;
    const part = set === undefined ? undefined : intersect(set, [min, max]);
    if (part?.length === 0) return undefined;
    box.push(part?.[0] === min && part[1] === max ? undefined : part);
  }
  return used === sets.size ? box : undefined;
};

/** Adds slice conditions: as ranges of the whole key where they begin at its first bit, else as dimensions of their own. */
const addSlices = (plan: LayoutPlan, values: ReadonlyMap<string, Ranges>, sets: Map<string, Ranges>): boolean => {
  const key = keyFieldOf(plan.layout);
  if (key === undefined) return false;
  const ordered = [...values].map(([name, ranges]) => ({ slice: plan.slices.get(name) as Slice, ranges }));
  ordered.sort((a, b) => a.slice.offset - b.slice.offset);
  let known = 0;
  let prefixes: Ranges = [0, 0];
  for (const { slice, ranges } of ordered) {
    const next = slice.offset === known ? extend(prefixes, slice.bits, ranges) : undefined;
    if (next === undefined) sets.set(sliceDimensionName(slice.name), ranges);
    else {
      prefixes = next;
      known += slice.bits;
    }
  }
  if (known === 0) return true;
  const below = 2 ** (key.bits - known);
  const ranges = rangesOf(pairsOf(prefixes).map(([low, high]) => [low * below, (high + 1) * below - 1]));
  const name = fieldDimensionName(key.name);
  const given = sets.get(name);
  sets.set(name, given === undefined ? ranges : intersect(given, ranges));
  return true;
};

/** Every prefix followed by every value of the next `bits` bits; `undefined` where that would be too many ranges. */
const extend = (prefixes: Ranges, bits: number, ranges: Ranges): Ranges | undefined => {
  const values = pairsOf(ranges);
  const pairs: [number, number][] = [];
  for (const [low, high] of pairsOf(prefixes)) {
    if (pairs.length + (high - low + 1) * values.length > PREFIX_RANGES_MAX) return undefined;
    for (let prefix = low; prefix <= high; prefix++) {
      for (const [first, last] of values) pairs.push([prefix * 2 ** bits + first, prefix * 2 ** bits + last]);
    }
  }
  return rangesOf(pairs);
};
