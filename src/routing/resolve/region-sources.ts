import { err, ok, type Result } from "../../ids/result.ts";
import { BASE64URL } from "../../ids/text/alphabets.ts";
import { PLACE_IDS_MAX, TOKEN_LENGTH_MAX } from "../limits.ts";
import { ambiguousCookie, cookieValues, hostOf, labelOf, type NameTest, parameterValues } from "../places/values.ts";
import { keysOfPointer, type UnknownName } from "../schema/faults.ts";
import { parseJson } from "../schema/json-scanner.ts";
import type { DeclaredWithoutId } from "../schema/without-id.ts";

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

/** A claim as text; `undefined` without one, or for no JWT. Strict: one spelling, UTF-8, one JSON object. Never throws. */
export const claimOf = (token: string, path: readonly string[]): string | undefined => {
  const payload = COMPACT.exec(token)?.[1];
  const json = payload === undefined ? undefined : decodeBase64Url(payload);
  let value = json === undefined ? undefined : parseJson(json);
  if (Array.isArray(value)) return undefined;
  for (const step of path) value = memberOf(value, step);
  return claimValueOf(value);
};

const ARRAY_INDEX = /^(?:0|[1-9]\d{0,9})$/;

export const memberOf = (value: unknown, name: string): unknown => {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value) && !ARRAY_INDEX.test(name)) return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
};

/** `null` says nothing; what is no text still says something, and it is never the name of a region. */
const claimValueOf = (value: unknown): string | undefined => {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object") return Array.isArray(value) ? "[…]" : "{…}";
  return String(value);
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

/** Which region a request without an ID is for: the first source of a list that says something decides. */

export type RegionByValue = ReadonlyMap<string, string>;

/** A source, compiled. `label` is how a problem names it. `isListed`: the table lists its values. Header fields are in lower case. */
export type RegionSource = { readonly label: string; readonly isListed: boolean } & (
  | { readonly kind: "header"; readonly header: string; readonly regions: RegionByValue }
  | { readonly kind: "cookie"; readonly cookie: string; readonly regions: RegionByValue }
  | {
      readonly kind: "claim";
      readonly header: string;
      /** Names from the token's claims down. */
      readonly path: readonly string[];
      readonly regions: RegionByValue;
    }
  | { readonly kind: "query"; readonly name: string; readonly test: NameTest; readonly regions: RegionByValue }
  /** `at`: counted from 1. */
  | { readonly kind: "segment"; readonly at: number; readonly regions: RegionByValue }
  /** `parent`: what follows the label, with its dot. */
  | { readonly kind: "hostLabel"; readonly parent: string; readonly regions: RegionByValue }
  | { readonly kind: "host" | "country" | "continent"; readonly regions: RegionByValue }
  | { readonly kind: "region"; readonly region: string }
);

export type Sticky = Readonly<NonNullable<DeclaredWithoutId["sticky"]>>;

/** What a request and its client say; each is asked for only when a source needs it. */
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

export type RegionSourceError =
  | { readonly reason: "region-unknown"; readonly sources: readonly string[] }
  | UnknownName<"region">
  | { readonly reason: "malformed-request"; readonly detail: string };

/** A source's word: `undefined` when it says nothing, and the next one is asked. */
type Word = Result<RegionChoice, RegionSourceError> | undefined;

/** Reads the sources in order. Never throws, whatever the request says. */
export const chooseRegion = (
  sources: readonly RegionSource[],
  says: RequestSays,
): Result<RegionChoice & { readonly label: string }, RegionSourceError> => {
  for (const source of sources) {
    const word = evaluate(source, says);
    if (word !== undefined) return word.ok ? ok({ ...word.value, label: source.label }) : word;
  }
  return err({ reason: "region-unknown", sources: sources.map(({ label }) => label) });
};

const evaluate = (source: RegionSource, says: RequestSays): Word => {
  switch (source.kind) {
    case "header":
      return lookUp(says.header(source.header), source, source.regions);
    case "claim":
      return readToken(source, says);
    case "cookie":
      return readCookie(source.cookie, says.header("cookie"), source.regions);
    case "query":
      return readParameter(source, says.query);
    case "segment":
      // An escape is not decoded: it names no region.
      return lookUp(says.path.split("/", source.at + 1)[source.at] || undefined, source, source.regions);
    case "hostLabel": {
      const [label, parent] = labelOf(hostOf(says.host));
      return parent === source.parent ? lookUp(label || undefined, source, source.regions) : undefined;
    }
    case "host": {
      const host = hostOf(says.host);
      const [label, rest] = labelOf(host);
      return said(source.regions.get(host) ?? (label === "" ? undefined : source.regions.get(`*${rest}`)), false);
    }
    case "country":
      return said(source.regions.get(says.country() ?? ""), true);
    case "continent":
      return said(source.regions.get(says.continent() ?? ""), true);
    case "region":
      return said(source.region, true);
  }
};

const said = (region: string | undefined, isAssumed: boolean): Word =>
  region === undefined ? undefined : ok({ region, isAssumed });

/** A value that no region has is an error, never another region. */
const lookUp = (name: string | undefined, { label, isListed }: RegionSource, regions: RegionByValue): Word => {
  if (name === undefined) return undefined;
  const region = regions.get(name);
  if (region !== undefined) return said(region, false);
  const error = { reason: "unknown-name", what: "region", name, known: [...regions.keys()] } as const;
  return err(isListed ? { ...error, source: label } : error);
};

type QuerySource = Extract<RegionSource, { readonly kind: "query" }>;

/** One that comes twice and says two things names no region. */
const readParameter = (source: QuerySource, query: string): Word => {
  const { name, test, regions } = source;
  const values = parameterValues(query.slice(1), test);
  const [value, second = values[PLACE_IDS_MAX]] = new Set(values);
  if (second === undefined) return lookUp(value, source, regions);
  return err({ reason: "malformed-request", detail: `The query parameter ${name} has several values.` });
};

/** A token that is too long to be read might say something: skipping it would be a guess. */
const readToken = (source: Extract<RegionSource, { readonly kind: "claim" }>, says: RequestSays): Word => {
  const { header, path, regions } = source;
  const credentials = says.header(header);
  if (credentials === undefined) return undefined;
  const token = bearerToken(credentials) ?? (header === "authorization" ? undefined : credentials);
  if (token === undefined) return undefined;
  if (token.length > TOKEN_LENGTH_MAX) {
    const detail = `The token in ${header} is longer than ${TOKEN_LENGTH_MAX} characters.`;
    return err({ reason: "malformed-request", detail });
  }
  return lookUp(claimOf(token, path), source, regions);
};

/** Browsers keep cookies for long after a region is gone, and may send several of one name (RFC 6265 §5.4): the first known counts. */
const readCookie = (name: string, field: string | undefined, regions: RegionByValue): Word => {
  const values = cookieValues(field, name);
  if (values === undefined) return err({ reason: "malformed-request", detail: ambiguousCookie(name) });
  return said(regions.get(values.find((value) => regions.has(value)) ?? ""), false);
};

/** Value of `set-cookie`: not for scripts, and not sent along when another site embeds or posts to this one (RFC 6265bis §5.6). */
export const stickyCookie = ({ cookie, maxAgeSeconds }: Sticky, region: string, isSecure: boolean): string =>
  `${cookie}=${region}; Path=/; Max-Age=${maxAgeSeconds}${isSecure ? "; Secure" : ""}; HttpOnly; SameSite=Lax`;
