import type { ParseError, TextForm, Words } from "../layout/layout.ts";
import { err, ok, type Result } from "../result.ts";
import { characterError, EXPLAINED_CHARACTERS_MAX, misplacedSeparator, shiftError } from "./form.ts";

/** UUID text, RFC 9562 section 4: 32 case-insensitive hexadecimal digits in groups of 8-4-4-4-12. */

export const UUID_TEXT_LENGTH = 36;
const HEX_DIGITS = 32;
const HYPHEN = 0x2d;
const HYPHENS_AT: readonly number[] = [8, 13, 18, 23];

/** The digit value of each UTF-16 code unit, or -1. It covers all 65,536 units, so no lookup is out of bounds. */
const NIBBLES = /* @__PURE__ */ nibbles();
const DIGITS = /* @__PURE__ */ Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

function nibbles(): Int8Array {
  const values = new Int8Array(0x10000).fill(-1);
  for (const [value, digit] of [..."0123456789abcdef"].entries()) {
    values[digit.charCodeAt(0)] = value;
    values[digit.toUpperCase().charCodeAt(0)] = value;
  }
  return values;
}

/** The words of the UUID in `text` from `start` up to, but not including, `end`; `undefined` if invalid. */
export const readUuid = (text: string, start: number, end: number): Words | undefined => {
  if (end - start !== UUID_TEXT_LENGTH || start < 0 || end > text.length) return undefined;
  const hyphens =
    (text.charCodeAt(start + 8) ^ HYPHEN) |
    (text.charCodeAt(start + 13) ^ HYPHEN) |
    (text.charCodeAt(start + 18) ^ HYPHEN) |
    (text.charCodeAt(start + 23) ^ HYPHEN);
  const a = readHex4(text, start);
  const b = readHex4(text, start + 4);
  const c = readHex4(text, start + 9);
  const d = readHex4(text, start + 14);
  const e = readHex4(text, start + 19);
  const f = readHex4(text, start + 24);
  const g = readHex4(text, start + 28);
  const h = readHex4(text, start + 32);
  if (hyphens !== 0 || (a | b | c | d | e | f | g | h) < 0) return undefined;
  // V8 keeps an array that starts with fractions as plain doubles, and boxes no word: a third less time in workerd.
  const words = [0.5, 0.5, 0.5, 0.5];
  words[0] = ((a << 16) | b) >>> 0;
  words[1] = ((c << 16) | d) >>> 0;
  words[2] = ((e << 16) | f) >>> 0;
  words[3] = ((g << 16) | h) >>> 0;
  return words;
};

/** Four digits as a number; negative if one is invalid, since -1 keeps its sign through shift and OR. */
const readHex4 = (text: string, at: number): number =>
  ((NIBBLES[text.charCodeAt(at)] as number) << 12) |
  ((NIBBLES[text.charCodeAt(at + 1)] as number) << 8) |
  ((NIBBLES[text.charCodeAt(at + 2)] as number) << 4) |
  (NIBBLES[text.charCodeAt(at + 3)] as number);

export const parseUuid = (text: string): Result<Words, ParseError> => {
  const words = readUuid(text, 0, text.length);
  return words === undefined ? err(explainRejected(text)) : ok(words);
};

/** Why `readUuid` rejects a text; `undefined` for one that it reads, such as the nil UUID. Slow. */
export const explainUuid = (text: string): ParseError | undefined =>
  readUuid(text, 0, text.length) === undefined ? explainRejected(text) : undefined;

const explainRejected = (text: string): ParseError => {
  if (text === "") return { reason: "empty" };
  if (text.length > EXPLAINED_CHARACTERS_MAX) return wrongLength(text);
  const invalidAt = text.search(/[^0-9A-Fa-f-]/);
  if (invalidAt >= 0) return characterError(text, invalidAt);

  const digits = text.replaceAll("-", "").toLowerCase();
  const at = misplacedSeparator(text, HYPHENS_AT);
  if (digits.length === HEX_DIGITS) return { reason: "shape", at, suggestion: group(digits) };
  if (text.length === UUID_TEXT_LENGTH) return { reason: "shape", at };
  return wrongLength(text);
};

const wrongLength = (text: string): ParseError => ({
  reason: "length",
  expected: `${UUID_TEXT_LENGTH}`,
  actual: text.length,
});

