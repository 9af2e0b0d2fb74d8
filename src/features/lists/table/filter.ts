import { readConditions } from "../../../routing/compile/conditions.ts";
import type { IdPlan, LayoutPlan, LayoutPlans } from "../../../routing/layouts/plan.ts";
import { Budget, COMPLEXITY_MAX } from "../../../routing/limits.ts";
import { includes, intersect, type Ranges, subtract } from "../../../routing/lookup/ranges.ts";
import { readSplit } from "../../../routing/resolve/match.ts";
import { type Draft, type DraftRoute, overridesIn } from "../../../routing/schema/draft.ts";
import { hasMember, memberOf } from "../../../routing/schema/member.ts";
import type { DeclaredRoute } from "../../../routing/schema/table.ts";
import { FILTER_ROUTES_MAX } from "./limits.ts";
import type { RegionFilter } from "./types.ts";

/** A route for the IDs of one layout. `isExact`: no other condition keeps an ID from it. */
interface Step {
  readonly regions: readonly string[];
  readonly countries: Ranges | undefined;
  readonly minted: Ranges | undefined;
  readonly isExact: boolean;
}

/** A region that has entities by their own entry, and what their IDs say. */
interface Kept {
  readonly region: string;
  readonly country: number | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The routes of one layout, in the order of the table. */
interface Walk {
  readonly steps: readonly Step[];
  readonly hasCountry: boolean;
  readonly hasTime: boolean;
}

const ALWAYS: Ranges = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];

/**
 * The regions that may own the IDs a filter leaves: never one too few. They come from the routes in their order, the
 * entities that have an entry of their own, and the default.
 */
export const regionFilter = (draft: Draft, plans: LayoutPlans, entity: string): RegionFilter | undefined => {
  const layouts = [...plans.values()].filter(({ idsByEntity }) => idsByEntity.has(entity));
  const walks = layouts.map(
    (plan): Walk => ({
      steps: draft.routes.flatMap((route) => stepOf(draft, plans, plan, entity, route) ?? []),
      hasCountry: plan.layout.field("country") !== undefined,
      hasTime: plan.layout.mintedAtMs !== undefined,
    }),
  );
  if (walks.some(({ steps }) => steps.length > FILTER_ROUTES_MAX)) return undefined;
  return filterOf(walks, keptIn(draft, layouts), draft.fallback);
};

/** A function of its own: a closure beside the draft would keep the whole declared table in memory. */
const filterOf =
  (walks: readonly Walk[], kept: readonly Kept[], fallback: string | undefined): RegionFilter =>
  ({ countries, fromMs, toMs }) => {
    const found = new Set<string>();
    const isWanted = (country: number | undefined) =>
      countries === undefined || country === undefined || countries.includes(country);
    for (const one of kept) {
      if (isWanted(one.country) && one.fromMs <= toMs && one.toMs >= fromMs) found.add(one.region);
    }
    for (const { steps, hasCountry, hasTime } of walks) {
      const period: Ranges = hasTime ? [fromMs, toMs] : ALWAYS;
      for (const country of (hasCountry ? countries : undefined) ?? [undefined]) {
        const rest = walk(steps, country, period, found);
        if (rest && fallback !== undefined) found.add(fallback);
      }
    }
    return found;
  };

/** Adds the regions of the routes that take some of the period's IDs. Returns whether some are left. */
const walk = (steps: readonly Step[], country: number | undefined, period: Ranges, found: Set<string>): boolean => {
  let rest = period;
  for (const { regions, countries, minted, isExact } of steps) {
    if (country !== undefined && countries !== undefined && !includes(countries, country)) continue;
    const taken = minted === undefined ? rest : intersect(rest, minted);
    if (taken.length === 0) continue;
    for (const region of regions) found.add(region);
    if (isExact && (countries === undefined || country !== undefined)) rest = subtract(rest, taken);
    if (rest.length === 0) return false;
  }
  return rest.length > 0;
};

const stepOf = (
  draft: Draft,
  plans: LayoutPlans,
  { layout, dimensionNames, idsByEntity }: LayoutPlan,
  entity: string,
  draftRoute: DraftRoute,
): Step | undefined => {
  const { route } = draftRoute;
  const report = () => undefined;
  const conditions = readConditions({ draft, plans, report, budget: new Budget(COMPLEXITY_MAX) }, draftRoute);
  if (conditions === undefined) throw new Error(`route ${draftRoute.index} was not checked`);
  const { layouts, entities, fields, slices } = conditions;
  if (layouts?.has(layout.name) === false || entities?.has(entity) === false) return undefined;
  if (slices !== undefined && !slices.has(layout.name)) return undefined;
  let isExact = slices === undefined && !hasMember(route, "pack");
  for (const [name, ranges] of fields) {
    if (!dimensionNames.has(name)) return undefined;
    if (name === "country" || name === "minted") continue;
    const taken = takenBy(ranges, name, idsByEntity.get(entity) ?? []);
    if (taken === "none") return undefined;
    isExact &&= taken === "all";
  }
  const regions = regionsIn(draft, route);
  return { regions, countries: fields.get("country"), minted: fields.get("minted"), isExact };
};

/** How many of an entity's IDs a condition takes, as far as the table knows: it declares the numbers that mark its entity. */
const takenBy = (ranges: Ranges, field: string, ids: readonly IdPlan[]): "all" | "some" | "none" => {
  if (field !== "service" && field !== "group") return "some";
  const marks = ids.map((id) => id[field]);
  const known = marks.filter((mark) => mark !== undefined);
  if (known.length < marks.length) return "some";
  if (!known.some((mark) => includes(ranges, mark))) return "none";
  return known.every((mark) => includes(ranges, mark)) ? "all" : "some";
};

/** The regions that a route may lead to: all regions for a route that does not name them. */
const regionsIn = (draft: Draft, route: DeclaredRoute): readonly string[] => {
  const { region, split, canary } = route;
  if (split !== undefined) return readSplit(split).regions;
  if (region !== undefined) return canary === undefined ? [region] : [region, canary.region];
  return regionsOfPack(draft, route) ?? [...draft.regions.keys()];
};

const regionsOfPack = ({ table }: Draft, route: DeclaredRoute): readonly string[] | undefined => {
  const pack = memberOf(memberOf(table, "packs") ?? {}, String(memberOf(route, "pack")));
  return pack === undefined ? undefined : (pack as { readonly regions: readonly string[] }).regions;
};

const keptIn = (draft: Draft, layouts: readonly LayoutPlan[]): readonly Kept[] => {
  const kept = new Map<string, Kept>();
  for (const { part, text, entry } of overridesIn(draft)) {
    if (part === "gone") continue;
    const region = part === "moves" ? entry.from : typeof entry === "string" ? entry : entry.region;
    for (const { layout } of layouts) {
      for (const form of layout.texts) {
        const words = form.read(text, 0, text.length);
        if (words === undefined) continue;
        const country = layout.field("country")?.read(words);
        const ms = layout.mintedAtMs?.(words);
        const key = `${region} ${country}`;
        const { fromMs = Infinity, toMs = -Infinity } = kept.get(key) ?? {};
        const own = { fromMs: ms ?? -Infinity, toMs: ms ?? Infinity };
        kept.set(key, { region, country, fromMs: Math.min(fromMs, own.fromMs), toMs: Math.max(toMs, own.toMs) });
      }
    }
  }
  return [...kept.values()];
};
