import fc from "fast-check";
import { expect, test } from "vitest";
import {
  clip,
  countOf,
  formatRanges,
  includes,
  intersect,
  type Ranges,
  rangesOf,
  subtract,
} from "../../../src/routing/lookup/ranges.ts";

/** All numbers of a small set, one by one. */
const numbersIn = (ranges: Ranges): number[] =>
  Array.from({ length: 40 }, (_, value) => value).filter((value) => includes(ranges, value));

const pairs = fc.array(
  fc.tuple(fc.nat(30), fc.nat(8)).map(([low, more]) => [low, low + more] as const),
  { maxLength: 6 },
);

const isTidy = (ranges: Ranges): boolean =>
  ranges.every(
    (bound, at) =>
      at === 0 || (at % 2 === 0 ? bound > (ranges[at - 1] as number) + 1 : bound >= (ranges[at - 1] as number)),
  );

test("sets of ranges behave as the sets of their numbers do", () => {
  fc.assert(
    fc.property(pairs, pairs, (left, right) => {
      const a = rangesOf(left);
      const b = rangesOf(right);
      const inLeft = (value: number) => left.some(([low, high]) => value >= low && value <= high);
      expect(numbersIn(a)).toEqual(Array.from({ length: 40 }, (_, value) => value).filter(inLeft));
      expect(numbersIn(intersect(a, b))).toEqual(numbersIn(a).filter((value) => includes(b, value)));
      expect(numbersIn(subtract(a, b))).toEqual(numbersIn(a).filter((value) => !includes(b, value)));
      expect(clip(a, 9, 20)).toEqual(intersect(a, [9, 20]));
      expect(countOf(a)).toBe(numbersIn(a).length);
      for (const set of [a, b, intersect(a, b), subtract(a, b)]) expect(isTidy(set)).toBe(true);
    }),
  );
});

test("ranges are written as the table writes them", () => {
  expect(
    formatRanges(
      rangesOf([
        [5, 5],
        [9, 12],
        [6, 6],
      ]),
    ),
  ).toBe("5-6, 9-12");
  expect(formatRanges([])).toBe("");
});
