import type { HistorySeries, MetricsHistory, RouteRequests } from "../../../formats/console-api.ts";
import type { RuleName } from "../../../routing/diff/rules.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { ownOf } from "../../app/own.ts";
import type { ChangesInWords, Way } from "../diff-words.ts";

/** Requests that a change sends elsewhere, by those of the last hour. Counted where they can be, else bounded. Pure. */

export interface Effect {
  /** In the order of the ways; absent where nothing is known. */
  readonly ways: readonly (WayShare | undefined)[];
  readonly regions: readonly RegionShare[];
  /** At most this share of all requests goes elsewhere. Requests for IDs that no route takes reach no region: they are not counted. */
  readonly share: number;
  /** Requests a second, of all. */
  readonly perSecond: number;
  readonly overloads: readonly Overload[];
}

export interface WayShare {
  /** A part of all requests. */
  readonly share: number;
  readonly perSecond: number;
  /** The requests are counted by route, or only by region: then they are at most so many. */
  readonly isBound: boolean;
}

/** Shares of all requests. */
export interface RegionShare {
  readonly region: string;
  readonly before: number;
  readonly least: number;
  readonly most: number;
}

/** A region that would get more than its most of the last day. Requests a second. */
export interface Overload {
  readonly region: string;
  readonly perSecond: number;
  readonly most: number;
  readonly isBound: boolean;
}

interface Moved {
  readonly share: number;
  readonly isBound: boolean;
  readonly ways: readonly Way[];
}

/**
 * `revision`: the one before the change, whose text is `table`. Where it decided only some of the requests, their shares count and not
 * those of all: the others went by another table. `undefined` where nothing was counted.
 */
export function effectOf(
  changes: ChangesInWords,
  revision: number,
  hour: MetricsHistory | undefined,
  day?: MetricsHistory,
  table?: DeclaredTable,
): Effect | undefined {
  if (hour === undefined || hour.source === "none") return undefined;
  const all = sum(hour.total.requests);
  if (all === 0) return undefined;
  const basis = basisOf(hour, revision);
  const shares = basis === "own" && table !== undefined ? sharesByRule(hour, revision, table) : sharesOf(hour, all);
  const perSecond = all / secondsOf(hour);
  const byRule = Map.groupBy(changes.ways, ({ before }) => before);
  const moved = new Map<RuleName, Moved | undefined>();
  for (const [rule, ways] of byRule)
    moved.set(rule, movedBy(rule, ways, changes.whole.has(rule), { hour, revision, shares }));
  const regions = regionShares(shares, [...moved.values()]);
  return {
    ways: changes.ways.map((way) => {
      const own = moved.get(way.before);
      const isBound = own !== undefined && (own.isBound || own.ways.length > 1);
      return own && { share: own.share, perSecond: own.share * perSecond, isBound };
    }),
    regions,
    share: shareOf(changes, [...moved.values()], shares),
    perSecond,
    overloads: regions.flatMap((own) => overloadOf(own, perSecond, day)),
  };
}

/** A revision that decided this share of the requests stands for all of them. */
const MOST = 0.95;

/** Fewer requests of a revision say nothing of its routes. */
const REQUESTS_MIN = 50;

/**
 * `all`: the revision decided nearly all requests. `own`: enough of them. `regions`: too few, as soon after its publication, so that
 * only the counts of regions are a bound.
 */
export function basisOf(hour: MetricsHistory, revision: number): "all" | "own" | "regions" {
  const decided = requestsOf(hour.routes?.filter((each) => each.revision === revision) ?? []);
  if (decided > 0 && decided >= sum(hour.total.requests) * MOST) return "all";
  return decided >= REQUESTS_MIN ? "own" : "regions";
}

type Shares = ReadonlyMap<string, number>;

const sharesOf = ({ regions }: MetricsHistory, all: number): Shares =>
  new Map(Object.entries(regions).map(([region, { requests }]) => [region, sum(requests) / all]));

/** By the regions of the rules that decided. Requests that single entities or a directory decided about are of no region here. */
function sharesByRule(hour: MetricsHistory, revision: number, table: DeclaredTable): Shares {
  const own = hour.routes?.filter((each) => each.revision === revision) ?? [];
  const all = requestsOf(own);
  const shares = new Map<string, number>();
  for (const { pointer, requests } of own) {
    const [, index, canary] = /^\/routes\/(\d+)(\/canary)?$/.exec(pointer) ?? [];
    const route = table.routes[Number(index)];
    const region =
      pointer === "/default" ? table.default : canary === undefined ? route?.region : route?.canary?.region;
    if (region !== undefined) shares.set(region, (shares.get(region) ?? 0) + requests / all);
  }
  return shares;
}

interface Counted {
  readonly hour: MetricsHistory;
  readonly revision: number;
  readonly shares: Shares;
}

