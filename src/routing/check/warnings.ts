import type { Placed, PlacedRoutes, Placement } from "../compile/route-plans.ts";
import { boxFor, idsIn } from "../compile/route-plans.ts";
import type { Dimension, IdPlan, LayoutPlan } from "../layouts/plan.ts";
import { WARNING_STEPS_MAX } from "../limits.ts";
import type { Box } from "../lookup/build-index.ts";
import { includes, intersect, pairsOf, type Ranges, rangesOf, subtract } from "../lookup/ranges.ts";
import type { Draft, DraftRoute } from "../schema/draft.ts";
import { type Place, pointerTo } from "../schema/faults.ts";
import { boxWithout } from "./coverage.ts";

/** Not a fault: the table is served, and this part of it is likely not meant so. */
export interface TableWarning {
  readonly pointer: string;
  readonly kind: "route-partly-hidden" | "country-without-route" | "layout-without-route";
  readonly message: string;
}

/** Proven warnings alone. `isCut`: the routes are too many to compare all of them. */
export const warningsOf = (draft: Draft, placed: Placed) => {
  const hidden = hiddenParts(draft, placed);
  const unrouted = draft.fallback === undefined ? [...idleCountries(draft, placed), ...idleLayouts(placed)] : [];
  return { warnings: [...unrouted, ...hidden.warnings], isCut: hidden.isCut };
};

const warning = (kind: TableWarning["kind"], place: Place, message: string): TableWarning => ({
  pointer: pointerTo(place),
  kind,
  message,
});

/** Whether some route may take IDs of the entity, with the value of a dimension. */
const isRouted = ({ plan, placements, searched }: PlacedRoutes, id: IdPlan, slot = -1, value = 0): boolean =>
  searched.some(({ ids }) => takesIn(ids, plan, id)) ||
  [...placements.values()].some((placement) => {
    const box = boxFor(placement, id);
    const set = box?.[slot];
    return box !== undefined && (set === undefined || includes(set, value));
  });

/** A route that is searched may take any ID. */
const takesIn = (placement: Placement, plan: LayoutPlan, id: IdPlan): boolean =>
  [...idsIn(placement, plan)].includes(id);

function* idleCountries({ countries }: Draft, placed: Placed): Generator<TableWarning> {
  const spaces = [...placed.values()].flatMap((own) => {
    const slot = own.plan.dimensions.findIndex(({ name }) => name === "country");
    return slot === -1 ? [] : [{ own, slot }];
  });
  if (spaces.length === 0) return;
  for (const [code, number] of countries) {
    if (spaces.some(({ own, slot }) => own.plan.ids.some((id) => isRouted(own, id, slot, number)))) continue;
    const message = `No route takes IDs of ${code}: they get 404; add it to a route.`;
    yield warning("country-without-route", ["countries", code], message);
  }
}

function* idleLayouts(placed: Placed): Generator<TableWarning> {
  for (const [name, own] of placed) {
    const idle = own.plan.ids.filter((id) => !isRouted(own, id));
    for (const { entity, place } of idle) {
      const message = `No route takes IDs of layout ${name} of ${entity}: they get 404; add a route for them.`;
      yield warning("layout-without-route", ["entities", entity, "ids", place, "layout"], message);
    }
  }
}

/** Steps that the comparison of routes may still take. */
class Steps {
  left = WARNING_STEPS_MAX;
  /** Whether there were enough. */
  take(count: number): boolean {
    this.left -= count;
    return this.left >= 0;
  }
}

const hiddenParts = (draft: Draft, placed: Placed) => {
  const steps = new Steps();
  const warnings: TableWarning[] = [];
  for (const each of draft.routes) {
    const found = hiddenPart(each, placed, steps);
    if (steps.left < 0) return { warnings, isCut: true };
    const message = found && sentenceOf(found, draft);
    if (message) warnings.push(warning("route-partly-hidden", ["routes", each.index], message));
  }
  return { warnings, isCut: false };
};

/** The part of a condition, by its name, that a route states, and the part of it that still gets IDs. */
interface Stated {
  readonly all: (string | Ranges)[];
  readonly reached: (string | Ranges)[];
}

interface Hidden {
  readonly stated: ReadonlyMap<string, Stated>;
  /** Earlier routes that take some IDs, and those of them that take others, too. */
  readonly earlier: ReadonlySet<number>;
  readonly crossing: ReadonlySet<number>;
}

/** Marks by which an entity's IDs are told apart, in no box: a condition on them chooses entities. */
const MARKS = ["entity", "service", "group", "class"] as const;

/** `undefined`: no earlier route takes any of its IDs. */
const hiddenPart = ({ index, route }: DraftRoute, placed: Placed, steps: Steps): Hidden | undefined => {
  const stated = new Map<string, Stated>();
  const earlier = new Set<number>();
  const crossing = new Set<number>();
  const state = (name: string, all: string | Ranges, reached: readonly (string | Ranges)[]): void => {
    const known = stated.get(name) ?? { all: [], reached: [] };
    stated.set(name, known);
    known.all.push(all);
    known.reached.push(...reached);
  };
  const marks = MARKS.filter((name) => route.when[name] !== undefined);
  for (const { plan, placements } of placed.values()) {
    const placement = placements.get(index);
    if (placement === undefined) continue;
    for (const id of idsIn(placement, plan)) {
      const box = boxFor(placement, id) as Box;
      const takers = takersOf({ index, id, box }, placements, steps);
      for (const [other, taken] of takers) {
        earlier.add(other);
        if (!isWithin(placements.get(other) as Placement, placement, plan)) crossing.add(other);
        if (!steps.take(taken.length)) return undefined;
      }
      const rest = restOf(box, takers, plan.dimensions, steps);
      if (rest === undefined) return undefined;
      const isReached = rest.length > 0;
      for (const name of marks) state(name, id.entity, isReached ? [id.entity] : []);
      if (route.when.layout !== undefined) state("layout", plan.layout.name, isReached ? [plan.layout.name] : []);
      for (const [slot, { name }] of plan.dimensions.entries()) {
        const set = box[slot];
        if (set !== undefined)
          state(
            name,
            set,
            rest.map((part) => part[slot] as Ranges),
          );
      }
    }
  }
  return earlier.size === 0 ? undefined : { stated, earlier, crossing };
};

