import type { Conditions } from "../compile/conditions.ts";
import { fieldDimensionName, keyFieldOf } from "../layouts/fields.ts";
import { type Dimension, type IdPlan, type LayoutPlan, sliceDimensionName } from "../layouts/plan.ts";
import type { Budget } from "../limits.ts";
import type { Slice } from "../table.ts";
import { clip, countOf, includes, intersect, pairsOf, type Ranges } from "./ranges.ts";

/** A part of a layout's ID space: for each dimension of its plan the values in it, `undefined` for all of them. */
export type Box = readonly (Ranges | undefined)[];

/** Slices that together begin at the key's first bit are turned into ranges of the key, up to so many of them. */
const PREFIX_RANGES_MAX = 4096;

/** Whether an entity's IDs are among those that the conditions ask for, by its name and by the number that marks it. */
export const takesId = ({ entities, fields }: Conditions, { entity, service, group }: IdPlan): boolean =>
  (entities === undefined || entities.has(entity)) &&
  isAmong(fields.get("service"), service) &&
  isAmong(fields.get("group"), group);

const isAmong = (set: Ranges | undefined, value: number | undefined): boolean =>
  set === undefined || value === undefined || includes(set, value);

/** A box with its entry among a layout's placements. */
const BOX_CELLS = 6;

/** The numbers that mark an entity's IDs. */
type Marks = Pick<IdPlan, "service" | "group">;

/**
 * The box that some conditions leave of the IDs of one layout that have such marks, whatever their values; `undefined` if
 * nothing is left or the budget does not reach.
 */
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

/** Adds slice conditions, if there is a key and the budget reaches: as ranges of the whole key where they begin at its first bit, else as dimensions of their own. */
const addSlices = (
  plan: LayoutPlan,
  values: ReadonlyMap<string, Ranges>,
  sets: Map<string, Ranges>,
  budget: Budget,
): boolean => {
  const key = keyFieldOf(plan.layout);
  if (key === undefined) return false;
  const ordered = [...values].map(([name, ranges]) => ({ slice: plan.slices.get(name) as Slice, ranges }));
  ordered.sort((a, b) => a.slice.offset - b.slice.offset);
  let known = 0;
  let prefixes: Ranges = [0, 0];
  for (const { slice, ranges } of ordered) {
    const count = slice.offset === known ? countExtended(prefixes, ranges) : Number.POSITIVE_INFINITY;
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
  const name = fieldDimensionName(key.name);
  const given = sets.get(name);
  sets.set(name, given === undefined ? ranges : intersect(given, ranges));
  return true;
};

/** How many ranges `extend` makes. */
const countExtended = (prefixes: Ranges, ranges: Ranges): number => (countOf(prefixes) * ranges.length) / 2;

/** Every prefix followed by every value of the next `bits` bits. */
const extend = (prefixes: Ranges, bits: number, ranges: Ranges): Ranges => {
  const values = pairsOf(ranges);
  const extended: number[] = [];
  for (const [low, high] of pairsOf(prefixes)) {
    for (let prefix = low; prefix <= high; prefix++) {
      for (const [first, last] of values) {
        const from = prefix * 2 ** bits + first;
        // What ends one prefix may touch what begins the next.
        if (extended.at(-1) === from - 1) extended.pop();
        else extended.push(from);
        extended.push(prefix * 2 ** bits + last);
      }
    }
  }
  return extended;
};
