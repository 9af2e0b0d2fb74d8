import { groupOfClass, type Layout } from "../../ids/index.ts";
import { M49_AREAS } from "../data/m49.ts";
import { areEntitiesSound, isLayoutName } from "../layouts/declared.ts";
import {
  fieldDimensionName,
  isIssued,
  keyFieldOf,
  noSuchDay,
  parseTime,
  ROUTABLE_BITS_MAX,
  routableFields,
} from "../layouts/fields.ts";
import type { LayoutPlan, LayoutPlans } from "../layouts/plan.ts";
import type { Budget } from "../limits.ts";
import { narrow, pairsOf, type Ranges, rangesOf } from "../lookup/ranges.ts";
import type { Draft, DraftRoute } from "../schema/draft.ts";
import { listNames, type Place, type Report, reportUnknown } from "../schema/faults.ts";
import { listOf } from "../schema/records.ts";
import type { DeclaredConditions, DeclaredNumbers } from "../schema/table.ts";
import type { Slice } from "../table.ts";

/** Whether routes can depend on the field in the layouts; reports why not. */
const isRoutable = (name: string, layouts: readonly Layout[], place: Place, report: Report): boolean => {
  // A route that matches no layout is reported as a whole.
  if (layouts.length === 0) return true;
  const found = layouts.flatMap((layout) => {
    const field = layout.field(name);
    return field === undefined ? [] : [{ layout: layout.name, field }];
  });
  const issued = found.filter(({ field }) => isIssued(field));
  const wide = issued.find(({ field }) => field.bits > ROUTABLE_BITS_MAX);
  if (issued.length > 0 && wide === undefined) return true;
  if (wide !== undefined) {
    const message = `Field ${name} of layout ${wide.layout} has ${wide.field.bits} bits, and routes can depend on fields of at most ${ROUTABLE_BITS_MAX}; remove it, or name other layouts with \`layout\`.`;
    report("key-range", place, message);
    return false;
  }
  const known = new Set(layouts.flatMap((layout) => routableFields(layout).map((field) => field.name)));
  const role = found[0]?.field.role;
  const what =
    role === undefined ? "No layout of this route has a field" : `A route cannot depend on the ${role} field`;
  report("unknown-name", place, `${what} ${JSON.stringify(name)}; name one of ${listNames(known)}.`);
  return false;
};

interface Scope {
  readonly layouts: ReadonlySet<string> | undefined;
  readonly entities: ReadonlySet<string> | undefined;
  /** The layouts that it names, or all; and those of them that its entities have. */
  readonly possible: readonly LayoutPlan[];
  readonly owned: readonly Layout[];
  readonly maxima: Map<string, number | undefined>;
}

/** Most routes of a table share a scope, so scopes live as long as the plans. */
const scopes = new WeakMap<LayoutPlans, Map<string, Scope>>();

const scopeOf = (plans: LayoutPlans, when: DeclaredConditions): Scope => {
  const { layout, entity } = when;
  if (Array.isArray(layout) || Array.isArray(entity)) return newScope(plans, when);
  const known = scopes.get(plans) ?? new Map<string, Scope>();
  if (known.size === 0) scopes.set(plans, known);
  const key = `${layout ?? ""} ${entity ?? ""}`;
  const scope = known.get(key) ?? newScope(plans, when);
  known.set(key, scope);
  return scope;
};

const newScope = (plans: LayoutPlans, { layout, entity }: DeclaredConditions): Scope => {
  const layouts = layout === undefined ? undefined : new Set(listOf(layout));
  const entities = entity === undefined ? undefined : new Set(listOf(entity));
  const possible = [...plans.values()].filter((plan) => layouts === undefined || layouts.has(plan.layout.name));
  const owned = possible.filter(
    ({ idsByEntity }) => entities === undefined || [...entities].some((name) => idsByEntity.has(name)),
  );
  return { layouts, entities, possible, owned: owned.map((plan) => plan.layout), maxima: new Map() };
};

/** The greatest value that a field of this name has in any of the layouts. */
const maxIn = ({ owned, maxima }: Scope, name: string): number | undefined => {
  if (maxima.has(name)) return maxima.get(name);
  const all = owned.flatMap((layout) => layout.field(name) ?? []).map(({ max }) => Number(max));
  maxima.set(name, all.length === 0 ? undefined : Math.max(...all));
  return maxima.get(name);
};

/** A route's conditions as sets of numbers. Anything matches where a member is absent. */
export interface Conditions {
  readonly layouts: ReadonlySet<string> | undefined;
  readonly entities: ReadonlySet<string> | undefined;
  /** By dimension, as `LayoutPlan` has them; those of slices come below. */
  readonly fields: ReadonlyMap<string, Ranges>;
  /** By layout, then by slice. A layout without one of the slices is absent: its IDs cannot match. */
  readonly slices: ReadonlyMap<string, ReadonlyMap<string, Ranges>> | undefined;
}

/** The context in which routes are read, and the place for their faults. */
export interface RouteContext {
  readonly draft: Draft;
  readonly plans: LayoutPlans;
  readonly report: Report;
  readonly budget: Budget;
}

