import type { ForwardedAs, TableParts } from "../feature.ts";
import { groupBy } from "../layouts/plan.ts";
import { conditionsOf } from "../lookup/choice.ts";
import { indexExactPaths, respellings } from "../lookup/path-index.ts";
import { isEncodedGatewayPath, pathsOf } from "../lookup/paths.ts";
import { indexPatterns, type PathRank, rankOf } from "../lookup/rank.ts";
import { nameTest } from "../lookup/values.ts";
import { prefixesOf, type RegionByValue } from "../resolve/listed.ts";
import { claimPathOf, type RegionSource, type Sticky } from "../resolve/region-sources.ts";
import type { Draft } from "../schema/draft.ts";
import { type DeclaredValues, listOf, valuesOf } from "../schema/records.ts";
import type { DeclaredEntity } from "../schema/table.ts";
import type { DeclaredSource, DeclaredWithoutId } from "../schema/without-id.ts";
import type {
  Asked,
  Entity,
  PathConditions,
  PathIndex,
  PathMatch,
  Regions,
  WithoutId,
  WithoutIdIndex,
} from "../table.ts";
import { entityOf, targetOf } from "./targets.ts";

export const indexWithoutId = (
  draft: Draft,
  regions: Regions,
  entities: readonly Entity[],
  features: readonly TableParts[],
): WithoutIdIndex => {
  const rule = Object.freeze({ kind: "source" });
  const targets = new Map([...regions].map(([name, region]) => [name, targetOf(region, rule)]));
  const named = namedRegions(regions.keys());
  // Shared: a list for all entries may have thousands of values.
  const shared = (draft.sources ?? []).map((source) => sourceOf(source, named));
  const counts = new Map<string, number>();
  for (const { path } of draft.withoutId.values()) {
    for (const { pattern } of pathsOf(path)) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  }
  const patterns = indexPatterns(entities);
  const isShared = (pattern: string): boolean =>
    (counts.get(pattern) ?? 0) > 1 || rankOf(pattern, patterns) === "shared";
  const entries = [...draft.withoutId].map(([name, declared]) =>
    entryOf(name, declared, { draft, named, shared, isShared, features }),
  );
  return { entries, ...matcherOf(entries, patterns), targets };
};

/** Values that are names of regions. */
export const namedRegions = (names: Iterable<string>): RegionByValue => new Map([...names].map((name) => [name, name]));

/** A function of its own: a closure beside the draft would keep the whole declared table in memory. */
const matcherOf = (
  entries: readonly WithoutId[],
  patterns: ReturnType<typeof indexPatterns>,
): Omit<WithoutIdIndex, "entries" | "targets"> => {
  const parts: Record<PathRank, PathsOfEntry[]> = { own: [], literal: [], shared: [] };
  for (const entry of entries) {
    for (const [rank, paths] of groupBy(entry.entity.paths, (pattern) => rankOf(pattern, patterns))) {
      parts[rank].push({ entry, paths, conditions: entry.entity.conditions });
    }
  }
  const own = indexExactPaths(parts.own);
  const owners = new Map(parts.own.map((each) => [each.entry, each]));
  const literal = parts.literal.length === 0 ? undefined : indexExactPaths(parts.literal);
  const shared = parts.shared.length === 0 ? undefined : indexExactPaths(parts.shared, true);
  const isElsewhere = respellings(parts.own);
  return {
    match: (path, asked) => (isEncodedGatewayPath(path) ? undefined : entryIn(own.match(path, asked))),
    literal: literal && entriesOf(literal),
    shared: shared && entriesOf(shared).match,
    untaken: (path, asked) => {
      const all = [literal, shared, own].flatMap((index) => index?.untaken(path, asked) ?? []);
      return all.find((one) => "allow" in one) ?? all[0];
    },
    isElsewhere: (path, entry, asked) => {
      const owner = owners.get(entry);
      return owner !== undefined && isElsewhere(path, owner, asked);
    },
  };
};

type PathsOfEntry = Readonly<{
  entry: WithoutId;
  paths: readonly string[];
  conditions: PathConditions | undefined;
}>;

const entryIn = (found: PathMatch<PathsOfEntry> | undefined): PathMatch<WithoutId> | undefined =>
  found && { ...found, entity: found.entity.entry };

const entriesOf = ({ match, matchRead }: PathIndex<PathsOfEntry>) => ({
  match: (path: string, asked?: Asked) => entryIn(match(path, asked)),
  matchRead: (path: string, asked?: Asked) => entryIn(matchRead(path, asked)),
});

/** The stand-in entity of requests whose path names none. */
export const entityWithoutIds = (
  name: string,
  declared: ForwardedAs,
  draft: Draft,
  paths: readonly string[],
  features: readonly TableParts[],
): Entity =>
  entityOf(
    name,
    declared,
    draft,
    {
      paths,
      pathHints: new Map(),
      closedPaths: undefined,
      conditions: conditionsOf(declared),
      ids: [],
      readers: [],
      any: "proxy",
      // A 421 says nothing about the next request.
      rememberMovedSeconds: 0,
      sentSlices: undefined,
      plain: [],
    },
    membersOf(features, name, declared, undefined),
  );

