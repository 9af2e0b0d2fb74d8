import { type RouteContext, readConditions } from "../compile/conditions.ts";
import { noPlacements, placeRoute } from "../compile/route-plans.ts";
import { searchesOf, type TableFeature } from "../feature.ts";
import { groupBy, type IdPlan, idPlansOf, ownerKeyOf } from "../layouts/plan.ts";
import { FAULTS_MAX } from "../limits.ts";
import { readSplit } from "../resolve/match.ts";
import type { Draft, DraftRoute } from "../schema/draft.ts";
import { type Fault, pointerTo, type Report } from "../schema/faults.ts";
import { memberOf } from "../schema/member.ts";
import { listOf } from "../schema/records.ts";
import type { DeclaredConditions, DeclaredRoute } from "../schema/table.ts";
import type { TableChecks } from "./feature.ts";

/** A canary or a shadow in the region that the IDs go to anyway is a mistake. */
export const checkShares = (draft: Draft, report: Report): void => {
  for (const { index, route } of draft.routes) {
    const { region, canary, shadow } = route;
    const fault = (part: string, message: string) => report("same-region", ["routes", index, part, "region"], message);
    const to = JSON.stringify(region);
    if (canary !== undefined && canary.region === region) {
      fault("canary", `The route's IDs already go to ${to}; name another region, or remove the canary.`);
    }
    if (shadow === undefined) continue;
    // Beside a canary the shadow may be in either region: it then follows the IDs that go to the other one.
    if (canary === undefined && shadow.region === region) {
      fault("shadow", `The reads already go to ${to}; name another region, or remove the shadow.`);
    } else if (canary?.percent === 100 && canary.region === shadow.region) {
      const all = JSON.stringify(shadow.region);
      fault("shadow", `The canary takes every ID to ${all}, and a shadow is of no use there; remove it.`);
    }
  }
};

/** Whether a route's conditions depend on numbers that are at fault already. */
export type DependsOnFault = (when: DeclaredConditions) => boolean;

/** A route that depends on a wrong number may only seem unreachable. Two equal numbers both count, since either may be wrong. */
export const dependsOnFault = (draft: Draft, faults: readonly Fault[]): DependsOnFault => {
  const pointers = faults.map(({ pointer }) => pointer);
  const countries = countriesAtFault(draft, new Set(pointers));
  const ids = idsAtFault(draft, new Set(pointers.map(toEntry)));
  if (countries.size === 0 && ids.length === 0) return () => false;
  const layouts = new Set(ids.map(({ layout }) => layout));
  const idsByEntity = groupBy(ids, ({ entity }) => entity);
  return (when) => {
    if (listOf(when.country ?? []).some((code) => countries.has(code))) return true;
    const wanted = when.layout === undefined ? layouts : new Set(listOf(when.layout));
    if (when.entity === undefined) return [...wanted].some((name) => layouts.has(name));
    return listOf(when.entity).some((name) => idsByEntity.get(name)?.some(({ layout }) => wanted.has(layout)));
  };
};

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

type Destinations = readonly (keyof DeclaredRoute)[];

const hasOneDestination = (route: DeclaredRoute, destinations: Destinations): boolean =>
  destinations.filter((destination) => route[destination] !== undefined).length === 1;

/** `one, two or three`. */
const listOfOr = (items: readonly string[]): string => items.join(", ").replace(/, (?=[^,]*$)/, " or ");

/** Each route has one destination, such as a region or a split. Each part of a split has one region. */
export const checkDestinations = (draft: Draft, destinations: Destinations, report: Report): void => {
  const others = listOfOr(destinations.slice(1).map((name) => `a ${JSON.stringify(name)}`));
  const all = listOfOr(destinations.map((name) => `a ${name}`));
  for (const { index, route } of draft.routes) {
    const [first, second] = destinations.filter((destination) => route[destination] !== undefined);
    const fault = (key: string, message: string): void => report("schema", ["routes", index, key], message);
    if (first === undefined) fault("region", `"region" is missing; add it, or ${others}.`);
    else if (second !== undefined) {
      const one = JSON.stringify(first);
      const other = JSON.stringify(second);
      fault(second, `A route has ${all}; remove ${one} or ${other}.`);
    }
    for (const part of first !== "region" && second === undefined ? (["canary", "shadow"] as const) : []) {
      if (route[part] !== undefined) fault(part, `Only a route with a region can have a ${part}; remove it.`);
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

interface OfFeatures {
  readonly destinations: Destinations;
  readonly features: readonly TableFeature[];
  readonly checks: readonly TableChecks[];
}

/** Reports faults of routes' conditions. Returns the routes that some ID can match, placed. Stops with the budget or the faults. */
export const checkRoutes = (
  context: RouteContext,
  mayMatch: DependsOnFault,
  faults: readonly Fault[],
  { destinations, features, checks }: OfFeatures,
) => {
  const { draft, plans, budget } = context;
  const searching = { draft, searches: searchesOf(features) };
  const routes: DraftRoute[] = [];
  const placed = noPlacements(plans);
  for (const each of draft.routes) {
    const { route } = each;
    if (budget.isSpent || faults.length >= FAULTS_MAX) break;
    // Without one destination it has been reported already.
    if (!hasOneDestination(route, destinations) || draft.idleRoutes.has(each.index)) continue;
    const conditions = readConditions(context, each);
    if (conditions === undefined || checks.some(({ isSoundRoute }) => isSoundRoute?.(context, each) === false))
      continue;
    if (placeRoute(placed, searching, { ...each, conditions }, budget)) routes.push(each);
    // The route may be for an entity with a fault of its own.
    else if (!mayMatch(route.when) && !budget.isSpent) reportContradiction(context, each);
  }
  return { routes, placed };
};

const reportContradiction = ({ draft, plans, report }: RouteContext, { index, route: { when } }: DraftRoute): void => {
  const fault = (key: readonly string[], message: string): void =>
    report("unreachable-route", ["routes", index, "when", ...key], message);
  const layouts = layoutsOf(draft, when).filter((name) => plans.has(name));
  const [key] = CONDITION_FIELDS.find(
    ([key, field]) => when[key] !== undefined && layouts.every((name) => !hasField(draft, name, field)),
  ) ?? [undefined];
  const directoryOf = (name: string) => memberOf(draft.entities.get(name) ?? {}, "directory");
  const keyed = listOf(when.entity ?? []).find((name) => directoryOf(name) !== undefined);
  if (layouts.length === 0 && keyed !== undefined) {
    const directory = JSON.stringify(directoryOf(keyed));
    const why = `${JSON.stringify(keyed)} has no IDs: the directory ${directory} says the regions of its keys;`;
    fault(["entity"], `${why} remove the route.`);
  } else if (layouts.length === 0) {
    const why = "No entity of this route has IDs of this layout, so no ID can match; correct the entity or the layout.";
    fault([when.layout === undefined ? "entity" : "layout"], why);
  } else if (key !== undefined) {
    const why = `IDs of layout ${layouts.join(", ")} have no ${key}, so no ID can match;`;
    fault([key], `${why} remove this condition or correct the layout.`);
  } else {
    const why =
      "No ID can match: the conditions contradict each other, or no entity has such a class, service or group;";
    fault([], `${why} remove or correct one.`);
  }
};

/** The layouts that the route's conditions on layouts and entities leave. */
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
