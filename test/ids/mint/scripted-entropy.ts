import type { RandomWords } from "../../../src/ids/index.ts";

/** Random words as written down. Asking for more than there are is a fault of the test or of the code. */
export const scripted = (...words: readonly number[]): RandomWords => {
  const rest = words.values();
  return {
    word: () => {
      const next = rest.next();
      if (next.done) throw new Error(`more than ${words.length} random words were drawn`);
      return next.value;
    },
  };
};

/** Words that look random and are the same in each run (xorshift, period 2^32 - 1). */
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