const group = (digits: string): string =>
  [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join("-");

const digit = (word: number, shift: number): number => DIGITS[(word >>> shift) & 15] as number;

/**
 * The canonical text of four words. One call with all codes makes a flat string, where concatenation makes a rope.
 * Destructuring the words would call an iterator, a third of the total cost.
 */
export const formatUuid = (words: Words): string => {
  const a = words[0] as number;
  const b = words[1] as number;
  const c = words[2] as number;
  const d = words[3] as number;
  // biome-ignore format: a line for each group of digits
  return String.fromCharCode(
    digit(a, 28), digit(a, 24), digit(a, 20), digit(a, 16), digit(a, 12), digit(a, 8), digit(a, 4), digit(a, 0), HYPHEN,
    digit(b, 28), digit(b, 24), digit(b, 20), digit(b, 16), HYPHEN,
    digit(b, 12), digit(b, 8), digit(b, 4), digit(b, 0), HYPHEN,
    digit(c, 28), digit(c, 24), digit(c, 20), digit(c, 16), HYPHEN,
    digit(c, 12), digit(c, 8), digit(c, 4), digit(c, 0),
    digit(d, 28), digit(d, 24), digit(d, 20), digit(d, 16), digit(d, 12), digit(d, 8), digit(d, 4), digit(d, 0),
  );
};

/** Writes the same of the four words from a place on, as ASCII codes. */
export function writeUuid(words: ArrayLike<number>, from: number, target: Uint8Array, at: number): void {
  const a = words[from] as number;
  const b = words[from + 1] as number;
  const c = words[from + 2] as number;
  const d = words[from + 3] as number;
  writeHex4(a >>> 16, target, at);
  writeHex4(a, target, at + 4);
  target[at + 8] = HYPHEN;
  writeHex4(b >>> 16, target, at + 9);
  target[at + 13] = HYPHEN;
  writeHex4(b, target, at + 14);
  target[at + 18] = HYPHEN;
  writeHex4(c >>> 16, target, at + 19);
  target[at + 23] = HYPHEN;
  writeHex4(c, target, at + 24);
  writeHex4(d >>> 16, target, at + 28);
  writeHex4(d, target, at + 32);
}

const writeHex4 = (bits: number, target: Uint8Array, at: number): void => {
  target[at] = digit(bits, 12);
  target[at + 1] = digit(bits, 8);
  target[at + 2] = digit(bits, 4);
  target[at + 3] = digit(bits, 0);
};

export const uuidText: TextForm = {
  name: "uuid",
  bits: 128,
  isCaseless: true,
  lengthMax: UUID_TEXT_LENGTH,
  numeral: { digits: "0123456789abcdef", folded: true, key: "uuid" },
  read: readUuid,
  parse: parseUuid,
  format: formatUuid,
};

/** The variants of UUIDs, RFC 9562 section 4.1: by the first bits of the third word. */
export type UuidVariant = "ncs" | "rfc9562" | "microsoft" | "future";

/** The variant of any UUID's words, and its version, 0 to 15: only variant `rfc9562` has one. */
export const uuidKind = (words: Words): { readonly variant: UuidVariant; readonly version: number | undefined } => {
  const bits = (words[2] as number) >>> 29;
  if (bits < 0b100) return { variant: "ncs", version: undefined };
  if (bits < 0b110) return { variant: "rfc9562", version: ((words[1] as number) >>> 12) & 15 };
  return { variant: bits === 0b110 ? "microsoft" : "future", version: undefined };
};

const URN = "urn:uuid:";

/**
 * Parses common UUID spellings: canonical, with `urn:uuid:` (RFC 9562 section 4, any case), in braces, or 32 bare
 * digits. For imports and human input. The gateway is strict, since one ID must have one text.
 */
export const parseLenientUuid = (text: string): Result<Words, ParseError> => {
  const [start, end] = wrapping(text);
  const bare = text.slice(start, end);
  const uuid = parseUuid(bare.length === HEX_DIGITS ? group(bare) : bare);
  return uuid.ok ? uuid : err(shiftError(uuid.error, text.slice(0, start), text.slice(end)));
};

const wrapping = (text: string): readonly [number, number] => {
  if (text.length === URN.length + UUID_TEXT_LENGTH && text.slice(0, URN.length).toLowerCase() === URN) {
    return [URN.length, text.length];
  }
  return text.startsWith("{") && text.endsWith("}") ? [1, text.length - 1] : [0, text.length];
};
