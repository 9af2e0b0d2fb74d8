import type { Layout, Words } from "../layout/layout.ts";
import { fieldOf } from "../layout/words.ts";
import { hotguid, hotguidSql } from "../layouts/builtin.ts";
import { err, ok, type Result } from "../result.ts";
import { checkClock, checkKey, type MintError, type MintedBatch, type MintResult, type RandomWords } from "./mint.ts";

/** The machine (24 bits) and process (16 bits) in a HotGuid. */
export interface HotguidIdentity {
  readonly machine: number;
  readonly process: number;
}

/** No identity distinguishes this form of HotGuid from this layout. */
export interface IdentityError {
  readonly reason: "no-identity";
  readonly form: string;
  readonly layout: string;
}

/** About one random identity in three avoids the UUID versions, so this many failures are no accident. */
const ATTEMPTS_MAX = 1000;

/**
 * Generates an identity whose IDs never parse as a layout of `avoid`, whatever their time, counter and shard key. For
 * each form and each layout with fixed bits, an identity bit contradicts a fixed bit. `forms` are the forms in which
 * the IDs appear.
 */
export const hotguidIdentity = (
  entropy: RandomWords,
  avoid: readonly Layout[],
  forms: readonly Layout[] = [hotguid, hotguidSql],
): Result<HotguidIdentity, IdentityError> => {
  const rivals = avoid.filter(
    (layout) => layout.fixedBits > 0 && layout.fixed.mask.length === hotguid.fixed.mask.length,
  );
  const pairs = forms.flatMap((form) => rivals.map((layout) => ({ form, layout, identityMask: identityMaskOf(form) })));
  let clash: (typeof pairs)[number] | undefined;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const identity = { machine: entropy.word() & 0xffffff, process: entropy.word() & 0xffff };
    clash = pairs.find(({ form, layout, identityMask }) => !differs(wordsOf(form, identity), layout, identityMask));
    if (clash === undefined) return ok(identity);
  }
  const { form, layout } = clash as (typeof pairs)[number];
  return err({ reason: "no-identity", form: form.name, layout: layout.name });
};

const identityMaskOf = (form: Layout): Words => {
  const { mask: process } = fieldOf(form, "process");
  return fieldOf(form, "machine").mask.map((bits, word) => bits | (process[word] as number));
};

const wordsOf = (form: Layout, identity: HotguidIdentity): Words => {
  const words = form.fixed.value.slice();
  fieldOf(form, "machine").write(words, identity.machine);
  fieldOf(form, "process").write(words, identity.process);
  return words;
};

/** Whether an identity bit contradicts a fixed bit of the layout. */
const differs = (words: Words, { fixed }: Layout, identityMask: Words): boolean =>
  words.some(
    (word, index) =>
      ((word ^ (fixed.value[index] as number)) & (fixed.mask[index] as number) & (identityMask[index] as number)) !== 0,
  );

const time = /* @__PURE__ */ fieldOf(hotguid, "mintedAt");
const machine = /* @__PURE__ */ fieldOf(hotguid, "machine");
const process = /* @__PURE__ */ fieldOf(hotguid, "process");
const counter = /* @__PURE__ */ fieldOf(hotguid, "counter");
const shardKey = /* @__PURE__ */ fieldOf(hotguid, "shardKey");

/** The .NET library starts its counter below this. */
const COUNTER_START_END = 500_000;
const COUNTER_MAX = 0xff_ffff;
const WORDS = 4;
const WORD_VALUES = 0x1_0000_0000;

/** The minter of one shard key and identity: second and counter of its last ID. */
export interface HotguidState {
  /** The bits shared by all IDs of the minter, including the last second. */
  readonly base: Words;
  /** -1 before the first ID. */
  readonly lastSecond: number;
  readonly lastCounter: number;
}

interface HotguidKeys {
  readonly shardKey: number;
}

