import type { Layout, RandomWords, Result } from "../../src/ids/index.ts";

/** Random-looking words, the same for the same seed, so that findings can be reproduced (SFC32). */
export function seededWords(seed: number): RandomWords {
  let a = 0;
  let b = seed | 0;
  let c = 0;
  let counter = 1;
  const word = (): number => {
    const sum = (((a + b) | 0) + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  // The first words still correlate with the seed.
  for (let skipped = 0; skipped < 12; skipped++) word();
  return { word };
}

/** A whole number in [0, `end`); `end` is at most 2^32. */
export const randomBelow = ({ word }: RandomWords, end: number): number => Math.floor((word() * end) / 2 ** 32);

/** A random value for each field of a layout that is not fixed. */
export function randomFields(layout: Layout, word: RandomWords["word"]): Record<string, number> {
  const free = layout.fields.filter(({ role }) => role !== "fixed");
  return Object.fromEntries(free.map(({ name, bits }) => [name, randomValue(word, bits)]));
}

/** A whole number of at most 53 bits, which a `number` holds exactly. */
function randomValue(word: RandomWords["word"], bits: number): number {
  if (bits <= 32) return word() >>> (32 - bits);
  return (word() >>> (64 - Math.min(bits, 53))) * 2 ** 32 + word();
}

/** The value of a result. An error means a bug in the benchmark. */
export function needed<Value>(result: Result<Value, unknown>): Value {
  if (!result.ok) throw new Error(`bug in the benchmark: ${JSON.stringify(result.error)}`);
  return result.value;
}
