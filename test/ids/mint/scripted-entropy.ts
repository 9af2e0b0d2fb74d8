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
