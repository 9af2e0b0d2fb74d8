import { listOf, readConditions } from "../compile/conditions.ts";
import { noPlacements, type PlacedRoutes, placeRoute, type TakingRoute } from "../compile/route-plans.ts";
import { groupBy, type IdPlan, idPlansOf, type LayoutPlan, ownerKeyOf } from "../layouts/plan.ts";
import { type Budget, FAULTS_MAX } from "../limits.ts";
import { readSplit } from "../resolve/rollout.ts";
import type { Draft, DraftRoute } from "../schema/draft.ts";
import { type Fault, type Place, pointerTo, type Report } from "../schema/faults.ts";
import type { DeclaredConditions, DeclaredRoute } from "../schema/table.ts";
import { isSoundPackRoute } from "./packs.ts";

/** A canary and a shadow must each be of some use: a share that leads where the IDs go anyway is a mistake in writing. */
export const checkShares = (draft: Draft, report: Report): void => {
  for (const each of draft.routes) {
    checkCanary(each, report);
    checkShadow(each, report);
  }
};

const checkCanary = ({ index, route: { region, canary } }: DraftRoute, report: Report): void => {
  if (canary === undefined || canary.region !== region) return;
  report(
    "same-region",
    ["routes", index, "canary", "region"],
    `The route's IDs go to ${JSON.stringify(region)} anyway; name the region that is to be tried, or remove the canary.`,
  );
};

/**
 * Beside a canary a shadow may be of the route's own region, or of the canary's: it then follows only the IDs that go to the
 * other one.
 */
const checkShadow = ({ index, route: { region, canary, shadow } }: DraftRoute, report: Report): void => {
  if (shadow === undefined) return;
  const place = ["routes", index, "shadow", "region"] as const;
  const name = JSON.stringify(shadow.region);
  if (canary === undefined && shadow.region === region) {
    report("same-region", place, `The reads go to ${name} anyway; name another region, or remove the shadow.`);
  } else if (canary?.percent === 100 && canary.region === shadow.region) {
    report("same-region", place, `The canary takes every ID to ${name}, and a shadow is of no use there; remove it.`);
  }
};

/** Whether a route's conditions rest on numbers that are at fault already. */
export type DependsOnFault = (when: DeclaredConditions) => boolean;

/**
 * One mistake is one fault: a route on a country or an entity whose number is at fault may only look unreachable. Of two
 * that share a number either may be the wrong one, so both count.
 */
export const dependsOnFault = (draft: Draft, faults: readonly Fault[]): DependsOnFault => {
  const pointers = faults.map(({ pointer }) => pointer);
  const countries = countriesAtFault(draft, new Set(pointers));
  const ids = idsAtFault(draft, new Set(pointers.map(toEntry)));
  if (countries.size === 0 && ids.length === 0) return () => false;
  const layouts = new Set(ids.map(({ layout }) => layout));
  const idsByEntity = groupBy(ids, ({ entity }) => entity);
  return (when) => {
    if (namesIn(when.country).some((code) => countries.has(code))) return true;
    const wanted = when.layout === undefined ? layouts : new Set(namesIn(when.layout));
    if (when.entity === undefined) return [...wanted].some((name) => layouts.has(name));
    return namesIn(when.entity).some((name) => idsByEntity.get(name)?.some(({ layout }) => wanted.has(layout)));
  };
};

const namesIn = (names: string | readonly string[] = []): readonly string[] => [names].flat();

/** `/entities/order/ids/0` for whatever is below it. */
const toEntry = (pointer: string): string => pointer.split("/").slice(0, 5).join("/");

const countriesAtFault = ({ countries }: Draft, pointers: ReadonlySet<string>): ReadonlySet<string> => {
  const wrong = [...countries].filter(([code]) => pointers.has(pointerTo(["countries", code])));
  const numbers = new Set(wrong.map(([, number]) => number));
  return new Set([...countries].flatMap(([code, number]) => (numbers.has(number) ? [code] : [])));
};

const idsAtFault = (draft: Draft, pointers: ReadonlySet<string>): readonly IdPlan[] => {
  const claims = groupBy(idPlansOf(draft), (id) => JSON.stringify([id.layout, ownerKeyOf(id)]));
  const isWrong = ({ entity, place }: IdPlan): boolean => pointers.has(pointerTo(["entities", entity, "ids", place]));
  return [...claims.values()].filter((ids) => ids.some(isWrong)).flat();
};

const DESTINATIONS = ["region", "split", "pack"] as const;

/** Whether a route says in one way where its IDs go. */
export const hasOneDestination = (route: DeclaredRoute): boolean =>
  DESTINATIONS.filter((destination) => route[destination] !== undefined).length === 1;

/** Each route leads to a region, to the parts of a split, or to a pack; and each part of a split to one region. */
export const checkDestinations = (draft: Draft, report: Report): void => {
  for (const { index, route } of draft.routes) {
    const [first, second] = DESTINATIONS.filter((destination) => route[destination] !== undefined);
    if (first === undefined) {
      report("schema", ["routes", index, "region"], '"region" is missing; add it, or a "split" or a "pack".');
    } else if (second !== undefined) {
      const message = `A route has a region, a split or a pack; remove ${JSON.stringify(first)} or ${JSON.stringify(second)}.`;
      report("schema", ["routes", index, second], message);
    }
    if (first !== "region" && second === undefined) {
      for (const part of ["canary", "shadow"] as const) {
        if (route[part] === undefined) continue;
        report(
          "schema",
          ["routes", index, part],
          `A route with a ${first ?? "region"} alone has a ${part}; remove it.`,
        );
      }
    }
    if (route.split === undefined) continue;
    const place = ["routes", index, "split", "regions"] as const;
    const { regions, faults } = readSplit(route.split);
    for (const fault of faults) report("split-parts", [...place, ...fault.place], fault.message);
    if (faults.length === 0 && new Set(regions).size === 1) {
      report("same-region", place, "Every part goes to one region; name it as the route's region instead.");
    }
  }
};

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
