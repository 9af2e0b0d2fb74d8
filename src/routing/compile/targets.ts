import type { ForwardedAs } from "../feature.ts";
import type { RouteTargets } from "../lookup/id-index.ts";
import { readSplit } from "../resolve/match.ts";
import { type Draft, type Override, overrideKey, overridesIn } from "../schema/draft.ts";
import type { DeclaredBreaker, DeclaredCanary, DeclaredDeadlines } from "../schema/parts.ts";
import type { DeclaredRegion, DeclaredRoute } from "../schema/table.ts";
import type {
  BreakerPolicy,
  Deadlines,
  Entity,
  Found,
  Gone,
  Region,
  Regions,
  Rule,
  Share,
  Split,
  Target,
} from "../table.ts";

/** One frozen target for each route with a region, a few for each split, and one for the default. `own`: those of features. */
export const targetsOf = (
  draft: Draft,
  regions: Regions,
  own: (route: DeclaredRoute) => Found | undefined,
): RouteTargets<Found | undefined> => {
  // Rules first, so that the targets, which every look-up reads, are adjacent in memory.
  const rules = draft.routes.map(({ index }): Rule => Object.freeze({ kind: "route", index }));
  const byOrdinal = draft.routes.map(({ route, index }, at): Found | undefined => {
    if (route.split !== undefined) {
      const partOf = (name: string, part: number): Target =>
        targetOf(regionNamed(regions, name), Object.freeze({ kind: "route", index, part }));
      return Object.freeze({ region: undefined, rule: SPLIT, parts: readSplit(route.split).regions.map(partOf) });
    }
    // IDs that a search does not find go on to the next routes.
    if (route.region === undefined) return own(route);
    const shadow = route.shadow && shareOf(route.shadow, regions);
    const canary = route.canary && canaryOf(route.canary, index, regions, shadow);
    return targetOf(regionNamed(regions, route.region), rules[at] as Rule, { canary, shadow });
  });
  const { fallback } = draft;
  const last =
    fallback === undefined ? undefined : targetOf(regionNamed(regions, fallback), Object.freeze({ kind: "default" }));
  return { byOrdinal, fallback: last };
};

/** The target of each override, in the order of `overridesIn`. Overrides with equal content share one. */
export const overrideTargets = (draft: Draft, regions: Regions): readonly (Target | Gone)[] => {
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

const targetOfOverride = ({ part, entry }: Override, regions: Regions): Target | Gone => {
  if (part === "gone") return Object.freeze({ region: undefined, rule: GONE, epoch: entry.epoch });
  if (part === "moves") {
    const { from, to, state, epoch } = entry;
    return targetOf(regionNamed(regions, from), MOVING, { move: Object.freeze({ state, epoch, to }) });
  }
  if (typeof entry === "string") return targetOf(regionNamed(regions, entry), MOVED);
  const { region: to, epoch } = entry;
  return targetOf(regionNamed(regions, to), MOVED, { move: Object.freeze({ state: "moved", epoch, to }) });
};

const MOVED: Rule = Object.freeze({ kind: "moved" });
const MOVING: Rule = Object.freeze({ kind: "moving" });
const GONE: Gone["rule"] = Object.freeze({ kind: "gone" });
const SPLIT: Split["rule"] = Object.freeze({ kind: "split" });

type Extras = Partial<Pick<Target, "canary" | "shadow" | "move">>;

export const targetOf = (region: Region, rule: Rule, { canary, shadow, move }: Extras = {}): Target =>
  Object.freeze({ region, rule, canary, shadow, move });

const canaryOf = ({ region, percent }: DeclaredCanary, index: number, regions: Regions, shadow?: Share) => {
  const rule: Rule = Object.freeze({ kind: "canary", index });
  return Object.freeze({ share: percent / 100, target: targetOf(regionNamed(regions, region), rule, { shadow }) });
};

const shareOf = ({ region, percent }: DeclaredCanary, regions: Regions): Share =>
  Object.freeze({ region: regionNamed(regions, region), share: percent / 100 });

export const regionNamed = (regions: Regions, name: string): Region => {
  const region = regions.get(name);
  if (region === undefined) throw new Error(`region ${name} was not checked`);
  return region;
};

/** Regions and forwarding settings. The defaults are here and only here. */

/** Covers a client's next few requests; a new revision of the table takes longer. */
export const REMEMBER_MOVED_SECONDS = 60;

/** Five failures in a row are more than one bad connection, and fewer than ten lost requests. */
const BREAKER_FAILURES = 5;
const BREAKER_OPEN_MS = 10_000;

const HEALTH_TIMEOUT_MS = 2_000;

/** `own`: members of features. */
export const regionOf = (name: string, declared: DeclaredRegion, own: readonly Partial<Region>[]): Region => {
  const { origins, failover = [], failoverWrites = false, deadlines, wholeAnswers, breaker, health } = declared;
  const all = origins.map(({ url, weight = 1, binding }) =>
    Object.freeze({ url: url.replace(/\/$/, ""), weight, binding }),
  );
  return Object.freeze({
    name,
    origins: all,
    servers: [...all],
    failover,
    failoverWrites,
    deadlines: deadlinesOf(deadlines),
    wholeAnswers,
    breaker: breakerOf(breaker),
    health: health && Object.freeze({ path: health.path, timeoutMs: health.timeoutMs ?? HEALTH_TIMEOUT_MS }),
    ...Object.assign({}, ...own),
  });
};

/** Properties that an entity and an entry without an ID share. */
const forwardingOf = (name: string, declared: ForwardedAs, { fields }: Draft) => ({
  name,
  deadlines: deadlinesOf(declared.deadlines),
  wholeAnswers: declared.wholeAnswers,
  replayBytesMax: declared.replayBytesMax ?? 0,
  fields: declared.fields ?? fields ?? "standard",
  removePrefix: declared.removePrefix,
});

type Forwarding = ReturnType<typeof forwardingOf>;

/** An entity, or a stand-in. All have their members in one order, which keeps look-ups fast. */
export const entityOf = (
  name: string,
  declared: ForwardedAs,
  draft: Draft,
  core: Omit<Entity, keyof Forwarding | "forwarding">,
  features: readonly Partial<Entity>[],
): Entity => Object.freeze({ ...forwardingOf(name, declared, draft), ...core, ...Object.assign({}, ...features) });

const NO_DEADLINES: Deadlines = Object.freeze({ firstByteMs: undefined, idleMs: undefined, totalMs: undefined });

const deadlinesOf = (declared: DeclaredDeadlines | undefined): Deadlines =>
  declared === undefined ? NO_DEADLINES : Object.freeze({ ...NO_DEADLINES, ...declared });

const breakerOf = (declared: DeclaredBreaker | undefined): BreakerPolicy | undefined => {
  if (declared === false) return undefined;
  const { failures = BREAKER_FAILURES, openMs = BREAKER_OPEN_MS } = declared ?? {};
  return Object.freeze({ failures, openMs });
};
