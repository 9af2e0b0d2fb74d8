import type { TextForm } from "../layout/layout.ts";
import { err, ok, type Result } from "../result.ts";
import { BASE32HEX, BASE36, BASE62, BASE64URL, CROCKFORD, DECIMAL, HEX, PUSH_ID, UPPER_HEX } from "./alphabets.ts";
import { digitsFor, radixText } from "./radix.ts";
import { groupedText, wrappedText } from "./wrapped.ts";

/** The text of an ID, declared: an integer in an alphabet of one's own, with constant characters around and between the digits. */
export interface AlphabetText {
  /** The name of an alphabet, or its digits in order of value. */
  readonly alphabet: string;
  /** Number of digits. Defaults to the digits of the greatest value. */
  readonly width?: number | undefined;
  /** `false`: as few digits as a value needs. */
  readonly padded?: boolean | undefined;
  /** `ignored`: both cases of each letter are read, and the alphabet's are written. Defaults to `kept`. */
  readonly case?: "kept" | "ignored" | undefined;
  /** Constant beginning, with its separator: `user_`. */
  readonly prefix?: string | undefined;
  /** Number of digits in each group, and the character between groups. */
  readonly groups?: readonly number[] | undefined;
  readonly separator?: string | undefined;
  /** Constant end, such as `==`. */
  readonly suffix?: string | undefined;
  /** Where zero bits fill up the digits: `start` of a number, `end` of bytes (RFC 4648 section 4). Defaults to `start`. */
  readonly fill?: "start" | "end" | undefined;
  /** Name of the form. Defaults to that of the alphabet. */
  readonly name?: string | undefined;
}

export type AlphabetKey = keyof AlphabetText;

export type AlphabetFault =
  | { readonly reason: "alphabet-name"; readonly alphabet: string; readonly known: readonly string[] }
  | { readonly reason: "alphabet-size"; readonly size: number }
  | { readonly reason: "alphabet-twice"; readonly digit: string }
  /** A segment of a path cannot hold the character as it is. */
  | { readonly reason: "alphabet-character"; readonly digit: string }
  /** A text may be `.` or `..`, which a path resolves. */
  | { readonly reason: "alphabet-dot" }
  /** With the case ignored, two digits are the same letter. */
  | { readonly reason: "alphabet-case"; readonly digit: string }
  | { readonly reason: "text-width"; readonly width: number; readonly min: number; readonly bits: number }
  /** The bits do not end with the last digit in this fill. */
  | {
      readonly reason: "text-fill";
      readonly radix: number;
      readonly width: number | undefined;
      readonly needed: number;
    }
  | { readonly reason: "text-groups"; readonly sum: number; readonly width: number }
  | { readonly reason: "text-separator"; readonly separator: string }
  | { readonly reason: "form-prefix"; readonly prefix: string }
  | { readonly reason: "text-suffix"; readonly suffix: string }
  | { readonly reason: "form-name"; readonly name: string }
  /** The first key says nothing, or the contrary, beside the second one, or without it. */
  | {
      readonly reason: "text-conflict";
      readonly key: AlphabetKey;
      readonly other: AlphabetKey;
      readonly isMissing: boolean;
    };

/** RFC 4648 section 6. */
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The digits of each alphabet that a declaration can name. */
const NAMED: Readonly<Record<string, string>> = /* @__PURE__ */ (() => ({
  decimal: DECIMAL.digits,
  hex: HEX.digits,
  "hex-upper": UPPER_HEX.digits,
  crockford: CROCKFORD.digits,
  "crockford-lower": CROCKFORD.digits.toLowerCase(),
  "base32-rfc4648": BASE32,
  "base32-rfc4648-lower": BASE32.toLowerCase(),
  base32hex: BASE32HEX.digits,
  "base32hex-upper": BASE32HEX.digits.toUpperCase(),
  // AT Protocol specification, Timestamp Identifiers.
  "base32-sortable": "234567abcdefghijklmnopqrstuvwxyz",
  base36: BASE36.digits,
  "base36-upper": BASE36.digits.toUpperCase(),
  // Bitcoin's (draft-msporny-base58), and Flickr's.
  base58: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  "base58-flickr": "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
  base62: BASE62.digits,
  "base62-lower-first": "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
  base64url: BASE64URL.digits,
  // Named so that a fault tells its reason: a path cannot hold its `/`.
  base64: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  "push-id": PUSH_ID.digits,
}))();

