import { seededWords } from "../random-words.ts";

/** Random times out of a seed. */
export interface Chance {
  /** From 0 to 1, both excluded. */
  uniform(): number;
  exponential(mean: number): number;
}

export function seededChance(seed: number): Chance {
  const { word } = seededWords(seed);
  const uniform = (): number => (word() + 0.5) / 2 ** 32;
  return { uniform, exponential: (mean) => -mean * Math.log(uniform()) };
}
