import type { Field } from "../../ids/index.ts";
import type { Planned } from "../compile/assemble.ts";
import { routesById } from "../compile/route-plans.ts";
import { fieldDimensionName, keyFieldOf, ownerKeyField } from "../layouts/fields.ts";
import { type IdPlan, type LayoutPlan, ownerKeyOf } from "../layouts/plan.ts";
import type { Box } from "../lookup/build-index.ts";
import type { Ranges } from "../lookup/ranges.ts";
import { readSplit } from "../resolve/match.ts";
import { memberOf } from "../schema/member.ts";
import type { DeclaredRoute } from "../schema/table.ts";
import type { DiffContents, SearchedComparison, SearchedDiff, TableDiffs } from "./feature.ts";
import type { Claims, CountedChange, KeyChange, KeyOutcome, LayoutSide, Space } from "./key-changes.ts";
import { isKey, pairOwners, sameLayout, toKeyChanges } from "./key-changes.ts";
import {
  canonical,
  compareOutcomes,
  type KeySegment,
  keySegmentsOf,
  type SpaceSide,
  slicesIn,
  spreadKey,
} from "./key-space.ts";
import { type RouteOutcome, routeOutcome } from "./outcome.ts";

/** Every key that changes its entity or its region, over all IDs that an entity of either table has. */
export const diffKeys = (
  before: Planned,
  after: Planned,
  features: readonly TableDiffs[],
  contents: DiffContents,
  ruleOf?: RuleOf,
): readonly KeyChange[] => {
  const layouts = new Set([...after.routes.keys(), ...before.routes.keys()]);
  const diffs: Diffs = new Map(
    features.flatMap(({ name, diffSearched }) => (diffSearched ? [[name, diffSearched(contents)]] : [])),
  );
  return [...layouts].flatMap((name) => {
    const sides: Sides = [layoutSide(before, name, ruleOf), layoutSide(after, name, ruleOf)];
    const [left, right] = sides;
    const plan = right.routePlan?.plan ?? left.routePlan?.plan;
    const isComparable = !left.routePlan || !right.routePlan || sameLayout(left.routePlan.plan, right.routePlan.plan);
    if (plan === undefined || !isComparable) return [];
    const comparisons = [...diffs.values()].map(({ compare }) => compare(sides));
    return pairOwners(left, right).flatMap((claims) => diffClaims(plan, claims, sides, diffs, comparisons));
  });
};

/** A name of a route that says all of it; of the default without one. Keys that go from one name to another are listed too. */
export type RuleOf = (route: DeclaredRoute | undefined) => string;

type RuledSide = LayoutSide & { readonly ruleOf: RuleOf | undefined };

const layoutSide = (planned: Planned, layout: string, ruleOf: RuleOf | undefined): RuledSide => {
  const placed = planned.placed.get(layout);
  const routesOf = placed === undefined ? () => [] : routesById(placed);
  return { planned, routePlan: planned.routes.get(layout), routesOf, ruleOf };
};

/** By the name of the feature that searches. */
type Diffs = ReadonlyMap<string, SearchedDiff>;

type Sides = readonly [before: RuledSide, after: RuledSide];

interface Side {
  readonly plan: LayoutPlan;
  /** With their owners, in the order of precedence. The last of an owner takes what the others do not. */
  readonly routes: readonly { readonly id: IdPlan; readonly box: Box; readonly outcome: RouteOutcome }[];
}

const sideOf = (
  { planned, routePlan, routesOf, ruleOf }: RuledSide,
  ids: readonly IdPlan[],
  diffs: Diffs,
): Side | undefined => {
  if (routePlan === undefined) return undefined;
  const { plan, searched } = routePlan;
  const searchesOf = (id: IdPlan, index: number) =>
    searched
      .filter(({ ordinal, ids: taken }) => ordinal < index && taken.has(id))
      .map((each) => diffs.get(each.feature)?.nameOf(each) ?? `${each.feature} ${each.ordinal}`);
  const everything: Box = plan.dimensions.map(() => undefined);
  const ruled = (outcome: RouteOutcome, route?: DeclaredRoute) =>
    ruleOf === undefined ? outcome : { ...outcome, rule: ruleOf(route) };
  const fallback = ruled(routeOutcome(planned.draft.fallback, undefined));
  const routes = ids.flatMap((id) => [
    ...routesOf(id).flatMap(({ ordinal, box }) => {
      const route = planned.draft.routes[ordinal]?.route;
      return route === undefined
        ? []
        : [{ id, box, outcome: behindSearches(ruled(outcomeOf(route), route), searchesOf(id, ordinal)) }];
    }),
    { id, box: everything, outcome: behindSearches(fallback, searchesOf(id, Number.POSITIVE_INFINITY)) },
  ]);
  return { plan, routes };
};

const outcomeOf = (route: DeclaredRoute): RouteOutcome => {
  const { region, canary, split } = route;
  const directory = memberOf(route, "directory");
  if (typeof directory === "string") return { region: undefined, directory };
  return split === undefined ? routeOutcome(region, canary) : { region: undefined, split: readSplit(split).regions };
};

/** Keys that a search finds go where it says; all others come to the routes behind it. */
const behindSearches = (outcome: RouteOutcome, names: readonly string[]): RouteOutcome =>
  names.length === 0 ? outcome : { ...outcome, packs: names };

