import { type Box, boxOf } from "./boxes.ts";
import type { Conditions } from "./conditions.ts";
import { buildIndexes, IdIndex, type PlacedRoute } from "./id-index.ts";
import type { IdPlan, LayoutPlan } from "./layout-plans.ts";
import { INDEX_CELLS_MAX } from "./limits.ts";
import { countOf, pairsOf, type Ranges } from "./ranges.ts";
import type { Budget } from "./segment-builder.ts";

/** A route whose conditions have been read. */
export interface ReadRoute {
  readonly index: number;
  readonly region: string;
  readonly conditions: Conditions;
}

/** Everything about one layout that look-ups and the checks need. */
export interface RoutePlan {
  readonly plan: LayoutPlan;
  /** By place in the declared `routes`; a route that takes no ID of the layout is absent. */
  readonly placements: ReadonlyMap<number, Placement>;
  readonly indexes: ReadonlyMap<IdPlan, IdIndex>;
}

/** Where a route is in a layout's ID space: one box for all entities, or one for each of those that it takes. */
export type Placement = Box | ReadonlyMap<IdPlan, Box>;

export const boxFor = (placement: Placement, id: IdPlan): Box | undefined =>
  isForAll(placement) ? placement : placement.get(id);

/** The entities that a route takes some IDs of. */
export const idsIn = (placement: Placement, plan: LayoutPlan): Iterable<IdPlan> =>
  isForAll(placement) ? plan.ids : placement.keys();

const isForAll = (placement: Placement): placement is Box => Array.isArray(placement);

/** Flattens the routes of every layout; `undefined` when the indexes would be too large. */
export const planRoutes = (
  plans: ReadonlyMap<string, LayoutPlan>,
  routes: readonly ReadRoute[],
): ReadonlyMap<string, RoutePlan> | undefined => {
  const budget: Budget = { cells: INDEX_CELLS_MAX };
  const planned = new Map<string, RoutePlan>();
  for (const [name, plan] of plans) {
    const one = planLayoutRoutes(plan, routes, budget);
    if (one === undefined) return undefined;
    planned.set(name, one);
  }
  return planned;
};

/** Routes that treat all entities alike go into indexes that all entities share; the others into those of each entity. */
const planLayoutRoutes = (plan: LayoutPlan, routes: readonly ReadRoute[], budget: Budget): RoutePlan | undefined => {
  const placements = new Map<number, Placement>();
  const shared: PlacedRoute[] = [];
  const own = new Map<IdPlan, PlacedRoute[]>(plan.ids.map((id) => [id, []]));
  for (const { index, conditions } of routes) {
    const placement = placeRoute(conditions, plan);
    if (placement === undefined) continue;
    placements.set(index, placement);
    if (isForAll(placement)) shared.push({ ordinal: index, box: placement });
    else {
      budget.cells -= placement.size;
      if (budget.cells < 0) return undefined;
      for (const [id, box] of placement) own.get(id)?.push({ ordinal: index, box });
    }
  }
  const common = buildIndexes(shared, plan.dimensions, budget);
  if (common === undefined) return undefined;
  const indexes = new Map<IdPlan, IdIndex>();
  for (const [id, placed] of own) {
    const separate = buildIndexes(placed, plan.dimensions, budget);
    if (separate === undefined) return undefined;
    indexes.set(id, new IdIndex(plan.dimensions, [...common, ...separate]));
  }
  return { plan, placements, indexes };
};

/** Where a route is in the ID space of a layout; `undefined` if it takes none of its IDs. */
export const placeRoute = (conditions: Conditions, plan: LayoutPlan): Placement | undefined => {
  const { entities, fields } = conditions;
  const [first] = plan.ids;
  if (first === undefined) return undefined;
  const marks = fields.get("service") ?? fields.get("group");
  if (entities === undefined && marks === undefined) return boxOf(conditions, plan, first);
  const boxes = new Map<IdPlan, Box>();
  for (const id of entities === undefined ? markedBy(marks ?? [], plan) : namedBy(entities, plan)) {
    const box = boxOf(conditions, plan, id);
    if (box !== undefined) boxes.set(id, box);
  }
  return boxes.size === 0 ? undefined : boxes;
};

const namedBy = (entities: ReadonlySet<string>, { idsByEntity }: LayoutPlan): readonly IdPlan[] =>
  [...entities].flatMap((name) => idsByEntity.get(name) ?? []);

/** A table may have a route for each of many numbers, so each looks up its own entities. */
const markedBy = (marks: Ranges, { ids, idsByMark }: LayoutPlan): readonly IdPlan[] => {
  if (countOf(marks) > ids.length) return ids;
  const found = [...(idsByMark.get(undefined) ?? [])];
  for (const [low, high] of pairsOf(marks)) {
    for (let mark = low; mark <= high; mark++) found.push(...(idsByMark.get(mark) ?? []));
  }
  return found;
};
