import { listOf } from "../compile/conditions.ts";
import { ISO_3166_ALPHA_2 } from "../data/iso-3166.ts";
import { PATTERNS_MAX } from "../limits.ts";
import { indexPaths, patternsOf, segmentsOf } from "../lookup/paths.ts";
import type { Draft } from "../schema/draft.ts";
import type { Place, Report } from "../schema/faults.ts";
import type { DeclaredSource, DeclaredWithoutId } from "../schema/without-id.ts";
import { checkRegion, noSuchCountry } from "./names.ts";
import { checkSegments } from "./paths.ts";

/** Every path without an ID must be reachable and of one entry, and every entry needs sources that can decide. */
export const checkWithoutId = (draft: Draft, report: Report): void => {
  if (draft.sources !== undefined) checkSources(draft, draft.sources, ["sources"], report);
  for (const [name, entry] of draft.withoutId) {
    const place: Place = ["withoutId", name];
    if (draft.names.entities.has(name)) {
      const message = `${JSON.stringify(name)} is the name of an entity too, so logs and metrics could not distinguish them; rename one of them.`;
      report("name-clash", place, message);
    }
    if (entry.sources !== undefined) checkSources(draft, entry.sources, [...place, "sources"], report);
    if (entry.sources?.length === 0 && entry.idIn === undefined) {
      report("schema", [...place, "sources"], "A list of sources has at least one, unless there is `idIn`.");
    }
    if (entry.sources === undefined && draft.sources === undefined && entry.idIn === undefined) {
      const message =
        "These requests have no source of a region; add `sources` here, or at the top level for all entries.";
      report("schema", [...place, "sources"], message);
    }
    checkSticky(entry.sources ?? draft.sources ?? [], entry, place, report);
  }
  checkPaths(draft, report);
};

const KINDS = [
  "jwtClaim",
  "header",
  "cookie",
  "clientCountry",
  "clientContinent",
  "query",
  "pathSegment",
  "hostLabel",
  "host",
  "region",
] as const;
type Kind = (typeof KINDS)[number];

/** `header` beside `jwtClaim` is the header with the token. */
const kindsOf = (source: DeclaredSource): readonly Kind[] =>
  KINDS.filter((kind) => source[kind] !== undefined && !(kind === "header" && source.jwtClaim !== undefined));

const ASSUMED: ReadonlySet<Kind | undefined> = new Set(["clientCountry", "clientContinent", "region"]);

/** They name their regions themselves. */
const WITHOUT_VALUES: ReadonlySet<Kind | undefined> = new Set([...ASSUMED, "host"]);

type Sources = readonly DeclaredSource[];

export const checkSources = (draft: Draft, sources: Sources, list: Place, report: Report): void => {
  const before = new Set<string>();
  let isDecided = false;
  for (const [index, source] of sources.entries()) {
    const place = [...list, index];
    const [kind, second] = kindsOf(source);
    if (kind === undefined || second !== undefined) {
      report("schema", place, `A source has exactly one of ${KINDS.map((each) => `\`${each}\``).join(", ")}.`);
      continue;
    }
    if (source.values !== undefined && WITHOUT_VALUES.has(kind)) {
      report("schema", [...place, "values"], `\`${kind}\` names its regions itself; remove \`values\`.`);
    }
    const key = keyOf(source, kind);
    if (isDecided || before.has(key)) {
      report("unreachable-source", place, "An earlier source always decides; remove this one, or move it up.");
    }
    before.add(key);
    isDecided ||= kind === "region";
    checkRegions(draft, source, place, report);
  }
};

/** Of two sources with the same key the first always decides. */
const keyOf = (source: DeclaredSource, kind: Kind): string => {
  if (kind === "jwtClaim") return JSON.stringify([kind, source.jwtClaim, source.header?.toLowerCase()]);
  return kind === "header" ? JSON.stringify([kind, source.header?.toLowerCase()]) : JSON.stringify(source);
};

export const checkRegions = (draft: Draft, source: DeclaredSource, place: Place, report: Report): void => {
  if (source.region !== undefined) checkRegion(draft, source.region, [...place, "region"], report);
  for (const part of ["values", "clientCountry", "clientContinent", "host"] as const) {
    for (const [named, region] of Object.entries(source[part] ?? {})) {
      checkRegion(draft, region, [...place, part, named], report);
    }
  }
  for (const code of Object.keys(source.clientCountry ?? {})) {
    if (ISO_3166_ALPHA_2.has(code) || PLATFORM_COUNTRIES.has(code)) continue;
    report("unknown-name", [...place, "clientCountry", code], noSuchCountry(code));
  }
};

/** Codes that Cloudflare adds to ISO 3166-1: the user-assigned one of Kosovo, and the Tor network. */
const PLATFORM_COUNTRIES: ReadonlySet<string> = new Set(["XK", "T1"]);

const checkSticky = (sources: Sources, { sticky }: DeclaredWithoutId, place: Place, report: Report): void => {
  if (sticky === undefined || sources.length === 0) return;
  if (sources.some((source) => kindsOf(source).some((kind) => ASSUMED.has(kind)))) return;
  const message = "No source here uses the client's location or a fixed region, so the cookie is never set; remove it.";
  report("unreachable-source", [...place, "sticky"], message);
};

const checkPaths = (draft: Draft, report: Report): void => {
  const paths = [...draft.withoutId].flatMap(([name, { path }]) =>
    listOf(path).map((pattern, index) => ({
      pattern,
      name,
      place: ["withoutId", name, "path", ...(Array.isArray(path) ? [index] : [])],
    })),
  );
  if (paths.length > PATTERNS_MAX) {
    const message = `A table has at most ${PATTERNS_MAX} paths without an ID; there are ${paths.length}.`;
    report("size", ["withoutId"], message);
    return;
  }
  const owners = new Map<string, string>();
  const entityPaths = indexPaths(
    [...draft.entities].map(([name, { path }]) => ({ name, paths: patternsOf(path).map(({ pattern }) => pattern) })),
  );
  for (const { pattern, name, place } of paths) {
    checkSegments(pattern, segmentsOf(pattern), place, report);
    const owner = owners.get(pattern);
    if (owner !== undefined) {
      report("path-collision", place, `${pattern} is already a path of ${JSON.stringify(owner)}; remove one of them.`);
    }
    owners.set(pattern, name);
    // The pattern is matched as a path: no literal segment of an entity is `*`, so only an open segment matches it.
    const entity = entityPaths.match(pattern)?.entity.name;
    if (entity !== undefined) {
      const message = `A path of the entity ${JSON.stringify(entity)} matches everything that ${pattern} could match; change one of them.`;
      report("path-collision", place, message);
    }
  }
};
