import type { Field, FieldValue, Words } from "../layout/layout.ts";
import { WORD_BITS } from "../layout/runs.ts";
import { greatestOf, holds } from "../layout/words.ts";
import type { Result } from "../result.ts";

/** A source of strong random bits, such as the port `Entropy`. */
export interface RandomWords {
  /** One uniformly random unsigned 32-bit word. */
  word(): number;
}

/** An ID, and the minter state after it. */
export interface Minted<State> {
  readonly state: State;
  readonly words: Words;
}

/** The words of IDs of one layout, ID after ID. An array for each would be garbage that lives until the last is used. */
export type WordRows = Uint32Array<ArrayBuffer>;

export const rowsOf = (ids: readonly Words[]): WordRows => Uint32Array.from(ids.flat());

/** The words of each ID; `width`: how many they are. */
export const wordsIn = (rows: WordRows, width: number): readonly Words[] =>
  Array.from({ length: rows.length / width }, (_, at) => [...rows.subarray(at * width, (at + 1) * width)]);

/** The IDs of one reading of the clock, and the minter state after the last. */
export interface MintedBatch<State> {
  readonly state: State;
  readonly rows: WordRows;
  /** Why there are fewer than were asked for. */
  readonly error: MintError | undefined;
}

/** Why no ID was minted. */
export type MintError =
  | { readonly reason: "key-out-of-range"; readonly field: string; readonly value: string; readonly max: string }
  | { readonly reason: "clock-behind"; readonly behindMs: number; readonly toleranceMs: number };

export type MintResult<State> = Result<Minted<State>, MintError>;

/**
 * How far the clock may lag behind the last ID. Up to this, minting continues from the last ID, so a clock step causes
 * no error. Beyond it the clock or the last ID is wrong, and IDs would have a wrong time for too long.
 */
export const CLOCK_BEHIND_MS_MAX = 60_000;

/** Rejects a value that is not an integer within the field. Keys are never truncated. */
export const checkKey = (field: Field, value: FieldValue): MintError | undefined =>
  holds(field, value) ? undefined : outOfRange(field, value);

export const outOfRange = (field: Field, value: FieldValue): MintError => ({
  reason: "key-out-of-range",
  field: field.name,
  value: String(value),
  max: greatestOf(field),
});

export const checkClock = (behindMs: number): MintError | undefined =>
  behindMs > CLOCK_BEHIND_MS_MAX ? { reason: "clock-behind", behindMs, toleranceMs: CLOCK_BEHIND_MS_MAX } : undefined;

/** An integer of this many random bits, most significant word first. */
export const randomBits = (bits: number, entropy: RandomWords): bigint => {
  let value = 0n;
  for (let done = 0; done < bits; done += WORD_BITS) {
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
