import type { ParseError } from "../layout/layout.ts";
import { err, ok, type Result } from "../result.ts";
import { characterError } from "./form.ts";

/**
 * The short key of an LUUID: its primary key in lower-case hexadecimal, 1 to 12 digits without leading zeros. All-digit
 * keys are hexadecimal too. A short key identifies an entity only together with the group in its path.
 */

const DIGITS_MAX = 12;
/** Primary keys have 48 bits. */
export const PRIMARY_KEY_MAX = 0xffff_ffff_ffff;
const ZERO = 0x30;

/** The primary key in `text` from `start` up to, but not including, `end`; `undefined` if invalid. */
export const readShortKey = (text: string, start: number, end: number): number | undefined => {
  const length = end - start;
  if (length < 1 || length > DIGITS_MAX || start < 0 || end > text.length) return undefined;
  if (length > 1 && text.charCodeAt(start) === ZERO) return undefined;
  let key = 0;
  for (let at = start; at < end; at++) {
    const digit = digitOf(text.charCodeAt(at));
    if (digit < 0) return undefined;
    key = key * 16 + digit;
  }
  return key;
};

export const parseShortKey = (text: string): Result<number, ParseError> => {
  const key = readShortKey(text, 0, text.length);
  return key === undefined ? err(explainShortKey(text)) : ok(key);
};

/** The short key of a primary key, an integer from 0 to `PRIMARY_KEY_MAX`. */
export const formatShortKey = (primaryKey: number): string => primaryKey.toString(16);

const explainShortKey = (text: string): ParseError => {
  if (text === "") return { reason: "empty" };
  const invalidAt = text.search(/[^0-9a-f]/);
  if (invalidAt >= 0) return characterError(text, invalidAt);
  if (text.length > DIGITS_MAX) return { reason: "length", expected: `1 to ${DIGITS_MAX}`, actual: text.length };
  const significant = text.replace(/^0+(?=.)/, "");
  return { reason: "shape", at: 0, suggestion: significant };
};

/** The value of a lower-case digit, or -1. */
const digitOf = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x61 && code <= 0x66) return code - 0x61 + 10;
  return -1;
};