/** Members of an entity that features add. Each feature adds the same ones always. */
export const membersOf = (
  features: readonly TableParts[],
  name: string,
  declared: ForwardedAs,
  entity: DeclaredEntity | undefined,
): readonly Partial<Entity>[] => [
  ...features.flatMap((feature) => [feature.forwarding?.(name, declared) ?? {}, feature.entity?.(name, entity) ?? {}]),
  { forwarding: Object.assign({}, ...features.map(({ forwarding }) => forwarding?.(name, declared))) },
  { reading: features.map(({ reading }) => reading?.(entity)).find((reading) => reading !== undefined) },
];

interface Entries {
  readonly draft: Draft;
  readonly named: RegionByValue;
  readonly shared: readonly RegionSource[];
  readonly isShared: (pattern: string) => boolean;
  readonly features: readonly TableParts[];
}

const entryOf = (
  name: string,
  declared: DeclaredWithoutId,
  { draft, named, shared, isShared, features }: Entries,
): WithoutId => {
  const sources = declared.sources?.map((source) => sourceOf(source, named)) ?? shared;
  const { sticky } = declared;
  const paths = pathsOf(declared.path).map(({ pattern }) => pattern);
  const entity = entityWithoutIds(name, declared, draft, paths, features);
  return Object.freeze({
    entity,
    methods: entity.conditions?.methods,
    isShared: entity.conditions?.hosts !== undefined || entity.paths.some(isShared),
    sources: sticky === undefined ? sources : withSticky(sources, sticky, named),
    sticky,
    ...Object.assign({}, ...features.map((feature) => feature.withoutId?.(declared))),
  });
};

/** The cookie precedes sources that are only a guess, and follows those that the client sends. */
const withSticky = (sources: readonly RegionSource[], { cookie }: Sticky, named: RegionByValue) => {
  const at = sources.findIndex(({ kind }) => kind === "country" || kind === "continent" || kind === "region");
  return sources.toSpliced(at === -1 ? sources.length : at, 0, sourceOf({ cookie }, named));
};

/** The check has made sure that a source has one kind. */
export const sourceOf = (declared: DeclaredSource, named: RegionByValue): RegionSource =>
  saidSource(declared, named) ?? placeSource(declared) ?? fixedSource(declared);

/** A source whose value the client sends: one of the declared values, or the name of a region. */
const saidSource = (declared: DeclaredSource, named: RegionByValue): RegionSource | undefined => {
  const { header, jwtClaim, cookie, query, pathSegment, hostLabel, values, prefixes, unlisted } = declared;
  const isListed = values !== undefined || prefixes !== undefined;
  const starts = prefixes === undefined ? undefined : prefixesOf(regionsIn(prefixes));
  const listed = { regions: isListed ? regionsIn(values) : named, prefixes: starts, goesOn: unlisted === "next" };
  const own = { isListed, isSecret: starts !== undefined, isTold: listed.goesOn, listed };
  if (jwtClaim !== undefined) {
    const carrier = (header ?? "authorization").toLowerCase();
    const label = `claim ${jwtClaim} of the token in ${carrier}`;
    return { ...own, kind: "claim", label, header: carrier, path: claimPathOf(jwtClaim) };
  }
  if (header !== undefined) {
    const field = header.toLowerCase();
    const isSecret = own.isSecret || CREDENTIALS.has(field);
    return { ...own, kind: "header", label: `header ${field}`, header: field, isSecret };
  }
  if (query !== undefined) {
    return { ...own, kind: "query", label: `query parameter ${query}`, name: query, test: nameTest(query) };
  }
  if (pathSegment !== undefined) {
    return { ...own, kind: "segment", label: `segment ${pathSegment} of the path`, at: pathSegment };
  }
  if (hostLabel !== undefined) {
    return { ...own, kind: "hostLabel", label: `host ${hostLabel}`, parent: hostLabel.slice("*".length) };
  }
  if (cookie === undefined) return undefined;
  const goesOn = unlisted !== "refuse";
  return { ...own, kind: "cookie", label: `cookie ${cookie}`, cookie, isSecret: true, listed: { ...listed, goesOn } };
};

/** A source whose regions list their own values: of the client's place, or of the host. */
const placeSource = ({ clientCountry, clientContinent, host, unlisted }: DeclaredSource): RegionSource | undefined => {
  const by = (map: DeclaredValues) => ({
    isListed: true,
    isSecret: false,
    isTold: unlisted === "next",
    listed: { regions: regionsIn(map), prefixes: undefined, goesOn: unlisted !== "refuse" },
  });
  if (clientCountry !== undefined) return { ...by(clientCountry), kind: "country", label: "the client's country" };
  if (clientContinent !== undefined) {
    return { ...by(clientContinent), kind: "continent", label: "the client's continent" };
  }
  return host && { ...by(host), kind: "host", label: "the host" };
};

/** A region that the table names, for all requests or for those with certain headers. */
const fixedSource = ({ headers, region }: DeclaredSource): RegionSource => {
  if (region === undefined) throw new Error("a source without a kind was not checked");
  if (headers === undefined) return { kind: "region", label: `region ${region}`, region };
  const conditions = Object.entries(headers).map(([name, each]) => ({
    header: name.toLowerCase(),
    values: new Set(listOf(each)),
  }));
  const label = `headers ${conditions.map((condition) => condition.header).join(" and ")}`;
  return { kind: "headers", label, conditions, region };
};

/** Headers whose values no problem repeats. */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);

const regionsIn = (map: DeclaredValues | undefined): RegionByValue =>
  new Map(valuesOf(map).map(({ value, region }) => [value, region]));
