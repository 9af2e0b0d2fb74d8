import { describe, expect, it } from "vitest";
import { pooledEntropy } from "../../src/edge/platform.ts";

describe("pooled entropy", () => {
  it("gives 32-bit words that do not repeat, over many pools", () => {
    const entropy = pooledEntropy();
    const words = Array.from({ length: 10_000 }, () => entropy.word());
    expect(words.every((word) => Number.isInteger(word) && word >= 0 && word < 2 ** 32)).toBe(true);
    // 10,000 of 2^32: one clash in about 86 runs, five in none.
    expect(new Set(words).size).toBeGreaterThan(9_995);
  });

  it("sets every bit about half of the time", () => {
    const entropy = pooledEntropy();
    const ones = new Array<number>(32).fill(0);
    for (let draw = 0; draw < 10_000; draw++) {
      const word = entropy.word();
      for (let bit = 0; bit < 32; bit++) ones[bit] = (ones[bit] as number) + ((word >>> bit) & 1);
    }
    // Ten standard deviations.
    expect(ones.every((count) => Math.abs(count - 5000) < 500)).toBe(true);
  });

  it("two pools have nothing in common", () => {
    const a = pooledEntropy();
    const b = pooledEntropy();
    const inA = new Set(Array.from({ length: 1000 }, () => a.word()));
    const shared = Array.from({ length: 1000 }, () => b.word()).filter((word) => inA.has(word));
    expect(shared.length).toBeLessThan(3);
  });
});
