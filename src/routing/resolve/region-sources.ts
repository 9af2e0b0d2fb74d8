import { err, ok, type Result } from "../../ids/result.ts";
import { BASE64URL } from "../../ids/text/alphabets.ts";
import { PLACE_IDS_MAX, TOKEN_LENGTH_MAX } from "../limits.ts";
import { segmentsAsRead } from "../lookup/as-read.ts";
import {
  ambiguousCookie,
  cookieValues,
  hostOf,
  isUndecodable,
  labelOf,
  type NameTest,
  parameterValues,
} from "../lookup/values.ts";
import { keysOfPointer, type UnknownName } from "../schema/faults.ts";
import { parseJson } from "../schema/json-scanner.ts";
import type { DeclaredWithoutId } from "../schema/without-id.ts";
import { knownOf, type Listed, regionFor } from "./listed.ts";

/** Claims are read WITHOUT verifying the token: they choose where a request goes, and nothing more. The origin verifies. */

/** JWS compact serialisation (RFC 7515 §3.1): three parts, the signature of an unsecured one empty. */
const COMPACT = /^[\w-]+\.([\w-]+)\.[\w-]*$/;

/** `Bearer` in any case, one space or more (RFC 6750 §2.1, RFC 9110 §11.1). */
const BEARER = /^bearer +(?=\S)/i;

/** The token that credentials carry; `undefined` for those of another scheme. */
export const bearerToken = (credentials: string): string | undefined => {
  const scheme = BEARER.exec(credentials);
  return scheme === null ? undefined : credentials.slice(scheme[0].length);
};

/** The names that lead to a claim: a JSON pointer (RFC 6901) when it begins with a slash, else one name. */
export const claimPathOf = (claim: string): readonly string[] =>
  claim.startsWith("/") ? keysOfPointer(claim) : [claim];

/** A claim; `undefined` without one, if it is null, or for no JWT. Strict: one spelling, UTF-8, one JSON object. Never throws. */
const claimOf = (token: string, path: readonly string[]): unknown => {
  const payload = COMPACT.exec(token)?.[1];
  const json = payload === undefined ? undefined : decodeBase64Url(payload);
  let value = json === undefined ? undefined : parseJson(json);
  if (Array.isArray(value)) return undefined;
  for (const step of path) value = memberOf(value, step);
  return value ?? undefined;
};

const ARRAY_INDEX = /^(?:0|[1-9]\d{0,9})$/;

export const memberOf = (value: unknown, name: string): unknown => {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value) && !ARRAY_INDEX.test(name)) return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
};

const DIGITS: ReadonlyMap<number, number> = new Map(
  [...BASE64URL.digits].map((digit, at) => [digit.charCodeAt(0), at]),
);

/** RFC 4648 §5 without padding; bits that are left over must be 0 (§3.5), and the bytes must be UTF-8. */
const decodeBase64Url = (text: string): string | undefined => {
  if (text.length % 4 === 1) return undefined;
  let escaped = "";
  let pending = 0;
  let bits = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = DIGITS.get(text.charCodeAt(at));
    if (digit === undefined) return undefined;
    pending = (pending << 6) | digit;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    escaped += `%${(pending >> bits).toString(16).padStart(2, "0")}`;
    pending &= (1 << bits) - 1;
  }
  if (pending !== 0) return undefined;
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
};

/** The region of a request without an ID: the first source of a list that says something decides. */

/** A source, compiled. `label` is how a problem names it. `isListed`: the table lists its values. Header fields are in lower case. */
export type RegionSource = { readonly label: string } & (
  | (ValueSource &
      (
        | { readonly kind: "header"; readonly header: string }
        | { readonly kind: "cookie"; readonly cookie: string }
        /** `path`: names from the token's claims down. */
        | { readonly kind: "claim"; readonly header: string; readonly path: readonly string[] }
        | { readonly kind: "query"; readonly name: string; readonly test: NameTest }
        /** `at`: counted from 1. */
        | { readonly kind: "segment"; readonly at: number }
        /** `parent`: what follows the label, with its dot. */
        | { readonly kind: "hostLabel"; readonly parent: string }
        | { readonly kind: "host" | "country" | "continent" }
      ))
  | { readonly kind: "headers"; readonly conditions: readonly HeaderCondition[]; readonly region: string }
  | { readonly kind: "region"; readonly region: string }
);

interface ValueSource {
  readonly label: string;
  readonly isListed: boolean;
  readonly listed: Listed;
  /** Its values may be credentials: no problem repeats them. */
  readonly isSecret: boolean;
  /** Whether the table says that other values go on. Those of cookies and places do so anyway. */
  readonly isTold: boolean;
}

interface HeaderCondition {
  readonly header: string;
  readonly values: ReadonlySet<string>;
}

export type Sticky = Readonly<NonNullable<DeclaredWithoutId["sticky"]>>;

