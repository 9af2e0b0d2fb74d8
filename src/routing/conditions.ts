import { groupOfClass } from "../ids/index.ts";
import type { Budget } from "./budget.ts";
import type { Draft } from "./draft.ts";
import { listNames, type Place, type Report } from "./faults.ts";
import { readFieldConditions, readValues } from "./field-conditions.ts";
import { isLayoutName } from "./known-layouts.ts";
import { keyFieldOf } from "./layout-fields.ts";
import type { LayoutPlan } from "./layout-plans.ts";
import { readM49, readNumbers } from "./numbers.ts";
import { intersect, type Ranges, rangesOf } from "./ranges.ts";
import type { DeclaredConditions, DeclaredNumbers, DeclaredRoute } from "./schema.ts";
import { listOf, maxIn, type Scope, scopeOf } from "./scopes.ts";
import type { Slice } from "./table.ts";
import { parseTime } from "./times.ts";

/** A route's conditions as sets of numbers. What is absent is not asked for. */
export interface Conditions {
  readonly layouts: ReadonlySet<string> | undefined;
  readonly entities: ReadonlySet<string> | undefined;
  /** By dimension, as `LayoutPlan` has them; those of slices come below. */
  readonly fields: ReadonlyMap<string, Ranges>;
  /** By layout, then by slice. A layout that lacks one of the slices is absent: its IDs cannot meet the condition. */
  readonly slices: ReadonlyMap<string, ReadonlyMap<string, Ranges>> | undefined;
}

/**
 * Reads a route's conditions and reports every name and value at fault; `undefined` if there is one, or if the budget
 * does not reach.
 */
export const readConditions = (
  draft: Draft,
  plans: ReadonlyMap<string, LayoutPlan>,
  { when }: DeclaredRoute,
  place: Place,
  report: Report,
  budget: Budget,
): Conditions | undefined => {
  if (!budget.spend(costOf(when, plans.size))) return undefined;
  let sound = true;
  const fault: Report = (...found) => {
    sound = false;
    report(...found);
  };
  checkNames(draft, when, place, fault);
  const scope = scopeOf(plans, when);
  const { layouts, entities, possible } = scope;
  const fields = readFields(draft, when, scope, place, fault);
  const minted = readMinted(when, place, fault);
  if (minted !== undefined) fields.set("minted", minted);
  const slices = when.slices && readSlices(when.slices, possible, [...place, "slices"], fault);
  if (slices !== undefined && !budget.spend(sizeOf(slices))) return undefined;
  // A country whose number could not be read is a fault of its own.
  if (listOf(when.country ?? []).some((code) => !draft.countries.has(code))) return undefined;
  return sound ? { layouts, entities, fields, slices } : undefined;
};

/** A look at a layout costs an eighth of a cell; some conditions are held against each layout, others are read once. */
const costOf = ({ entity, slices = {}, fields = {}, ...when }: DeclaredConditions, layouts: number): number => {
  const count = (values: readonly unknown[]): number =>
    values.reduce((sum: number, value) => sum + (Array.isArray(value) ? value.length : 1), 0);
  const once = count(Object.values(when)) + count(Object.values(fields));
  const forEach = count([entity]) + count(Object.values(slices)) + Object.keys(fields).length;
  return once + forEach * (1 + layouts / 8);
};

/** An area of M.49 is one value in the table and many ranges here. */
const sizeOf = (slices: ReadonlyMap<string, ReadonlyMap<string, Ranges>>): number => {
  let size = 0;
  for (const sets of slices.values()) for (const set of sets.values()) size += set.length;
  return size;
};

const checkNames = (draft: Draft, when: DeclaredConditions, place: Place, fault: Report): void => {
  const known = { layout: draft.known, entity: draft.names.entities, country: draft.names.countries };
  for (const key of ["layout", "entity", "country"] as const) {
    const declared = when[key];
    if (declared === undefined || (typeof declared === "string" && known[key].has(declared))) continue;
    for (const [index, name] of listOf(declared).entries()) {
      if (known[key].has(name) || (key === "layout" && isLayoutName(draft, name))) continue;
      const at = Array.isArray(declared) ? [...place, key, index] : [...place, key];
      const choice = listNames(known[key].keys());
      fault("unknown-name", at, `There is no ${key} ${JSON.stringify(name)}; declare it or use one of ${choice}.`);
    }
  }
};