export const ALPHABET_NAMES: readonly string[] = /* @__PURE__ */ (() =>
  Object.keys(NAMED).filter((name) => name !== "base64"))();

/** A text of at least this many characters is digits and no name. One that begins with no letter is, too. */
const DIGITS_FROM = 16;

const isName = (alphabet: string): boolean => /^[A-Za-z]/.test(alphabet) && alphabet.length < DIGITS_FROM;

/** The greatest number of digits that a segment can have as they are. */
export const ALPHABET_DIGITS_MIN = 2;

/** `pchar` of RFC 3986 section 3.3, without escapes: unreserved, sub-delims, `:` and `@`. */
const SEGMENT = /^[A-Za-z0-9\-._~!$&'()*+,;=:@]$/;

/** Starts with a letter, so that it never changes the numeral system. No character needs percent-encoding in a path. A TypeID's has 63 letters and `_`. */
export const PREFIX = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const SUFFIX_LENGTH_MAX = 8;

const FORM_NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** Names of other forms, which mean what they mean in every layout. */
const OTHER_NAMES: readonly string[] = [
  "uuid",
  "longs",
  "grouped-hex",
  "cuid",
  "short-key",
  "hotguid",
  "hotguid-sql",
  "base32",
  "base64",
];

const conflict = (key: AlphabetKey, other: AlphabetKey, isMissing = false): AlphabetFault => ({
  reason: "text-conflict",
  key,
  other,
  isMissing,
});

/** Compiles a declared text for IDs of this many bits, or reports its first fault. */
export const alphabetText = (declared: AlphabetText, bits: number): Result<TextForm, AlphabetFault> => {
  const digits = Object.hasOwn(NAMED, declared.alphabet) ? (NAMED[declared.alphabet] as string) : declared.alphabet;
  const radix = digits.length;
  const needed = radix < ALPHABET_DIGITS_MIN ? 0 : digitsFor(bits, radix);
  const fault =
    faultOfAlphabet(declared, digits) ??
    conflictOf(declared, digits) ??
    faultOfConstants(declared, digits) ??
    faultOfWidth(declared, radix, needed, bits);
  return fault === undefined ? ok(formOf(declared, digits, needed, bits)) : err(fault);
};

/** `needed`: digits of the greatest value. */
const formOf = (declared: AlphabetText, digits: string, needed: number, bits: number): TextForm => {
  const radix = digits.length;
  const known = ALPHABET_NAMES.find((name) => NAMED[name] === digits);
  const {
    name = known ?? `base${radix}`,
    padded = true,
    width = needed,
    fill,
    groups,
    separator,
    prefix,
    suffix,
  } = declared;
  const folded = declared.case === "ignored" && /[A-Za-z]/.test(digits) && { folded: true as const };
  const alphabet = { name, digits, ...folded };
  const padBits = fill === "end" ? width * Math.log2(radix) - bits : 0;
  const number = { alphabet, bits, ...(padded && { width }), ...(padBits > 0 && { padBits }) };
  const form =
    groups === undefined
      ? radixText(number)
      : groupedText({ ...number, width, groups, ...(separator && { separator }) });
  return prefix === undefined && suffix === undefined ? form : wrappedText(prefix ?? "", form, suffix);
};

const faultOfAlphabet = (declared: AlphabetText, digits: string): AlphabetFault | undefined => {
  const { alphabet, padded } = declared;
  if (!Object.hasOwn(NAMED, alphabet) && isName(alphabet)) {
    return { reason: "alphabet-name", alphabet, known: ALPHABET_NAMES };
  }
  if (digits.length < ALPHABET_DIGITS_MIN) return { reason: "alphabet-size", size: digits.length };
  const all = Array.from(digits);
  const foreign = all.find((digit) => !SEGMENT.test(digit));
  if (foreign !== undefined) return { reason: "alphabet-character", digit: foreign };
  const twice = all.find((digit, at) => digits.indexOf(digit) < at);
  if (twice !== undefined) return { reason: "alphabet-twice", digit: twice };
  const isBoth = (digit: string): boolean => /[A-Z]/.test(digit) && digits.includes(digit.toLowerCase());
  const both = declared.case === "ignored" ? all.find(isBoth) : undefined;
  if (both !== undefined) return { reason: "alphabet-case", digit: both };
  return padded === false && digits.includes(".") ? { reason: "alphabet-dot" } : undefined;
};

/** The first key that says nothing or the contrary beside another one, or without it. */
const conflictOf = (declared: AlphabetText, digits: string): AlphabetFault | undefined => {
  const { padded, width, fill, groups, separator } = declared;
  const isUnpadded = padded === false;
  const hasGroups = groups !== undefined;
  const hasSeparator = separator !== undefined;
  const conflicts: readonly (readonly [isThere: boolean, fault: AlphabetFault])[] = [
    [isUnpadded && width !== undefined, conflict("width", "padded")],
    [isUnpadded && hasGroups, conflict("groups", "padded")],
    [isUnpadded && fill === "end", conflict("fill", "padded")],
    [declared.case === "ignored" && !/[A-Za-z]/.test(digits), conflict("case", "alphabet")],
    [hasSeparator && !hasGroups, conflict("separator", "groups", true)],
    [hasGroups && !hasSeparator, conflict("groups", "separator", true)],
  ];
  return conflicts.find(([isThere]) => isThere)?.[1];
};

/** Constant characters that a path cannot hold or that could be digits, and a name that is taken. */
const faultOfConstants = (declared: AlphabetText, digits: string): AlphabetFault | undefined => {
  const { separator, prefix, suffix, name } = declared;
  const isFolded = (character: string): boolean =>
    declared.case === "ignored" && digits.toLowerCase().includes(character.toLowerCase());
  const isDigit = (character: string): boolean =>
    /[0-9]/.test(character) || digits.includes(character) || isFolded(character);
  if (separator !== undefined && (!SEGMENT.test(separator) || isDigit(separator))) {
    return { reason: "text-separator", separator };
  }
  if (prefix !== undefined && !PREFIX.test(prefix)) return { reason: "form-prefix", prefix };
  // With as few digits as needed, the end of a number could be the suffix.
  if (suffix !== undefined && (!isSuffix(suffix) || isDigit(suffix.charAt(0)))) {
    return { reason: "text-suffix", suffix };
  }
  return name === undefined || isFreeName(name, digits) ? undefined : { reason: "form-name", name };
};

const isSuffix = (text: string): boolean =>
  text.length > 0 && text.length <= SUFFIX_LENGTH_MAX && Array.from(text).every((each) => SEGMENT.test(each));

/** The name of an alphabet is free for a form of its digits. */
const isFreeName = (name: string, digits: string): boolean =>
  FORM_NAME.test(name) && (![...OTHER_NAMES, ...ALPHABET_NAMES].includes(name) || NAMED[name] === digits);

const faultOfWidth = (
  declared: AlphabetText,
  radix: number,
  needed: number,
  bits: number,
): AlphabetFault | undefined => {
  const { width, groups, fill } = declared;
  if (width !== undefined && width < needed) return { reason: "text-width", width, min: needed, bits };
  if (fill === "end" && (!Number.isInteger(Math.log2(radix)) || (width ?? needed) !== needed)) {
    return { reason: "text-fill", radix, width, needed };
  }
  const sum = groups?.reduce((total, group) => total + group, 0);
  const isWhole =
    groups === undefined || (groups.length > 1 && groups.every((group) => Number.isInteger(group) && group > 0));
  if (sum !== undefined && (!isWhole || sum !== (width ?? needed))) {
    return { reason: "text-groups", sum, width: width ?? needed };
  }
  return undefined;
};

/** Forms in use, by their names and keys. A table, and the one that takes its place, share them. */
const shared = new Map<string, WeakRef<TextForm>>();

/** Beyond this many, unused forms are dropped. */
const SHARED_MAX = 512;

/** The one form of those that read and write alike: readers, overlaps and overrides compare forms by identity. */
export const sharedForm = (form: TextForm): TextForm => {
  const { name, numeral } = form;
  if (numeral?.key === undefined) return form;
  const key = [name, numeral.digits, numeral.folded, numeral.key].join(" ");
  const known = shared.get(key)?.deref();
  if (known !== undefined) return known;
  if (shared.size >= SHARED_MAX) {
    for (const [each, reference] of shared) if (reference.deref() === undefined) shared.delete(each);
  }
  shared.set(key, new WeakRef(form));
  return form;
};