/** A request's and its client's properties; each is asked for only when a source needs it. */
export interface RequestSays {
  /** The value of a header field by its name in lower case, all lines of it joined. */
  readonly header: (name: string) => string | undefined;
  /** As the client asked for it; of a trusted proxy's word where that counts. */
  readonly host: string;
  /** Raw, the query with its question mark or empty. */
  readonly path: string;
  readonly query: string;
  /** ISO 3166-1 alpha-2, where it is known. */
  readonly country: () => string | undefined;
  /** Two letters, where it is known. */
  readonly continent: () => string | undefined;
}

export interface RegionChoice {
  readonly region: string;
  /** Whether the client did not say it: it follows from where the client is, or nothing else was known. */
  readonly isAssumed: boolean;
}

export interface ChosenRegion extends RegionChoice {
  /** The source that chose it, as problems name it. */
  readonly label: string;
  /** Sources before it with `unlisted: "next"` in the table whose value is not listed. */
  readonly unlisted: readonly string[] | undefined;
}

/** A value that a source does not list. `value`: absent where it may be a credential. */
export interface UnlistedValue {
  readonly source: string;
  readonly value?: string;
}

export type RegionSourceError =
  | {
      readonly reason: "region-unknown";
      readonly sources: readonly string[];
      /** Labels of sources whose value went on to the next; absent without any. */
      readonly unlisted?: readonly UnlistedValue[];
    }
  | UnknownName<"region">
  | { readonly reason: "malformed-request"; readonly detail: string };

/** A source's word: `undefined` when it says nothing, and the next one is asked. */
type Word =
  | (RegionChoice & { readonly kind: "region"; readonly value?: string | undefined })
  | { readonly kind: "unlisted"; readonly value: string }
  | { readonly kind: "refused"; readonly value?: string | undefined; readonly error: RegionSourceError }
  | undefined;

/** Reads the sources in order. Never throws, whatever the request says. */
export const chooseRegion = (
  sources: readonly RegionSource[],
  says: RequestSays,
): Result<ChosenRegion, RegionSourceError> => {
  let passed: { readonly source: RegionSource; readonly value: string }[] | undefined;
  for (const source of sources) {
    const word = evaluate(source, says);
    if (word === undefined) continue;
    if (word.kind === "region") {
      const { region, isAssumed } = word;
      const told = passed?.filter((each) => "isTold" in each.source && each.source.isTold) ?? [];
      const unlisted = told.length === 0 ? undefined : told.map((each) => each.source.label);
      return ok({ region, isAssumed, label: source.label, unlisted });
    }
    if (word.kind === "refused") return err(word.error);
    passed ??= [];
    passed.push({ source, value: word.value });
  }
  const unlisted = passed?.map(({ source, value }) => ({
    source: source.label,
    ...(isSecret(source) ? {} : { value }),
  }));
  return err({ reason: "region-unknown", sources: sources.map(({ label }) => label), ...(unlisted && { unlisted }) });
};

const isSecret = (source: RegionSource): boolean => "isSecret" in source && source.isSecret;

/** A source that was asked. `value`: the text that it read, if any. */
export interface SourceStep {
  readonly source: string;
  readonly value?: string;
  readonly result: "silent" | "unlisted" | "refused" | "region";
}

/** The sources that are asked, in order, up to the one that decides or refuses. For people. */
export const stepsOf = (sources: readonly RegionSource[], says: RequestSays): readonly SourceStep[] => {
  const steps: SourceStep[] = [];
  for (const source of sources) {
    const word = evaluate(source, says);
    const value = word?.value === undefined ? {} : { value: word.value };
    steps.push({ source: source.label, ...value, result: word?.kind ?? "silent" });
    if (word?.kind === "region" || word?.kind === "refused") break;
  }
  return steps;
};

const evaluate = (source: RegionSource, says: RequestSays): Word => {
  switch (source.kind) {
    case "header":
      return lookUp(says.header(source.header), source);
    case "headers":
      return readHeaders(source, says);
    case "claim":
      return readToken(source, says);
    case "cookie":
      return readCookie(source, says.header("cookie"));
    case "query":
      return readParameter(source, says.query);
    case "segment":
      return readSegment(source, says.path);
    case "hostLabel":
      return readHostLabel(source, says.host);
    case "host":
      return readHost(source, says.host);
    case "country":
      return lookUp(says.country() || undefined, source, true);
    case "continent":
      return lookUp(says.continent() || undefined, source, true);
    case "region":
      return { kind: "region", region: source.region, isAssumed: true };
  }
};

/** A value that no region has is an error, never another region, unless the table lets it go on; an empty one too. */
const lookUp = (
  name: string | undefined,
  source: ValueSource,
  isAssumed = false,
  value: string | undefined = name,
): Word => {
  if (name === undefined) return undefined;
  const region = regionFor(source.listed, name);
  if (region !== undefined) return { kind: "region", region, isAssumed, value };
  return source.listed.goesOn ? { kind: "unlisted", value: value as string } : refusal(source, value);
};

const refusal = ({ label, listed, isListed, isSecret }: ValueSource, value: string | undefined): Word => {
  const name = isSecret ? undefined : value;
  const error = { reason: "unknown-name", what: "region", name, ...knownOf(listed) } as const;
  return { kind: "refused", value, error: isListed || isSecret ? { ...error, source: label } : error };
};

