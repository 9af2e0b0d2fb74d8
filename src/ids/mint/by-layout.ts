import type { FieldValues } from "../layout/compile.ts";
import type { Field, FieldValue, Layout, Words } from "../layout/layout.ts";
import { type TimeRow, ticksIn, timeRowOf, timeValue } from "../layout/time.ts";
import { holds, ofRole, widest } from "../layout/words.ts";
import { err, ok, type Result } from "../result.ts";
import {
  checkClock,
  checkKey,
  type MintError,
  type Minted,
  type MintResult,
  outOfRange,
  type RandomWords,
  randomBits,
  randomValue,
} from "./mint.ts";

/** Generic minting for layouts without rules of their own: a time, given keys, and a counter or random bits. */

/** Why a minter cannot start. */
export type MinterError =
  | { readonly reason: "not-mintable"; readonly layout: string }
  | { readonly reason: "missing-key"; readonly field: string }
  | { readonly reason: "unknown-key"; readonly field: string }
  | MintError;

interface MintPlan {
  readonly layout: Layout;
  readonly time: Field | undefined;
  readonly timeRow: TimeRow | undefined;
  /** Counts up within a tick: the widest counter, else the widest random field. */
  readonly sequence: Field | undefined;
  readonly random: readonly Field[];
  /** Random fields less significant than the sequence. They can change with each ID. */
  readonly randomAfter: readonly Field[];
  /** Random fields between bits of the time: generated once, or IDs would not increase. */
  readonly randomWithin: readonly Field[];
  /** The bits shared by all IDs of the minter. */
  readonly base: Words;
}

/** A minter after its last ID. */
export interface MinterState {
  readonly plan: MintPlan;
  readonly lastWords: Words;
  /** Time of the last ID in units of its layout; -1 before the first. */
  readonly lastTicks: bigint;
}

/**
 * Starts a minter. `keys` has a value for every `key` and `node` field, and nothing else. Without random bits, two
 * minters with equal keys generate equal IDs at the same time.
 */
export const startMinter = (layout: Layout, keys: FieldValues): Result<MinterState, MinterError> => {
  if (layout.table.minter !== undefined) return err({ reason: "not-mintable", layout: layout.name });
  const fault = checkKeys(layout, keys);
  if (fault !== undefined) return err(fault);
  const base = layout.fixed.value.slice();
  for (const field of givenFields(layout)) field.write(base, keys[field.name] as FieldValue);
  return ok({ plan: planOf(layout, base), lastWords: base, lastTicks: -1n });
};

const givenFields = ({ fields }: Layout): readonly Field[] =>
  fields.filter(({ role }) => role === "key" || role === "node");

