import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TextForm, Words } from "../../../src/ids/index.ts";
import { bigToWords, wordsToBig } from "../../../src/ids/layout/words.ts";
import { BASE32HEX, BASE62, DECIMAL, HEX } from "../../../src/ids/text/alphabets.ts";
import { pairText } from "../../../src/ids/text/pair.ts";
import { digitsFor, radixText } from "../../../src/ids/text/radix.ts";
import { groupedText, wrappedText } from "../../../src/ids/text/wrapped.ts";
import { runs } from "../../setup/property-runs.ts";
import { anyDamage } from "../arbitraries.ts";
import { forms } from "./forms.ts";

const anyValue = (bits: number): fc.Arbitrary<bigint> =>
  fc.oneof(
    fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }),
    fc.constantFrom(0n, 1n, (1n << BigInt(bits)) - 1n, 1n << BigInt(bits - 1)),
  );

const wordsOf = (value: bigint, bits: number): Words => bigToWords(value, Math.ceil(bits / 32));

/** CUID cannot express every bit pattern: a group of base36 digits has fewer values. */
const holds = ({ name }: TextForm, value: bigint): boolean =>
  name !== "cuid" ||
  [
    [84n, 42, 8],
    [63n, 21, 4],
    [42n, 21, 4],
    [0n, 42, 8],
  ].every(
    ([shift, bits, digits]) =>
      BigInt.asUintN(Number(bits), value >> BigInt(shift as bigint)) < 36n ** BigInt(digits as number),
  );

const LONG_TEXTS = ["0", "a", "-", "\u0660"].map((character) => character.repeat(10_000_000));

describe.each(forms)("%s", (_name, form) => {
  test("what is printed is read, as a whole and in the middle of a text", () => {
    fc.assert(
      fc.property(anyValue(form.bits), (value) => {
        fc.pre(holds(form, value));
        const words = wordsOf(value, form.bits);
        const text = form.format(words);
        expect(text.length).toBeLessThanOrEqual(form.lengthMax);
        expect(form.parse(text)).toEqual({ ok: true, value: words });
        expect(form.read(`/${text}/`, 1, text.length + 1)).toEqual(words);
        expect(form.read(text, 0, text.length + 1)).toBeUndefined();
        expect(form.read(text, -1, text.length)).toBeUndefined();
      }),
      { numRuns: runs(20) },
    );
  });

  test("a damaged text is refused, or is a text of another value, or differs in case", () => {
    const anyText = anyValue(form.bits)
      .filter((value) => holds(form, value))
      .map((value) => form.format(wordsOf(value, form.bits)));
    fc.assert(
      fc.property(
        anyText.chain((text) => fc.tuple(fc.constant(text), anyDamage(text))),
        ([text, damaged]) => {
          const parsed = form.parse(damaged);
          if (!parsed.ok) {
            expect(parsed.error.reason).toMatch(/^(empty|length|whitespace|alphabet|shape|range)$/);
            return;
          }
          const written = form.format(parsed.value);
          if (form.numeral?.folded) expect(written.toLowerCase()).toBe(damaged.toLowerCase());
          else expect(written).toBe(damaged);
          if (damaged.toLowerCase() !== text.toLowerCase()) {
            expect(form.format(parsed.value)).not.toBe(text);
          }
        },
      ),
      { numRuns: runs(50) },
    );
  });

  test("a text of 10 million characters is refused at once", () => {
    for (const text of LONG_TEXTS) expect(form.parse(text).ok).toBe(false);
  });
});

test("digits and whole-number arithmetic agree", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 160 }), fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }), (bits, seed) => {
      const value = BigInt.asUintN(bits, seed);
      const decimal = radixText({ alphabet: DECIMAL, bits });
      const hex = radixText({ alphabet: HEX, bits });
      expect(decimal.format(wordsOf(value, bits))).toBe(value.toString());
      expect(hex.format(wordsOf(value, bits))).toBe(value.toString(16));
      expect(decimal.lengthMax).toBe(((1n << BigInt(bits)) - 1n).toString().length);
      expect(digitsFor(bits, 36)).toBe(((1n << BigInt(bits)) - 1n).toString(36).length);
      expect(wordsToBig(wordsOf(value, bits))).toBe(value);
    }),
  );
});

describe("refused, and why", () => {
  const decimal = radixText({ alphabet: DECIMAL, bits: 64 });
  const blocks = pairText({
    name: "pair",
    high: radixText({ alphabet: BASE62, bits: 64, width: 11 }),
    low: radixText({ alphabet: BASE62, bits: 64, width: 11 }),
    lowLength: 11,
  });
  const longs = pairText({ name: "longs", high: decimal, low: decimal, separator: "," });
  const grouped = groupedText({ alphabet: HEX, bits: 128, width: 32, groups: [8, 4, 4, 16] });
  const prefixed = wrappedText("ord_", decimal);
  const xid = radixText({ alphabet: BASE32HEX, bits: 96, width: 20, padBits: 4 });
  test.each([
    ["nothing", decimal, "", { reason: "empty" }],
    ["a sign", decimal, "-1", { reason: "alphabet", at: 0 }],
    ["a space behind", decimal, "1 ", { reason: "whitespace", at: 1 }],
    ["a zero in front", decimal, "0012", { reason: "shape", at: 0, suggestion: "12" }],
    ["two zeros", decimal, "00", { reason: "shape", at: 0, suggestion: "0" }],
    ["2^64", decimal, "18446744073709551616", { reason: "range", min: "0", max: "2^64 - 1" }],
    ["too many digits", decimal, "1".repeat(21), { reason: "length", expected: "1 to 20", actual: 21 }],
    ["bits of a pad", xid, "9m4e2mr0ui3e8a215n4h", { reason: "shape", at: 19 }],
    ["a capital", xid, "9M4e2mr0ui3e8a215n4g", { reason: "alphabet", at: 1 }],
    ["2^64 in the second block", blocks, "00000000000LygHa16AHYG", { reason: "range", min: "0", max: "2^64 - 1" }],
    ["a stranger in the second block", blocks, "000000000000000000000_", { reason: "alphabet", at: 21 }],
    ["too short for two blocks", blocks, "0", { reason: "length", expected: "22", actual: 1 }],
    ["no comma", longs, "12", { reason: "length", expected: "41", actual: 2 }],
    ["a zero behind the comma", longs, "1,02", { reason: "shape", at: 2, suggestion: "1,2" }],
    ["a zero in front of both halves", longs, "01,02", { reason: "shape", at: 0 }],
    ["a zero in front of half a text that is wrong behind", longs, "01,x", { reason: "shape", at: 0 }],
    ["a zero behind a prefix", prefixed, "ord_012", { reason: "shape", at: 4, suggestion: "ord_12" }],
    [
      "the groups of a UUID",
      grouped,
      "00000000-00ff-9281-ffff-ffffa0091991",
      { reason: "shape", at: 23, suggestion: "00000000-00ff-9281-ffffffffa0091991" },
    ],
    ["a foreign digit", grouped, "00000000-00ff-9281-ffffffffa009199g", { reason: "alphabet", at: 34 }],
    ["another prefix", prefixed, "odr_1", { reason: "shape", at: 1, prefix: "ord_" }],
    ["a prefix alone", prefixed, "ord_", { reason: "empty" }],
    ["no digit behind the prefix", prefixed, "ord_x", { reason: "alphabet", at: 4 }],
  ] as const)("%s", (_name, form, text, error) => {
    expect(form.parse(text)).toEqual({ ok: false, error });
  });
});
