import { Budget } from "./budget.ts";
import { readConditions } from "./conditions.ts";
import { type Draft, draftOf } from "./draft.ts";
import type { Report } from "./faults.ts";
import { joinEntities } from "./join-entities.ts";
import { planLayouts } from "./layout-plans.ts";
import { COMPLEXITY_MAX } from "./limits.ts";
import { indexMoved } from "./moved.ts";
import { indexPaths } from "./paths.ts";
import { readersOf } from "./readings.ts";
import { flattenRoutes, noPlacements, placeRoute, type RoutePlan } from "./route-plans.ts";
import type { DeclaredTable } from "./schema.ts";
import { NO_ROUTE } from "./segments.ts";
import type { CompiledTable, Region, Rule, Target } from "./table.ts";

/** A checked table with its routes flattened. */
export interface Planned {
  readonly draft: Draft;
  readonly routes: ReadonlyMap<string, RoutePlan>;
}

/** Compiles a table that `checkTable` has found to be without fault; throws for one that was never checked. */
export const compileTable = (declared: DeclaredTable, revision: number): CompiledTable =>
  assemble(planChecked(declared), revision);

/** Flattens the routes of a table that was checked. */
export const planChecked = (declared: DeclaredTable): Planned => {
  const draft = draftOf(declared);
  const plans = planLayouts(draft);
  const budget = new Budget(COMPLEXITY_MAX);
  const placed = noPlacements(plans);
  for (const { index, route } of draft.routes) {
    const conditions = readConditions(draft, plans, route, ["routes", index, "when"], refuseFault, budget);
    if (conditions === undefined) throw new Error(`route ${index} was not checked`);
    placeRoute(placed, { index, conditions }, budget);
  }
  const planned = flattenRoutes(placed, budget);
  if (planned === undefined) throw new Error("the size of the routing table was not checked");
  return { draft, routes: planned };
};

const refuseFault: Report = (kind, place, message) => {
  throw new Error(`the routing table was not checked: ${kind} at /${place.join("/")}: ${message}`);
};

/** Puts the compiled table together. */
export const assemble = ({ draft, routes }: Planned, revision: number): CompiledTable => {
  const regions = regionsOf(draft);
  const targetOf = targetsOf(draft, regions);
  const { layouts, entities } = joinEntities(draft, routes, targetOf);
  return {
    revision,
    regions,
    entities,
    countries: draft.countries,
    layouts,
    readers: readersOf([...layouts.values()], ({ layout }) => layout),
    paths: indexPaths(entities.values()),
    moved: indexMoved(movedTargets(draft, regions), layouts),
    routeCount: draft.routes.length,
  };
};

const regionsOf = (draft: Draft): ReadonlyMap<string, Region> =>
  new Map(
    [...draft.regions].map(([name, { origins, failover = [] }]) => [
      name,
      Object.freeze({
        name,
        origins: origins.map(({ url, weight = 1 }) => Object.freeze({ url: url.replace(/\/$/, ""), weight })),
        failover,
      }),
    ]),
  );

const regionNamed = (regions: ReadonlyMap<string, Region>, name: string): Region => {
  const region = regions.get(name);
  if (region === undefined) throw new Error(`region ${name} was not checked`);
  return region;
};

/** One frozen target for each route and one for the default. */
const targetsOf = (draft: Draft, regions: ReadonlyMap<string, Region>): ((ordinal: number) => Target | undefined) => {
  // Rules first, so that the targets, which every look-up touches, lie side by side.
  const rules = draft.routes.map(({ index }): Rule => Object.freeze({ kind: "route", index }));
  const targets = draft.routes.map(
    ({ route }, at): Target => Object.freeze({ region: regionNamed(regions, route.region), rule: rules[at] as Rule }),
  );
  const { fallback } = draft;
  const last: Target | undefined =
    fallback === undefined
      ? undefined
      : Object.freeze({ region: regionNamed(regions, fallback), rule: Object.freeze({ kind: "default" }) });
  return (ordinal) => (ordinal === NO_ROUTE ? last : targets[ordinal]);
};

const movedTargets = (draft: Draft, regions: ReadonlyMap<string, Region>): readonly (readonly [string, Target])[] => {
  const byRegion = new Map<string, Target>();
  for (const name of new Set(draft.moved.values())) {
    byRegion.set(name, Object.freeze({ region: regionNamed(regions, name), rule: Object.freeze({ kind: "moved" }) }));
  }
  return [...draft.moved].map(([text, region]) => [text, byRegion.get(region) as Target]);
};
