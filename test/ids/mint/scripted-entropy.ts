import type { RandomWords } from "../../../src/ids/index.ts";

/** Returns the given random words, and throws if more are requested. */
export const scripted = (...words: readonly number[]): RandomWords => {
  const rest = words.values();
  return {
    word: () => {
      const next = rest.next();
      if (next.done) throw new Error(`more than ${words.length} random words were requested`);
      return next.value;
    },
  };
};

/** Deterministic pseudo-random words (xorshift, period 2^32 - 1). */
export const seeded = (seed: number): RandomWords => {
  let state = seed | 0 || 1;
  return {
    word: () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return state >>> 0;
    },
  };
};

/**
 * Deterministic words for a million IDs (sfc32). Its 128 bits of state let words meet as often as chance does: a
 * generator of 32 bits never repeats itself and would prove nothing.
 */
export const seededWide = (seed: number): RandomWords => {
  let a = 0;
  let b = seed | 0;
  let c = 0x9e3779b9 | 0;
  let count = 1;
  const word = (): number => {
    const sum = (a + b + count) | 0;
    count = (count + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round++) word();
  return { word };
};
