import type { Layout, Result } from "../src/ids/index.ts";

/** A random value for each field of a layout that is not fixed. `word` gives random 32-bit words. */
export function randomFields(layout: Layout, word: () => number): Record<string, number> {
  const free = layout.fields.filter(({ role }) => role !== "fixed");
  return Object.fromEntries(free.map(({ name, bits }) => [name, randomValue(word, bits)]));
}

/** Whole and random, of as many bits as a `number` holds exactly. */
function randomValue(word: () => number, bits: number): number {
  if (bits <= 32) return word() >>> (32 - bits);
  return (word() >>> (64 - Math.min(bits, 53))) * 2 ** 32 + word();
}

/** The value of a result that cannot be an error, since the benchmark itself made what it is of. */
export function needed<Value>(result: Result<Value, unknown>): Value {
  if (!result.ok) throw new Error(`the benchmark made something impossible: ${JSON.stringify(result.error)}`);
  return result.value;
}
