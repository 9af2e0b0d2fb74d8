import { type Field, isoTime } from "../ids/index.ts";
import { type Atom, atomsOf, nameAtom, slicesIn, spreadKey } from "./atoms.ts";
import type { Box } from "./boxes.ts";
import type { Planned } from "./compile.ts";
import { compareRegions, type RegionChange, type SpaceRoute, type SpaceSide } from "./diff-space.ts";
import { fieldDimensionName, keyFieldOf } from "./layout-fields.ts";
import type { Dimension, IdPlan, LayoutPlan } from "./layout-plans.ts";
import { formatRanges, pairsOf, type Ranges } from "./ranges.ts";
import { boxFor, type RoutePlan } from "./route-plans.ts";

/** Keys whose IDs go to another region than before. */
export interface KeyChange {
  readonly entity: string;
  readonly layout: string;
  readonly service: number | undefined;
  readonly group: number | undefined;
  /** Only IDs minted from here on; `undefined` for all earlier ones too. ISO 8601. */
  readonly mintedFrom: string | undefined;
  /** Only IDs minted before this; `undefined` for all later ones too. */
  readonly mintedBefore: string | undefined;
  /** Values by the name of the field, as the table writes them. What is absent has every value. */
  readonly where: Readonly<Record<string, string>>;
  /** How many keys these are: combinations of the values of all key fields that do not mark the entity. Decimal. */
  readonly keys: string;
  /** Region, or `undefined` where no route and no default takes them. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Every key that changes its region, for entities that both tables have with the same layout and number. */
export const diffKeys = (before: Planned, after: Planned): readonly KeyChange[] => {
  const changes: KeyChange[] = [];
  for (const [name, plannedAfter] of after.routes) {
    const plannedBefore = before.routes.get(name);
    if (plannedBefore === undefined || !sameLayout(plannedBefore, plannedAfter)) continue;
    for (const idAfter of plannedAfter.plan.ids) {
      const idBefore = plannedBefore.plan.ids.find((id) => sameId(id, idAfter));
      if (idBefore === undefined) continue;
      changes.push(
        ...diffId(
          { planned: before, routePlan: plannedBefore, id: idBefore },
          { planned: after, routePlan: plannedAfter, id: idAfter },
        ),
      );
    }
  }
  return changes;
};

/** A layout that was declared anew has other keys, which cannot be compared. */
const sameLayout = (a: RoutePlan, b: RoutePlan): boolean => definitionOf(a) === definitionOf(b);

const definitionOf = ({ plan }: RoutePlan): string => {
  const { rows, octetOrder, text } = plan.layout.table;
  return JSON.stringify([rows, octetOrder, text.name, text.prefix]);
};

const sameId = (a: IdPlan, b: IdPlan): boolean =>
  a.entity === b.entity && a.service === b.service && a.group === b.group;

interface Side {
  readonly planned: Planned;
  readonly routePlan: RoutePlan;
  readonly id: IdPlan;
}

const diffId = (before: Side, after: Side): readonly KeyChange[] => {
  const { plan } = after.routePlan;
  const key = keyFieldOf(plan.layout);
  const cuts = [before, after].flatMap((side) =>
    slicesIn(
      side.routePlan.plan,
      boxesOf(side).map(({ box }) => box),
    ),
  );
  const atoms = key === undefined ? [] : atomsOf(key.bits, cuts);
  const minted = mintedOf(before.routePlan.plan, plan);
  const constrained = new Set([before, after].flatMap(constrainedIn));
  const fields = plan.dimensions.filter(
    ({ name }) => isPlain(name, after.id, key) && (isKey(plan, name) || constrained.has(name)),
  );
  const spans: Ranges[] = [
    ...(minted === undefined ? [] : [minted]),
    ...fields.map(({ min, max }) => [min, max]),
    ...atoms.map(({ bits }) => [0, 2 ** bits - 1]),
  ];
  const lay = (side: Side): SpaceSide => ({
    routes: boxesOf(side).flatMap(({ box, region }) => layOut(side.routePlan.plan, box, region, fields, atoms, minted)),
    fallback: side.planned.draft.fallback,
  });
  const names = [
    ...fields.map(({ name }) => ({ name, isCounted: isKey(plan, name) })),
    ...atoms.map((atom) => ({ name: nameAtom(atom, plan), isCounted: true })),
  ];
  return compareRegions(spans, lay(before), lay(after)).flatMap((change) =>
    sentenceOf(change, after, names, spans, minted !== undefined),
  );
};

/** The space in which an entity's IDs differ: not by the number that marks them, and not by slices, which atoms stand for. */
const isPlain = (name: string, { service, group }: IdPlan, key: Field | undefined): boolean => {
  if (name === "minted" || name.startsWith("slices.")) return false;
  if (name === "service") return service === undefined;
  if (name === "group") return group === undefined;
  return key === undefined || name !== fieldDimensionName(key.name);
};

/** Nodes are part of the space only where a route names them. */
const isKey = ({ layout }: LayoutPlan, name: string): boolean =>
  layout.fields.some((field) => field.role === "key" && fieldDimensionName(field.name) === name);

const constrainedIn = (side: Side): readonly string[] => {
  const { dimensions } = side.routePlan.plan;
  const boxes = boxesOf(side);
  return dimensions.flatMap(({ name }, slot) => (boxes.some(({ box }) => box[slot] !== undefined) ? [name] : []));
};

const mintedOf = (before: LayoutPlan, after: LayoutPlan): Ranges | undefined => {
  const [a, b] = [before, after].map(({ dimensions }) => dimensions.find(({ name }) => name === "minted"));
  return a === undefined || b === undefined ? undefined : [Math.min(a.min, b.min), Math.max(a.max, b.max)];
};

const boxesOf = ({ planned, routePlan, id }: Side): readonly { box: Box; region: string }[] =>
  [...routePlan.placements].flatMap(([index, placement]) => {
    const box = boxFor(placement, id);
    const region = planned.draft.routes[index]?.route.region;
    return box === undefined || region === undefined ? [] : [{ box, region }];
  });

const layOut = (
  plan: LayoutPlan,
  box: Box,
  region: string,
  fields: readonly Dimension[],
  atoms: readonly Atom[],
  minted: Ranges | undefined,
): readonly SpaceRoute[] => {
  const setOf = (name: string): Ranges | undefined => box[plan.dimensions.findIndex((each) => each.name === name)];
  const head = [...(minted === undefined ? [] : [setOf("minted")]), ...fields.map(({ name }) => setOf(name))];
  return spreadKey(plan, box, atoms).map((tail) => ({ region, sets: [...head, ...tail] }));
};

/** One entry for each span of minting times. */
const sentenceOf = (
  { sets, before, after }: RegionChange,
  { id, planned }: Side,
  names: readonly { readonly name: string; readonly isCounted: boolean }[],
  spans: readonly Ranges[],
  hasTime: boolean,
): readonly KeyChange[] => {
  const valueSets = hasTime ? sets.slice(1) : sets;
  const valueSpans = hasTime ? spans.slice(1) : spans;
  const where: Record<string, string> = {};
  let keys = 1n;
  for (const [at, { name, isCounted }] of names.entries()) {
    const set = valueSets[at] as Ranges;
    if (isCounted) keys *= pairsOf(set).reduce((sum, [low, high]) => sum + BigInt(high - low + 1), 0n);
    if (set.join() === valueSpans[at]?.join()) continue;
    where[name] = name === "country" ? nameCountries(set, planned.draft.countries) : formatRanges(set);
  }
  const times = hasTime ? pairsOf(sets[0] as Ranges) : [undefined];
  return times.map((time) => ({
    entity: id.entity,
    layout: id.layout,
    service: id.service,
    group: id.group,
    mintedFrom: time === undefined || time[0] === spans[0]?.[0] ? undefined : isoTime(time[0]),
    mintedBefore: time === undefined || time[1] === spans[0]?.[1] ? undefined : isoTime(time[1] + 1),
    where,
    keys: keys.toString(),
    before,
    after,
  }));
};

/** Countries by their codes; numbers that no country has stay numbers. */
const nameCountries = (set: Ranges, countries: ReadonlyMap<string, number>): string => {
  const codes = new Map([...countries].map(([code, number]) => [number, code]));
  const named: string[] = [];
  for (const [low, high] of pairsOf(set)) {
    const known: string[] = [];
    for (let number = low; number <= high; number++) known.push(codes.get(number) ?? "");
    if (known.includes("")) named.push(formatRanges([low, high]));
    else named.push(...known);
  }
  return named.join(", ");
};
