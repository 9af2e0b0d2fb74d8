import type { Words } from "../layout/layout.ts";
import { fieldOf, maskOf } from "../layout/words.ts";
import { iuid } from "../layouts/builtin.ts";
import { err, ok, type Result } from "../result.ts";
import { checkClock, checkKey, type MintError, type MintedBatch, type MintResult, type RandomWords } from "./mint.ts";

const time = /* @__PURE__ */ fieldOf(iuid, "mintedAt");
const country = /* @__PURE__ */ fieldOf(iuid, "country");
const service = /* @__PURE__ */ fieldOf(iuid, "service");

/** The random field is the low bits of the third word and all of the fourth. */
const HEAD = 2;
const TAIL = 3;
const WORDS = 4;
const HEAD_MASK = /* @__PURE__ */ maskOf(iuid, "random", HEAD);
/** The first ID of a millisecond has its top random bit clear. With steps of 2^31 on average, four million more fit. */
const FIRST_HEAD_SHIFT = 1;
const TAIL_VALUES = 0x1_0000_0000;

/** The minter of one country and service: its last ID and that ID's millisecond. */
export interface IuidState {
  /** -1 before the first ID. */
  readonly lastMs: number;
  /** The last ID. Before the first, the bits shared by all IDs of the minter. */
  readonly lastWords: Words;
}

export const startIuid = (keys: {
  readonly country: number;
  readonly service: number;
}): Result<IuidState, MintError> => {
  const fault = checkKey(country, keys.country) ?? checkKey(service, keys.service);
  if (fault !== undefined) return err(fault);
  const lastWords = iuid.fixed.value.slice();
  country.write(lastWords, keys.country);
  service.write(lastWords, keys.service);
  return ok({ lastMs: -1, lastWords });
};

/**
 * The next ID, greater than the last. A new millisecond gets a fresh random part. If the clock stops or runs
 * back, the random part grows by a random step of 1 to 2^32. If its 54 bits are exhausted, the time in the ID advances
 * one millisecond. Errors: `clock-behind`, and `key-out-of-range` if the clock does not fit 48 bits.
 */
export const mintIuid = (state: IuidState, nowMs: number, entropy: RandomWords): MintResult<IuidState> => {
  const fault = checkKey(time, nowMs) ?? checkClock(state.lastMs - nowMs);
  if (fault !== undefined) return err(fault);
  if (nowMs > state.lastMs) return fresh(state, nowMs, entropy);

  const { lastMs, lastWords } = state;
  const head = lastWords[HEAD] as number;
  const tail = (lastWords[TAIL] as number) + 1 + (entropy.word() >>> 0);
  if (tail < TAIL_VALUES) return minted(lastMs, follow(lastWords, head, tail));
  if ((head & HEAD_MASK) === HEAD_MASK) return fresh(state, lastMs + 1, entropy);
  return minted(lastMs, follow(lastWords, head + 1, tail - TAIL_VALUES));
};

/** The same IDs as `mintIuid` one by one, with the clock checked once for all that follow within a millisecond. */
export const mintIuids = (
  start: IuidState,
  count: number,
  nowMs: number,
  entropy: RandomWords,
): MintedBatch<IuidState> => {
  const rows = new Uint32Array(count * WORDS);
  let at = 0;
  let state = start;
  while (at < rows.length) {
    const first = mintIuid(state, nowMs, entropy);
    if (!first.ok) return { state, rows: rows.slice(0, at), error: first.error };
    state = first.value.state;
    rows.set(state.lastWords, at);
    at += WORDS;
    // The first may stand in a millisecond after the last, which the clock is then too far behind.
    if (checkClock(state.lastMs - nowMs) !== undefined) continue;
    const { lastMs, lastWords } = state;
    let head = lastWords[HEAD] as number;
    let tail = lastWords[TAIL] as number;
    for (; at < rows.length; at += WORDS) {
      const next = tail + 1 + (entropy.word() >>> 0);
      const isOver = next >= TAIL_VALUES;
      if (isOver && (head & HEAD_MASK) === HEAD_MASK) break;
      tail = isOver ? next - TAIL_VALUES : next;
      if (isOver) head++;
      rows[at] = lastWords[0] as number;
      rows[at + 1] = lastWords[1] as number;
      rows[at + HEAD] = head;
      rows[at + TAIL] = tail;
    }
    state = { lastMs, lastWords: follow(lastWords, head, tail) };
    if (at === rows.length) break;
    const next = fresh(state, lastMs + 1, entropy);
    if (!next.ok) return { state, rows: rows.slice(0, at), error: next.error };
    state = next.value.state;
    rows.set(state.lastWords, at);
    at += WORDS;
  }
  return { state, rows, error: undefined };
};

const fresh = (state: IuidState, timeMs: number, entropy: RandomWords): MintResult<IuidState> => {
  const fault = checkKey(time, timeMs);
  if (fault !== undefined) return err(fault);
  const head = ((state.lastWords[HEAD] as number) & ~HEAD_MASK) | (entropy.word() & (HEAD_MASK >>> FIRST_HEAD_SHIFT));
  const words = follow(state.lastWords, head >>> 0, entropy.word() >>> 0);
  time.write(words, timeMs);
  return minted(timeMs, words);
};

const follow = (lastWords: Words, head: number, tail: number): number[] => {
  const words = lastWords.slice();
  words[HEAD] = head;
  words[TAIL] = tail;
  return words;
};

const minted = (timeMs: number, words: Words): MintResult<IuidState> =>
  ok({ state: { lastMs: timeMs, lastWords: words }, words });
