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
