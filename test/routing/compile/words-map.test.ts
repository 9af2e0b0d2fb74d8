import fc from "fast-check";
import { expect, test } from "vitest";
import { WordsMap } from "../../../src/routing/lookup/id-index.ts";

test("it finds what a map by text finds, and of equal words the first", () => {
  const words = fc.tuple(fc.nat(3), fc.nat(3), fc.constantFrom(0, 0x80000000, 0xffffffff));
  fc.assert(
    fc.property(fc.array(fc.tuple(words, fc.nat())), fc.array(words), (entries, others) => {
      const plain = new Map(entries.toReversed().map(([own, value]) => [own.join(), value]));
      const rows = entries.flatMap(([own]) => own);
      const values = entries.map(([, value]) => value);
      const map = WordsMap.of(3, rows, values);
      expect(map.size).toBe(plain.size);
      for (const own of [...entries.map(([own]) => own), ...others]) expect(map.get(own)).toBe(plain.get(own.join()));
    }),
  );
});
