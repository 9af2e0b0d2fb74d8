import type { Words } from "./layout.ts";
import { err, ok, type Result } from "./result.ts";
import { bigToWords, wordsToBig } from "./words.ts";

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
