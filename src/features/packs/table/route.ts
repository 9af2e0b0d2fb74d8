import type { Words } from "../../../ids/index.ts";
import type { CompileContext, TableFeature } from "../../../routing/feature.ts";
import { fieldDimensionName, keyFieldOf } from "../../../routing/layouts/fields.ts";
import { type Dimension, type IdPlan, type LayoutPlan, sliceDimensionName } from "../../../routing/layouts/plan.ts";
import type { Box } from "../../../routing/lookup/build-index.ts";
import type { Searched } from "../../../routing/lookup/searched.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import type { Found, Load, Rule, Target } from "../../../routing/table.ts";
import { NOT_FOUND, NOT_LOADED } from "./decode.ts";
import { type MissingPage, PackSlot } from "./pack.ts";
import type { DeclaredPack } from "./schema.ts";

const UNLOADED = Object.freeze({ kind: "unloaded" });

/** A page that is not in memory says where the ID goes. */
class PageLoad implements Load {
  readonly region = undefined;
  readonly rule = UNLOADED;
  readonly isByDecision = false;
  readonly missing: MissingPage;

  constructor(missing: MissingPage) {
    this.missing = missing;
  }

  error(): MissingPageError {
    const { missing } = this;
    const what = missing.page === undefined ? "the header" : `page ${missing.page}`;
    return { reason: "table-unavailable", why: `${what} of pack ${missing.pack} is not loaded`, missing };
  }
}

const finderIn =
  (slot: PackSlot, read: Dimension["read"], targets: readonly Target[]) =>
  (words: Words): Found | undefined => {
    const key = read(words);
    const number = slot.find(key);
    if (number === NOT_FOUND) return undefined;
    return number === NOT_LOADED ? new PageLoad(slot.missing(key)) : targets[number];
  };

/** The targets of a route to a pack, by the numbers of the pack's regions. */
const targetsOf = ({ ordinal, pack, declared }: PackPlacement, targetIn: CompileContext["targetIn"]) => {
  const rule: Rule = Object.freeze({ kind: "route", index: ordinal, pack });
  return declared.regions.map((name) => targetIn(name, rule));
};

/** A route to a pack. Keys that are not in the pack go on to the routes behind it. */
export interface PackPlacement extends Searched {
  readonly pack: string;
  readonly declared: DeclaredPack;
  /** The part of an ID that is the key of the ranges. */
  readonly dimension: Dimension;
}

/** The field or slice that is the key of a pack; `undefined` for a layout without one of that name and width. */
export const dimensionOfPack = ({ layout, slices, dimensions }: LayoutPlan, { field, slice, bits }: DeclaredPack) => {
  const own =
    slice === undefined ? (field === undefined ? keyFieldOf(layout) : layout.field(field)) : slices.get(slice);
  if (own === undefined || own.bits !== bits) return undefined;
  const name = slice === undefined ? fieldDimensionName(own.name) : sliceDimensionName(own.name);
  return dimensions.find((dimension) => dimension.name === name);
};

/** `undefined` if the layout has no field or slice for the key of the pack. */
const placementOf = (
  plan: LayoutPlan,
  ordinal: number,
  pack: string,
  declared: DeclaredPack,
  ids: readonly IdPlan[],
): PackPlacement | undefined => {
  const dimension = dimensionOfPack(plan, declared);
  const everything: Box = plan.dimensions.map(() => undefined);
  const { regions } = declared;
  const own = new Map(ids.map((id) => [id, everything]));
  return dimension && { feature: "packs", ordinal, regions, pack, declared, dimension, ids: own };
};

export const packsIn = ({ table: { packs = {} } }: Draft): ReadonlyMap<string, DeclaredPack> =>
  new Map(Object.entries(packs));

/** `undefined` for a pack that is not declared, or has a fault of its own. */
export const packNamed = ({ table: { packs = {} } }: Draft, name: string): DeclaredPack | undefined =>
  Object.hasOwn(packs, name) ? packs[name] : undefined;

/** The function keeps nothing of the table's draft in memory. */
const findersIn =
  (slots: ReadonlyMap<string, PackSlot>, targetIn: CompileContext["targetIn"]) => (searched: Searched) => {
    const placement = searched as PackPlacement;
    const slot = slots.get(placement.pack);
    if (slot === undefined) throw new Error(`pack ${placement.pack} was not checked`);
    return finderIn(slot, placement.dimension.read, targetsOf(placement, targetIn));
  };

export const packsTable: TableFeature = {
  name: "packs",
  search: {
    takes: ({ pack }) => pack !== undefined,
    place: (plan, { index, route: { pack = "" } }, { entities }, draft) => {
      const declared = packNamed(draft, pack);
      const own = plan.ids.filter(({ entity }) => entities === undefined || entities.has(entity));
      return declared && own.length > 0 ? placementOf(plan, index, pack, declared, own) : undefined;
    },
    placeFor: (plan, { index, route: { pack = "" } }, ids, draft) => {
      const declared = packNamed(draft, pack);
      return declared && placementOf(plan, index, pack, declared, ids);
    },
  },
  compile: ({ draft, targetIn }) => {
    const packs = new Map([...packsIn(draft)].map(([name, declared]) => [name, new PackSlot(name, declared)]));
    return { find: findersIn(packs, targetIn), table: () => ({ packs }) };
  },
};

interface MissingPageError {
  readonly reason: "table-unavailable";
  readonly why: string;
  readonly missing: MissingPage;
}

declare module "../../../routing/table.ts" {
  interface CompiledTable {
    /** By name. An ID whose page is not in memory must be loaded first. */
    readonly packs?: ReadonlyMap<string, PackSlot>;
  }
  interface RouteRule {
    readonly pack?: string;
  }
  interface LoadRules {
    readonly packs: { readonly kind: "unloaded" };
  }
  interface LoadErrors {
    /** The decision needs a page that is not in memory: load it and try again. */
    readonly packs: MissingPageError;
  }
}