/** Reads a route's conditions and reports every fault; `undefined` if there is one, or if the budget is spent. */
export const readConditions = (context: RouteContext, { index, route: { when } }: DraftRoute) => {
  const { draft, plans, report, budget } = context;
  if (!budget.spend(costOf(when, plans.size))) return undefined;
  let isSound = true;
  const fault: Report = (kind, place, message) => {
    isSound = false;
    report(kind, ["routes", index, "when", ...place], message);
  };
  checkNames(draft, when, fault);
  const scope = scopeOf(plans, when);
  const { layouts, entities } = scope;
  const fields = readFields(draft, when, scope, fault);
  const minted = readMinted(when, fault);
  if (minted !== undefined) fields.set("minted", minted);
  const slices = when.slices && readSlices(draft, when.slices, scope, fault);
  if (slices !== undefined && !budget.spend(sizeOf(slices))) return undefined;
  // A country whose number does not fit the schema is reported already.
  if (listOf(when.country ?? []).some((code) => !draft.countries.has(code))) return undefined;
  const conditions: Conditions = { layouts, entities, fields, slices };
  return isSound ? conditions : undefined;
};

/** An eighth of a cell for each layout that a condition is compared with; other conditions are read once. */
const costOf = ({ entity, slices = {}, fields = {}, ...when }: DeclaredConditions, layouts: number): number => {
  const count = (values: readonly unknown[]): number =>
    values.reduce((sum: number, value) => sum + (Array.isArray(value) ? value.length : 1), 0);
  const once = count(Object.values(when)) + count(Object.values(fields));
  const forEach = count([entity]) + count(Object.values(slices)) + Object.keys(fields).length;
  return once + forEach * (1 + layouts / 8);
};

/** One area of M.49 can be many ranges. */
const sizeOf = (slices: SliceSets): number =>
  [...slices.values()].flatMap((sets) => [...sets.values()]).reduce((sum, set) => sum + set.length, 0);

const checkNames = (draft: Draft, when: DeclaredConditions, fault: Report): void => {
  const known = { layout: draft.known, entity: draft.names.entities, country: draft.names.countries };
  for (const key of ["layout", "entity", "country"] as const) {
    const declared = when[key];
    if (declared === undefined || (typeof declared === "string" && known[key].has(declared))) continue;
    for (const [index, name] of listOf(declared).entries()) {
      if (known[key].has(name) || (key === "layout" && isLayoutName(draft, name))) continue;
      // A country declared in lower case is a fault there.
      if (key === "country" && known[key].has(name.toLowerCase())) continue;
      reportUnknown(key, name, known[key].keys(), Array.isArray(declared) ? [key, index] : [key], fault);
    }
  }
};

/** Greatest values in the built-in layouts, for a condition on a field that no layout of the route has. */
const FIELD_MAX = { service: 2 ** 8 - 1, shardKey: 2 ** 32 - 1, group: 2 ** 12 - 1, primaryKey: 2 ** 48 - 1 } as const;

const readFields = (draft: Draft, when: DeclaredConditions, scope: Scope, fault: Report) => {
  const fields = new Map<string, Ranges>();
  for (const [name, declared] of Object.entries(when.fields ?? {})) {
    const at = ["fields", name];
    if (!isRoutable(name, scope.owned, at, fault)) continue;
    const max = maxIn(scope, name) ?? Number.MAX_SAFE_INTEGER;
    fields.set(fieldDimensionName(name), readNumbers(declared, max, at, fault));
  }
  const add = (name: string, set: Ranges): void => narrow(fields, name, set);
  for (const name of ["service", "shardKey", "group", "primaryKey"] as const) {
    const declared = when[name];
    if (declared !== undefined) add(name, readNumbers(declared, maxIn(scope, name) ?? FIELD_MAX[name], [name], fault));
  }
  if (when.country !== undefined) {
    add("country", setOf(listOf(when.country).flatMap((code) => draft.countries.get(code) ?? [])));
  }
  if (when.class !== undefined) add("group", setOf(listOf(when.class).map(groupOfClass)));
  return fields;
};

const setOf = (numbers: readonly number[]): Ranges => rangesOf(numbers.map((number) => [number, number]));

/** Times have whole milliseconds, so the last one before a bound is the bound less one. */
const readMinted = (when: DeclaredConditions, fault: Report): Ranges | undefined => {
  if (when.mintedFrom === undefined && when.mintedBefore === undefined) return undefined;
  const bound = (name: "mintedFrom" | "mintedBefore", absent: number): number | undefined => {
    const text = when[name];
    const ms = text === undefined ? absent : parseTime(text);
    if (ms === undefined) fault("time-range", [name], noSuchDay(text as string));
    return ms;
  };
  const from = bound("mintedFrom", Number.MIN_SAFE_INTEGER);
  const before = bound("mintedBefore", Number.MAX_SAFE_INTEGER);
  if (from === undefined || before === undefined) return undefined;
  if (from < before) return [from, before - 1];
  const message = "The end is not later than `mintedFrom`, so no ID can match; move one of them.";
  fault("time-range", ["mintedBefore"], message);
  return undefined;
};

