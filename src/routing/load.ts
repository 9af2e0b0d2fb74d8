import { checkCopies } from "../features/copies/table/compile.ts";
import { checkCors } from "../features/cors/table.ts";
import { checkCreates } from "../features/create/table/check.ts";
import { checkDirectories } from "../features/directory/table/check.ts";
import { decidedBy } from "../features/directory/table/compile.ts";
import { checkGraphql } from "../features/graphql/table/check.ts";
import { checkLists } from "../features/lists/table/check.ts";
import { checkPacks } from "../features/packs/table/check.ts";
import { checkIdPlaces } from "../features/places/table/check.ts";
import { checkPublic } from "../features/public-ids/table/check.ts";
import { err, ok, type Result } from "../ids/index.ts";
import { checkCover } from "./check/coverage.ts";
import { checkEntities } from "./check/entities.ts";
import { checkAmbiguity, checkLayouts } from "./check/layouts.ts";
import { checkCountries, checkNames } from "./check/names.ts";
import { checkMoved } from "./check/overrides.ts";
import { checkPathLayouts, checkPaths } from "./check/paths.ts";
import { checkOrigins } from "./check/regions.ts";
import { checkDestinations, checkRoutes, checkShares, type DependsOnFault, dependsOnFault } from "./check/routes.ts";
import { type TableUse, useOf } from "./check/usage.ts";
import { checkWithoutId } from "./check/without-id.ts";
import { assemble } from "./compile/assemble.ts";
import { compileTable, withVerified } from "./compile/compile.ts";
import { flattenRoutes } from "./compile/route-plans.ts";
import { type LayoutPlans, planLayouts } from "./layouts/plan.ts";
import { Budget, COMPLEXITY_MAX } from "./limits.ts";
import { type Draft, readDraft } from "./schema/draft.ts";
import { type Fault, faultList } from "./schema/faults.ts";
import type { DeclaredTable } from "./schema/table.ts";
import type { CompiledTable } from "./table.ts";

/**
 * Checks a table of any origin. The value is the same table with its type; the error is every fault at once.
 * `ownPort`: where the gateway that would serve it listens on its machine; an origin there is a fault.
 */
export const checkTable = (declared: unknown, ownPort?: number): Result<DeclaredTable, readonly Fault[]> => {
  const checked = check(declared, ownPort);
  return checked.ok ? ok(checked.value.declared) : checked;
};

type Loaded = Result<CompiledTable, readonly Fault[]>;

/** `isChecked`: by these rules, before. */
export const loadTable = (json: unknown, revision: number, isChecked = false): Loaded => {
  if (isChecked) return ok(compileTable(json as DeclaredTable, revision));
  const checked = check(json);
  if (!checked.ok) return checked;
  const { planned, declared } = checked.value;
  return ok(withVerified(assemble(planned, revision), declared));
};

/** Checks a table and measures how much of each limit it uses. `bytes`: length of its text. */
export const measureTable = (declared: unknown, bytes: number): Result<TableUse, readonly Fault[]> => {
  const checked = check(declared);
  if (!checked.ok) return checked;
  const { planned, declared: table, cells } = checked.value;
  return ok(useOf(planned.draft, table, bytes, cells));
};

const check = (value: unknown, ownPort?: number) => {
  const { report, faults } = faultList();
  const { draft: whole, declared } = readDraft(value, report);
  checkDirectories(whole, report);
  const draft = decidedBy(whole, "serve");
  const plans = planLayouts(draft);
  const isWhole = allEntitiesArePlanned(draft, plans);
  checkNames(draft, report);
  checkOrigins(draft, ownPort, report);
  checkCountries(draft, report);
  checkEntities(draft, report);
  checkPaths(draft, report);
  checkPathLayouts(draft, report);
  checkLayouts(draft, report);
  const budget = new Budget(COMPLEXITY_MAX);
  checkPublic(draft, report, budget);
  checkWithoutId(draft, report);
  checkCreates(draft, report);
  checkCopies(draft, report);
  if (draft.cors !== undefined) checkCors(draft.cors, report);
  checkIdPlaces(draft, report);
  checkLists(draft, report);
  if (draft.graphql !== undefined) checkGraphql(draft.graphql, draft, report);
  checkDestinations(draft, report);
  checkPacks(draft, report);
  checkShares(draft, report);
  const overrides = checkMoved(draft, plans, isWhole, report);
  const isInDoubt = dependsOnFault(draft, faults);
  const mayMatch: DependsOnFault = (when) => !isWhole || isInDoubt(when);
  const context = { draft, plans, report, budget };
  const { routes: read, placed } = checkRoutes(context, mayMatch, faults);
  const routes = flattenRoutes(placed, budget);
  // An entity or a layout with a fault could make a route reachable or tell two layouts apart.
  if (routes !== undefined && isWhole && layoutsAreSound(draft, faults)) {
    const inDoubt = new Set(draft.routes.flatMap(({ index, route }) => (isInDoubt(route.when) ? [index] : [])));
    const certain = read.filter(({ index }) => !inDoubt.has(index));
    checkCover(routes, placed, certain, report);
    checkAmbiguity(context, placed, read);
  }
  if (budget.isSpent && !faults.some(({ kind }) => kind === "too-complex")) {
    const message = `The routes ask for so much, or overlap so much, that checking and compiling them would take more than ${COMPLEXITY_MAX} cells; join ranges, or ask for fewer things in one route.`;
    report("too-complex", ["routes"], message);
  }
  if (faults.length > 0) return err(faults);
  if (declared === undefined || routes === undefined) throw new Error("a table without faults has an unread part");
  return ok({ declared, planned: { draft, routes, overrides }, cells: budget.used });
};

const allEntitiesArePlanned = (draft: Draft, plans: LayoutPlans): boolean => {
  const planned = [...plans.values()].reduce((count, { ids }) => count + ids.length, 0);
  const declared = [...draft.entities.values()].reduce((count, { ids }) => count + ids.length, 0);
  return planned === declared && draft.entities.size === draft.names.entities.size;
};

const layoutsAreSound = (draft: Draft, faults: readonly Fault[]): boolean =>
  draft.layouts.size === draft.names.layouts.size && faults.every(({ kind }) => kind !== "slice-range");
