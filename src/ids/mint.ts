import { greatestOf, holds } from "./fields.ts";
import type { Field, FieldValue, Words } from "./layout.ts";

/** Strong random bits. The port `Entropy` is one. */
export interface RandomWords {
  /** One uniformly random unsigned 32-bit word. */
  word(): number;
}

/** An ID, and the minter as it is after it. */
export interface Minted<State> {
  readonly state: State;
  readonly words: Words;
}

/** Why there is no ID. */
export type MintError =
  | { readonly reason: "key-out-of-range"; readonly field: string; readonly value: string; readonly max: string }
  | { readonly reason: "clock-behind"; readonly behindMs: number; readonly toleranceMs: number };

/**
 * How far the clock may be behind the last ID. Up to this, minting goes on from the last ID, so that a step of the clock
 * costs nothing; beyond it the clock, or the ID before, is wrong, and IDs would carry a false time for too long.
 */
export const CLOCK_BEHIND_MS_MAX = 60_000;

/** Refuses what is not a whole number that the field holds: a key is never cut to its bits. */
export const checkKey = (field: Field, value: FieldValue): MintError | undefined => {
  if (holds(field, value)) return undefined;
  return { reason: "key-out-of-range", field: field.name, value: String(value), max: greatestOf(field) };
};

/** The fault of a clock that reads `behindMs` less than the last ID does, if that is too much. */
export const checkClock = (behindMs: number): MintError | undefined =>
  behindMs > CLOCK_BEHIND_MS_MAX ? { reason: "clock-behind", behindMs, toleranceMs: CLOCK_BEHIND_MS_MAX } : undefined;
