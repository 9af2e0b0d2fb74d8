import { err, ok, type Result } from "../result.ts";
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

/** 128 bits as two non-negative signed 64-bit integers, for stores without a wider type. */
export interface LongPair {
  readonly upper: bigint;
  readonly lower: bigint;
}

/** A half is negative or exceeds 63 bits. */
export interface LongPairError {
  readonly reason: "half-out-of-range";
  readonly half: "upper" | "lower";
  readonly value: string;
}

const LONG_BITS = 63;

/** Like `DistributedId128.Split`. Works for that layout until the year 6159, when bit 0 is set. */
export const splitLongs = (words: Words): Result<LongPair, LongPairError> =>
  checkPair({ upper: wordsToBig(words.slice(0, 2)), lower: wordsToBig(words.slice(2)) });

/** Like `DistributedId128.Join`. */
export const joinLongs = (pair: LongPair): Result<Words, LongPairError> => {
  const checked = checkPair(pair);
  return checked.ok ? ok([...bigToWords(pair.upper, 2), ...bigToWords(pair.lower, 2)]) : checked;
};

const checkPair = (pair: LongPair): Result<LongPair, LongPairError> => {
  for (const half of ["upper", "lower"] as const) {
    if (pair[half] >> BigInt(LONG_BITS) !== 0n) {
      return err({ reason: "half-out-of-range", half, value: pair[half].toString() });
    }
  }
  return ok(pair);
};
