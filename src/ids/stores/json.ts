import { err, messageOf, ok, type Result } from "../result.ts";

/** JSON whose numbers are IDs. `JSON.parse` rounds a Snowflake and a DistributedId, and another row is found by the result. */

/** The text is no JSON; `message` is the engine's. */
export type ExactParseError = { readonly reason: "syntax"; readonly message: string };

/** Why a value has no exact JSON. `path` is a JSON Pointer (RFC 6901). */
export type ExactWriteError =
  /** An integer beyond 2^53 - 1 as a `number`: its digits were lost before. */
  | { readonly reason: "rounded"; readonly path: string; readonly value: number }
  /** `NaN` or an infinity, which `JSON.stringify` writes as `null`. */
  | { readonly reason: "not-finite"; readonly path: string }
  /** A member of `unquoted` has a text that is no decimal number. */
  | { readonly reason: "no-number"; readonly path: string; readonly value: string }
  /** More than `JSON_DEPTH_MAX` levels, or a cycle. */
  | { readonly reason: "too-deep"; readonly path: string }
  /** The value itself is `undefined`, a function or a symbol. */
  | { readonly reason: "no-json" };

/** How IDs are written. By default each `bigint` is a JSON text, which every reader keeps. */
export interface ExactJsonOptions {
  /** Every `bigint` is a JSON number, with all its digits. */
  readonly unquotedBigints?: boolean;
  /** Names of members whose `bigint`s and digits are JSON numbers, in arrays too: `["id", "customerIds"]`. */
  readonly unquoted?: readonly string[];
}

/** More levels than any document of records has, and far fewer than the stack. */
export const JSON_DEPTH_MAX = 1000;

/**
 * Parses JSON as `JSON.parse` does, but no number is rounded: an integer beyond 2^53 - 1, and a number with more digits than a
 * `number` keeps, becomes a text, as it is written in the source.
 */
export const parseExactJson = (text: string): Result<unknown, ExactParseError> => {
  try {
    const value: unknown = JSON.parse(text);
    const quoted = quoteLosses(text);
    return ok(quoted === undefined ? value : JSON.parse(quoted));
  } catch (error) {
    return err({ reason: "syntax", message: messageOf(error) });
  }
};

/** Numbers of JSON (RFC 8259 section 6), at a place where the text has one. */
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Valid JSON with quotes around each number that a `number` does not keep; `undefined` if there is none. */
const quoteLosses = (text: string): string | undefined => {
  const parts: string[] = [];
  let done = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const [number = ""] = NUMBER.exec(text) ?? [];
      if (!isKept(number)) {
        parts.push(text.slice(done, at), `"${number}"`);
        done = at + number.length;
      }
      at += number.length;
    } else at++;
  }
  return done === 0 ? undefined : parts.join("") + text.slice(done);
};

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** The index after the closing quote: the first one behind an even number of backslashes. */
const endOfString = (text: string, start: number): number => {
  for (let at = start + 1; ; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
  }
};

const BACKSLASH = 0x5c;

const isKept = (source: string): boolean => {
  const value = Number(source);
  if (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value)) return false;
  return source === String(value) || digitsOf(source) === digitsOf(String(value));
};

/** Significant digits and the power of ten of the last one: equal for texts of one number. */
const digitsOf = (number: string): string => {
  const [, sign = "", whole = "", part = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, "");
  // `/0+$/` costs the square of a run of zeros.
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end--;
  const short = digits.slice(0, end);
  return short === "" ? "0" : `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
};

/**
 * Writes JSON as `JSON.stringify` does, without white space. A `bigint` is a text, or a JSON number if the options say so. A
 * `number` that has lost digits is an error, never written.
 */
export const stringifyExactJson = (value: unknown, options: ExactJsonOptions = {}): Result<string, ExactWriteError> => {
  const unquoted = new Set(options.unquoted);
  const writer = { isUnquoted: (member: string) => unquoted.has(member), bigints: options.unquotedBigints === true };
  const written = write(writer, value, { member: "", key: "", path: "", depth: 0 });
  if (typeof written === "object") return err(written);
  return written === undefined ? err({ reason: "no-json" }) : ok(written);
};

interface Writer {
  readonly isUnquoted: (member: string) => boolean;
  readonly bigints: boolean;
}

/** `member`: the nearest name of an object; `key`: the name or the index, as `toJSON` gets it. */
interface Place {
  readonly member: string;
  readonly key: string;
  readonly path: string;
  readonly depth: number;
}

/** `undefined`: the value has no JSON, and its member is left out. */
type Written = string | undefined | ExactWriteError;

const write = (writer: Writer, value: unknown, place: Place): Written => {
  const { member, path } = place;
  switch (typeof value) {
    case "bigint":
      return writer.bigints || writer.isUnquoted(member) ? `${value}` : `"${value}"`;
    case "string":
      if (!writer.isUnquoted(member)) return JSON.stringify(value);
      return DECIMAL.test(value) ? value : { reason: "no-number", path, value };
    case "number":
      if (!Number.isFinite(value)) return { reason: "not-finite", path };
      return Number.isInteger(value) && !Number.isSafeInteger(value) ? { reason: "rounded", path, value } : `${value}`;
    case "object":
      return value === null ? "null" : writeObject(writer, value, place);
    case "boolean":
      return `${value}`;
    default:
      return undefined;
  }
};

/** Without an exponent: an ID has none, and a reader of decimals need not know them. */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

const writeObject = (writer: Writer, value: object, place: Place): Written => {
  if (RAW.isRawJSON?.(value) === true) return (value as { readonly rawJSON: string }).rawJSON;
  if (!("toJSON" in value) || typeof value.toJSON !== "function") return writeMembers(writer, value, place);
  const json: unknown = value.toJSON(place.key);
  // The result of `toJSON` is not asked again.
  return typeof json === "object" && json !== null ? writeMembers(writer, json, place) : write(writer, json, place);
};

/** `JSON.rawJSON`, which newer engines have: a text that is meant as it is. */
const RAW = JSON as { readonly isRawJSON?: (value: unknown) => boolean };

const writeMembers = (writer: Writer, value: object, place: Place): Written => {
  if (place.depth >= JSON_DEPTH_MAX) return { reason: "too-deep", path: place.path };
  if (value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt) {
    return write(writer, value.valueOf(), place);
  }
  const isArray = Array.isArray(value);
  const parts: string[] = [];
  // A hole of an array is `null`, as `undefined` is.
  const members: Iterable<readonly [number | string, unknown]> = isArray ? value.entries() : Object.entries(value);
  for (const [name, item] of members) {
    const key = `${name}`;
    const member = isArray ? place.member : key;
    const written = write(writer, item, { member, key, path: pointer(place.path, key), depth: place.depth + 1 });
    if (typeof written === "object") return written;
    if (isArray) parts.push(written ?? "null");
    else if (written !== undefined) parts.push(`${JSON.stringify(key)}:${written}`);
  }
  return isArray ? `[${parts.join()}]` : `{${parts.join()}}`;
};

const pointer = (path: string, key: string): string => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
