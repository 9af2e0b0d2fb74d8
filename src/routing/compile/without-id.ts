import { indexExactPaths, isEncodedGatewayPath, respellings } from "../lookup/paths.ts";
import { placesOf } from "../places/compile.ts";
import { nameTest } from "../places/values.ts";
import { claimPathOf, type RegionByValue, type RegionSource, type Sticky } from "../resolve/region-sources.ts";
import type { Draft } from "../schema/draft.ts";
import type { DeclaredSource, DeclaredWithoutId } from "../schema/without-id.ts";
import type { Entity, Regions, WithoutId, WithoutIdIndex } from "../table.ts";
import { listOf } from "./conditions.ts";
import { forwardingOf, targetOf } from "./targets.ts";

export const indexWithoutId = (draft: Draft, regions: Regions): WithoutIdIndex => {
  const rule = Object.freeze({ kind: "source" });
  const targets = new Map([...regions].map(([name, region]) => [name, targetOf(region, rule)]));
  const named = namedRegions(regions.keys());
  const entries = [...draft.withoutId].map(([name, declared]) => entryOf(name, declared, draft, named));
  return { entries, ...matcherOf(entries), targets };
};

/** Values that are names of regions. */
export const namedRegions = (names: Iterable<string>): RegionByValue => new Map([...names].map((name) => [name, name]));

/** A function of its own: a closure beside the draft would keep the whole declared table in memory. */
const matcherOf = (entries: readonly WithoutId[]): Pick<WithoutIdIndex, "match" | "isElsewhere"> => {
  const owners = new Map(entries.map((entry) => [entry, { entry, paths: entry.entity.paths }]));
  const paths = indexExactPaths(owners.values());
  const isElsewhere = respellings([...owners.values()]);
  return {
    match: (path) => (isEncodedGatewayPath(path) ? undefined : paths.match(path)?.entity.entry),
    isElsewhere: (path, entry) =>
      isElsewhere(path, owners.get(entry) as { entry: WithoutId; paths: readonly string[] }),
  };
};

/** What requests are forwarded by whose path names no entity. */
export const entityWithoutIds = (
  name: string,
  declared: Parameters<typeof forwardingOf>[1],
  draft: Draft,
  paths: readonly string[],
): Entity =>
  Object.freeze({
    ...forwardingOf(name, declared, draft),
    paths,
    pathHints: new Map(),
    ids: [],
    readers: [],
    directory: undefined,
    any: "proxy",
    public: undefined,
    // A 421 says nothing about the next request.
    rememberMovedSeconds: 0,
    sentSlices: undefined,
    copies: undefined,
    idIn: undefined,
  });

const entryOf = (name: string, declared: DeclaredWithoutId, draft: Draft, named: RegionByValue): WithoutId => {
  const sources = (declared.sources ?? draft.sources ?? []).map((source) => sourceOf(source, named));
  const { methods, sticky } = declared;
  const entity = entityWithoutIds(name, declared, draft, listOf(declared.path));
  return Object.freeze({
    entity,
    methods: methods === undefined ? undefined : withHead(listOf(methods)),
    sources: sticky === undefined ? sources : withSticky(sources, sticky, named),
    sticky,
    idIn: placesOf(declared.idIn, undefined),
  });
};

/** GET includes HEAD (RFC 9110 §9.3.2: the same without the content). */
const withHead = (methods: readonly string[]): readonly string[] => [
  ...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))),
];

/** The cookie precedes sources that are only a guess, and follows those that the client sends. */
const withSticky = (sources: readonly RegionSource[], { cookie }: Sticky, named: RegionByValue) => {
  const at = sources.findIndex(({ kind }) => kind === "country" || kind === "continent" || kind === "region");
  return sources.toSpliced(at === -1 ? sources.length : at, 0, sourceOf({ cookie }, named));
};

/** The check has made sure that a source has one kind. */
export const sourceOf = (declared: DeclaredSource, named: RegionByValue): RegionSource => {
  const { header, jwtClaim, cookie, clientCountry, clientContinent, region, values } = declared;
  const { query, pathSegment, hostLabel, host } = declared;
  const read = values === undefined ? named : new Map(Object.entries(values));
  const isListed = values !== undefined;
  if (jwtClaim !== undefined) {
    const carrier = (header ?? "authorization").toLowerCase();
    const label = `claim ${jwtClaim} of the token in ${carrier}`;
    return { kind: "claim", isListed, label, header: carrier, path: claimPathOf(jwtClaim), regions: read };
  }
  if (header !== undefined) {
    const field = header.toLowerCase();
    return { kind: "header", isListed, label: `header ${field}`, header: field, regions: read };
  }
  if (cookie !== undefined) return { kind: "cookie", isListed, label: `cookie ${cookie}`, cookie, regions: read };
  if (clientCountry !== undefined) {
    return {
      kind: "country",
      isListed: false,
      label: "the client's country",
      regions: new Map(Object.entries(clientCountry)),
    };
  }
  if (clientContinent !== undefined) {
    return {
      kind: "continent",
      isListed: false,
      label: "the client's continent",
      regions: new Map(Object.entries(clientContinent)),
    };
  }
  if (query !== undefined) {
    return {
      kind: "query",
      isListed,
      label: `query parameter ${query}`,
      name: query,
      test: nameTest(query),
      regions: read,
    };
  }
  if (pathSegment !== undefined) {
    return { kind: "segment", isListed, label: `segment ${pathSegment} of the path`, at: pathSegment, regions: read };
  }
  if (hostLabel !== undefined) {
    return {
      kind: "hostLabel",
      isListed,
      label: `host ${hostLabel}`,
      parent: hostLabel.slice("*".length),
      regions: read,
    };
  }
  if (host !== undefined)
    return { kind: "host", isListed: false, label: "the host", regions: new Map(Object.entries(host)) };
  if (region === undefined) throw new Error("a source without a kind was not checked");
  return { kind: "region", isListed: false, label: `region ${region}`, region };
};
