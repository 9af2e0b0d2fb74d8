import type { Words } from "./layout.ts";
import { WORD_BITS } from "./runs.ts";

/** Words as one whole number, and back. Not for the hot path. */

export const wordsToBig = (words: Words): bigint =>
  words.reduce((value, word) => (value << BigInt(WORD_BITS)) | BigInt(word), 0n);

/** So many words of a value, most significant first; what does not fit is cut off. */
export const bigToWords = (value: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, word) =>
    Number(BigInt.asUintN(WORD_BITS, value >> BigInt(WORD_BITS * (count - 1 - word)))),
  );

/** -1, 0 or 1: the order of two IDs of one layout by their bits, which is the order of UUID texts. */
export const compareWords = (a: Words, b: Words): -1 | 0 | 1 => {
  for (let word = 0; word < a.length; word++) {
    const difference = (a[word] as number) - (b[word] as number);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return 0;
};

/**
 * 32 well-mixed bits of an ID: the finaliser of MurmurHash3 over its words. IDs that differ in a few bits share nothing,
 * but whoever chooses IDs can choose them so that all have one value.
 */
export const mixWords = (words: Words): number => {
  let hash = 0;
  for (let at = 0; at < words.length; at++) {
    hash = Math.imul(hash ^ (words[at] as number), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
};