/** Requests of a rule that go elsewhere. IDs without a route have no requests that reach a region: nothing is known. */
function movedBy(rule: RuleName, ways: readonly Way[], isWhole: boolean, counted: Counted): Moved | undefined {
  if (rule === undefined) return undefined;
  const own = ruleShare(rule, counted);
  const regions = new Set(ways.map(({ from }) => from.region));
  const bounds = [...regions].map((region) => (region === undefined ? 1 : (counted.shares.get(region) ?? 0)));
  const byRegion = bounds.reduce((most, bound) => most + bound, 0);
  if (own === undefined) return { share: Math.min(1, byRegion), isBound: true, ways };
  const isBound = own.isBound || !isWhole || ways.some(isPartial);
  return { share: isBound ? Math.min(own.share, byRegion) : own.share, isBound, ways };
}

/** A canary or packs part its keys. */
const isPartial = ({ keys }: Way): boolean => keys.some(({ percent, byPacks }) => percent !== undefined || byPacks);

/** Share of the requests that a rule of the revision decided, of all that this revision decided. */
function ruleShare(rule: RuleName, { hour, revision }: Counted): { share: number; isBound: boolean } | undefined {
  const own = hour.routes?.filter((each) => each.revision === revision) ?? [];
  const all = requestsOf(own);
  if (all === 0 || basisOf(hour, revision) === "regions") return undefined;
  const pointer = rule === "default" ? "/default" : `/routes/${rule}`;
  const counted = requestsOf(own.filter((each) => each.pointer === pointer || each.pointer === `${pointer}/canary`));
  // Those may be requests of this route too.
  const others = requestsOf(own.filter((each) => each.pointer === "(other)"));
  const lost = requestsOf(hour.routes?.filter((each) => each.revision === null) ?? []);
  const unsure = (counted === 0 ? others : 0) + lost;
  return { share: (counted + unsure) / (all + lost), isBound: unsure > 0 };
}

const requestsOf = (all: readonly RouteRequests[]): number => sum(all.map(({ requests }) => requests));

function regionShares(
  shares: ReadonlyMap<string, number>,
  moved: readonly (Moved | undefined)[],
): readonly RegionShare[] {
  const names = new Set([...shares.keys(), ...moved.flatMap((own) => own?.ways.flatMap(targetsOf) ?? [])]);
  return [...names].map((region) => {
    const before = shares.get(region) ?? 0;
    let least = before;
    let most = before;
    for (const own of moved) {
      if (own === undefined) continue;
      const leaves = own.ways.some(({ from }) => from.region === region || from.region === undefined);
      const comes = own.ways.some(({ to }) => to.region === region || isUnsure(to.region, to.words, region));
      const isSure = !own.isBound && own.ways.length === 1;
      if (leaves) least -= own.share;
      if (comes) most += own.share;
      if (isSure && own.ways[0]?.from.region === region) most -= own.share;
      if (isSure && own.ways[0]?.to.region === region) least += own.share;
    }
    return { region, before, least: Math.max(0, least), most: Math.min(1, most) };
  });
}

const targetsOf = ({ to }: Way): readonly string[] => (to.region === undefined ? [] : [to.region]);

/** A split, a canary, packs or a directory may send any of the IDs there. */
const isUnsure = (target: string | undefined, words: string, region: string): boolean =>
  target === undefined && (words.includes(region) || words.includes("directory") || words.includes("packs"));

/** Every rule once, and regions whose requests go to other servers. */
function shareOf({ parts }: ChangesInWords, moved: readonly (Moved | undefined)[], shares: Shares): number {
  const others = parts.flatMap(({ region }) => (region === undefined ? [] : [shares.get(region) ?? 0]));
  const known = moved.flatMap((own) => (own === undefined ? [] : [own.share]));
  return Math.min(1, sum(known) + sum(others));
}

function overloadOf(
  { region, before, least, most }: RegionShare,
  perSecond: number,
  day: MetricsHistory | undefined,
): readonly Overload[] {
  const busiest = mostOf(ownOf(day?.regions, region), day);
  if (busiest === undefined || most <= before || most * perSecond <= busiest) return [];
  return [{ region, perSecond: most * perSecond, most: busiest, isBound: least !== most }];
}

/** Requests a second in the busiest step that is over. */
function mostOf(series: HistorySeries | undefined, day: MetricsHistory | undefined): number | undefined {
  const counts = series?.requests.slice(0, -1) ?? [];
  return day === undefined || counts.length === 0 ? undefined : Math.max(...counts) / day.stepSeconds;
}

/** Since counting began; the last step is not over. */
function secondsOf({ at, stepSeconds, since }: MetricsHistory): number {
  const begin = Math.max(at[0] ?? 0, since === null ? 0 : Date.parse(since) / 1000);
  const end = (at.at(-1) ?? 0) + stepSeconds;
  return Math.max(stepSeconds, end - begin);
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
