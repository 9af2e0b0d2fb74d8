import type { Field } from "./layout.ts";
import type { RandomWords } from "./mint.ts";
import { WORD_BITS } from "./runs.ts";

/** An integer of this many random bits, most significant word first. */
export const randomBits = (bits: number, entropy: RandomWords): bigint => {
  let value = 0n;
  for (let random = 0; random < bits; random += WORD_BITS) {
    value = (value << BigInt(WORD_BITS)) | BigInt(entropy.word() >>> 0);
  }
  return BigInt.asUintN(bits, value);
};

/** If the range is not a power of two, the bias is at most 2^-64. */
const SCALING_BITS = 64;

/** A random value of a field, up to its maximum. */
export const randomValue = ({ bits, max }: Field, entropy: RandomWords): bigint => {
  const count = BigInt(max) + 1n;
  if (count === 1n << BigInt(bits)) return randomBits(bits, entropy);
  return (randomBits(bits + SCALING_BITS, entropy) * count) >> BigInt(bits + SCALING_BITS);
};
