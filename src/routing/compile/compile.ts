import { planLayouts } from "../layouts/plan.ts";
import { Budget, COMPLEXITY_MAX } from "../limits.ts";
import { indexPaths } from "../lookup/paths.ts";
import { PackSlot } from "../packs/pack.ts";
import type { PackPlacement, PackRoute } from "../packs/route.ts";
import { readersOf } from "../resolve/match.ts";
import { type Draft, draftOf } from "../schema/draft.ts";
import type { Report } from "../schema/faults.ts";
import type { DeclaredTable } from "../schema/table.ts";
import type { CompiledTable, EnabledLayout } from "../table.ts";
import { readConditions } from "./conditions.ts";
import { compileEntities } from "./entities.ts";
import { indexOverrides, movedIndex, type OverrideIndex } from "./overrides.ts";
import { flattenRoutes, noPlacements, type PlacedRoutes, placeRoute, type RoutePlan } from "./route-plans.ts";
import { overrideTargets, packTargets, regionOf, targetsOf } from "./targets.ts";
import { indexWithoutId } from "./without-id.ts";

/** A checked table with its routes placed and flattened. */
export interface Planned {
  readonly draft: Draft;
  readonly placed: ReadonlyMap<string, PlacedRoutes>;
  readonly routes: ReadonlyMap<string, RoutePlan>;
  readonly overrides: OverrideIndex;
}

/** What is needed to make the compiled table; the placements take more memory than that. */
export type Assembly = Omit<Planned, "placed">;

/** Compiles a table that passed `checkTable`; throws for one that was never checked. */
export const compileTable = (declared: DeclaredTable, revision: number): CompiledTable =>
  assemble(planChecked(declared), revision);

/** Flattens the routes of a table that was checked. */
export const planChecked = (declared: DeclaredTable): Planned => {
  const draft = draftOf(declared);
  const plans = planLayouts(draft);
  const budget = new Budget(COMPLEXITY_MAX);
  const placed = noPlacements(plans);
  for (const { index, route } of draft.routes) {
    const conditions = readConditions(draft, plans, route, ["routes", index, "when"], rejectFault, budget);
    if (conditions === undefined) throw new Error(`route ${index} was not checked`);
    placeRoute(placed, draft.packs, { index, route, conditions }, budget);
  }
  const planned = flattenRoutes(placed, budget);
  if (planned === undefined) throw new Error("the size of the routing table was not checked");
  return { draft, placed, routes: planned, overrides: indexOverrides(draft, plans, () => true) };
};

const rejectFault: Report = (kind, place, message) => {
  throw new Error(`the routing table was not checked: ${kind} at /${place.join("/")}: ${message}`);
};

/** Makes the compiled table. */
export const assemble = ({ draft, routes, overrides }: Assembly, revision: number): CompiledTable => {
  const regions = new Map([...draft.regions].map(([name, declared]) => [name, regionOf(name, declared)]));
  const packs = new Map([...draft.packs].map(([name, declared]) => [name, new PackSlot(name, declared)]));
  const packRouteOf = ({ ordinal, pack, declared, dimension }: PackPlacement): PackRoute => {
    const slot = packs.get(pack);
    if (slot === undefined) throw new Error(`pack ${pack} was not checked`);
    return { ordinal, slot, read: dimension.read, targets: packTargets(ordinal, pack, declared, regions) };
  };
  const { layouts, entities } = compileEntities(
    draft,
    routes,
    targetsOf(draft, regions),
    packRouteOf,
    overrides.byForm,
  );
  const table = {
    revision,
    regions,
    entities,
    countries: draft.countries,
    layouts,
    readers: readersOf([...layouts.values()], ({ layout }) => layout),
    paths: indexPaths(entities.values()),
    withoutId: indexWithoutId(draft, regions),
    moved: movedIndex(overrides, overrideTargets(draft, regions)),
    packs,
    routeCount: draft.routes.length,
    withoutPublic: undefined,
  };
  return { ...table, withoutPublic: viewOf(table) };
};

/** The table without entities whose IDs are public; `undefined` where it has none. */
const viewOf = (table: CompiledTable): CompiledTable | undefined => {
  const entities = new Map([...table.entities].filter(([, entity]) => entity.public === undefined));
  if (entities.size === table.entities.size) return undefined;
  const used = new Set([...entities.values()].flatMap(({ ids }) => ids.map(({ enabled }) => enabled)));
  const layouts = new Map(
    [...table.layouts].flatMap(([name, enabled]) =>
      used.has(enabled) ? [[name, ownedByOthers(enabled)] as const] : [],
    ),
  );
  return { ...table, entities, layouts, readers: readersOf([...layouts.values()], ({ layout }) => layout) };
};

const ownedByOthers = (enabled: EnabledLayout): EnabledLayout => ({
  ...enabled,
  ownersOf: (words) => enabled.ownersOf(words).filter(({ entity }) => entity.public === undefined),
});
