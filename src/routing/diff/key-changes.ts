import { isoTime } from "../../ids/index.ts";
import type { Planned } from "../compile/assemble.ts";
import type { RoutePlan } from "../compile/route-plans.ts";
import { fieldDimensionName, ownerKeyField } from "../layouts/fields.ts";
import { type Dimension, groupBy, type IdPlan, type LayoutPlan, ownerKeyOf } from "../layouts/plan.ts";
import type { PlacedRoute } from "../lookup/build-index.ts";
import { formatRanges, pairsOf, type Ranges } from "../lookup/ranges.ts";
import { type KeySegment, type OutcomeChange, segmentKey } from "./key-space.ts";
import { percentMoved, type RouteOutcome } from "./outcome.ts";
import type { Changed } from "./parts.ts";

/** Keys whose IDs go to another entity or another region than before. */
export interface KeyChange {
  readonly layout: string;
  /** The number that these IDs carry, where it marks their entity. */
  readonly service: number | undefined;
  readonly group: number | undefined;
  /** Only IDs minted from here on; `undefined` for all earlier ones too. ISO 8601. */
  readonly mintedFrom: string | undefined;
  /** Only IDs minted before this; `undefined` for all later ones too. */
  readonly mintedBefore: string | undefined;
  /** Values by the name of the field, as the table writes them. An absent field has every value. */
  readonly where: Readonly<Record<string, string>>;
  /** How many countries of the two tables are named, where not all are. */
  readonly countries?: { readonly count: number; readonly of: number };
  /** How many keys these are: combinations of the values of all key fields that do not mark the entity. Decimal. */
  readonly keys: string;
  /** So many percent of all keys that such IDs can have; absent where `where` asks for what is no key. */
  readonly percentOfSpace?: number;
  /** Packs tell these keys apart one by one: they are only some of the values in `where`. Absent where they are all. */
  readonly byPacks?: true;
  /** How many of their IDs go elsewhere, where a canary parts them; absent for all. */
  readonly percent?: number;
  /** Where they go; `undefined` where they are no entity's. One side at least has a region. */
  readonly before: KeyOutcome | undefined;
  readonly after: KeyOutcome | undefined;
}

export type KeyOutcome = RouteOutcome & { readonly entity: string };

export interface Space {
  readonly minted: Ranges | undefined;
  readonly fields: readonly Dimension[];
  readonly atoms: readonly KeySegment[];
  readonly spans: readonly Ranges[];
}

/** `keys` of the values in some dimensions of a box, those from `from` to before `to`. */
export type Counted = { readonly from: number; readonly to: number; readonly keys: number };

/** A change of the keys in a box, or of some of them alone. */
export type CountedChange = OutcomeChange<KeyOutcome> & { readonly counted?: Counted };

export type CountryNumbers = Changed<ReadonlyMap<string, number>>;

/** One entry for each span of minting times. */
export const toKeyChanges = (
  { sets, before, after, counted }: CountedChange,
  plan: LayoutPlan,
  mark: number | undefined,
  { minted, fields, atoms, spans }: Space,
  countries: CountryNumbers,
): readonly KeyChange[] => {
  const names = [
    ...fields.map(({ name }) => ({ name, isCounted: isKey(plan, name) })),
    ...atoms.map((atom) => ({ name: segmentKey(atom, plan), isCounted: true })),
  ];
  const first = minted === undefined ? 0 : 1;
  const where: Record<string, string> = {};
  let keys = BigInt(counted?.keys ?? 1);
  let space = 1n;
  // Changes that differ in nodes alone have the same keys.
  let isOfKeys = true;
  for (const [at, { name, isCounted }] of names.entries()) {
    const set = sets[first + at] as Ranges;
    const span = spans[first + at] as Ranges;
    if (isCounted) {
      const isWithin = counted !== undefined && first + at >= counted.from && first + at < counted.to;
      if (!isWithin) keys *= valuesIn(set);
      space *= valuesIn(span);
    }
    if (set.join() === span.join()) continue;
    isOfKeys &&= isCounted;
    where[name] = name === "country" ? nameCountries(set, countries) : formatRanges(set);
  }
  const markName = ownerKeyField(plan.layout)?.name;
  const times = minted === undefined ? [undefined] : pairsOf(sets[0] as Ranges);
  return times.map((time) => ({
    layout: plan.layout.name,
    service: markName === "service" ? mark : undefined,
    group: markName === "group" ? mark : undefined,
    mintedFrom: time === undefined || time[0] === minted?.[0] ? undefined : isoTime(time[0]),
    mintedBefore: time === undefined || time[1] === minted?.[1] ? undefined : isoTime(time[1] + 1),
    where,
    ...countNamed(where, sets[first + names.findIndex(({ name }) => name === "country")], countries),
    keys: keys.toString(),
    ...(isOfKeys ? { percentOfSpace: (Number(keys) / Number(space)) * 100 } : {}),
    ...(counted === undefined ? {} : { byPacks: true }),
    ...partOf(before, after),
    before,
    after,
  }));
};

