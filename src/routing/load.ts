import { TABLE_CHECKS } from "../features/checking.ts";
import { TABLE_FEATURES } from "../features/compiling.ts";
import { MEMBERS } from "../features/members.ts";
import needs from "../features/needs.json" with { type: "json" };
import { err, ok, type Result } from "../ids/index.ts";
import { checkCover } from "./check/coverage.ts";
import { checkEntities } from "./check/entities.ts";
import type { TableChecks } from "./check/feature.ts";
import { checkAmbiguity, checkLayouts } from "./check/layouts.ts";
import { checkCountries, checkNames } from "./check/names.ts";
import { checkMoved } from "./check/overrides.ts";
import { checkPathLayouts, checkPaths } from "./check/paths.ts";
import { checkOrigins } from "./check/regions.ts";
import { checkDestinations, checkRoutes, checkShares, type DependsOnFault, dependsOnFault } from "./check/routes.ts";
import { type TableUse, useOf } from "./check/usage.ts";
import { warningsOf } from "./check/warnings.ts";
import { checkWithoutId } from "./check/without-id.ts";
import { assemble } from "./compile/assemble.ts";
import { compileTable, withVerified } from "./compile/compile.ts";
import { flattenRoutes } from "./compile/route-plans.ts";
import { decidedBy, type TableFeature } from "./feature.ts";
import { type LayoutPlans, planLayouts } from "./layouts/plan.ts";
import { Budget, COMPLEXITY_MAX } from "./limits.ts";
import { composeSchemas, type TableSchemas } from "./schema/compose.ts";
import type { Draft } from "./schema/draft.ts";
import { type Fault, faultList } from "./schema/faults.ts";
import { parseTableText } from "./schema/parse.ts";
import type { DeclaredTable } from "./schema/table.ts";
import { hasNone, readDraft } from "./schema/validate.ts";
import type { CompiledTable } from "./table.ts";

/** The features that a build has. */
export interface Build {
  readonly features: readonly TableFeature[];
  readonly checks: readonly TableChecks[];
  readonly schemas: TableSchemas;
  /** Says what is likely not meant so. A build that never asks does without its code. */
  readonly review?: typeof warningsOf;
}

/** `has`: whether a feature, by its name, is in the build. One that needs another is left out with it. */
export const buildWith = (has: (feature: string) => boolean): Build => {
  const isIn = (feature: string): boolean => has(feature) && (NEEDS[feature] ?? []).every(isIn);
  const checks = TABLE_CHECKS.filter(({ name }) => isIn(name));
  const schemas = composeSchemas(
    checks.map(({ schema }) => schema),
    MEMBERS,
  );
  return { features: TABLE_FEATURES.filter(({ name }) => isIn(name)), checks, schemas };
};

const NEEDS: Readonly<Record<string, readonly string[] | undefined>> = needs;

export const WHOLE_BUILD = /* @__PURE__ */ buildWith(() => true);

/**
 * Checks a table of any origin. The value is the same table with its type; the error is every fault at once.
 * `ownPort`: where the gateway that would serve it listens on its machine; an origin there is a fault.
 */
export const checkTable = (
  declared: unknown,
  ownPort?: number,
  build = WHOLE_BUILD,
): Result<DeclaredTable, readonly Fault[]> => {
  const checked = check(declared, build, ownPort);
  return checked.ok ? ok(checked.value.declared) : checked;
};

type Loaded = Result<CompiledTable, readonly Fault[]>;

/** `isChecked`: by these rules, before. */
export const loadTable = (json: unknown, revision: number, isChecked = false, build = WHOLE_BUILD): Loaded => {
  if (isChecked) return ok(compileTable(json as DeclaredTable, revision, build.features));
  const checked = check(json, build);
  if (!checked.ok) return checked;
  const { planned, declared } = checked.value;
  return ok(withVerified(assemble(planned, revision), declared, build.features));
};

/** Checks and compiles a table's text as the given revision. */
export const loadTableText = (text: string, revision: number): Result<CompiledTable, readonly Fault[]> => {
  const declared = parseTableText(text);
  return declared.ok ? loadTable(declared.value, revision) : declared;
};

const NO_WARNINGS: ReturnType<typeof warningsOf> = { warnings: [], isCut: false };

/** Checks a table, and says what in it is likely not meant so. */
export const reviewTable = (declared: unknown) => {
  const checked = check(declared, { ...WHOLE_BUILD, review: warningsOf });
  return checked.ok ? ok(checked.value.warnings ?? NO_WARNINGS) : checked;
};

/** Checks a table and measures how much of each limit it uses. `bytes`: length of its text. */
export const measureTable = (declared: unknown, bytes: number): Result<TableUse, readonly Fault[]> => {
  const checked = check(declared, WHOLE_BUILD);
  if (!checked.ok) return checked;
  const { planned, declared: table, cells } = checked.value;
  return ok(useOf(planned.draft, table, bytes, cells, TABLE_CHECKS));
};

const check = (value: unknown, { features, checks, schemas, review }: Build, ownPort?: number) => {
  const { report, faults } = faultList();
  const { draft: whole, declared, isRead } = readDraft(value, report, schemas);
  const isEmpty = isRead && hasNone(whole, ["entities", "withoutId", ...features.flatMap(({ serves = [] }) => serves)]);
  for (const { names } of checks) names?.(whole, report);
  const draft = { ...decidedBy(whole, "serve", features), reserved: reservedIn(whole, checks) };
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
  for (const { entities } of checks) entities?.(draft, report, budget);
  checkWithoutId(draft, isEmpty, report);
  for (const { requests } of checks) requests?.(draft, report);
  checkDestinations(draft, schemas.destinations, report);
  for (const { routes } of checks) routes?.(draft, report);
  checkShares(draft, report);
  const overrides = checkMoved(draft, plans, isWhole, report);
  const isInDoubt = dependsOnFault(draft, faults);
  const mayMatch: DependsOnFault = (when) => !isWhole || isInDoubt(when);
  const context = { draft, plans, report, budget };
  const { routes: read, placed } = checkRoutes(context, mayMatch, faults, {
    destinations: schemas.destinations,
    features,
    checks,
  });
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
  // The placed routes are let go: beside the compiled table it would be too large for an isolate.
  const warnings = review?.(draft, placed);
  return ok({ declared, planned: { features, draft, routes, overrides }, warnings, cells: budget.used });
};

const reservedIn = ({ table }: Draft, checks: readonly TableChecks[]): Draft["reserved"] =>
  new Map(checks.flatMap(({ name, reserves }) => reserves?.(table).map((segment) => [segment, name] as const) ?? []));

const allEntitiesArePlanned = (draft: Draft, plans: LayoutPlans): boolean => {
  const planned = [...plans.values()].reduce((count, { ids }) => count + ids.length, 0);
  const declared = [...draft.entities.values()].reduce((count, { ids }) => count + ids.length, 0);
  return planned === declared && draft.entities.size === draft.names.entities.size;
};

const layoutsAreSound = (draft: Draft, faults: readonly Fault[]): boolean =>
  draft.layouts.size === draft.names.layouts.size && faults.every(({ kind }) => kind !== "slice-range");
