import { BASE64URL } from "../ids/text/alphabets.ts";

/**
 * Reads a claim of a bearer token WITHOUT verifying it: whoever holds a token can make another that says something else.
 * So a claim may choose where a request goes, and nothing more; whether the token is good is for the origin to find out.
 */

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
  claim.startsWith("/")
    ? claim
        .slice(1)
        .split("/")
        .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    : [claim];

/**
 * What a token says under a claim, as text; `undefined` when it is no JWT that can be read, or has no such claim. Strict:
 * base64url has one spelling, text is UTF-8, and the claims are one JSON object. Never throws.
 */
export const claimOf = (token: string, path: readonly string[]): string | undefined => {
  const payload = COMPACT.exec(token)?.[1];
  const json = payload === undefined ? undefined : decodeBase64Url(payload);
  let value = json === undefined ? undefined : parseJson(json);
  if (Array.isArray(value)) return undefined;
  for (const step of path) value = memberOf(value, step);
  return claimValueOf(value);
};

const ARRAY_INDEX = /^(?:0|[1-9]\d{0,9})$/;

const memberOf = (value: unknown, name: string): unknown => {
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

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Digit by character code. */
const DIGITS: ReadonlyMap<number, number> = new Map(
  [...BASE64URL.digits].map((digit, at) => [digit.charCodeAt(0), at]),
);

/** Bytes as `decodeURIComponent` takes them: ASCII as it is, all else in hex. */
const ESCAPED = Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 && byte !== 0x25 ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`,
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
    escaped += ESCAPED[pending >> bits];
    pending &= (1 << bits) - 1;
  }
  if (pending !== 0) return undefined;
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
};
