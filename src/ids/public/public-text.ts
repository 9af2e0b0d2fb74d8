import type { ParseError, Words } from "../layout.ts";
import { err, ok, type Result } from "../result.ts";
import { characterError } from "../text/form.ts";
import { formatUuid, parseUuid } from "../uuid-text.ts";
import { BLOCK_DIGITS, formatBase62, invalidCharacterAt, readBase62 } from "./base62.ts";

/**
 * How 128 bits are written. `uuid`: 8-4-4-4-12 in lower case. `base62`: 22 characters. `hex`: 32 digits in upper case,
 * as in the .NET library. Only hexadecimal is case-insensitive.
 */
export type PublicForm = "uuid" | "base62" | "hex";

/** Why a text is not 128 bits in this form. `range`: the base62 block that starts `at` exceeds 64 bits. */
export type PublicTextError = ParseError | { readonly reason: "range"; readonly at: number };

const HEX_DIGITS = 32;

export const formatPublicText = (words: Words, form: PublicForm): string => {
  switch (form) {
    case "uuid":
      return formatUuid(words);
    case "base62":
      return formatBase62(words);
    case "hex":
      return formatUuid(words).replaceAll("-", "").toUpperCase();
  }
};

export const parsePublicText = (text: string, form: PublicForm): Result<Words, PublicTextError> => {
  switch (form) {
    case "uuid":
      return parseUuid(text);
    case "base62":
      return parseBase62(text, 2);
    case "hex":
      return parseHex(text);
  }
};

/** Parses base62 text of this many 64-bit blocks. */
export const parseBase62 = (text: string, blocks: number): Result<Words, PublicTextError> => {
  const digits = blocks * BLOCK_DIGITS;
  const words = text.length === digits ? readBase62(text) : undefined;
  if (words !== undefined && typeof words !== "number") return ok(words);
  const invalidAt = invalidCharacterAt(text);
  return err(words === undefined || invalidAt >= 0 ? misfit(text, invalidAt, digits) : { reason: "range", at: words });
};

const parseHex = (text: string): Result<Words, PublicTextError> => {
  const invalidAt = text.search(/[^0-9A-Fa-f]/);
  if (invalidAt >= 0 || text.length !== HEX_DIGITS) return err(misfit(text, invalidAt, HEX_DIGITS));
  return ok([0, 8, 16, 24].map((at) => Number.parseInt(text.slice(at, at + 8), 16)));
};

/** The first error, in the order of all parsers here: empty, invalid character, length. */
const misfit = (text: string, invalidAt: number, expected: number): PublicTextError => {
  if (text === "") return { reason: "empty" };
  if (invalidAt >= 0) return characterError(text, invalidAt);
  return { reason: "length", expected: `${expected}`, actual: text.length };
};
