import { ISO_3166_ALPHA_2 } from "../data/iso-3166.ts";
import { SOURCE_VALUES_MAX } from "../limits.ts";
import type { Draft } from "../schema/draft.ts";
import type { Place, Report } from "../schema/faults.ts";
import { type DeclaredValues, listOf, valuesOf } from "../schema/records.ts";
import { CONTINENTS, type DeclaredSource, type DeclaredWithoutId } from "../schema/without-id.ts";
import { checkRegion, noSuchCountry } from "./names.ts";
import { type Kind, Taken } from "./taken-values.ts";

/** Sources of a region: each has one kind, values that can come, and something left to decide. */

const KINDS = [
  "jwtClaim",
  "header",
  "headers",
  "cookie",
  "clientCountry",
  "clientContinent",
  "query",
  "pathSegment",
  "hostLabel",
  "host",
  "region",
] as const satisfies readonly Kind[];

/** `header` beside `jwtClaim` is the header with the token; `region` beside `headers` is theirs. */
const kindsOf = (source: DeclaredSource): readonly Kind[] =>
  KINDS.filter((kind) => {
    if (source[kind] === undefined) return false;
    return !(kind === "header" && source.jwtClaim) && !(kind === "region" && source.headers);
  });

const ASSUMED: ReadonlySet<Kind> = new Set(["clientCountry", "clientContinent", "region"]);

/** They name their regions themselves. */
const WITHOUT_VALUES: ReadonlySet<Kind> = new Set([...ASSUMED, "host", "headers"]);

/** Their values go on by themselves. */
const GOING_ON: ReadonlySet<Kind> = new Set(["cookie", "clientCountry", "clientContinent", "host", "headers"]);

const goesOn = (source: DeclaredSource, kind: Kind): boolean =>
  (source.unlisted ?? (GOING_ON.has(kind) ? "next" : "refuse")) === "next";

type Sources = readonly DeclaredSource[];

const MAPS = ["values", "prefixes", "clientCountry", "clientContinent", "host"] as const;

export const checkSources = (draft: Draft, sources: Sources, list: Place, report: Report): void => {
  // A table from before values could go on stays valid, although some of its values never decide.
  const taken = new Taken(draft.names.regions, sources.some(isNewer));
  for (const [index, source] of sources.entries()) {
    const place = [...list, index];
    const [kind, second] = kindsOf(source);
    if (kind === undefined || second !== undefined) {
      report("schema", place, `A source has exactly one of ${KINDS.map((each) => `\`${each}\``).join(", ")}.`);
      continue;
    }
    checkParts(source, kind, place, report);
    for (const unreachable of taken.add(source, kind, goesOn(source, kind))) {
      const message =
        unreachable.length === 0
          ? "An earlier source always decides; remove this one, or move it up."
          : "An earlier source takes this value, so it never decides here; remove it, or move the source up.";
      report("unreachable-source", [...place, ...unreachable], message);
    }
    checkRegions(draft, source, place, report);
    checkValues(source, kind, place, report);
  }
};

const isNewer = (source: DeclaredSource): boolean =>
  source.unlisted !== undefined ||
  source.prefixes !== undefined ||
  source.headers !== undefined ||
  MAPS.some((part) => Object.values(source[part] ?? {}).some((entry) => typeof entry !== "string"));

const checkParts = (source: DeclaredSource, kind: Kind, place: Place, report: Report): void => {
  for (const part of ["values", "prefixes"] as const) {
    if (source[part] === undefined || !WITHOUT_VALUES.has(kind)) continue;
    report("schema", [...place, part], `\`${kind}\` names its regions itself; remove \`${part}\`.`);
  }
  if (kind === "headers" && source.region === undefined) {
    report("schema", place, "`headers` needs the region of these requests; add `region`.");
  }
  if (source.unlisted !== undefined && (kind === "headers" || kind === "region")) {
    report("schema", [...place, "unlisted"], `\`${kind}\` lists no values of its own; remove \`unlisted\`.`);
  }
  const seen = new Set<string>();
  for (const name of Object.keys(source.headers ?? {})) {
    const message = `Names of headers have no case, and ${JSON.stringify(name)} is written twice; remove one of them.`;
    if (seen.has(name.toLowerCase())) report("schema", [...place, "headers", name], message);
    seen.add(name.toLowerCase());
  }
};

/** Also of read copies. */
export const checkRegions = (
  draft: Draft,
  source: Partial<Pick<DeclaredSource, (typeof MAPS)[number] | "region">>,
  place: Place,
  report: Report,
): void => {
  if (source.region !== undefined) checkRegion(draft, source.region, [...place, "region"], report);
  let count = 0;
  for (const part of MAPS) {
    const map: DeclaredValues = source[part] ?? {};
    for (const [key, entry] of Object.entries(map)) {
      checkRegion(draft, typeof entry === "string" ? entry : key, [...place, part, key], report);
    }
    const known = new Set<string>();
    for (const { value, at } of valuesOf(map)) {
      count++;
      const here = [...place, part, ...at];
      if (known.has(value)) report("schema", here, `${JSON.stringify(value)} is here twice; remove one of them.`);
      known.add(value);
      if (part === "clientCountry" && !ISO_3166_ALPHA_2.has(value) && !PLATFORM_COUNTRIES.has(value)) {
        report("unknown-name", here, noSuchCountry(value));
      }
      if (part === "clientContinent" && !CONTINENTS.some((continent) => continent === value)) {
        const message = `${JSON.stringify(value)} is no continent; write one of ${CONTINENTS.join(", ")}.`;
        report("schema", here, message);
      }
    }
  }
  if (count > SOURCE_VALUES_MAX) {
    report("size", place, `A source has at most ${SOURCE_VALUES_MAX} values; there are ${count}.`);
  }
};