const leadsSomewhere = (outcome: KeyOutcome | undefined): boolean =>
  (outcome?.region ?? outcome?.split ?? outcome?.directory ?? outcome?.packs) !== undefined;

const boxesOf = ({ routes }: Side): readonly Box[] => routes.map(({ box }) => box);

const diffClaims = (
  plan: LayoutPlan,
  own: Claims,
  [left, right]: Sides,
  diffs: Diffs,
  comparisons: readonly SearchedComparison[],
) => {
  const before = sideOf(left, own.before, diffs);
  const after = sideOf(right, own.after, diffs);
  const sides = [before, after].flatMap((side) => side ?? []);
  const cuts = comparisons.flatMap((each) => each.cuts);
  const space = spaceOf(plan, own.mark, sides, cuts);
  const outcomes = outcomeCache();
  const changes = compareOutcomes(space.spans, layOutSide(before, space, outcomes), layOutSide(after, space, outcomes));
  const countries = { before: left.planned.draft.countries, after: right.planned.draft.countries };
  const expand = (all: readonly CountedChange[], { expand: by }: SearchedComparison) =>
    all.flatMap((change) => by(change, plan, space));
  return comparisons
    .reduce(expand, changes)
    .filter(({ before: old, after: next }) => leadsSomewhere(old) || leadsSomewhere(next))
    .flatMap((change) => toKeyChanges(change, plan, own.mark, space, countries));
};

const spaceOf = (
  plan: LayoutPlan,
  mark: number | undefined,
  sides: readonly Side[],
  own: readonly KeySegment[],
): Space => {
  const key = keyFieldOf(plan.layout);
  const cuts = [...sides.flatMap((side) => slicesIn(side.plan, boxesOf(side))), ...own];
  const atoms = key === undefined ? [] : keySegmentsOf(key.bits, cuts);
  const minted = mintedIn(sides);
  const constrained = new Set(sides.flatMap(constrainedIn));
  const fields = plan.dimensions.filter(
    ({ name }) => isPlain(name, plan, mark, key) && (isKey(plan, name) || constrained.has(name)),
  );
  const spans: Ranges[] = [
    ...(minted === undefined ? [] : [minted]),
    ...fields.map(({ min, max }) => [min, max]),
    ...atoms.map(({ bits }) => [0, 2 ** bits - 1]),
  ];
  return { minted, fields, atoms, spans };
};

/** IDs that all carry one mark do not differ by it, and atoms stand for the key and its slices. */
const isPlain = (name: string, { layout }: LayoutPlan, mark: number | undefined, key: Field | undefined): boolean => {
  if (name === "minted" || name.startsWith("slices.")) return false;
  if (name === ownerKeyField(layout)?.name) return mark === undefined;
  return key === undefined || name !== fieldDimensionName(key.name);
};

const constrainedIn = (side: Side): readonly string[] => {
  const boxes = boxesOf(side);
  return side.plan.dimensions.flatMap(({ name }, slot) => (boxes.some((box) => box[slot] !== undefined) ? [name] : []));
};

const mintedOf = ({ dimensions }: LayoutPlan): Ranges | undefined => {
  const minted = dimensions.find(({ name }) => name === "minted");
  return minted && [minted.min, minted.max];
};

const mintedIn = (sides: readonly Side[]): Ranges | undefined => {
  const bounds = sides.flatMap(({ plan }) => mintedOf(plan) ?? []);
  return bounds.length === 0 ? undefined : [Math.min(...bounds), Math.max(...bounds)];
};

type OutcomeOf = (entity: string, outcome: RouteOutcome) => KeyOutcome;

/** One object for each outcome, since outcomes are compared by identity. */
const outcomeCache = (): OutcomeOf => {
  const outcomes = new Map<string, KeyOutcome>();
  return (entity, shared) => {
    const name = canonical([entity, shared]);
    const outcome = outcomes.get(name) ?? { entity, ...shared };
    outcomes.set(name, outcome);
    return outcome;
  };
};

const layOutSide = (side: Side | undefined, space: Space, outcomeOf: OutcomeOf): SpaceSide<KeyOutcome> => ({
  routes: (side?.routes ?? []).flatMap(({ id, box, outcome }) =>
    layOut((side as Side).plan, id, box, outcomeOf(id.entity, outcome), space),
  ),
  fallback: undefined,
});

/** Confines a box to its owner's number and to the layout's window, as far as the space reaches beyond them. */
const layOut = (plan: LayoutPlan, id: IdPlan, box: Box, outcome: KeyOutcome, { minted, fields, atoms }: Space) => {
  const setOf = (name: string): Ranges | undefined => box[plan.dimensions.findIndex((each) => each.name === name)];
  const mark = ownerKeyOf(id);
  const markName = ownerKeyField(plan.layout)?.name;
  const own = mintedOf(plan);
  const window = own?.join() === minted?.join() ? undefined : own;
  const head = [
    ...(minted === undefined ? [] : [setOf("minted") ?? window]),
    ...fields.map(({ name }) => (name === markName && mark !== undefined ? [mark, mark] : setOf(name))),
  ];
  return spreadKey(plan, box, atoms).map((tail) => ({ outcome, sets: [...head, ...tail] }));
};