const valuesIn = (set: Ranges): bigint => pairsOf(set).reduce((sum, [low, high]) => sum + BigInt(high - low + 1), 0n);

const partOf = (before: KeyOutcome | undefined, after: KeyOutcome | undefined): Pick<KeyChange, "percent"> => {
  const percent = before?.entity === after?.entity && before && after ? percentMoved(before, after) : 100;
  return percent === 100 ? {} : { percent };
};

/** Countries by their codes, a number with two by both: `1 (DE → US)`. Numbers that no country has stay numbers. */
const nameCountries = (set: Ranges, { before, after }: CountryNumbers): string => {
  const [old, next] = [before, after].map((side) => new Map([...side].map(([code, number]) => [number, code])));
  const nameOf = (number: number): string => {
    const was = old?.get(number);
    const is = next?.get(number);
    return was !== undefined && is !== undefined && was !== is ? `${number} (${was} → ${is})` : (is ?? was ?? "");
  };
  const named: string[] = [];
  for (const [low, high] of pairsOf(set)) {
    const known: string[] = [];
    for (let number = low; number <= high; number++) known.push(nameOf(number));
    if (known.includes("")) named.push(formatRanges([low, high]));
    else named.push(...known);
  }
  return named.join(", ");
};

const countNamed = (where: KeyChange["where"], set: Ranges = [], { before, after }: CountryNumbers) => {
  if (where["country"] === undefined) return {};
  const numbers = [...new Set([...before.values(), ...after.values()])];
  const isIn = (number: number) => pairsOf(set).some(([low, high]) => number >= low && number <= high);
  const count = numbers.filter(isIn).length;
  return count === 0 ? {} : { countries: { count, of: numbers.length } };
};

/** Nodes are part of the space only where a route names them. */
export const isKey = ({ layout }: LayoutPlan, name: string): boolean =>
  layout.fields.some((field) => field.role === "key" && fieldDimensionName(field.name) === name);

/** The entity of each ID of a layout, before and after: the IDs that two tables' entities are compared over. */

export interface LayoutSide {
  readonly planned: Planned;
  /** `undefined` where no entity of the table uses the layout. */
  readonly routePlan: RoutePlan | undefined;
  /** The routes that take IDs of an entity, in the order of the table. */
  readonly routesOf: (id: IdPlan) => readonly PlacedRoute[];
}

export interface Claims {
  /** The number that all these IDs carry; `undefined` where they differ in it, or where the layout has none. */
  readonly mark: number | undefined;
  /** One at most, unless the entity of the other side takes every number. */
  readonly before: readonly IdPlan[];
  readonly after: readonly IdPlan[];
}

/** Every ID of a layout that an entity has before or after falls under one of these. */
export const pairOwners = (before: LayoutSide, after: LayoutSide): readonly Claims[] => {
  const left = idsOf(before);
  const right = idsOf(after);
  const marks = [...left, ...right].map(ownerKeyOf);
  if (!marks.includes(undefined)) return pairBy(left, right, (id) => ownerKeyOf(id) as number);
  // An entity that takes every number stands alone in its table. So may the only one of a layout without numbers.
  const isShared = marks.every((mark) => mark === undefined) && Math.max(left.length, right.length) > 1;
  if (isShared) return pairBy(left, right, ({ entity }) => entity);
  return [{ mark: undefined, before: left, after: right }];
};

const idsOf = ({ routePlan }: LayoutSide): readonly IdPlan[] => routePlan?.plan.ids ?? [];

const pairBy = (before: readonly IdPlan[], after: readonly IdPlan[], keyOf: (id: IdPlan) => number | string) => {
  const left = groupBy(before, keyOf);
  const right = groupBy(after, keyOf);
  return [...new Set([...left.keys(), ...right.keys()])].map((key) => ({
    mark: typeof key === "number" ? key : undefined,
    before: left.get(key) ?? [],
    after: right.get(key) ?? [],
  }));
};

/** A layout that was declared again has other keys, which cannot be compared. */
export const sameLayout = (a: LayoutPlan, b: LayoutPlan): boolean => definitionOf(a) === definitionOf(b);

const definitionOf = ({ layout }: LayoutPlan): string => {
  const { rows, octetOrder } = layout.table;
  const texts = layout.texts.map(({ name, prefix, numeral }) => [name, prefix, numeral]);
  // JSON has no bigint, which a field's greatest value may be.
  return JSON.stringify([rows, octetOrder, texts], (_, value) => (typeof value === "bigint" ? `${value}` : value));
};
