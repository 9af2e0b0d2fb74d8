import type { TextForm } from "../../../src/ids/index.ts";
import { TEXT_NAMES, textNamed } from "../../../src/ids/layout/declare.ts";
import * as alphabets from "../../../src/ids/text/alphabets.ts";
import { cuidText } from "../../../src/ids/text/cuid.ts";
import { pairText } from "../../../src/ids/text/pair.ts";
import { digitsFor, radixText } from "../../../src/ids/text/radix.ts";
import { groupedText, wrappedText } from "../../../src/ids/text/wrapped.ts";

const { BASE32HEX, BASE36, BASE62, DECIMAL, HEX, LOWER_HEX, SID_64, UPPER_HEX } = alphabets;

const half = (width: number, bits = 64): TextForm => radixText({ alphabet: BASE62, bits, width });

/** Forms of every kind and of odd widths, by test name. */
export const forms: readonly (readonly [string, TextForm])[] = [
  ...TEXT_NAMES.map((name) => [`${name}, 128 bits`, textNamed(name, 128)] as const),
  ...TEXT_NAMES.filter((name) => name !== "uuid").flatMap((name) =>
    [1, 5, 31, 32, 33, 64, 93, 160].map((bits) => [`${name}, ${bits} bits`, textNamed(name, bits)] as const),
  ),
  ["push-id", radixText({ alphabet: alphabets.PUSH_ID, bits: 120, width: 20 })],
  ["base36", radixText({ alphabet: BASE36, bits: 64, width: digitsFor(64, 36) })],
  ["padded base32hex", radixText({ alphabet: BASE32HEX, bits: 96, width: 20, padBits: 4 })],
  ["capital hex", radixText({ alphabet: UPPER_HEX, bits: 128, width: 32 })],
  ["base62 without zeros", radixText({ alphabet: BASE62, bits: 128 })],
  ["hex in groups", groupedText({ alphabet: HEX, bits: 128, width: 32, groups: [8, 4, 4, 16] })],
  ["two base62 halves", pairText({ name: "pair", high: half(11), low: half(11), lowLength: 11 })],
  [
    "two decimals and a comma",
    pairText({
      name: "longs",
      high: radixText({ alphabet: DECIMAL, bits: 64 }),
      low: radixText({ alphabet: DECIMAL, bits: 64 }),
      separator: ",",
    }),
  ],
  [
    "SID base64",
    pairText({
      name: "base64",
      high: radixText({ alphabet: SID_64, bits: 64, width: 11 }),
      low: radixText({ alphabet: SID_64, bits: 64, width: 11 }),
      separator: "-",
      lowLength: 11,
    }),
  ],
  ["lower-case hex", radixText({ alphabet: LOWER_HEX, bits: 64, width: 16 })],
  ["a prefix", wrappedText("ord_", textNamed("base62", 96))],
  ["a prefix in front of a UUID", wrappedText("user-", textNamed("uuid", 128))],
  ["CUID", cuidText],
];
