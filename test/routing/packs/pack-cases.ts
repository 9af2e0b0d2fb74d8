import { createHash } from "node:crypto";
import type { PackRange } from "../../../src/features/packs/table/format.ts";
import type { Sha256 } from "../../../src/routing/bytes.ts";

export const sha256: Sha256 = (bytes) => Promise.resolve(createHash("sha256").update(bytes).digest());

/** The slow, obvious look-up that packs are held against. */
export const slowFind = (ranges: readonly PackRange[], key: number): string | undefined =>
  ranges.find(({ from, to }) => from <= key && key <= to)?.region;

/** Ranges that rise, with gaps and without, in regions that neighbours share or not. */
export const drawRanges = (word: () => number, count: number, fieldBits: number): readonly PackRange[] => {
  const max = 2 ** fieldBits - 1;
  const step = Math.max(1, Math.floor(max / count / 2));
  const ranges: PackRange[] = [];
  for (let from = word() % Math.min(3, max + 1); ranges.length < count && from <= max; ) {
    const to = Math.min(max, from + (word() % step));
    ranges.push({ from, to, region: ["eu", "us", "ap"][word() % 3] as string });
    from = to + 1 + (word() % 2 === 0 ? 0 : word() % step);
  }
  return ranges;
};

/** xorshift32, so that a failure can be repeated. */
export const wordsFrom = (seed: number): (() => number) => {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
};
