import type { Budget } from "../budget.ts";
import { readConditions } from "../conditions.ts";
import type { Draft, DraftRoute } from "../draft.ts";
import type { Place, Report } from "../faults.ts";
import type { LayoutPlan } from "../layout-plans.ts";
import { FAULTS_MAX } from "../limits.ts";
import { noPlacements, type PlacedRoutes, placeRoute, type TakingRoute } from "../route-plans.ts";
import type { DeclaredConditions } from "../schema.ts";
import { listOf } from "../scopes.ts";
import { isSoundPackRoute } from "./packs.ts";
import type { DependsOnFault } from "./rests-on.ts";
import { hasOneDestination } from "./ways.ts";

export interface CheckedRoutes {
  readonly routes: readonly TakingRoute[];
  readonly placed: ReadonlyMap<string, PlacedRoutes>;
}

/**
 * Reads every route and reports what is wrong with its conditions: unknown names, numbers and times that cannot be, and
 * conditions that contradict each other. Returns the routes that some ID can match, placed. It stops where the budget does
 * not reach, and at as many faults as a report lists.
 */
export const checkRoutes = (
  draft: Draft,
  plans: ReadonlyMap<string, LayoutPlan>,
  mayMatch: DependsOnFault,
  report: Report,
  budget: Budget,
): CheckedRoutes => {
  let faults = 0;
  const fault: Report = (...found) => {
    faults++;
    report(...found);
  };
  const routes: TakingRoute[] = [];
  const placed = noPlacements(plans);
  for (const each of draft.routes) {
    const { index, route } = each;
    if (budget.isSpent || faults >= FAULTS_MAX) break;
    // What is at fault in itself is not looked at more closely.
    if (!hasOneDestination(route)) continue;
    const conditions = readConditions(draft, plans, route, ["routes", index, "when"], fault, budget);
    if (conditions === undefined) continue;
    if (!isSoundPackRoute(draft, plans, { index, route }, fault)) continue;
    if (placeRoute(placed, draft.packs, { index, route, conditions }, budget)) routes.push(each);
    // An entity that could not be read, or whose number is at fault, may be the one that the route is for.
    else if (!mayMatch(route.when) && !budget.isSpent) reportContradiction(draft, plans, { index, route }, fault);
  }
  return { routes, placed };
};

const reportContradiction = (
  draft: Draft,
  plans: ReadonlyMap<string, LayoutPlan>,
  { index, route: { when } }: DraftRoute,
  report: Report,
): void => {
  const place: Place = ["routes", index, "when"];
  const layouts = layoutsOf(draft, when).filter((name) => plans.has(name));
  if (layouts.length === 0) {
    const key = when.layout === undefined ? "entity" : "layout";
    report(
      "unreachable-route",
      [...place, key],
      "No entity of this route has IDs of this layout, so no ID can match; correct the entity or the layout.",
    );
    return;
  }
  const stray = CONDITION_FIELDS.find(
    ([key, field]) => when[key] !== undefined && layouts.every((name) => !hasField(draft, name, field)),
  );
  const [key] = stray ?? [];
  if (key !== undefined) {
    report(
      "unreachable-route",
      [...place, key],
      `IDs of layout ${layouts.join(", ")} have no ${key}, so no ID can match; remove this condition or correct the layout.`,
    );
    return;
  }
  report(
    "unreachable-route",
    place,
    "These conditions contradict each other or the entity's own numbers, so no ID can match; remove or correct one.",
  );
};

/** The layouts that the route's layouts and entities leave. */
const layoutsOf = (draft: Draft, when: DeclaredConditions): readonly string[] => {
  const ofEntities = when.entity === undefined ? [...draft.entities.keys()] : listOf(when.entity);
  const owned = new Set(ofEntities.flatMap((name) => draft.entities.get(name)?.ids.map(({ layout }) => layout) ?? []));
  return when.layout === undefined ? [...owned] : listOf(when.layout).filter((name) => owned.has(name));
};

const hasField = (draft: Draft, layout: string, field: string): boolean => {
  const found = draft.known.get(layout);
  return field === "minted" ? found?.mintedAtMs !== undefined : found?.field(field) !== undefined;
};

const CONDITION_FIELDS = [
  ["country", "country"],
  ["service", "service"],
  ["shardKey", "shardKey"],
  ["group", "group"],
  ["class", "group"],
  ["primaryKey", "primaryKey"],
  ["mintedFrom", "minted"],
  ["mintedBefore", "minted"],
] as const;
