import type { Draft } from "./draft.ts";
import type { DeclaredRoute } from "./schema.ts";
import { NO_ROUTE } from "./segments.ts";
import type { Canary, Region, Rule, Share, Target } from "./table.ts";

/** One frozen target for each route and one for the default. */
export const targetsOf = (
  draft: Draft,
  regions: ReadonlyMap<string, Region>,
): ((ordinal: number) => Target | undefined) => {
  // Rules first, so that the targets, which every look-up touches, lie side by side.
  const rules = draft.routes.map(({ index }): Rule => Object.freeze({ kind: "route", index }));
  const targets = draft.routes.map(({ route, index }, at): Target => {
    const shadow = shadowOf(route, regions);
    return targetOf(
      regionNamed(regions, route.region),
      rules[at] as Rule,
      canaryOf(route, index, regions, shadow),
      shadow,
    );
  });
  const { fallback } = draft;
  const last =
    fallback === undefined ? undefined : targetOf(regionNamed(regions, fallback), Object.freeze({ kind: "default" }));
  return (ordinal) => (ordinal === NO_ROUTE ? last : targets[ordinal]);
};

export const movedTargets = (
  draft: Draft,
  regions: ReadonlyMap<string, Region>,
): readonly (readonly [string, Target])[] => {
  const byRegion = new Map<string, Target>();
  for (const name of new Set(draft.moved.values())) {
    byRegion.set(name, targetOf(regionNamed(regions, name), Object.freeze({ kind: "moved" })));
  }
  return [...draft.moved].map(([text, region]) => [text, byRegion.get(region) as Target]);
};

const targetOf = (region: Region, rule: Rule, canary?: Canary, shadow?: Share): Target =>
  Object.freeze({ region, rule, canary, shadow });

const canaryOf = (
  { canary }: DeclaredRoute,
  index: number,
  regions: ReadonlyMap<string, Region>,
  shadow: Share | undefined,
): Canary | undefined => {
  if (canary === undefined) return undefined;
  const target = targetOf(
    regionNamed(regions, canary.region),
    Object.freeze({ kind: "canary", index }),
    undefined,
    shadow,
  );
  return Object.freeze({ share: canary.percent / 100, target });
};

const shadowOf = ({ shadow }: DeclaredRoute, regions: ReadonlyMap<string, Region>): Share | undefined =>
  shadow && Object.freeze({ region: regionNamed(regions, shadow.region), share: shadow.percent / 100 });

const regionNamed = (regions: ReadonlyMap<string, Region>, name: string): Region => {
  const region = regions.get(name);
  if (region === undefined) throw new Error(`region ${name} was not checked`);
  return region;
};
