import { err, ok, type Result } from "../ids/index.ts";
import { checkApart } from "./check/apart.ts";
import { checkCountries } from "./check/countries.ts";
import { checkCover } from "./check/cover.ts";
import { checkEntities } from "./check/entities.ts";
import { checkLayouts } from "./check/layouts.ts";
import { checkMoved } from "./check/moved.ts";
import { checkNames } from "./check/names.ts";
import { checkOrigins } from "./check/origins.ts";
import { checkPaths } from "./check/paths.ts";
import { checkRoutes } from "./check/routes.ts";
import { assemble, type Planned } from "./compile.ts";
import { type Draft, readDraft } from "./draft.ts";
import { faultList, type Report } from "./faults.ts";
import { planLayouts } from "./layout-plans.ts";
import { INDEX_CELLS_MAX } from "./limits.ts";
import { planRoutes, type RoutePlan } from "./route-plans.ts";
import type { DeclaredTable } from "./schema.ts";
import type { CompiledTable, Fault } from "./table.ts";

/** Checks a table of any origin. The value is the same table with its type; the error is every fault at once. */
export const checkTable = (declared: unknown): Result<DeclaredTable, readonly Fault[]> => {
  const checked = check(declared);
  return checked.ok ? ok(checked.value.declared) : checked;
};

/** Checks a table and compiles it as the given revision. */
export const loadTable = (json: unknown, revision: number): Result<CompiledTable, readonly Fault[]> => {
  const checked = check(json);
  return checked.ok ? ok(assemble(checked.value.planned, revision)) : checked;
};

interface Checked {
  readonly declared: DeclaredTable;
  readonly planned: Planned;
}

const check = (value: unknown): Result<Checked, readonly Fault[]> => {
  const { report, faults } = faultList();
  const { draft, declared } = readDraft(value, report);
  checkNames(draft, report);
  checkOrigins(draft, report);
  checkCountries(draft, report);
  checkEntities(draft, report);
  checkPaths(draft, report);
  checkLayouts(draft, report);
  checkMoved(draft, report);
  const routes = checkAllRoutes(draft, faults, report);
  if (faults.length > 0) return err(faults);
  if (declared === undefined || routes === undefined)
    throw new Error("a table without faults has a part that cannot be read");
  return ok({ declared, planned: { draft, routes } });
};

const checkAllRoutes = (
  draft: Draft,
  faults: readonly Fault[],
  report: Report,
): ReadonlyMap<string, RoutePlan> | undefined => {
  const plans = planLayouts(draft);
  const planned = [...plans.values()].reduce((count, { ids }) => count + ids.length, 0);
  const declared = [...draft.entities.values()].reduce((count, { ids }) => count + ids.length, 0);
  const allEntitiesAreRead = planned === declared && draft.entities.size === draft.names.entities.size;
  const routes = checkRoutes(draft, plans, allEntitiesAreRead, report);
  const routePlans = planRoutes(plans, routes);
  if (routePlans === undefined) {
    report(
      "too-complex",
      ["routes"],
      `The routes overlap so much that their index would have more than ${INDEX_CELLS_MAX} cells; join ranges, or ask for fewer things in one route.`,
    );
    return undefined;
  }
  const slicesAreSound = faults.every(({ kind }) => kind !== "slice-range");
  if (allEntitiesAreRead && slicesAreSound && draft.layouts.size === draft.names.layouts.size) {
    checkCover(routePlans, routes, report);
    checkApart(draft, routePlans, routes, report);
  }
  return routePlans;
};
