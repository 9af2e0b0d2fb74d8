import type { RandomWords } from "../src/ids/index.ts";

/** Words that look random and are the same in each run for a seed, so that what a part finds can be found again (SFC32). */
export function seededWords(seed: number): RandomWords {
  let [a, b, c, counter] = [0, seed | 0, 0, 1];
  const word = (): number => {
    const sum = (((a + b) | 0) + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  // The first words still show the seed.
  for (let skipped = 0; skipped < 12; skipped++) word();
  return { word };
}

/** A whole number from 0 up to, not including, `end`, which is at most 2^32. */
export const randomBelow = ({ word }: RandomWords, end: number): number => Math.floor((word() * end) / 2 ** 32);
