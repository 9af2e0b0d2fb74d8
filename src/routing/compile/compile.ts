import { TABLE_FEATURES } from "../../features/compiling.ts";
import { type Deciding, decidedBy, hasVerified, searchesOf, type TableFeature } from "../feature.ts";
import { draftOf } from "../layouts/declared.ts";
import { planLayouts } from "../layouts/plan.ts";
import { Budget, COMPLEXITY_MAX } from "../limits.ts";
import type { Draft } from "../schema/draft.ts";
import type { Report } from "../schema/faults.ts";
import type { DeclaredTable } from "../schema/table.ts";
import type { CompiledTable } from "../table.ts";
import { assemble, type Planned } from "./assemble.ts";
import { readConditions } from "./conditions.ts";
import { indexOverrides } from "./overrides.ts";
import { flattenRoutes, noPlacements, placeRoute } from "./route-plans.ts";

/** Compiles a table that passed `checkTable`; throws for one that was never checked. */
export const compileTable = (
  declared: DeclaredTable,
  revision: number,
  features: readonly TableFeature[] = TABLE_FEATURES,
): CompiledTable => withVerified(assemble(planChecked(declared, "serve", features), revision), declared, features);

/** The table that decides, and beside it the one whose decisions are compared, while something is verified. */
export const withVerified = (
  table: CompiledTable,
  declared: DeclaredTable,
  features: readonly TableFeature[],
): CompiledTable => {
  if (!hasVerified(draftOf(declared), features)) return table;
  return { ...table, verified: assemble(planChecked(declared, "verify", features), table.revision) };
};

export const planChecked = (
  declared: DeclaredTable,
  deciding: Deciding = "serve",
  features: readonly TableFeature[] = TABLE_FEATURES,
): Planned => planDraft(decidedDraft(declared, deciding, features), features);

/** A checked table, without what does not decide yet. */
export const decidedDraft = (
  declared: DeclaredTable,
  deciding: Deciding = "serve",
  features: readonly TableFeature[] = TABLE_FEATURES,
): Draft => decidedBy(draftOf(declared), deciding, features);

const planDraft = (draft: Draft, features: readonly TableFeature[]): Planned => {
  const plans = planLayouts(draft);
  const budget = new Budget(COMPLEXITY_MAX);
  const placed = noPlacements(plans);
  const searching = { draft, searches: searchesOf(features) };
  for (const route of draft.routes) {
    if (draft.idleRoutes.has(route.index)) continue;
    const conditions = readConditions({ draft, plans, report: rejectFault, budget }, route);
    if (conditions === undefined) throw new Error(`route ${route.index} was not checked`);
    placeRoute(placed, searching, { ...route, conditions }, budget);
  }
  const planned = flattenRoutes(placed, budget);
  if (planned === undefined) throw new Error("the size of the routing table was not checked");
  return { features, draft, placed, routes: planned, overrides: indexOverrides(draft, plans, () => true) };
};

const rejectFault: Report = (kind, place, message) => {
  throw new Error(`the routing table was not checked: ${kind} at /${place.join("/")}: ${message}`);
};
