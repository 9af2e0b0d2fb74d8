import { NO_ROUTE } from "../lookup/segments.ts";
import { readSplit } from "../resolve/rollout.ts";
import { type Draft, type Override, overrideKey, overridesIn } from "../schema/draft.ts";
import type { DeclaredPack } from "../schema/parts.ts";
import type { DeclaredGone, DeclaredMove, DeclaredMoved, DeclaredRoute } from "../schema/table.ts";
import type { Canary, Found, Gone, Region, Rule, Share, Split, Target } from "../table.ts";

/** One frozen target for each route with a region, a few for each split, and one for the default. */
export const targetsOf = (
  draft: Draft,
  regions: ReadonlyMap<string, Region>,
): ((ordinal: number) => Found | undefined) => {
  // Rules first, so that the targets, which every look-up touches, lie side by side.
  const rules = draft.routes.map(({ index }): Rule => Object.freeze({ kind: "route", index }));
  const targets = draft.routes.map(({ route, index }, at): Found | undefined => {
    if (route.split !== undefined) return splitOf(readSplit(route.split).regions, index, regions);
    // What a pack does not hold never ends at its route.
    if (route.region === undefined) return undefined;
    const shadow = shadowOf(route, regions);
    const canary = canaryOf(route, index, regions, shadow);
    return targetOf(regionNamed(regions, route.region), rules[at] as Rule, { canary, shadow });
  });
  const { fallback } = draft;
  const last =
    fallback === undefined ? undefined : targetOf(regionNamed(regions, fallback), Object.freeze({ kind: "default" }));
  return (ordinal) => (ordinal === NO_ROUTE ? last : targets[ordinal]);
};

const splitOf = (names: readonly string[], index: number, regions: ReadonlyMap<string, Region>): Split =>
  Object.freeze({
    region: undefined,
    rule: Object.freeze({ kind: "split" }),
    parts: names.map((name, part) =>
      targetOf(regionNamed(regions, name), Object.freeze({ kind: "route", index, part })),
    ),
  });

/** The targets of a route to a pack, by the numbers of the pack's regions. */
export const packTargets = (
  index: number,
  pack: string,
  declared: DeclaredPack,
  regions: ReadonlyMap<string, Region>,
): readonly Target[] => {
  const rule: Rule = Object.freeze({ kind: "route", index, pack });
  return declared.regions.map((name) => targetOf(regionNamed(regions, name), rule));
};

/** The goal of each entity that the table singles out, in the order of `overridesIn`. Entries that say the same share one. */
export const overrideTargets = (draft: Draft, regions: ReadonlyMap<string, Region>): readonly (Target | Gone)[] => {
  const known = new Map<string, Target | Gone>();
  const targets: (Target | Gone)[] = [];
  for (const override of overridesIn(draft)) {
    const key = overrideKey(override);
    const target = known.get(key) ?? targetOfOverride(override, regions);
    known.set(key, target);
    targets.push(target);
  }
  return targets;
};

const targetOfOverride = ({ part, entry }: Override, regions: ReadonlyMap<string, Region>): Target | Gone => {
  if (part === "moved") return movedTarget(entry, regions);
  return part === "moves" ? movingTarget(entry, regions) : goneTarget(entry);
};

const MOVED: Rule = Object.freeze({ kind: "moved" });
const MOVING: Rule = Object.freeze({ kind: "moving" });
const GONE: Gone["rule"] = Object.freeze({ kind: "gone" });

const movedTarget = (declared: DeclaredMoved, regions: ReadonlyMap<string, Region>): Target => {
  if (typeof declared === "string") return targetOf(regionNamed(regions, declared), MOVED);
  const { region: to, epoch } = declared;
  return targetOf(regionNamed(regions, to), MOVED, { move: Object.freeze({ state: "moved", epoch, to }) });
};

const movingTarget = ({ from, to, state, epoch }: DeclaredMove, regions: ReadonlyMap<string, Region>): Target =>
  targetOf(regionNamed(regions, from), MOVING, { move: Object.freeze({ state, epoch, to }) });

const goneTarget = ({ epoch }: DeclaredGone): Gone => Object.freeze({ region: undefined, rule: GONE, epoch });

type Extras = Partial<Pick<Target, "canary" | "shadow" | "move">>;

export const targetOf = (region: Region, rule: Rule, { canary, shadow, move }: Extras = {}): Target =>
  Object.freeze({ region, rule, canary, shadow, move });

const canaryOf = (
  { canary }: DeclaredRoute,
  index: number,
  regions: ReadonlyMap<string, Region>,
  shadow: Share | undefined,
): Canary | undefined => {
  if (canary === undefined) return undefined;
  const rule: Rule = Object.freeze({ kind: "canary", index });
  const target = targetOf(regionNamed(regions, canary.region), rule, { shadow });
  return Object.freeze({ share: canary.percent / 100, target });
};

const shadowOf = ({ shadow }: DeclaredRoute, regions: ReadonlyMap<string, Region>): Share | undefined =>
  shadow && Object.freeze({ region: regionNamed(regions, shadow.region), share: shadow.percent / 100 });

const regionNamed = (regions: ReadonlyMap<string, Region>, name: string): Region => {
  const region = regions.get(name);
  if (region === undefined) throw new Error(`region ${name} was not checked`);
  return region;
};