type SliceSets = NonNullable<Conditions["slices"]>;

const readSlices = (draft: Draft, declared: Record<string, DeclaredNumbers>, { possible }: Scope, fault: Report) => {
  const byLayout = new Map<string, ReadonlyMap<string, Ranges>>();
  const names = Object.keys(declared);
  for (const { layout, slices } of possible) {
    if (keyFieldOf(layout) === undefined || !names.every((name) => slices.has(name))) continue;
    const setOf = (name: string): Ranges => {
      const { bits, codes } = slices.get(name) as Slice;
      const read = codes === "m49" ? readM49 : readNumbers;
      return read(declared[name] as DeclaredNumbers, 2 ** bits - 1, ["slices", name], fault);
    };
    byLayout.set(layout.name, new Map(names.map((name) => [name, setOf(name)])));
  }
  for (const name of names) {
    const isCertain = possible.length > 0 && areEntitiesSound(draft);
    if (!isCertain || possible.some(({ slices }) => slices.has(name))) continue;
    const message = `No layout of this route has a slice ${JSON.stringify(name)}; declare it under \`layouts\` or correct the name.`;
    fault("unknown-name", ["slices", name], message);
  }
  return byLayout;
};

/** Reads `5`, `"5"`, `"0-1023"` or an array of these; those at fault are reported and left out. `max`: of the field. */
export const readNumbers = (declared: DeclaredNumbers, max: number, place: Place, report: Report): Ranges =>
  readItems(declared, place, report, (item) => readRange(item, max));

/** Reads UN M.49 codes: an area stands for itself and every code below it. */
export const readM49 = (declared: DeclaredNumbers, max: number, place: Place, report: Report): Ranges => {
  // An area has hundreds of codes; a list may repeat it thousands of times, and it is read once.
  const seen = new Set<number | string>();
  return readItems(declared, place, report, (item) => {
    const read = seen.has(item) ? [] : readArea(item, max);
    if (typeof read !== "string") seen.add(item);
    return read;
  });
};

type ReadItem = (item: number | string) => Ranges | string;

const readItems = (declared: DeclaredNumbers, place: Place, report: Report, readItem: ReadItem): Ranges => {
  const pairs: (readonly [low: number, high: number])[] = [];
  for (const [index, item] of listOf(declared).entries()) {
    const read = readItem(item);
    if (typeof read === "string") report("key-range", Array.isArray(declared) ? [...place, index] : place, read);
    else for (const pair of pairsOf(read)) pairs.push(pair);
  }
  return rangesOf(pairs);
};

const readRange = (item: number | string, max: number): Ranges | string => {
  const text = String(item);
  const hyphen = text.indexOf("-");
  const low = readDecimal(hyphen === -1 ? text : text.slice(0, hyphen));
  const high = hyphen === -1 ? low : readDecimal(text.slice(hyphen + 1));
  if (low === undefined || high === undefined) {
    return `${JSON.stringify(item)} is not a decimal number or range without leading zeros, such as "0-1023"; rewrite it.`;
  }
  if (low > high) return `${JSON.stringify(item)} is reversed; write "${high}-${low}".`;
  if (high > max) return `${JSON.stringify(item)} is greater than ${max}, the maximum of the field; lower it.`;
  return [low, high];
};

const readDecimal = (text: string): number | undefined => {
  const value = Number(text);
  return /^(0|[1-9][0-9]*)$/.test(text) && Number.isSafeInteger(value) ? value : undefined;
};

/** Not sorted: `rangesOf` does that for all items together. */
const readArea = (item: number | string, max: number): Ranges | string => {
  // The standard writes codes with three digits, so "002" is one code and its usual spelling.
  const code = /^[0-9]{1,3}$/.test(String(item)) ? Number(item) : undefined;
  const codes = code === undefined ? undefined : areaOf(code);
  if (codes === undefined) {
    return `${JSON.stringify(item)} is not a UN M.49 code; write one code of a country or an area, such as 398 or "143".`;
  }
  const beyond = codes.find((each) => each > max);
  if (beyond !== undefined)
    return `M.49 code ${beyond} needs more bits than the slice has; make the slice 10 bits wide.`;
  return codes.flatMap((each) => [each, each]);
};

const codesIn = (code: number): readonly number[] => {
  const [, ...below] = M49_AREAS.find(([area]) => area === code) ?? [];
  return [code, ...below.flatMap(codesIn)];
};

/** The codes that were asked for, with themselves and all codes below them: 1 is the world. */
const areas = new Map<number, readonly number[]>();

const areaOf = (code: number): readonly number[] | undefined => {
  const known = areas.get(code);
  if (known !== undefined || !M49_AREAS.some((area) => area.includes(code))) return known;
  const codes = codesIn(code).toSorted((a, b) => a - b);
  areas.set(code, codes);
  return codes;
};
