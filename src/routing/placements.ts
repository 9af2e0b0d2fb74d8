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

/** Placements by the ordinals of their routes, which come rising: two lists, since a map of 200,000 takes three times as much. */
export class Placements {
  private readonly ordinals: number[] = [];
  private readonly list: Placement[] = [];

  add(ordinal: number, placement: Placement): void {
    this.ordinals.push(ordinal);
    this.list.push(placement);
  }

  /** `undefined` for a route that takes no ID of the layout. */
  get(ordinal: number): Placement | undefined {
    const { ordinals } = this;
    let low = 0;
    let high = ordinals.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ordinals[middle] as number) < ordinal) low = middle + 1;
      else high = middle;
    }
    return ordinals[low] === ordinal ? this.list[low] : undefined;
  }

  *[Symbol.iterator](): Generator<readonly [ordinal: number, Placement]> {
    for (const [at, placement] of this.list.entries()) yield [this.ordinals[at] as number, placement];
  }
}
