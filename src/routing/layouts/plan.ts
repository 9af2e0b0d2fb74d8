import type { Field, Layout, Words } from "../../ids/index.ts";
import { MINTED_AHEAD_DEFAULT_MS, MINTED_FROM_DEFAULT_MS } from "../limits.ts";
import type { Draft } from "../schema/draft.ts";
import type { DeclaredLayout, DeclaredSlice } from "../schema/table.ts";
import type { Slice, TimeWindow } from "../table.ts";
import { fieldDimensionName, groupOfId, keyFieldOf, parseTime, routableFields } from "./fields.ts";

/** A layout that some entity uses, with the table's settings and the numbers that routes can depend on. */
export interface LayoutPlan {
  readonly layout: Layout;
  readonly slices: ReadonlyMap<string, Slice>;
  readonly window: TimeWindow | undefined;
  readonly dimensions: readonly Dimension[];
  readonly dimensionNames: ReadonlySet<string>;
  readonly ids: readonly IdPlan[];
  readonly idsByEntity: ReadonlyMap<string, readonly IdPlan[]>;
  /** By service or group; `undefined` for entities that declare none. */
  readonly idsByMark: ReadonlyMap<number | undefined, readonly IdPlan[]>;
}

export type LayoutPlans = ReadonlyMap<string, LayoutPlan>;

export interface IdPlan {
  readonly entity: string;
  readonly place: number;
  readonly layout: string;
  readonly service: number | undefined;
  readonly group: number | undefined;
}

export interface Dimension {
  /** `minted`, a key such as `country` or `shardKey`, or else `fields.` or `slices.` and a name. */
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly read: (words: readonly number[]) => number;
}

/** Plans of all layouts in use, those with most fixed bits first. Entries with an unknown layout are left out. */
export const planLayouts = (draft: Draft): LayoutPlans => {
  const ids = idPlansOf(draft);
  const plans = new Map<string, LayoutPlan>();
  for (const [name, layout] of [...draft.known].sort(([, a], [, b]) => b.fixedBits - a.fixedBits)) {
    const own = ids.filter((id) => id.layout === name);
    if (own.length > 0) plans.set(name, planLayout(layout, draft.layouts.get(name) ?? {}, own));
  }
  return plans;
};

/** Every entry of every entity's `ids`, in the order of the table. */
export const idPlansOf = (draft: Draft): readonly IdPlan[] =>
  [...draft.entities].flatMap(([entity, { ids }]) =>
    ids.map((id, place) => ({ entity, place, layout: id.layout, service: id.service, group: groupOfId(id) })),
  );

const planLayout = (layout: Layout, declared: DeclaredLayout, ids: readonly IdPlan[]): LayoutPlan => {
  const slices = new Map(Object.entries(declared.slices ?? {}).map(([name, slice]) => [name, sliceOf(name, slice)]));
  const window = windowOf(layout, declared);
  const dimensions = dimensionsOf(layout, slices, window);
  return {
    layout,
    slices,
    window,
    dimensions,
    dimensionNames: new Set(dimensions.map(({ name }) => name)),
    ids,
    idsByEntity: groupBy(ids, ({ entity }) => entity),
    idsByMark: groupBy(ids, ownerKeyOf),
  };
};

/** The number that marks an entity's IDs of a layout. No layout has both. */
export const ownerKeyOf = ({ service, group }: Pick<IdPlan, "service" | "group">): number | undefined =>
  service ?? group;

export type Groups<Key, Item> = ReadonlyMap<Key, readonly Item[]>;

export const groupBy = <Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Groups<Key, Item> => {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
};

export const sliceOf = (name: string, slice: DeclaredSlice): Slice => {
  if ("offset" in slice)
    return { name, offset: slice.offset, bits: slice.bits, codes: slice.codes, header: slice.header };
  const [offset, bits] = slice;
  return { name, offset, bits, codes: undefined, header: undefined };
};

const windowOf = (layout: Layout, { mintedWithin }: DeclaredLayout): TimeWindow | undefined => {
  if (layout.mintedAtMs === undefined || mintedWithin === false) return undefined;
  if (mintedWithin === undefined) return { fromMs: MINTED_FROM_DEFAULT_MS, aheadMs: MINTED_AHEAD_DEFAULT_MS };
  return { fromMs: parseTime(mintedWithin.from) ?? MINTED_FROM_DEFAULT_MS, aheadMs: mintedWithin.aheadSeconds * 1000 };
};

const dimensionsOf = (layout: Layout, slices: ReadonlyMap<string, Slice>, window: TimeWindow | undefined) => {
  const fields = routableFields(layout).map((field) => ({
    name: fieldDimensionName(field.name),
    min: 0,
    max: Number(field.max),
    read: field.read,
  }));
  const key = keyFieldOf(layout);
  const parts = key === undefined ? [] : [...slices.values()].map((slice) => sliceDimension(key, slice));
  return [...fields, ...parts, ...mintedDimension(layout, window)];
};

/** Division instead of shifts, since a key may have more than 32 bits. */
const sliceDimension = (key: Field, { name, offset, bits }: Slice): Dimension => {
  const below = 2 ** (key.bits - offset - bits);
  const count = 2 ** bits;
  return {
    name: sliceDimensionName(name),
    min: 0,
    max: count - 1,
    read: (words) => Math.floor(key.read(words) / below) % count,
  };
};

/** Reads a slice of any width as decimal text. Not for the hot path. */
export const sliceReader = (key: Field, { offset, bits }: Slice): ((words: Words) => string) => {
  const below = BigInt(key.bits - offset - bits);
  return (words) => BigInt.asUintN(bits, key.readBig(words) >> below).toString();
};

export const sliceDimensionName = (slice: string): string => `slices.${slice}`;

const mintedDimension = ({ mintedAtMs, fixed }: Layout, window: TimeWindow | undefined): readonly Dimension[] => {
  if (mintedAtMs === undefined) return [];
  const none = fixed.mask.map(() => 0);
  const all = fixed.mask.map(() => 0xffffffff);
  const min = Math.max(mintedAtMs(none) ?? 0, window?.fromMs ?? Number.NEGATIVE_INFINITY);
  const max = mintedAtMs(all);
  // For routes a time beyond 2^53 - 1 is later than all that a table can name.
  if (max !== undefined) return [{ name: "minted", min, max, read: mintedAtMs as (words: Words) => number }];
  const read = (words: Words): number => mintedAtMs(words) ?? Number.MAX_SAFE_INTEGER;
  return [{ name: "minted", min, max: Number.MAX_SAFE_INTEGER, read }];
};
