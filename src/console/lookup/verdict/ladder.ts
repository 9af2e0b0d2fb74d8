import { decidedDraft } from "../../../routing/compile/compile.ts";
import { type Conditions, readConditions } from "../../../routing/compile/conditions.ts";
import { LUUID_SHORT } from "../../../routing/identity.ts";
import { type LayoutPlan, planLayouts, sliceDimensionName } from "../../../routing/layouts/plan.ts";
import { Budget, COMPLEXITY_MAX } from "../../../routing/limits.ts";
import { includes } from "../../../routing/lookup/ranges.ts";
import type { DeclaredRoute, DeclaredTable } from "../../../routing/schema/table.ts";
import type { IdFacts, LadderQuestion } from "../reader.ts";

/** The rules of a table in their order, and what each says of one ID: by the conditions that the gateway compiles. Pure. */

/** Why a route does not take an ID. */
export type Miss =
  | { readonly by: "layout" | "entity" | "idle" }
  | { readonly by: "pack"; readonly pack: string }
  /** `dimension`: such as `country`, `minted` or `slices.m49`. `isBelow`: less than all that it names. */
  | { readonly by: "value"; readonly dimension: string; readonly value: number; readonly isBelow: boolean };

/** Tells why the route at an index does not take an ID; `undefined`: its conditions hold. */
export type JudgeRoute = (index: number, facts: IdFacts) => Miss | undefined;

/** Takes a checked table. A route is read when it is first asked for. */
export function judgeOf(declared: DeclaredTable): JudgeRoute {
  const draft = decidedDraft(declared);
  const plans = planLayouts(draft);
  const budget = new Budget(COMPLEXITY_MAX);
  const known = new Map<number, Conditions | undefined>();
  const routes = new Map(draft.routes.map((each) => [each.index, each]));
  const conditionsAt = (index: number): Conditions | undefined => {
    if (known.has(index)) return known.get(index);
    const route = routes.get(index);
    const read = route && readConditions({ draft, plans, report: () => undefined, budget }, route);
    known.set(index, read);
    return read;
  };
  return (index, facts) => {
    const plan = plans.get(facts.layout === LUUID_SHORT ? "luuid" : facts.layout);
    const conditions = conditionsAt(index);
    if (conditions === undefined || draft.idleRoutes.has(index)) return { by: "idle" };
    return plan === undefined ? { by: "layout" } : missOf(conditions, plan, facts);
  };
}

function missOf({ layouts, entities, fields, slices }: Conditions, plan: LayoutPlan, facts: IdFacts): Miss | undefined {
  const name = plan.layout.name;
  if (layouts !== undefined && !layouts.has(name)) return { by: "layout" };
  if (entities !== undefined && !entities.has(facts.entity)) return { by: "entity" };
  const parts = slices === undefined ? [] : slices.get(name);
  if (parts === undefined) return { by: "layout" };
  const asked = [...fields, ...[...parts].map(([slice, set]) => [sliceDimensionName(slice), set] as const)];
  for (const [dimension, set] of asked) {
    const read = plan.dimensions.find((each) => each.name === dimension)?.read;
    if (read === undefined) return { by: "layout" };
    const value = read(facts.words);
    if (!includes(set, value)) return { by: "value", dimension, value, isBelow: value < (set[0] ?? 0) };
  }
  return undefined;
}

/** One step of the way to a decision. */
export interface Rung {
  /** `off`: not reached. `stop`: nothing takes the ID. */
  readonly kind: "miss" | "hit" | "off" | "stop";
  readonly about: "overrides" | "routes" | "default";
  /** Indexes of the routes, first and last. */
  readonly routes?: readonly [first: number, last: number];
  readonly misses?: readonly Miss[];
  /** Where it leads. */
  readonly region?: string | undefined;
}

export interface LadderOf extends LadderQuestion {
  readonly declared: DeclaredTable;
  readonly judge: JudgeRoute;
}

const OVERRIDES: ReadonlySet<string> = new Set(["moved", "moving", "gone"]);

/** `undefined`: the table in the page says another thing than the rule, so it is not the one that decided. */
export function ladderOf({ declared, judge, facts, rule, region }: LadderOf): readonly Rung[] | undefined {
  const { routes } = declared;
  const isOverride = rule !== undefined && OVERRIDES.has(rule.kind);
  const own = rule !== undefined && "index" in rule ? rule.index : undefined;
  const isOpen = rule === undefined || rule.kind === "default";
  // Only the gateway has the entries of packs: one that did not decide has none of the ID.
  const found = routes.findIndex((route, index) => index === own || (route.pack === undefined && !judge(index, facts)));
  if (isOpen ? found !== -1 : own !== undefined && found !== own) return undefined;
  const end = found === -1 ? routes.length : found;
  const before = groupsOf(routes.slice(0, end).map((route, index) => judge(index, facts) ?? packOf(route)));
  const at = routes[end];
  const rungs: Rung[] = [
    { kind: isOverride ? "hit" : "miss", about: "overrides", region: isOverride ? region : undefined },
    ...before.map(({ first, misses }) => missed(first, misses, routes)),
  ];
  if (at === undefined) return [...rungs, defaultRung(declared, isOverride)];
  const reached = isOverride ? regionOf(at) : region;
  rungs.push({ kind: isOverride ? "off" : "hit", about: "routes", routes: [end, end], region: reached });
  if (end < routes.length - 1) rungs.push({ kind: "off", about: "routes", routes: [end + 1, routes.length - 1] });
  return rungs;
}

const missed = (first: number, misses: readonly Miss[], routes: readonly DeclaredRoute[]): Rung => ({
  kind: "miss",
  about: "routes",
  routes: [first, first + misses.length - 1],
  misses,
  region: misses.length === 1 ? regionOf(routes[first]) : undefined,
});

function defaultRung({ default: region }: DeclaredTable, isOverride: boolean): Rung {
  if (isOverride) return { kind: "off", about: "default", region };
  return region === undefined ? { kind: "stop", about: "default" } : { kind: "hit", about: "default", region };
}

const packOf = ({ pack = "" }: DeclaredRoute): Miss => ({ by: "pack", pack });

const regionOf = (route: DeclaredRoute | undefined): string | undefined => route?.region;

/** Routes beside each other that miss for the same reason. */
function groupsOf(misses: readonly Miss[]) {
  const groups: { readonly first: number; readonly misses: Miss[] }[] = [];
  let last: string | undefined;
  for (const [index, miss] of misses.entries()) {
    const kind = miss.by === "value" ? miss.dimension : miss.by === "entity" ? "layout" : miss.by;
    if (kind === last) groups.at(-1)?.misses.push(miss);
    else groups.push({ first: index, misses: [miss] });
    last = kind;
  }
  return groups;
}
