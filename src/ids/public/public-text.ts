import type { ParseError, Words } from "../layout/layout.ts";
import { err, ok, type Result } from "../result.ts";
import { BASE62, UPPER_HEX } from "../text/alphabets.ts";
import { explainCharacters } from "../text/form.ts";
import { radixText } from "../text/radix.ts";
import { formatUuid, parseUuid } from "../text/uuid.ts";

/**
 * How 128 bits are written. `uuid`: 8-4-4-4-12 in lower case. `base62`: 22 characters. `hex`: 32 digits in upper case,
 * as in the .NET library. Only hexadecimal is case-insensitive.
 */
export type PublicForm = "uuid" | "base62" | "hex";

/** Why a text is not 128 bits in this form. `range`: the base62 block that starts `at` exceeds 64 bits. */
export type PublicTextError = ParseError | { readonly reason: "range"; readonly at: number };

const BLOCK_DIGITS = 11;
/** Architect.Identities writes each 64 bits as 11 digits. It overflows above 2^64 - 1; this form rejects such a block. */
const base62Block = /* @__PURE__ */ radixText({ alphabet: BASE62, bits: 64, width: BLOCK_DIGITS });

/** Formats an even number of words, 11 digits per two words. */
export const formatBase62 = (words: Words): string => {
  let text = "";
  for (let at = 0; at < words.length; at += 2) text += base62Block.format(words.slice(at, at + 2));
  return text;
};

/** Parses base62 text of this many 64-bit blocks. */
export const parseBase62 = (text: string, blocks: number): Result<Words, PublicTextError> => {
  const length = blocks * BLOCK_DIGITS;
  const words: number[] = [];
  for (let at = 0; at < length && text.length === length; at += BLOCK_DIGITS) {
    const block = base62Block.read(text, at, at + BLOCK_DIGITS);
    if (block === undefined) return err(explainBase62(text, length) ?? { reason: "range", at });
    words.push(...block);
  }
  return text.length === length ? ok(words) : err(explainBase62(text, length) as ParseError);
};

const explainBase62 = (text: string, length: number): ParseError | undefined =>
  explainCharacters(text, (code) => BASE62.digits.includes(String.fromCharCode(code)), length, length);

const FORMS: Readonly<
  Record<PublicForm, { format(words: Words): string; parse(text: string): Result<Words, PublicTextError> }>
> = {
  uuid: { format: formatUuid, parse: parseUuid },
  base62: { format: formatBase62, parse: (text) => parseBase62(text, 2) },
  hex: /* @__PURE__ */ radixText({ alphabet: UPPER_HEX, bits: 128, width: 32 }),
};

export const formatPublicText = (words: Words, form: PublicForm): string => FORMS[form].format(words);

export const parsePublicText = (text: string, form: PublicForm): Result<Words, PublicTextError> =>
  FORMS[form].parse(text);
