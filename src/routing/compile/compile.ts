import { type Deciding, decidedBy, hasVerified } from "../../features/directory/table/compile.ts";
import { planLayouts } from "../layouts/plan.ts";
import { Budget, COMPLEXITY_MAX } from "../limits.ts";
import { type Draft, draftOf } from "../schema/draft.ts";
import type { Report } from "../schema/faults.ts";
import type { DeclaredTable } from "../schema/table.ts";
import type { CompiledTable } from "../table.ts";
import { type Assembly, assemble } from "./assemble.ts";
import { readConditions } from "./conditions.ts";
import { indexOverrides } from "./overrides.ts";
import { flattenRoutes, noPlacements, type Placed, placeRoute } from "./route-plans.ts";

/** The placements take more memory than the compiled table. */
export type Planned = Assembly & { readonly placed: Placed };

/** Compiles a table that passed `checkTable`; throws for one that was never checked. */
export const compileTable = (declared: DeclaredTable, revision: number): CompiledTable =>
  withVerified(assemble(planChecked(declared), revision), declared);

/** The table that decides, and beside it the one whose decisions are compared, while a directory is verified. */
export const withVerified = (table: CompiledTable, declared: DeclaredTable): CompiledTable => {
  if (!hasVerified(draftOf(declared))) return table;
  return { ...table, verified: assemble(planChecked(declared, "verify"), table.revision) };
};

export const planChecked = (declared: DeclaredTable, deciding: Deciding = "serve"): Planned =>
  planDraft(decidedBy(draftOf(declared), deciding));

const planDraft = (draft: Draft): Planned => {
  const plans = planLayouts(draft);
  const budget = new Budget(COMPLEXITY_MAX);
  const placed = noPlacements(plans);
  for (const route of draft.routes) {
    if (draft.idleRoutes.has(route.index)) continue;
    const conditions = readConditions({ draft, plans, report: rejectFault, budget }, route);
    if (conditions === undefined) throw new Error(`route ${route.index} was not checked`);
    placeRoute(placed, draft.packs, { ...route, conditions }, budget);
  }
  const planned = flattenRoutes(placed, budget);
  if (planned === undefined) throw new Error("the size of the routing table was not checked");
  return { draft, placed, routes: planned, overrides: indexOverrides(draft, plans, () => true) };
};

const rejectFault: Report = (kind, place, message) => {
  throw new Error(`the routing table was not checked: ${kind} at /${place.join("/")}: ${message}`);
};
