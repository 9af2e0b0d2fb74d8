import type { ParseError, Words } from "../layout/layout.ts";
import { ok, type Result } from "../result.ts";
import { LOWER_HEX } from "./alphabets.ts";
import { radixText } from "./radix.ts";

/**
 * The short key of an LUUID: its primary key in lower-case hexadecimal, 1 to 12 digits without leading zeros. All-digit
 * keys are hexadecimal too. A short key identifies an entity only together with the group in its path.
 */
const form = /* @__PURE__ */ radixText({ alphabet: LOWER_HEX, bits: 48 });

/** Primary keys have 48 bits. */
export const PRIMARY_KEY_MAX = 0xffff_ffff_ffff;

/** The primary key in `text` from `start` up to, but not including, `end`; `undefined` if invalid. */
export const readShortKey = (text: string, start: number, end: number): number | undefined => {
  const words = form.read(text, start, end);
  return words && numberOf(words);
};

export const parseShortKey = (text: string): Result<number, ParseError> => {
  const words = form.parse(text);
  return words.ok ? ok(numberOf(words.value)) : words;
};

const numberOf = ([high = 0, low = 0]: Words): number => high * 2 ** 32 + low;

/** The short key of a primary key, an integer from 0 to `PRIMARY_KEY_MAX`. */
export const formatShortKey = (primaryKey: number): string => primaryKey.toString(16);
