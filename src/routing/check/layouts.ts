import type { RouteContext } from "../compile/conditions.ts";
import { boxFor, type Placed, type PlacedRoutes } from "../compile/route-plans.ts";
import { isOneIdentity } from "../identity.ts";
import { areEntitiesSound, readLayout } from "../layouts/declared.ts";
import { keyFieldOf, noSuchDay, parseTime } from "../layouts/fields.ts";
import { type Overlap, overlapOf, ownOverlapOf } from "../layouts/overlap.ts";
import { type IdPlan, type LayoutPlan, sliceOf } from "../layouts/plan.ts";
import type { Budget } from "../limits.ts";
import { patternsOf } from "../lookup/paths.ts";
import { readSplit } from "../resolve/match.ts";
import type { Draft, DraftRoutes } from "../schema/draft.ts";
import type { Place, Report } from "../schema/faults.ts";
import { memberOf } from "../schema/member.ts";
import type { DeclaredRoute, DeclaredSlice } from "../schema/table.ts";

/** Reports two layouts of one entity that can parse the same string, unless both always route to the same region. */
export const checkAmbiguity = (context: RouteContext, placed: Placed, routes: DraftRoutes): void => {
  const { draft, report, budget } = context;
  for (const { plan } of placed.values()) checkOwnTexts(context, plan);
  const overlapIn = rememberOverlaps(budget);
  const targetsOf = targetFinder(context, routes);
  for (const [entity, { path }] of draft.entities) {
    // Then they meet on `/any` only, which answers that the ID is ambiguous.
    if (patternsOf(path).every(({ layout }) => layout !== undefined)) continue;
    for (const [earlier, later] of pairsOf(entity, placed)) {
      const overlap = overlapIn(earlier.routes.plan, later.routes.plan);
      if (overlap === undefined) continue;
      const targets = new Map([...targetsOf(earlier), ...targetsOf(later)]);
      if (budget.isSpent) return;
      const why = whyTheyDiffer(draft, earlier, later, targets);
      if (why === undefined) continue;
      const example = overlap.example === undefined ? "" : `such as ${overlap.example}, `;
      const message = `One text can be of ${earlier.id.layout} and ${later.id.layout}, ${example}and no bit and no time tells which, ${why} give the layouts separate entities and paths, or name a layout in every pattern.`;
      report("indistinguishable-layouts", ["entities", entity, "ids", later.id.place], message);
    }
  }
};

/** Reports two texts of one layout that can be the same string. */
const checkOwnTexts = ({ draft, report, budget }: RouteContext, plan: LayoutPlan): void => {
  const { name, texts } = plan.layout;
  const own = hasTexts(draft, name) && budget.spend(OVERLAP_CELLS) ? ownOverlapOf(plan) : undefined;
  if (own === undefined) return;
  const of = texts[own.of]?.name;
  const as = texts[own.as]?.name;
  const message = `One text can be two IDs of ${name}, such as ${own.example}, read as ${of} and as ${as}; give one of the texts a \`prefix\` or a \`suffix\`, or remove it.`;
  report("indistinguishable-layouts", ["layouts", name, "text", Math.max(own.of, own.as)], message);
};

/** An entity's IDs of one layout, with the routes of the layout. */
interface IdRoutes {
  readonly id: IdPlan;
  readonly routes: PlacedRoutes;
}

/** Each two layouts of an entity, in the order of its IDs in the table. */
function* pairsOf(entity: string, placed: Placed): Generator<readonly [earlier: IdRoutes, later: IdRoutes]> {
  const all = [...placed.values()].flatMap((routes) =>
    (routes.plan.idsByEntity.get(entity) ?? []).map((id): IdRoutes => ({ id, routes })),
  );
  all.sort((a, b) => a.id.place - b.id.place);
  for (const [at, later] of all.entries()) {
    for (const earlier of all.slice(0, at)) if (earlier.routes !== later.routes) yield [earlier, later];
  }
}

/** Finds the targets that IDs may have, or the first two of them. Without a region no route takes the IDs. */
const targetFinder =
  ({ draft, budget }: RouteContext, all: DraftRoutes) =>
  ({ id, routes: { placements, searched } }: IdRoutes): ReadonlyMap<string, Target> => {
    const targets = new Map<string, Target>();
    const add = ({ region, canary, split, directory }: Target) =>
      targets.set(JSON.stringify([region, canary, split, directory]), { region, canary, split, directory });
    for (const { index, route } of all) {
      if (targets.size > 1 || !budget.spend(1)) return targets;
      const own = searched.find(({ ordinal, ids }) => ordinal === index && ids.has(id));
      for (const region of own?.regions ?? []) add({ region });
      const placement = placements.get(index);
      const box = placement && boxFor(placement, id);
      if (box === undefined) continue;
      const { region, canary } = route;
      const directory = memberOf(route, "directory");
      add({ region, canary, directory, split: route.split && readSplit(route.split).regions });
      if (box.every((set) => set === undefined)) return targets;
    }
    return add({ region: draft.fallback });
  };

