import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALPHABET_NAMES, type AlphabetText, type TextForm, type Words } from "../../../src/ids/index.ts";
import { bigToWords, compareWords, wordsToBig } from "../../../src/ids/layout/words.ts";
import { alphabetText, sharedForm } from "../../../src/ids/text/alphabet-text.ts";
import { CROCKFORD } from "../../../src/ids/text/alphabets.ts";
import { radixText } from "../../../src/ids/text/radix.ts";
import { sortsByValue } from "../../../src/ids/tools/period-range.ts";
import { runs } from "../../setup/property-runs.ts";
import { anyDamage } from "../arbitraries.ts";
import { ALPHABET_VECTORS } from "./alphabet-vectors.ts";

const formOf = (declared: AlphabetText, bits: number): TextForm => {
  const form = alphabetText(declared, bits);
  if (!form.ok) throw new Error(JSON.stringify(form.error));
  return form.value;
};

const wordsOf = (value: bigint, bits: number): Words => bigToWords(value, Math.ceil(bits / 32));

describe.each(ALPHABET_VECTORS)("$name", ({ bits, text: declared, valid, invalid }) => {
  const form = formOf(declared, bits);

  test.each(valid)("%s is read and written", (text, hex) => {
    const words = wordsOf(BigInt(`0x${hex}`), bits);
    expect(form.parse(text)).toEqual({ ok: true, value: words });
    expect(form.format(words)).toBe(text);
  });

  test.each(invalid)("%s is refused", (text) => {
    expect(form.read(text, 0, text.length)).toBeUndefined();
    expect(form.parse(text).ok).toBe(false);
  });
});

/** Characters of which any may be a digit. */
const DIGITS = Array.from("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~!$&'()*+,;=:@");

interface Case {
  readonly bits: number;
  readonly declared: AlphabetText & { readonly alphabet: string };
  readonly value: bigint;
}

/** Alphabets of any digits in any order, begun with a digit so that none is a name. */
const anyAlphabet = fc
  .shuffledSubarray(DIGITS, { minLength: 1 })
  .map((digits) => ["7", ...digits.filter((digit) => digit !== "7")].join(""))
  .filter((digits) => digits.length > 1);

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    bits: fc.integer({ min: 32, max: 256 }),
    digits: anyAlphabet,
    kind: fc.constantFrom("padded", "short", "wide", "grouped", "bytes"),
    isFolded: fc.boolean(),
    prefix: fc.option(fc.constantFrom("user_", "a", "A-b_"), { nil: undefined }),
    hasSuffix: fc.boolean(),
    seed: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  })
  .map(({ bits, digits: all, kind, isFolded, prefix, hasSuffix, seed }): Case | undefined => {
    // Bytes need a power of two.
    const power = 2 ** Math.floor(Math.log2(all.length));
    let alphabet = kind === "bytes" ? all.slice(0, power) : all;
    if (kind === "short") alphabet = alphabet.replace(".", "");
    if (isFolded) alphabet = alphabet.toLowerCase();
    alphabet = [...new Set(alphabet)].join("");
    if (kind === "bytes") alphabet = alphabet.slice(0, 2 ** Math.floor(Math.log2(alphabet.length)));
    if (alphabet.length < 2) return undefined;
    const needed = digitCount(bits, alphabet.length);
    const free = ["-", "~", "=", "_"].find((character) => !alphabet.includes(character));
    if (needed > 60 || free === undefined) return undefined;
    return {
      bits,
      declared: {
        alphabet,
        ...(kind === "short" && { padded: false }),
        ...(kind === "wide" && { width: needed + 2 }),
        ...(kind === "grouped" && { groups: [2, needed - 2], separator: free }),
        ...(kind === "bytes" && { fill: "end" as const }),
        ...(isFolded && /[a-z]/.test(alphabet) && { case: "ignored" as const }),
        ...(prefix !== undefined && { prefix }),
        ...(hasSuffix && { suffix: free.repeat(2) }),
      },
      value: seed >> BigInt(256 - bits),
    };
  })
  .filter((each) => each !== undefined);

const digitCount = (bits: number, radix: number): number => {
  let count = 0;
  for (let rest = (1n << BigInt(bits)) - 1n; rest > 0n; rest /= BigInt(radix)) count += 1;
  return count;
};

