import type { Words } from "./layout.ts";
import { WORD_BITS } from "./runs.ts";

/** Conversion between words and bigint. Not for the hot path. */

export const wordsToBig = (words: Words): bigint =>
  words.reduce((value, word) => (value << BigInt(WORD_BITS)) | BigInt(word), 0n);

/** The lowest `count` words of a value, most significant first. */
export const bigToWords = (value: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, word) =>
    Number(BigInt.asUintN(WORD_BITS, value >> BigInt(WORD_BITS * (count - 1 - word)))),
  );

/** -1, 0 or 1: the bitwise order of two IDs of one layout, which is the order of UUID texts. */
export const compareWords = (a: Words, b: Words): -1 | 0 | 1 => {
  for (let word = 0; word < a.length; word++) {
    const difference = (a[word] as number) - (b[word] as number);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return 0;
};

/** A 32-bit hash of an ID: MurmurHash3's finalizer over its words. It is not collision-resistant against chosen IDs. */
export const mixWords = (words: Words): number => {
  let hash = 0;
  for (let at = 0; at < words.length; at++) {
    hash = Math.imul(hash ^ (words[at] as number), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
};