export const startHotguid = (identity: HotguidIdentity, keys: HotguidKeys): Result<HotguidState, MintError> => {
  const fault =
    checkKey(machine, identity.machine) ?? checkKey(process, identity.process) ?? checkKey(shardKey, keys.shardKey);
  if (fault !== undefined) return err(fault);
  const base = hotguid.fixed.value.slice();
  machine.write(base, identity.machine);
  process.write(base, identity.process);
  shardKey.write(base, keys.shardKey);
  return ok({ base, lastSecond: -1, lastCounter: 0 });
};

/**
 * The next ID in ordinary form, greater than the last; `toSql` gives the SQL form. Each second starts its counter at
 * random below 500,000 and increments it before use. If the 24 bits are exhausted, the second in the ID advances by
 * one. If the clock stops or runs back, the counter continues in the last second. Errors: `clock-behind`, and
 * `key-out-of-range` from 2106-02-07T06:28:16Z on, when 32 bits of seconds overflow.
 */
export const mintHotguid = (state: HotguidState, nowMs: number, entropy: RandomWords): MintResult<HotguidState> => {
  const second = Number.isSafeInteger(nowMs) ? Math.floor(nowMs / 1000) : nowMs / 1000;
  const fault = checkKey(time, second) ?? checkClock(state.lastSecond * 1000 - nowMs);
  if (fault !== undefined) return err(fault);
  if (second > state.lastSecond) return begin(state, second, entropy);
  if (state.lastCounter === COUNTER_MAX) return begin(state, state.lastSecond + 1, entropy);
  return minted({ ...state, lastCounter: state.lastCounter + 1 });
};

/** The same IDs as `mintHotguid` one by one, with the clock checked once for all that follow within a second. */
export const mintHotguids = (
  start: HotguidState,
  count: number,
  nowMs: number,
  entropy: RandomWords,
): MintedBatch<HotguidState> => {
  const rows = new Uint32Array(count * WORDS);
  let at = 0;
  let state = start;
  while (at < rows.length) {
    const first = mintHotguid(state, nowMs, entropy);
    if (!first.ok) return { state, rows: rows.slice(0, at), error: first.error };
    const { base, lastSecond } = first.value.state;
    let { lastCounter } = first.value.state;
    const words = first.value.words.slice();
    rows.set(words, at);
    at += WORDS;
    // The first may stand in a second after the last, which the clock is then too far behind.
    const isBehind = checkClock(lastSecond * 1000 - nowMs) !== undefined;
    for (; !isBehind && at < rows.length && lastCounter < COUNTER_MAX; at += WORDS) {
      counter.write(words, ++lastCounter);
      rows.set(words, at);
    }
    state = { base, lastSecond, lastCounter };
  }
  return { state, rows, error: undefined };
};

/** The minter of the same identity for another shard key. Order and counter go on. */
export const withShardKey = (state: HotguidState, key: number): HotguidState => {
  const base = state.base.slice();
  shardKey.write(base, key);
  return { ...state, base };
};

/**
 * Skips this many IDs. The next one is still greater than the last. A count that is not a whole number skips all IDs of
 * the second, so that none is repeated.
 */
export const skipHotguids = (state: HotguidState, count: number): HotguidState => ({
  ...state,
  lastCounter: count >= 0 && Number.isInteger(count) ? Math.min(state.lastCounter + count, COUNTER_MAX) : COUNTER_MAX,
});

const begin = (state: HotguidState, second: number, entropy: RandomWords): MintResult<HotguidState> => {
  const fault = checkKey(time, second);
  if (fault !== undefined) return err(fault);
  const base = state.base.slice();
  time.write(base, second);
  return minted({ base, lastSecond: second, lastCounter: below(COUNTER_START_END, entropy) + 1 });
};

const minted = (state: HotguidState): MintResult<HotguidState> => {
  const words = state.base.slice();
  counter.write(words, state.lastCounter);
  return ok({ state, words });
};

/** A random integer below `end`, scaled. The bias is less than one in 8,000. */
const below = (end: number, entropy: RandomWords): number => Math.floor(((entropy.word() >>> 0) / WORD_VALUES) * end);