/** The slow, obvious reader of a declared text: whole numbers, and nothing of the product. */
const slowRead = ({ alphabet, ...declared }: Case["declared"], bits: number, text: string): bigint | undefined => {
  const { prefix = "", suffix = "", groups, separator = "", width, padded, fill } = declared;
  if (!text.startsWith(prefix)) return undefined;
  if (!text.slice(prefix.length).endsWith(suffix)) return undefined;
  let own = text.slice(prefix.length, text.length - suffix.length);
  if (groups !== undefined) {
    const parts = own.split(separator);
    if (parts.length !== groups.length || parts.some((part, at) => part.length !== groups[at])) return undefined;
    own = parts.join("");
  }
  const needed = digitCount(bits, alphabet.length);
  if (padded === false) {
    if (own.length === 0 || (own.length > 1 && own.startsWith(alphabet.charAt(0)))) return undefined;
  } else if (own.length !== (width ?? needed)) return undefined;
  let value = 0n;
  for (const character of own) {
    const digit = declared.case === "ignored" ? alphabet.indexOf(character.toLowerCase()) : alphabet.indexOf(character);
    if (digit < 0) return undefined;
    value = value * BigInt(alphabet.length) + BigInt(digit);
  }
  if (fill === "end") {
    const pad = BigInt(needed * Math.log2(alphabet.length) - bits);
    if (value % (1n << pad) !== 0n) return undefined;
    value >>= pad;
  }
  return value >> BigInt(bits) === 0n ? value : undefined;
};

