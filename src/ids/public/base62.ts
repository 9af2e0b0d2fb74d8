import type { Words } from "../layout.ts";

/**
 * Base62 as in Architect.Identities: digits 0-9, A-Z, a-z, and a big-endian block of 11 digits per 64 bits. Strict: a
 * block above 2^64 - 1 is rejected, where the .NET library overflows.
 */

export const BLOCK_DIGITS = 11;
const BASE = 62;
const WORD = 2 ** 32;

/** The digit value of each UTF-16 code unit, or -1. */
const VALUES = new Int8Array(0x10000).fill(-1);
/** The character code of each digit. */
const DIGITS = new Uint8Array(BASE);
for (const [value, digit] of [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"].entries()) {
  DIGITS[value] = digit.charCodeAt(0);
  VALUES[digit.charCodeAt(0)] = value;
}

/** Formats an even number of words, 11 digits per two words. */
export const formatBase62 = (words: Words): string => {
  const codes = new Array<number>((words.length / 2) * BLOCK_DIGITS);
  for (let block = 0; block < words.length / 2; block++) {
    let high = words[2 * block] as number;
    let low = words[2 * block + 1] as number;
    for (let at = (block + 1) * BLOCK_DIGITS - 1; at >= block * BLOCK_DIGITS; at--) {
      // Below 62 * 2^32, so a double is exact.
      const dividend = (high % BASE) * WORD + low;
      high = Math.floor(high / BASE);
      low = Math.floor(dividend / BASE);
      codes[at] = DIGITS[dividend % BASE] as number;
    }
  }
  return String.fromCharCode(...codes);
};

/**
 * The words of a text of whole blocks, or the index of the first error. That is an invalid character, or the start of a
 * block above 2^64 - 1.
 */
export const readBase62 = (text: string): Words | number => {
  const words: number[] = [];
  for (let start = 0; start < text.length; start += BLOCK_DIGITS) {
    let high = 0;
    let low = 0;
    for (let at = start; at < start + BLOCK_DIGITS; at++) {
      const digit = VALUES[text.charCodeAt(at)] as number;
      if (digit < 0) return at;
      const sum = low * BASE + digit;
      low = sum % WORD;
      high = high * BASE + Math.floor(sum / WORD);
    }
    if (high >= WORD) return start;
    words.push(high, low);
  }
  return words;
};

/** The index of the first character that is not a digit, or -1. */
export const invalidCharacterAt = (text: string): number => {
  for (let at = 0; at < text.length; at++) if ((VALUES[text.charCodeAt(at)] as number) < 0) return at;
  return -1;
};
