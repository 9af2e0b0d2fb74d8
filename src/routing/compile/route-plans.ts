import type { RouteSearch } from "../feature.ts";
import type { IdPlan, LayoutPlan, LayoutPlans } from "../layouts/plan.ts";
import type { Budget } from "../limits.ts";
import { type Box, boxOf, buildIndexes, type PlacedRoute, takesId } from "../lookup/build-index.ts";
import { IdIndex } from "../lookup/id-index.ts";
import { countOf, pairsOf, type Ranges } from "../lookup/ranges.ts";
import type { Searched } from "../lookup/searched.ts";
import type { Draft, DraftRoute } from "../schema/draft.ts";
import type { Conditions } from "./conditions.ts";

/** A route in a layout's ID space: one box for all entities, or one for each entity that it takes IDs of. */
export type Placement = Box | BoxesById;

/** The used part of a map. Most routes have one entity, and a map of one entry takes the memory of four. */
export type BoxesById = Pick<ReadonlyMap<IdPlan, Box>, "get" | "keys"> & Iterable<readonly [IdPlan, Box]>;

export const boxFor = (placement: Placement, id: IdPlan): Box | undefined =>
  isForAll(placement) ? placement : placement.get(id);

export const idsIn = (placement: Placement, plan: LayoutPlan): Iterable<IdPlan> =>
  isForAll(placement) ? plan.ids : placement.keys();

export const isForAll = (placement: Placement): placement is Box => Array.isArray(placement);

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

/** The routes of one layout, flattened for look-ups. */
export interface RoutePlan {
  readonly plan: LayoutPlan;
  readonly indexes: ReadonlyMap<IdPlan, IdIndex>;
  /** Routes that are searched, in the order of the table. They are in no index. */
  readonly searched: readonly Searched[];
}

export type RoutePlans = ReadonlyMap<string, RoutePlan>;

/** The routes of one layout before they are flattened. */
export interface PlacedRoutes {
  readonly plan: LayoutPlan;
  /** By the ordinals of the routes, in rising order. A route that takes no ID of the layout has none. */
  readonly placements: Map<number, Placement>;
  readonly searched: Searched[];
}

export type Placed = ReadonlyMap<string, PlacedRoutes>;

export const noPlacements = (plans: LayoutPlans): Placed =>
  new Map([...plans].map(([name, plan]) => [name, { plan, placements: new Map(), searched: [] }]));

type ReadRoute = DraftRoute & { readonly conditions: Conditions };

/** Routes that are searched, and the draft that they read. */
export interface Searching {
  readonly draft: Draft;
  readonly searches: readonly RouteSearch[];
}

/** Places a route in the ID spaces of all layouts. Returns whether it takes some ID. Routes come by rising index. */
export const placeRoute = (layouts: Placed, { draft, searches }: Searching, read: ReadRoute, budget: Budget) => {
  const { index, route, conditions } = read;
  let takesSome = false;
  const own = conditions.layouts && [...conditions.layouts].flatMap((name) => layouts.get(name) ?? []);
  const search = searches.find((each) => each.takes(route));
  for (const { plan, placements, searched } of own ?? layouts.values()) {
    if (search !== undefined) {
      const found = search.place(plan, read, conditions, draft);
      if (found === undefined || !budget.spend(ID_CELLS * found.ids.size)) continue;
      searched.push(found);
      takesSome = true;
      continue;
    }
    const placement = canMeet(plan, conditions) ? placementOf(conditions, plan, budget) : undefined;
    if (placement === undefined) continue;
    placements.set(index, placement);
    takesSome = true;
  }
  return takesSome;
};

/** Whether IDs of a layout have the fields of the conditions. Most layouts are done with here. */
const canMeet = ({ layout, dimensionNames }: LayoutPlan, { fields, slices }: Conditions): boolean => {
  for (const name of fields.keys()) if (!dimensionNames.has(name)) return false;
  return slices === undefined || slices.has(layout.name);
};

/** The cost of an entry of a placement, which becomes one of the entity's own routes. */
const ID_CELLS = 4;

