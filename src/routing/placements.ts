import type { Box } from "./boxes.ts";
import type { IdPlan, LayoutPlan } from "./layout-plans.ts";

/** Where a route is in a layout's ID space: one box for all entities, or one for each of those that it takes. */
export type Placement = Box | BoxesById;

/** What is asked of a map. Most routes have one entity, and a map for one thing takes as much memory as one for four. */
export type BoxesById = Pick<ReadonlyMap<IdPlan, Box>, "get" | "keys"> & Iterable<readonly [IdPlan, Box]>;

export const boxFor = (placement: Placement, id: IdPlan): Box | undefined =>
  isForAll(placement) ? placement : placement.get(id);

/** The entities that a route takes some IDs of. */
export const idsIn = (placement: Placement, plan: LayoutPlan): Iterable<IdPlan> =>
  isForAll(placement) ? plan.ids : placement.keys();

export const isForAll = (placement: Placement): placement is Box => Array.isArray(placement);

/** The boxes of different entities; `undefined` for none. */
export const boxesOf = (entries: readonly (readonly [IdPlan, Box])[]): BoxesById | undefined => {
  const [first, second] = entries;
  if (first === undefined) return undefined;
  return second === undefined ? new OneBox(...first) : new Map(entries);
};

class OneBox implements BoxesById {
  private readonly id: IdPlan;
  private readonly box: Box;

  constructor(id: IdPlan, box: Box) {
    this.id = id;
    this.box = box;
  }

  get(id: IdPlan): Box | undefined {
    return id === this.id ? this.box : undefined;
  }

  keys() {
    return [this.id].values();
  }

  [Symbol.iterator]() {
    return [[this.id, this.box] as const].values();
  }
}
