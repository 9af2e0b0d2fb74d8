import type { Box } from "./boxes.ts";
import type { Conditions } from "./conditions.ts";
import { fieldDimensionName, keyFieldOf } from "./layout-fields.ts";
import { type Dimension, type IdPlan, type LayoutPlan, sliceDimensionName } from "./layout-plans.ts";
import type { DeclaredPack } from "./way-schema.ts";

/** A route to a pack: what the pack does not hold goes on to the routes behind it. */
export interface PackPlacement {
  /** Place in the declared `routes`. */
  readonly ordinal: number;
  readonly pack: string;
  readonly declared: DeclaredPack;
  /** The number of an ID that the ranges are of. */
  readonly dimension: Dimension;
  /** The entities that it is for. Their boxes have no bounds. */
  readonly ids: ReadonlyMap<IdPlan, Box>;
}

/** The field or slice of a layout that a pack's ranges are of; `undefined` where the layout has none of that name and width. */
export const dimensionOfPack = (
  { layout, slices, dimensions }: LayoutPlan,
  { field, slice, bits }: DeclaredPack,
): Dimension | undefined => {
  const own =
    slice === undefined ? (field === undefined ? keyFieldOf(layout) : layout.field(field)) : slices.get(slice);
  if (own === undefined || own.bits !== bits) return undefined;
  const name = slice === undefined ? fieldDimensionName(own.name) : sliceDimensionName(own.name);
  return dimensions.find((dimension) => dimension.name === name);
};

/** `undefined` where the route takes no ID of the layout. */
export const placePack = (
  plan: LayoutPlan,
  ordinal: number,
  { entities }: Conditions,
  pack: string,
  declared: DeclaredPack,
): PackPlacement | undefined => {
  const dimension = dimensionOfPack(plan, declared);
  const everything: Box = plan.dimensions.map(() => undefined);
  const own = plan.ids.filter(({ entity }) => entities === undefined || entities.has(entity));
  if (dimension === undefined || own.length === 0) return undefined;
  return { ordinal, pack, declared, dimension, ids: new Map(own.map((id) => [id, everything])) };
};
