import type { TextForm } from "../layout/layout.ts";
import { bigToWords, compareWords } from "../layout/words.ts";
import { type Alphabet, BASE62, DECIMAL, UPPER_HEX } from "./alphabets.ts";
import { textForm } from "./form.ts";
import { pairText } from "./pair.ts";
import { radixText } from "./radix.ts";
import { uuidText } from "./uuid.ts";

/** The fixed-width strings that Architect.Identities (2.1.1, commit 5a55744) uses for .NET values. */

export type ArchitectType = "ulong" | "long" | "decimal" | "guid" | "uint128";
export type ArchitectEncoding = "alphanumeric" | "hexadecimal";

const LOW_DIGITS = 11;

const number = (alphabet: Alphabet, bits: number, width: number): TextForm => radixText({ alphabet, bits, width });

/** 16 bytes are two base62 numbers of 64 bits. The low one has 11 digits. */
export const base62Of16Bytes = (highDigits: number): TextForm =>
  pairText({
    name: "base62",
    high: number(BASE62, 64, highDigits),
    low: number(BASE62, 64, LOW_DIGITS),
    lowLength: LOW_DIGITS,
  });

const DECIMAL_MAX = 9_999_999_999_999_999_999_999_999_999n;

/** A .NET decimal has at most 28 digits, fewer than its text form can express. */
const asDecimal = (form: TextForm): TextForm => {
  const max = bigToWords(DECIMAL_MAX, 4);
  return textForm({
    ...form,
    read: (text, start, end) => {
      const words = form.read(text, start, end);
      return words === undefined || compareWords(words, max) > 0 ? undefined : words;
    },
    explain: (text) => {
      const words = form.parse(text);
      return words.ok ? { reason: "range", min: "0", max: DECIMAL_MAX.toString() } : words.error;
    },
  });
};

const FORMS: Readonly<Record<ArchitectType, Readonly<Record<ArchitectEncoding, () => TextForm>>>> = {
  ulong: { alphanumeric: () => number(BASE62, 64, 11), hexadecimal: () => number(UPPER_HEX, 64, 16) },
  long: { alphanumeric: () => number(BASE62, 63, 11), hexadecimal: () => number(UPPER_HEX, 63, 16) },
  decimal: {
    alphanumeric: () => asDecimal(base62Of16Bytes(5)),
    hexadecimal: () => asDecimal(number(UPPER_HEX, 128, 26)),
  },
  guid: { alphanumeric: () => base62Of16Bytes(LOW_DIGITS), hexadecimal: () => number(UPPER_HEX, 128, 32) },
  uint128: { alphanumeric: () => base62Of16Bytes(LOW_DIGITS), hexadecimal: () => number(UPPER_HEX, 128, 32) },
};

/** The text form of a type in an encoding. `ulong` and `long` use two words, the others four. */
export const architectText = (type: ArchitectType, encoding: ArchitectEncoding): TextForm => FORMS[type][encoding]();

/** The native text of a type: UUID text for a Guid, decimal digits for numbers. */
export const architectValue = (type: ArchitectType): TextForm => {
  if (type === "guid") return uuidText;
  if (type === "decimal") return asDecimal(radixText({ alphabet: DECIMAL, bits: 128 }));
  return radixText({ alphabet: DECIMAL, bits: { ulong: 64, long: 63, uint128: 128 }[type] });
};