type Taker = readonly [index: number, box: Box];

/** The earlier routes that take some of an entity's IDs in a box. */
const takersOf = (
  { index, id, box }: { readonly index: number; readonly id: IdPlan; readonly box: Box },
  placements: PlacedRoutes["placements"],
  steps: Steps,
): readonly Taker[] => {
  const takers: Taker[] = [];
  for (const [other, placement] of placements) {
    if (other >= index || !steps.take(1)) break;
    const taken = boxFor(placement, id);
    if (taken !== undefined && meets(taken, box)) takers.push([other, taken]);
  }
  return takers;
};

const meets = (a: Box, b: Box): boolean =>
  a.every((set, slot) => {
    const other = b[slot];
    return set === undefined || other === undefined || intersect(set, other).length > 0;
  });

/** Whether all that one route takes of a layout is in another one: it is an exception. */
const isWithin = (inner: Placement, outer: Placement, plan: LayoutPlan): boolean =>
  [...idsIn(inner, plan)].every((id) => {
    const around = boxFor(outer, id);
    return around?.every((set, slot) => {
      const { min, max } = plan.dimensions[slot] as Dimension;
      return set === undefined || subtract(boxFor(inner, id)?.[slot] ?? [min, max], set).length === 0;
    });
  });

/** The rest of a box that earlier routes leave; `undefined` if that takes too many steps. */
const restOf = (box: Box, takers: readonly Taker[], dimensions: readonly Dimension[], steps: Steps) => {
  let rest: (readonly Ranges[])[] = [dimensions.map(({ min, max }, slot) => box[slot] ?? [min, max])];
  for (const [, taken] of takers) {
    rest = rest.flatMap((part) => (meets(taken, part) ? boxWithout(part, taken, dimensions) : [part]));
    if (!steps.take(rest.reduce((sum, part) => sum + part.length, 1))) return undefined;
  }
  return rest;
};

/** `undefined`: the earlier routes are exceptions, and each value that the route lists still gets IDs. */
const sentenceOf = ({ stated, earlier, crossing }: Hidden, draft: Draft): string | undefined => {
  const lost = [...stated].flatMap(([name, { all, reached }]) => lostOf(name, all, reached, draft));
  if (lost.length > 0) {
    const never = `Its ${lost.join(" and ")} never reach${lost.length === 1 ? "es" : ""} it`;
    return `${never}: ${nameRoutes(earlier)} them first; move it up, or remove what it cannot get.`;
  }
  if (crossing.size === 0) return undefined;
  return `${nameRoutes(crossing)} some of its IDs first, and other IDs too; let only one of the routes name the IDs that both name now.`;
};

const VALUES_SHOWN = 5;

/** Values of a condition that get no ID, in words. */
const lostOf = (name: string, all: Stated["all"], reached: Stated["reached"], draft: Draft): readonly string[] => {
  const names = new Set(all.filter((each) => typeof each === "string"));
  for (const each of reached) if (typeof each === "string") names.delete(each);
  const lost = subtract(unionOf(all), unionOf(reached));
  const shown = [...names, ...pairsOf(lost).flatMap(([low, high]) => namesOf(name, low, high, draft))];
  if (shown.length === 0) return [];
  const more = shown.length > VALUES_SHOWN ? ` and ${shown.length - VALUES_SHOWN} more` : "";
  const label = names.size > 0 && name !== "layout" ? "entity" : name.replace(/^(?:fields|slices)\./, "");
  return [`${label === "minted" ? "time" : label} ${shown.slice(0, VALUES_SHOWN).join(", ")}${more}`];
};

const unionOf = (sets: Stated["all"]): Ranges =>
  rangesOf(sets.flatMap((set) => (typeof set === "string" ? [] : pairsOf(set))));

const namesOf = (name: string, low: number, high: number, { countries }: Draft): readonly string[] => {
  if (name === "country") return [...countries].filter(([, each]) => low <= each && each <= high).map(([code]) => code);
  const [from, to] = [low, high].map((each) => (name === "minted" ? timeText(each) : `${each}`));
  return [low === high ? `${from}` : `${from} to ${to}`];
};

/** Beyond the range of `Date` the number itself. */
const timeText = (unixMs: number): string =>
  Math.abs(unixMs) <= 8.64e15 ? new Date(unixMs).toISOString() : `${unixMs}`;

const nameRoutes = (routes: ReadonlySet<number>): string => {
  const all = [...routes].sort((a, b) => a - b).map((index) => `/routes/${index}`);
  const more = all.length > VALUES_SHOWN ? ` and ${all.length - VALUES_SHOWN} more` : "";
  return `${all.slice(0, VALUES_SHOWN).join(", ")}${more} ${all.length === 1 ? "takes" : "take"}`;
};
