import type { Words } from "../../../ids/index.ts";
import type { Conditions } from "../../../routing/compile/conditions.ts";
import { fieldDimensionName, keyFieldOf } from "../../../routing/layouts/fields.ts";
import { type Dimension, type IdPlan, type LayoutPlan, sliceDimensionName } from "../../../routing/layouts/plan.ts";
import type { Box } from "../../../routing/lookup/build-index.ts";
import { type IdIndex, NO_ROUTE, type RouteTargets } from "../../../routing/lookup/id-index.ts";
import type { DeclaredPack } from "../../../routing/schema/parts.ts";
import type { Found, NeedsPage, Target } from "../../../routing/table.ts";
import { NOT_FOUND, NOT_LOADED } from "./decode.ts";
import type { PackSlot } from "./pack.ts";

export interface PackRoute {
  readonly ordinal: number;
  readonly slot: PackSlot;
  readonly read: Dimension["read"];
  readonly targets: readonly Target[];
}

/** Packs before the matching route are searched first. A page not in memory ends the search: any later route would be a guess. */
export const packFinder = (index: IdIndex, packs: readonly PackRoute[], targets: RouteTargets<Found | undefined>) => {
  const { byOrdinal, fallback } = targets;
  const sorted = packs.toSorted((a, b) => a.ordinal - b.ordinal);
  const ordinalOf = index.targetFinder({ byOrdinal: byOrdinal.map((_, ordinal) => ordinal), fallback: NO_ROUTE });
  return (words: Words): Found | undefined => {
    const ordinal = ordinalOf(words) ?? NO_ROUTE;
    for (let at = 0; at < sorted.length; at++) {
      const { ordinal: own, slot, read, targets } = sorted[at] as PackRoute;
      if (own > ordinal) break;
      const key = read(words);
      const number = slot.find(key);
      if (number === NOT_FOUND) continue;
      if (number !== NOT_LOADED) return targets[number];
      return { region: undefined, rule: UNLOADED, missing: slot.missing(key) };
    }
    return ordinal === NO_ROUTE ? fallback : byOrdinal[ordinal];
  };
};

const UNLOADED: NeedsPage["rule"] = Object.freeze({ kind: "unloaded" });

/** A route to a pack. Keys that are not in the pack go on to the routes behind it. */
export interface PackPlacement {
  readonly ordinal: number;
  readonly pack: string;
  readonly declared: DeclaredPack;
  /** The part of an ID that is the key of the ranges. */
  readonly dimension: Dimension;
  /** The entities that it applies to. Their boxes have no bounds. */
  readonly ids: ReadonlyMap<IdPlan, Box>;
}

/** The field or slice that is the key of a pack; `undefined` for a layout without one of that name and width. */
export const dimensionOfPack = ({ layout, slices, dimensions }: LayoutPlan, { field, slice, bits }: DeclaredPack) => {
  const own =
    slice === undefined ? (field === undefined ? keyFieldOf(layout) : layout.field(field)) : slices.get(slice);
  if (own === undefined || own.bits !== bits) return undefined;
  const name = slice === undefined ? fieldDimensionName(own.name) : sliceDimensionName(own.name);
  return dimensions.find((dimension) => dimension.name === name);
};

/** `undefined` if the route takes no ID of the layout. */
export const placePack = (
  plan: LayoutPlan,
  ordinal: number,
  { entities }: Conditions,
  pack: string,
  declared: DeclaredPack,
): PackPlacement | undefined => {
  const own = plan.ids.filter(({ entity }) => entities === undefined || entities.has(entity));
  return own.length === 0 ? undefined : placementOf(plan, ordinal, pack, declared, own);
};

/** `undefined` if the layout has no field or slice for the key of the pack. */
export const placementOf = (
  plan: LayoutPlan,
  ordinal: number,
  pack: string,
  declared: DeclaredPack,
  ids: readonly IdPlan[],
): PackPlacement | undefined => {
  const dimension = dimensionOfPack(plan, declared);
  const everything: Box = plan.dimensions.map(() => undefined);
  return dimension && { ordinal, pack, declared, dimension, ids: new Map(ids.map((id) => [id, everything])) };
};
