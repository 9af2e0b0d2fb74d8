import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wordsToBig } from "../../../src/ids/layout/words.ts";
import { formatBase62, parseBase62 } from "../../../src/ids/public/public-text.ts";
import { anyDamage, anyWords } from "../arbitraries.ts";
import { readCases, textOf } from "../layouts/vector-file.ts";
import { bytesOfHex, wordsOfBytes } from "./bytes.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Blocks of 11 digits by division of bigints. */
const slowBase62 = (value: bigint, blocks: number): string => {
  if (blocks === 0) return "";
  let block = value % 2n ** 64n;
  let text = "";
  for (let digit = 0; digit < 11; digit++, block /= 62n) text = DIGITS.charAt(Number(block % 62n)) + text;
  return slowBase62(value >> 64n, blocks - 1) + text;
};

const wholeBlocks = readCases("architect-codec").filter(
  ({ input, text }) => input?.["encoding"] === "alphanumeric" && [11, 12, 22].includes(text?.length ?? 0),
);

describe("the published base62 texts of whole blocks", () => {
  test.each(wholeBlocks.filter(({ op }) => op === "decode"))("$id", (vector) => {
    const text = textOf(vector);
    const words = parseBase62(text, text.length === 22 ? 2 : 1);
    if (vector.valid) {
      expect(words).toEqual({ ok: true, value: wordsOfBytes(bytesOfHex(vector.bytesHex as string)) });
      expect(words.ok && formatBase62(words.value)).toBe(text);
    } else {
      expect(words).toMatchObject({ ok: false, error: { reason: vector.error } });
    }
  });

  test("there are as many as when they were copied", () => expect(wholeBlocks).toHaveLength(51));
});

test("agrees with schoolbook arithmetic, and reads what it writes", () => {
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 4), anyWords(8), (blocks, words) => {
      const value = words.slice(0, 2 * blocks);
      const text = formatBase62(value);
      expect(text).toBe(slowBase62(wordsToBig(value), blocks));
      expect(parseBase62(text, blocks)).toEqual({ ok: true, value });
    }),
  );
});

test("what is accepted is the one text of its value", () => {
  const anyText = fc.string({ unit: fc.constantFrom(...DIGITS), minLength: 22, maxLength: 22 });
  fc.assert(
    fc.property(fc.oneof(anyText, anyText.chain(anyDamage)), (text) => {
      const words = parseBase62(text, 2);
      if (words.ok) expect(formatBase62(words.value)).toBe(text);
      else expect(["range", "alphabet", "whitespace", "length"]).toContain(words.error.reason);
    }),
  );
});

test("a block is refused from 2^64 on, wherever it stands", () => {
  expect(parseBase62("LygHa16AHYFLygHa16AHYF", 2)).toEqual({ ok: true, value: new Array(4).fill(0xffffffff) });
  expect(parseBase62("LygHa16AHYG00000000000", 2)).toEqual({ ok: false, error: { reason: "range", at: 0 } });
  expect(parseBase62("00000000000LygHa16AHYG", 2)).toEqual({ ok: false, error: { reason: "range", at: 11 } });
  expect(parseBase62("zzzzzzzzzzz0000000000-", 2)).toEqual({ ok: false, error: { reason: "alphabet", at: 21 } });
});

test("every UTF-16 unit but 62 is foreign", () => {
  const own = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
    (unit) => parseBase62(unit.padStart(11, "0"), 1).ok,
  );
  expect(own.join("")).toBe(DIGITS);
});