/** Why it matters by which of two layouts a text is read; `undefined` where it leads to one region as one ID. */
const whyTheyDiffer = (
  draft: Draft,
  { id: { layout: earlier }, routes: { plan: a } }: IdRoutes,
  { id: { layout: later }, routes: { plan: b } }: IdRoutes,
  targets: ReadonlyMap<string, Target>,
): string | undefined => {
  if (targets.size > 1) return "but their routes may differ;";
  const [target] = targets.values();
  const isParted = (target?.canary ?? target?.split) !== undefined && !isOneIdentity(a.layout, b.layout);
  if (isParted) return "but a canary or a split may send each of them to another region; remove it, or";
  const hasSome = hasTexts(draft, earlier) || hasTexts(draft, later);
  const isRenamed = hasSome && a.layout.texts.some((form, place) => form !== b.layout.texts[place]);
  return isRenamed ? "and origins would get the canonical text of either;" : undefined;
};

/** Whether the table declares several texts of a layout. */
const hasTexts = ({ layouts }: Draft, name: string): boolean => {
  const text = layouts.get(name)?.text;
  return Array.isArray(text) && text.length > 1;
};

/** The search for a text that two layouts parse tries hundreds. */
const OVERLAP_CELLS = 5_000;

/** Overlaps by pair of layouts, which are the same for every entity; `undefined` also once the budget is spent. */
const rememberOverlaps = (budget: Budget): ((a: LayoutPlan, b: LayoutPlan) => Overlap | undefined) => {
  const known = new Map<string, Overlap | undefined>();
  return (a, b) => {
    const pair = `${a.layout.name} ${b.layout.name}`;
    if (!known.has(pair)) known.set(pair, budget.spend(OVERLAP_CELLS) ? overlapOf(a, b) : undefined);
    return known.get(pair);
  };
};

interface Target {
  readonly region: string | undefined;
  readonly canary?: DeclaredRoute["canary"];
  readonly split?: readonly string[] | undefined;
  readonly directory?: unknown;
}

/** A layout must be valid, and what the table adds to it must be about bits and times that it has. */
export const checkLayouts = (draft: Draft, report: Report): void => {
  const used = new Set([...draft.entities.values()].flatMap(({ ids }) => ids.map(({ layout }) => layout)));
  for (const [name, declared] of draft.layouts) {
    const place = ["layouts", name];
    for (const fault of readLayout(name, declared).faults) {
      report(fault.kind, [...place, ...fault.place], fault.message);
    }
    const { slices = {}, mintedWithin } = declared;
    const layout = draft.known.get(name);
    if (layout === undefined) continue;
    const unused = `No entity has IDs of layout ${name}; remove it here or add it to an entity's \`ids\`.`;
    if (!used.has(name) && areEntitiesSound(draft)) report("unknown-name", place, unused);
    const key = keyFieldOf(layout);
    for (const [slice, bits] of Object.entries(slices)) {
      const message = faultOfSlice(slice, bits, name, key?.bits);
      if (message !== undefined) report("slice-range", [...place, "slices", slice], message);
    }
    checkHeaders(slices, place, report);
    if (mintedWithin === undefined) continue;
    if (layout.mintedAtMs === undefined) {
      report("time-range", [...place, "mintedWithin"], `IDs of layout ${name} carry no time; remove the window.`);
    } else if (mintedWithin !== false && parseTime(mintedWithin.from) === undefined) {
      report("time-range", [...place, "mintedWithin", "from"], noSuchDay(mintedWithin.from));
    }
  }
};

const GATEWAY_HEADERS: readonly string[] = [
  "waybill-client-country",
  "waybill-entity-id",
  "waybill-epoch",
  "waybill-layout",
  "waybill-region",
  "waybill-revision",
  "waybill-signature",
];

/** Each slice needs a header of its own. */
const checkHeaders = (slices: Readonly<Record<string, DeclaredSlice>>, place: Place, report: Report): void => {
  const taken = new Set(GATEWAY_HEADERS);
  for (const [name, slice] of Object.entries(slices)) {
    const { header } = sliceOf(name, slice);
    if (header === undefined) continue;
    const message = `The header ${header} is in use already; choose another name.`;
    if (taken.has(header)) report("name-clash", [...place, "slices", name, "header"], message);
    taken.add(header);
  }
};

/** Ten bits hold every M.49 code, which are numbers of three decimal digits. */
const M49_BITS_MIN = 10;

const faultOfSlice = (name: string, declared: DeclaredSlice, layout: string, keyBits: number | undefined) => {
  if (keyBits === undefined) return `IDs of layout ${layout} have no key to slice; remove ${JSON.stringify(name)}.`;
  const { offset, bits, codes } = sliceOf(name, declared);
  if (bits === 0) return `${JSON.stringify(name)} has no bits; give it at least one.`;
  if (offset + bits > keyBits) {
    return `Bits ${offset} to ${offset + bits - 1} are outside of the key, which has bits 0 to ${keyBits - 1}; move or shorten ${JSON.stringify(name)}.`;
  }
  if (codes === "m49" && bits < M49_BITS_MIN) {
    return `UN M.49 codes need ${M49_BITS_MIN} bits; widen ${JSON.stringify(name)}.`;
  }
  return undefined;
};