/** A route's place in the ID space of a layout; `undefined` if it takes none of its IDs or the budget is spent. */
const placementOf = (conditions: Conditions, plan: LayoutPlan, budget: Budget): Placement | undefined => {
  const { entities, fields } = conditions;
  const marks = fields.get("service") ?? fields.get("group");
  if (entities === undefined && marks === undefined) return boxOf(conditions, plan, UNMARKED, budget);
  if (marks !== undefined && !budget.spend(Math.min(countOf(marks), plan.ids.length) / 4)) return undefined;
  const named = entities && [...entities].flatMap((name) => plan.idsByEntity.get(name) ?? []);
  const boxes = boxesOf(named ?? markedBy(marks ?? [], plan), conditions, plan, budget);
  const [first, second] = boxes ?? [];
  if (boxes === undefined || first === undefined) return undefined;
  return second === undefined ? new OneBox(...first) : new Map(boxes);
};

/** The box of each entity's IDs that a route takes; `undefined` if the budget is spent. */
const boxesOf = (ids: readonly IdPlan[], conditions: Conditions, plan: LayoutPlan, budget: Budget) => {
  const boxes: (readonly [IdPlan, Box])[] = [];
  // All entities that declare the same kinds of numbers have the same box.
  const known: (Box | undefined)[] = [];
  for (const id of ids) {
    if (!takesId(conditions, id)) continue;
    const kind = (id.service === undefined ? 0 : 1) + (id.group === undefined ? 0 : 2);
    if (!(kind in known)) known[kind] = boxOf(conditions, plan, id, budget);
    const box = known[kind];
    if (box === undefined) continue;
    if (!budget.spend(ID_CELLS)) return undefined;
    boxes.push([id, box]);
  }
  return boxes;
};

const UNMARKED = { service: undefined, group: undefined };

/** Looks up the entities by their numbers: a table may have a route for each of many. */
const markedBy = (marks: Ranges, { ids, idsByMark }: LayoutPlan): readonly IdPlan[] => {
  if (countOf(marks) > ids.length) return ids;
  const found = [...(idsByMark.get(undefined) ?? [])];
  for (const [low, high] of pairsOf(marks)) {
    for (let mark = low; mark <= high; mark++) found.push(...(idsByMark.get(mark) ?? []));
  }
  return found;
};

/** Flattens the routes of every layout; `undefined` when the budget is spent. */
export const flattenRoutes = (layouts: Placed, budget: Budget): RoutePlans | undefined => {
  const planned = new Map<string, RoutePlan>();
  for (const [name, placed] of layouts) {
    const one = budget.isSpent ? undefined : flattenLayout(placed, budget);
    if (one === undefined) return undefined;
    planned.set(name, one);
  }
  return planned;
};

/** Routes that treat all entities alike go into indexes that all entities share; the others into those of each entity. */
const flattenLayout = ({ plan, placements, searched }: PlacedRoutes, budget: Budget): RoutePlan | undefined => {
  const { shared, own } = partRoutes({ plan, placements });
  const common = buildIndexes(shared, plan.dimensions, budget);
  if (common === undefined) return undefined;
  const indexes = new Map<IdPlan, IdIndex>();
  const values = new Float64Array(plan.dimensions.length);
  for (const [id, placed] of own) {
    const separate = buildIndexes(placed, plan.dimensions, budget);
    if (separate === undefined || !budget.spend(common.length + separate.length)) return undefined;
    indexes.set(id, new IdIndex(plan.dimensions, [...common, ...separate], values));
  }
  return { plan, indexes, searched };
};

/** The routes that treat all entities alike, and those of each entity; both in the order of the table. */
const partRoutes = ({ plan, placements }: Pick<PlacedRoutes, "plan" | "placements">) => {
  const shared: PlacedRoute[] = [];
  const own = new Map<IdPlan, PlacedRoute[]>(plan.ids.map((id) => [id, []]));
  for (const [ordinal, placement] of placements) {
    if (isForAll(placement)) shared.push({ ordinal, box: placement });
    else for (const [id, box] of placement) own.get(id)?.push({ ordinal, box });
  }
  return { shared, own };
};

/** Finds the routes for an entity's IDs in the table's order, without reading those of all others. */
export const routesById = (placed: PlacedRoutes): ((id: IdPlan) => readonly PlacedRoute[]) => {
  const { shared, own } = partRoutes(placed);
  return (id) => {
    const separate = own.get(id) ?? [];
    if (separate.length === 0) return shared;
    return [...shared, ...separate].sort((a, b) => a.ordinal - b.ordinal);
  };
};
