import type { ParseError, Words } from "../layout/layout.ts";
import { bigToWords, wordsToBig } from "../layout/words.ts";
import { BASE36 } from "./alphabets.ts";
import { explainCharacters, textForm } from "./form.ts";

/** CUID: the letter c, then groups of lower-case base36 digits. Each group is a field of as many bits as it needs. */

/** Time, counter, fingerprint, random. */
const GROUPS = [
  { digits: 8, bits: 42 },
  { digits: 4, bits: 21 },
  { digits: 4, bits: 21 },
  { digits: 8, bits: 42 },
];

const LENGTH = 25;
const RADIX = 36;
const LETTER = "c";

const read = (text: string, start: number, end: number): Words | undefined => {
  if (end - start !== LENGTH || start < 0 || end > text.length || text.charAt(start) !== LETTER) return undefined;
  for (let at = start; at < end; at++) if (!isDigit(text.charCodeAt(at))) return undefined;
  let value = 0n;
  let at = start + 1;
  for (const { digits, bits } of GROUPS) {
    value = (value << BigInt(bits)) | BigInt(Number.parseInt(text.slice(at, at + digits), RADIX));
    at += digits;
  }
  return bigToWords(value, 4);
};

/** Each field must fit its digits. The ranges of layout `cuid` ensure that. */
const format = (words: Words): string => {
  let rest = wordsToBig(words);
  let text = "";
  for (const { digits, bits } of GROUPS.toReversed()) {
    text = BigInt.asUintN(bits, rest).toString(RADIX).padStart(digits, "0") + text;
    rest >>= BigInt(bits);
  }
  return LETTER + text;
};

const explain = (text: string): ParseError =>
  explainCharacters(text, isDigit, LENGTH, LENGTH) ?? { reason: "shape", at: 0 };

const isDigit = (code: number): boolean => (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a);

export const cuidText = /* @__PURE__ */ textForm({
  name: "cuid",
  bits: 126,
  lengthMax: LENGTH,
  numeral: BASE36,
  read,
  format,
  explain,
});