type SourceOf<Kind extends RegionSource["kind"]> = Extract<RegionSource, { readonly kind: Kind }>;

/** It says nothing before each of the headers is there. */
const readHeaders = ({ conditions, region }: SourceOf<"headers">, says: RequestSays): Word => {
  let isMet = true;
  const read: string[] = [];
  for (const { header, values } of conditions) {
    const value = says.header(header);
    if (value === undefined) return undefined;
    isMet &&= values.has(value);
    read.push(`${header}: ${value}`);
  }
  const value = read.join(", ");
  return isMet ? { kind: "region", region, isAssumed: false, value } : { kind: "unlisted", value };
};

/** One that comes twice and says two things names no region, nor does one that cannot be decoded. */
const readParameter = (source: SourceOf<"query">, query: string): Word => {
  const values = parameterValues(query.slice(1), source.test);
  const [value, second = values[PLACE_IDS_MAX]] = new Set(values);
  if (second !== undefined) {
    const detail = `The query parameter ${source.name} has several values.`;
    return { kind: "refused", error: { reason: "malformed-request", detail } };
  }
  const word = lookUp(value, source);
  return word?.kind === "unlisted" && isUndecodable(query.slice(1), source.test) ? refusal(source, value) : word;
};

/** Slashes that servers may merge, escapes and parameters. */
const READ_DIFFERENTLY = /\/\/|[%;]/;

/**
 * An escape is not decoded: it names no region. A segment in which an origin may read a listed value does not go on.
 * Nor does a path in which it may read another region's value in this place (`//eu/`, `/eu/..%2Fus/`).
 */
const readSegment = (source: SourceOf<"segment">, path: string): Word => {
  const segment = path.split("/", source.at + 1)[source.at];
  const word = lookUp(segment || undefined, source);
  if (READ_DIFFERENTLY.test(path) && (source.listed.goesOn || path.includes("//"))) {
    const read = segmentsAsRead(path)[source.at - 1];
    const region = read === undefined ? undefined : regionFor(source.listed, read);
    const isOther = region !== undefined && (word?.kind !== "region" || word.region !== region);
    if (isOther) return refusal(source, segment || `/${read}`);
  }
  if (word?.kind !== "unlisted") return word;
  const [plain] = /^[^;]*/.exec(decoded(word.value) ?? "") ?? [""];
  return plain === "" || regionFor(source.listed, plain) !== undefined ? refusal(source, word.value) : word;
};

const readHostLabel = (source: SourceOf<"hostLabel">, host: string): Word => {
  const [label, parent] = labelOf(hostOf(host));
  return parent === source.parent ? lookUp(label || undefined, source) : undefined;
};

/** A listed host itself wins over a pattern. */
const readHost = (source: ValueSource, says: string): Word => {
  const { regions } = source.listed;
  const host = hostOf(says);
  const [label, rest] = labelOf(host);
  const pattern = `*${rest}`;
  const isOfPattern = label !== "" && !regions.has(host) && regions.has(pattern);
  return lookUp((isOfPattern ? pattern : host) || undefined, source, false, host);
};

/** `undefined` where the escapes are no text. */
const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** A token that is too long to be read might say something: skipping it would be a guess. */
const readToken = (source: SourceOf<"claim">, says: RequestSays): Word => {
  const { header, path } = source;
  const credentials = says.header(header);
  if (credentials === undefined) return undefined;
  const token = bearerToken(credentials) ?? (header === "authorization" ? undefined : credentials);
  if (token === undefined) return undefined;
  if (token.length > TOKEN_LENGTH_MAX) {
    const detail = `The token in ${header} is longer than ${TOKEN_LENGTH_MAX} characters.`;
    return { kind: "refused", error: { reason: "malformed-request", detail } };
  }
  const claim = claimOf(token, path);
  // No text at all: nothing that a table could list.
  if (typeof claim === "object") return refusal(source, Array.isArray(claim) ? "[…]" : "{…}");
  return lookUp(claim === undefined ? undefined : String(claim), source);
};

/** Browsers keep cookies for long after a region is gone, and may send several of one name (RFC 6265 §5.4): the first known counts. */
const readCookie = (source: SourceOf<"cookie">, field: string | undefined): Word => {
  const { cookie, listed } = source;
  const values = cookieValues(field, cookie);
  if (values === undefined) {
    return { kind: "refused", error: { reason: "malformed-request", detail: ambiguousCookie(cookie) } };
  }
  for (const value of values) {
    const region = regionFor(listed, value);
    if (region !== undefined) return { kind: "region", region, isAssumed: false, value };
  }
  const [first] = values;
  if (first === undefined) return undefined;
  return listed.goesOn ? { kind: "unlisted", value: first } : refusal(source, first);
};

/** Value of `set-cookie`: not for scripts, and not sent along when another site embeds or posts to this one (RFC 6265bis §5.6). */
export const stickyCookie = ({ cookie, maxAgeSeconds }: Sticky, region: string, isSecure: boolean): string =>
  `${cookie}=${region}; Path=/; Max-Age=${maxAgeSeconds}${isSecure ? "; Secure" : ""}; HttpOnly; SameSite=Lax`;