/** Whether each `key` and `node` field has a value that fits, and nothing else is given. */
export const checkKeys = (layout: Layout, keys: FieldValues): MinterError | undefined => {
  const given = givenFields(layout);
  const unknown = Object.keys(keys).find((name) => given.every((field) => field.name !== name));
  if (unknown !== undefined) return { reason: "unknown-key", field: unknown };
  for (const field of given) {
    const value = Object.hasOwn(keys, field.name) ? keys[field.name] : undefined;
    const fault =
      value === undefined ? ({ reason: "missing-key", field: field.name } as const) : checkKey(field, value);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

const planOf = (layout: Layout, base: Words): MintPlan => {
  const { fields, table } = layout;
  const sequence = sequenceOf(layout);
  const random = ofRole(fields, "random").filter((field) => field !== sequence);
  const lastRow = table.rows.findLastIndex(({ field }) => field === sequence?.name);
  return {
    layout,
    time: fields.find(({ role }) => role === "time"),
    timeRow: timeRowOf(table),
    sequence,
    random,
    randomAfter: random.filter(({ name }) => table.rows.findIndex(({ field }) => field === name) > lastRow),
    randomWithin: random.filter((field) => splitsTime(layout, field)),
    base,
  };
};

/** The widest counter, else the widest random field. Bits of the time must not surround it: it restarts with each tick. */
export const sequenceOf = (layout: Layout): Field | undefined => {
  const fields = layout.fields.filter((field) => !splitsTime(layout, field));
  return widest(ofRole(fields, "counter")) ?? widest(ofRole(fields, "random"));
};

const splitsTime = ({ table: { rows } }: Layout, { name }: Field): boolean => {
  const first = rows.findIndex(({ role }) => role === "time");
  const last = rows.findLastIndex(({ role }) => role === "time");
  return rows.some(({ field }, row) => field === name && row > first && row < last);
};

/**
 * The next ID. In a layout that begins with its time, apart from fixed bits and keys, IDs increase strictly in row
 * order. A new tick starts its counter at 0, or randomly in its lower half if it has 20 bits or more. A random
 * sequence starts in its lower half and grows by a random step.
 * If the clock stops or runs back, the sequence continues in the last tick. If the sequence is exhausted or
 * absent, the time in the ID advances one tick. Without a time field all bits are random. Errors: `clock-behind`, and
 * `key-out-of-range` if the clock does not fit the time field.
 */
export const mintNext = (state: MinterState, nowMs: number, entropy: RandomWords): MintResult<MinterState> => {
  const { time, timeRow, sequence, layout } = state.plan;
  if (time === undefined || timeRow === undefined) return ok(minted(state, -1n, drawAll(state.plan, entropy)));
  if (!Number.isSafeInteger(nowMs)) return err(outOfRange(time, nowMs));
  const ticks = ticksIn(timeRow.unit, nowMs - timeRow.epochMs);
  const first = state.lastTicks < 0n;
  const fault = first ? undefined : checkClock((layout.mintedAtMs?.(state.lastWords) ?? nowMs) - nowMs);
  if (fault !== undefined) return err(fault);
  if (first || ticks > state.lastTicks) return begin(state, ticks, entropy);
  const next = sequence && sequence.readBig(state.lastWords) + stepOf(sequence, entropy);
  if (sequence === undefined || next === undefined || !holds(sequence, next)) {
    return begin(state, state.lastTicks + 1n, entropy);
  }
  const words = state.lastWords.slice();
  sequence.write(words, next);
  for (const field of state.plan.randomAfter) field.write(words, randomValue(field, entropy));
  return ok(minted(state, state.lastTicks, words));
};

const begin = (state: MinterState, ticks: bigint, entropy: RandomWords): MintResult<MinterState> => {
  const { time, timeRow, sequence } = state.plan;
  const value = timeValue((timeRow as TimeRow).unit, ticks);
  const fault = checkKey(time as Field, value);
  if (fault !== undefined) return err(fault);
  const words = drawAll(state.plan, entropy);
  if (state.lastTicks >= 0n)
    for (const field of state.plan.randomWithin) field.write(words, field.readBig(state.lastWords));
  (time as Field).write(words, value);
  sequence?.write(words, firstOf(sequence, entropy));
  return ok(minted(state, ticks, words));
};

const drawAll = ({ base, random, time, sequence }: MintPlan, entropy: RandomWords): number[] => {
  const words = base.slice();
  for (const field of random) field.write(words, randomValue(field, entropy));
  if (time === undefined) sequence?.write(words, randomValue(sequence, entropy));
  return words;
};

/** A counter of this many bits still suffices for a tick if it starts at random in its lower half. */
const RANDOM_START_BITS = 20;

const firstOf = (sequence: Field, entropy: RandomWords): bigint =>
  sequence.role === "counter" && sequence.bits < RANDOM_START_BITS ? 0n : randomValue(sequence, entropy) >> 1n;

/** Steps average 2^31, which hides how many IDs lie between two. A narrow field uses half its bits for the step. */
const STEP_BITS_MAX = 32;

export const stepBits = (bits: number): number => Math.min(STEP_BITS_MAX, bits >>> 1);

const stepOf = ({ role, bits }: Field, entropy: RandomWords): bigint =>
  role === "counter" ? 1n : randomBits(stepBits(bits), entropy) + 1n;

const minted = (state: MinterState, lastTicks: bigint, words: Words): Minted<MinterState> => ({
  state: { plan: state.plan, lastWords: words, lastTicks },
  words,
});