describe("any declared text", () => {
  test("is written and read back, alone and in the middle of a text", () => {
    fc.assert(
      fc.property(anyCase, ({ bits, declared, value }) => {
        const form = formOf(declared, bits);
        const words = wordsOf(value, bits);
        const text = form.format(words);
        expect(text.length).toBeLessThanOrEqual(form.lengthMax);
        expect(slowRead(declared, bits, text)).toBe(value);
        expect(form.parse(text)).toEqual({ ok: true, value: words });
        expect(form.read(`/${text}/`, 1, text.length + 1)).toEqual(words);
        expect(form.read(text, 0, text.length + 1)).toBeUndefined();
        expect(form.read(text, -1, text.length)).toBeUndefined();
      }),
      { numRuns: runs(300) },
    );
  });

  test("is read as the slow reader reads it, and has one canonical text", () => {
    fc.assert(
      fc.property(
        anyCase.chain((one) =>
          fc.tuple(fc.constant(one), anyDamage(formOf(one.declared, one.bits).format(wordsOf(one.value, one.bits)))),
        ),
        ([{ bits, declared }, damaged]) => {
          const form = formOf(declared, bits);
          const words = form.read(damaged, 0, damaged.length);
          expect(words && wordsToBig(words)).toBe(slowRead(declared, bits, damaged));
          const parsed = form.parse(damaged);
          expect(parsed.ok).toBe(words !== undefined);
          if (!parsed.ok) expect(parsed.error.reason).toMatch(/^(empty|length|whitespace|alphabet|shape|range)$/);
          else if (declared.case === "ignored")
            expect(form.format(parsed.value).toLowerCase()).toBe(damaged.toLowerCase());
          else expect(form.format(parsed.value)).toBe(damaged);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test("sorts by value exactly where its digits do", () => {
    fc.assert(
      fc.property(anyCase, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), ({ bits, declared, value }, seed) => {
        const form = formOf(declared, bits);
        fc.pre(sortsByValue(form) && declared.padded !== false);
        const other = seed >> BigInt(256 - bits);
        const a = wordsOf(value, bits);
        const b = wordsOf(other, bits);
        const left = form.format(a);
        const right = form.format(b);
        expect(left < right ? -1 : left > right ? 1 : 0).toBe(compareWords(a, b));
      }),
      { numRuns: runs(200) },
    );
  });
});

test.each(ALPHABET_NAMES)("the named alphabet %s has its digits once each", (name) => {
  const form = formOf({ alphabet: name }, 64);
  const digits = form.numeral?.digits ?? "";
  expect(new Set(digits).size).toBe(digits.length);
  expect(form.name).toBe(name);
  expect(formOf({ alphabet: digits }, 64).name).toBe(name);
});

describe("order", () => {
  test.each([
    ["base62", true],
    ["base62-lower-first", false],
    ["base58", true],
    ["base58-flickr", false],
    ["base64url", false],
    ["base32-sortable", true],
    ["base32-rfc4648", false],
    ["crockford-lower", true],
    ["base36", true],
    ["push-id", true],
  ])("of %s: %s", (alphabet, isByValue) => {
    expect(sortsByValue(formOf({ alphabet }, 128))).toBe(isByValue);
  });
});

test("forms that read and write alike are one form, and others are not", () => {
  const typeId = { alphabet: "crockford-lower", prefix: "user_" };
  const one = sharedForm(formOf(typeId, 128));
  expect(sharedForm(formOf({ ...typeId, width: 26, padded: true, case: "kept" }, 128))).toBe(one);
  for (const other of [
    { ...typeId, prefix: "team_" },
    { ...typeId, alphabet: "crockford" },
    { ...typeId, case: "ignored" as const },
    { ...typeId, width: 27 },
    { ...typeId, suffix: "-" },
    { ...typeId, groups: [13, 13], separator: "-" },
  ]) {
    expect(sharedForm(formOf(other, 128))).not.toBe(one);
  }
  const ulid = sharedForm(radixText({ alphabet: CROCKFORD, bits: 128, width: 26 }));
  expect(sharedForm(radixText({ alphabet: CROCKFORD, bits: 128, width: 26 }))).toBe(ulid);
});

describe("refused, and why", () => {
  const uuid = { alphabet: "crockford-lower" };
  test.each<readonly [string, AlphabetText, object]>([
    ["a name that is none", { alphabet: "base59" }, { reason: "alphabet-name", alphabet: "base59" }],
    ["no digit", { alphabet: "" }, { reason: "alphabet-size", size: 0 }],
    ["one digit", { alphabet: "0" }, { reason: "alphabet-size", size: 1 }],
    ["a digit twice", { alphabet: "0120" }, { reason: "alphabet-twice", digit: "0" }],
    ["base64 with its slash", { alphabet: "base64" }, { reason: "alphabet-character", digit: "/" }],
    ...Array.from('/?#% "<>[\\]^`{|}\u007f\u00e9\t', (digit): readonly [string, AlphabetText, object] => [
      `the digit ${JSON.stringify(digit)}`,
      { alphabet: `01${digit}` },
      { reason: "alphabet-character", digit },
    ]),
    ["a character of two units", { alphabet: "01😀" }, { reason: "alphabet-character", digit: "😀" }],
    ["a dot that may be alone", { alphabet: "01.", padded: false }, { reason: "alphabet-dot" }],
    ["both cases of a letter", { alphabet: "base62", case: "ignored" }, { reason: "alphabet-case", digit: "A" }],
    ["no letter to ignore", { alphabet: "decimal", case: "ignored" }, { reason: "text-conflict", key: "case" }],
    ["too few digits", { ...uuid, width: 25 }, { reason: "text-width", width: 25, min: 26, bits: 128 }],
    ["a width of what is not padded", { ...uuid, width: 26, padded: false }, { reason: "text-conflict", key: "width" }],
    [
      "groups of what is not padded",
      { ...uuid, groups: [13, 13], separator: "-", padded: false },
      { reason: "text-conflict", key: "groups", other: "padded" },
    ],
    ["bytes that are not padded", { ...uuid, padded: false, fill: "end" }, { reason: "text-conflict", key: "fill" }],
    ["bytes in digits of no whole bits", { alphabet: "base62", fill: "end" }, { reason: "text-fill", radix: 62 }],
    ["bytes in more digits than needed", { ...uuid, fill: "end", width: 27 }, { reason: "text-fill", needed: 26 }],
    ["groups alone", { ...uuid, groups: [13, 13] }, { reason: "text-conflict", key: "groups", isMissing: true }],
    ["a separator alone", { ...uuid, separator: "-" }, { reason: "text-conflict", key: "separator", isMissing: true }],
    ["groups of too many digits", { ...uuid, groups: [13, 14], separator: "-" }, { reason: "text-groups", sum: 27 }],
    ["one group", { ...uuid, groups: [26], separator: "-" }, { reason: "text-groups", sum: 26, width: 26 }],
    ["an empty group", { ...uuid, groups: [26, 0], separator: "-" }, { reason: "text-groups" }],
    ["a separator that is a digit", { ...uuid, groups: [13, 13], separator: "a" }, { reason: "text-separator" }],
    [
      "a separator that is a number",
      { alphabet: "-abcdefghijklmnop", groups: [1, 31], separator: "0" },
      { reason: "text-separator" },
    ],
    [
      "a separator that is a digit in the other case",
      { ...uuid, case: "ignored", groups: [13, 13], separator: "A" },
      { reason: "text-separator" },
    ],
    ["a separator of two characters", { ...uuid, groups: [13, 13], separator: "--" }, { reason: "text-separator" }],
    ["no separator", { ...uuid, groups: [13, 13], separator: "" }, { reason: "text-separator" }],
    ["a slash between groups", { ...uuid, groups: [13, 13], separator: "/" }, { reason: "text-separator" }],
    ["a prefix of digits", { ...uuid, prefix: "1_" }, { reason: "form-prefix", prefix: "1_" }],
    ["a prefix of 65 letters", { ...uuid, prefix: "a".repeat(65) }, { reason: "form-prefix" }],
    ["no suffix", { ...uuid, suffix: "" }, { reason: "text-suffix" }],
    ["a suffix that begins with a digit", { ...uuid, suffix: "a=" }, { reason: "text-suffix" }],
    ["a suffix with a question mark", { ...uuid, suffix: "?" }, { reason: "text-suffix" }],
    ["the name of another form", { ...uuid, name: "hex" }, { reason: "form-name", name: "hex" }],
    ["a name with a space", { ...uuid, name: "type id" }, { reason: "form-name", name: "type id" }],
  ])("%s", (_name, declared, error) => {
    expect(alphabetText(declared, 128)).toMatchObject({ ok: false, error });
  });
});

test("a text without its suffix is told what it lacks", () => {
  const form = formOf({ alphabet: "base64url", fill: "end", suffix: "==" }, 128);
  expect(form.parse("AYkKXayWd0u8zrMCCZqAVw")).toEqual({
    ok: false,
    error: { reason: "shape", at: 22, suggestion: "AYkKXayWd0u8zrMCCZqAVw==" },
  });
});
