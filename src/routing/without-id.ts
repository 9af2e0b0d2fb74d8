import { deadlinesOf } from "./carriage.ts";
import type { Draft } from "./draft.ts";
import type { RegionSource, TargetsBySaying } from "./region-sources.ts";
import { listOf } from "./scopes.ts";
import type { Entity, Region, Target } from "./table.ts";
import { targetOf } from "./targets.ts";
import { claimPathOf } from "./token-claims.ts";
import { type ExactPathIndex, indexExactPaths } from "./without-id-paths.ts";
import type { DeclaredSource, DeclaredWithoutId } from "./without-id-schema.ts";

/** Requests that carry no ID, compiled: one entry for each name under `withoutId`. */
export interface WithoutId {
  /** Has no IDs, and its name is no other entity's. */
  readonly entity: Entity;
  /** Patterns of its paths. */
  readonly paths: readonly string[];
  /** `undefined`: all. */
  readonly methods: readonly string[] | undefined;
  readonly sources: readonly RegionSource[];
  readonly sticky: Sticky | undefined;
}

/** The cookie that keeps a client in a region that was assumed. */
export interface Sticky {
  readonly cookie: string;
  readonly maxAgeSeconds: number;
}

export interface WithoutIdIndex extends ExactPathIndex<WithoutId> {
  readonly entries: readonly WithoutId[];
}

/** Compiles the part of a checked table. */
export const indexWithoutId = (draft: Draft, regions: ReadonlyMap<string, Region>): WithoutIdIndex => {
  const targets = targetsByName(regions);
  const entries = [...draft.withoutId].map(([name, declared]) => entryOf(name, declared, draft, targets));
  return { entries, match: indexExactPaths(entries).match };
};

const entryOf = (name: string, declared: DeclaredWithoutId, draft: Draft, targets: TargetsBySaying): WithoutId => {
  const paths = listOf(declared.path);
  const sources = (declared.sources ?? draft.sources ?? []).map((source) => sourceOf(source, targets));
  const { methods, sticky, deadlines, replayBytesMax = 0 } = declared;
  const entity: Entity = Object.freeze({
    name,
    paths,
    ids: [],
    readers: [],
    any: "proxy",
    public: undefined,
    publicFields: undefined,
    otherBodies: "pass",
    deadlines: deadlinesOf(deadlines),
    replayBytesMax,
    // What an origin says of one request without an ID is not said of the next one.
    rememberMovedSeconds: 0,
  });
  return Object.freeze({
    entity,
    paths,
    methods: methods === undefined ? undefined : withHead(listOf(methods)),
    sources: sticky === undefined ? sources : withSticky(sources, sticky, targets),
    sticky,
  });
};

/** Who takes GET takes HEAD (RFC 9110 §9.3.2: the same, without the content). */
const withHead = (methods: readonly string[]): readonly string[] => [
  ...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))),
];

/** A client stays where it was: the cookie goes before everything that is assumed, and after what the client says. */
const withSticky = (
  sources: readonly RegionSource[],
  { cookie }: Sticky,
  targets: TargetsBySaying,
): readonly RegionSource[] => {
  const at = sources.findIndex(isAssumed);
  return sources.toSpliced(at === -1 ? sources.length : at, 0, sourceOf({ cookie }, targets));
};

const isAssumed = ({ kind }: RegionSource): boolean => kind === "country" || kind === "continent" || kind === "region";

const targetsByName = (regions: ReadonlyMap<string, Region>): TargetsBySaying => {
  const rule = Object.freeze({ kind: "source" });
  return new Map([...regions].map(([name, region]) => [name, targetOf(region, rule)]));
};

/** The one member that says what a source is has been checked to be there. */
const sourceOf = (declared: DeclaredSource, targets: TargetsBySaying): RegionSource => {
  const { header, jwtClaim, cookie, clientCountry, clientContinent, region, values } = declared;
  const named = (regionBy: Readonly<Record<string, string>> | undefined): TargetsBySaying =>
    regionBy === undefined
      ? targets
      : new Map(Object.entries(regionBy).map(([saying, name]) => [saying, targetNamed(name, targets)]));
  if (jwtClaim !== undefined) {
    const carrier = (header ?? "authorization").toLowerCase();
    const label = `claim ${jwtClaim} of the token in ${carrier}`;
    return { kind: "claim", label, header: carrier, path: claimPathOf(jwtClaim), targets: named(values) };
  }
  if (header !== undefined) {
    const field = header.toLowerCase();
    return { kind: "header", label: `header ${field}`, header: field, targets: named(values) };
  }
  if (cookie !== undefined) return { kind: "cookie", label: `cookie ${cookie}`, cookie, targets: named(values) };
  if (clientCountry !== undefined) {
    return { kind: "country", label: "the client's country", targets: named(clientCountry) };
  }
  if (clientContinent !== undefined) {
    return { kind: "continent", label: "the client's continent", targets: named(clientContinent) };
  }
  if (region === undefined) throw new Error("a source without a kind was not checked");
  return { kind: "region", label: `region ${region}`, target: targetNamed(region, targets) };
};

const targetNamed = (name: string, targets: TargetsBySaying): Target => {
  const target = targets.get(name);
  if (target === undefined) throw new Error(`region ${name} was not checked`);
  return target;
};