/** Codes that Cloudflare adds to ISO 3166-1: the user-assigned one of Kosovo, and the Tor network. */
const PLATFORM_COUNTRIES: ReadonlySet<string> = new Set(["XK", "T1"]);

/** Values and prefixes that no request can have. */
const checkValues = (source: DeclaredSource, kind: Kind, place: Place, report: Report): void => {
  const check = (value: string, at: Place, isPrefix: boolean): void => {
    const why = impossible(value, kind, isPrefix);
    const which = isPrefix ? "No value begins with" : "No request has the value";
    if (why === undefined) return;
    report("unreachable-source", [...place, ...at], `${which} ${JSON.stringify(value)}: ${why}; correct it.`);
  };
  for (const part of ["values", "prefixes", "host"] as const) {
    for (const { value, at } of valuesOf(source[part])) check(value, [part, ...at], part === "prefixes");
  }
  for (const [name, values] of Object.entries(source.headers ?? {})) {
    const at = ["headers", name];
    const each = listOf<string>(values);
    const known = new Set<string>();
    for (const [index, value] of each.entries()) {
      const here = Array.isArray(values) ? [...at, index] : at;
      check(value, here, false);
      if (known.has(value)) {
        report("schema", [...place, ...here], `${JSON.stringify(value)} is here twice; remove one of them.`);
      }
      known.add(value);
    }
  }
};

/** Control characters other than the tab (RFC 9110 §5.5). */
const CONTROL = /[^\t\x80-\x9f\P{Cc}]/u;

/** Characters that URLs leave unescaped in a segment, and escapes. */
const SEGMENT = /^[\w.~!$&'()*+,;=:@%|[\]^-]+$/;

const DOTS = /^(?:\.|%2e){1,2}$/i;

const HOST = /^(?:\*|[a-z0-9_-]{1,63})(?:\.[a-z0-9_-]{1,63})*$|^\[[0-9a-f:.]+\]$/;

const impossible = (value: string, kind: Kind, isPrefix: boolean): string | undefined =>
  /\p{Cs}/u.test(value) ? "it has half of a character" : IMPOSSIBLE[kind]?.(value, isPrefix);

const impossibleInHeader = (value: string, isPrefix: boolean): string | undefined => {
  if (CONTROL.test(value)) return "a header has no control characters";
  const hasOuterSpace = /^[ \t]/.test(value) || (!isPrefix && /[ \t]$/.test(value));
  return hasOuterSpace ? "white space around it is not part of it" : undefined;
};

/** Why a request cannot have the value, by the part of a request that would have it. */
const IMPOSSIBLE: Partial<Record<Kind, (value: string, isPrefix: boolean) => string | undefined>> = {
  header: impossibleInHeader,
  headers: impossibleInHeader,
  cookie: (value, isPrefix) =>
    impossibleInHeader(value, isPrefix) ?? (value.includes(";") ? "a semicolon ends the value of a cookie" : undefined),
  pathSegment: (value, isPrefix) => {
    if (value.includes("/")) return "a slash ends a segment";
    if (!SEGMENT.test(value)) return `it is escaped in a path, as ${JSON.stringify(encodeURIComponent(value))}`;
    return !isPrefix && DOTS.test(value) ? "a path has no dot segments" : undefined;
  },
  hostLabel: (value) => {
    if (value.includes(".")) return "a dot ends a label";
    return /^[a-z0-9_-]{1,63}$/.test(value) ? undefined : "a label has small letters, digits, `-` and `_`";
  },
  host: (value) => (HOST.test(value) ? undefined : "a host has small letters, digits, `-` and `_` between its dots"),
};

/** The cookie is read after what the client says itself: it must be set by something, and be read as it was set. */
export const checkSticky = (sources: Sources, { sticky }: DeclaredWithoutId, place: Place, report: Report): void => {
  if (sticky === undefined || sources.length === 0) return;
  const at = [...place, "sticky"];
  const assumed = sources.findIndex((source) => kindsOf(source).some((kind) => ASSUMED.has(kind)));
  if (assumed === -1) {
    const message =
      "No source here uses the client's location or a fixed region, so the cookie is never set; remove it.";
    report("unreachable-source", at, message);
    return;
  }
  const rival = sources
    .slice(0, assumed)
    .find(({ cookie, unlisted }) => cookie === sticky.cookie && unlisted === "refuse");
  if (rival?.values === undefined && rival?.prefixes === undefined) return;
  const message = `The cookie has the name of a region, which an earlier source of the cookie ${JSON.stringify(sticky.cookie)} may refuse; rename one of them.`;
  report("name-clash", [...at, "cookie"], message);
};
