import { indexExactPaths, isEncodedGatewayPath, respellings } from "../lookup/paths.ts";
import { placesOf } from "../places/compile.ts";
import { nameTest } from "../places/values.ts";
import { prefixesOf, type RegionByValue } from "../resolve/listed.ts";
import { claimPathOf, type RegionSource, type Sticky } from "../resolve/region-sources.ts";
import type { Draft } from "../schema/draft.ts";
import { type DeclaredSource, type DeclaredValues, type DeclaredWithoutId, valuesOf } from "../schema/without-id.ts";
import type { Entity, Regions, WithoutId, WithoutIdIndex } from "../table.ts";
import { listOf } from "./conditions.ts";
import { forwardingOf, targetOf } from "./targets.ts";

export const indexWithoutId = (draft: Draft, regions: Regions): WithoutIdIndex => {
  const rule = Object.freeze({ kind: "source" });
  const targets = new Map([...regions].map(([name, region]) => [name, targetOf(region, rule)]));
  const named = namedRegions(regions.keys());
  // Shared: a list for all entries may have thousands of values.
  const shared = (draft.sources ?? []).map((source) => sourceOf(source, named));
  const entries = [...draft.withoutId].map(([name, declared]) => entryOf(name, declared, draft, named, shared));
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

const entryOf = (
  name: string,
  declared: DeclaredWithoutId,
  draft: Draft,
  named: RegionByValue,
  shared: readonly RegionSource[],
): WithoutId => {
  const sources = declared.sources?.map((source) => sourceOf(source, named)) ?? shared;
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
  const { header, headers, jwtClaim, cookie, clientCountry, clientContinent, region } = declared;
  const { query, pathSegment, hostLabel, host, values, prefixes } = declared;
  const isListed = values !== undefined || prefixes !== undefined;
  const starts = prefixes === undefined ? undefined : prefixesOf(regionsIn(prefixes));
  const read = isListed ? regionsIn(values) : named;
  const goesOn = declared.unlisted === "next";
  const own = {
    ...{ isListed, isSecret: starts !== undefined, isTold: goesOn },
    listed: { regions: read, prefixes: starts, goesOn },
  };
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
  const mayGoOn = declared.unlisted !== "refuse";
  if (cookie !== undefined) {
    return {
      ...own,
      ...{ kind: "cookie", label: `cookie ${cookie}`, cookie, isSecret: true },
      listed: { ...own.listed, goesOn: mayGoOn },
    };
  }
  const byPlace = (map: DeclaredValues) => ({
    isListed: true,
    isSecret: false,
    isTold: goesOn,
    listed: { regions: regionsIn(map), prefixes: undefined, goesOn: mayGoOn },
  });
  if (clientCountry !== undefined) {
    return { ...byPlace(clientCountry), kind: "country", label: "the client's country" };
  }
  if (clientContinent !== undefined) {
    return { ...byPlace(clientContinent), kind: "continent", label: "the client's continent" };
  }
  if (host !== undefined) return { ...byPlace(host), kind: "host", label: "the host" };
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