/** Greatest values in our own layouts, for a condition that no layout of the route has a field for. */
const FIELD_MAX = { service: 2 ** 8 - 1, shardKey: 2 ** 32 - 1, group: 2 ** 12 - 1, primaryKey: 2 ** 48 - 1 } as const;

const readFields = (
  draft: Draft,
  when: DeclaredConditions,
  scope: Scope,
  place: Place,
  fault: Report,
): Map<string, Ranges> => {
  const fields = new Map(when.fields && readFieldConditions(when.fields, scope.owned, [...place, "fields"], fault));
  const add = (name: string, set: Ranges): void => {
    const given = fields.get(name);
    fields.set(name, given === undefined ? set : intersect(given, set));
  };
  for (const name of ["service", "shardKey", "group", "primaryKey"] as const) {
    const declared = when[name];
    if (declared !== undefined)
      add(name, readValues(declared, maxIn(scope, name) ?? FIELD_MAX[name], [...place, name], fault));
  }
  if (when.country !== undefined) {
    const numbers = listOf(when.country).flatMap((code) => draft.countries.get(code) ?? []);
    add("country", rangesOf(numbers.map((number) => [number, number])));
  }
  if (when.class !== undefined) {
    const groups = rangesOf(
      listOf(when.class)
        .map(groupOfClass)
        .map((group) => [group, group]),
    );
    add("group", groups);
  }
  return fields;
};

/** Times are read in whole milliseconds, so the last one before a bound is the bound less one. */
const readMinted = (when: DeclaredConditions, place: Place, fault: Report): Ranges | undefined => {
  if (when.mintedFrom === undefined && when.mintedBefore === undefined) return undefined;
  const bound = (name: "mintedFrom" | "mintedBefore", absent: number): number | undefined => {
    const text = when[name];
    if (text === undefined) return absent;
    const ms = parseTime(text);
    if (ms === undefined)
      fault("time-range", [...place, name], `${JSON.stringify(text)} is no day or hour of the calendar; correct it.`);
    return ms;
  };
  const from = bound("mintedFrom", Number.MIN_SAFE_INTEGER);
  const before = bound("mintedBefore", Number.MAX_SAFE_INTEGER);
  if (from === undefined || before === undefined) return undefined;
  if (from >= before) {
    fault(
      "time-range",
      [...place, "mintedBefore"],
      "The end is not later than `mintedFrom`, so no ID can match; move one of them.",
    );
    return undefined;
  }
  return [from, before - 1];
};

type DeclaredSlices = NonNullable<DeclaredConditions["slices"]>;

const readSlices = (
  declared: DeclaredSlices,
  plans: readonly LayoutPlan[],
  place: Place,
  fault: Report,
): ReadonlyMap<string, ReadonlyMap<string, Ranges>> => {
  const byLayout = new Map<string, ReadonlyMap<string, Ranges>>();
  const names = Object.keys(declared);
  for (const { layout, slices } of plans) {
    if (keyFieldOf(layout) === undefined || !names.every((name) => slices.has(name))) continue;
    const own = new Map<string, Ranges>();
    for (const name of names) {
      own.set(name, readSlice(declared[name] as DeclaredNumbers, slices.get(name) as Slice, [...place, name], fault));
    }
    byLayout.set(layout.name, own);
  }
  for (const name of names) {
    if (plans.some(({ slices }) => slices.has(name))) continue;
    fault(
      "unknown-name",
      [...place, name],
      `No layout of this route has a slice ${JSON.stringify(name)}; declare it under \`layouts\` or correct the name.`,
    );
  }
  return byLayout;
};

const readSlice = (declared: DeclaredNumbers, { bits, codes }: Slice, place: Place, fault: Report): Ranges => {
  const read = codes === "m49" ? readM49 : readNumbers;
  const { ranges, faults } = read(declared, 2 ** bits - 1);
  for (const { item, message } of faults) fault("key-range", item === undefined ? place : [...place, item], message);
  return ranges;
};
