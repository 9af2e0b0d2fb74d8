import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget } from "../../../src/routing/limits.ts";
import { type Box, buildIndexes } from "../../../src/routing/lookup/build-index.ts";
import { IdIndex, NO_ROUTE } from "../../../src/routing/lookup/id-index.ts";
import { clip, includes, rangesOf } from "../../../src/routing/lookup/ranges.ts";

const dimensions = ["a", "b", "c"].map((name) => ({ name, min: 0, max: 2 ** 32 - 1, read: () => 0 }));

const indexOf = (boxes: readonly Box[], cells = 1_000_000): IdIndex | undefined => {
  const indexes = buildIndexes(
    boxes.map((box, ordinal) => ({ ordinal, box })),
    dimensions,
    new Budget(cells),
  );
  return indexes && new IdIndex(dimensions, indexes);
};

const scan = (boxes: readonly Box[], values: readonly number[]): number => {
  const found = boxes.findIndex((box) =>
    box.every((set, slot) => set === undefined || includes(set, values[slot] as number)),
  );
  return found === -1 ? NO_ROUTE : found;
};

const isKey = (value: number): boolean => value >= 0 && value < 2 ** 32;

const set = fc
  .array(fc.tuple(fc.nat(20), fc.nat(6)), { minLength: 1, maxLength: 3 })
  .map((pairs) => rangesOf(pairs.map(([low, more]) => [low, low + more])));

test("the first box that holds a point wins, whatever dimensions the boxes constrain", () => {
  const box = fc.tuple(...dimensions.map(() => fc.option(set, { nil: undefined })));
  const point = fc.tuple(fc.nat(28), fc.nat(28), fc.nat(28));
  fc.assert(
    fc.property(fc.array(box, { maxLength: 10 }), fc.array(point, { maxLength: 40 }), (boxes, points) => {
      const index = indexOf(boxes);
      for (const values of points) expect(index?.findValues(Float64Array.from(values))).toBe(scan(boxes, values));
    }),
  );
});

/** A fixed sequence of numbers that looks random: the test is the same each time. */
const sequence = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed;
};

test.each([
  ["spread evenly", (next: () => number) => next()],
  ["crowded at one end", (next: () => number) => next() >>> (next() % 32)],
])("thousands of overlapping ranges, %s, are found as a scan finds them", (_, draw) => {
  const next = sequence(7);
  const boxes = Array.from({ length: 3_000 }, (): Box => {
    const low = draw(next);
    return [[low, Math.min(2 ** 32 - 1, low + (draw(next) >>> 8))], undefined, undefined];
  });
  const index = indexOf(boxes);
  const bounds = boxes
    .flatMap(([own]) => own ?? [])
    .flatMap((bound) => [bound - 1, bound, bound + 1])
    .filter(isKey);
  for (const value of [...bounds.slice(0, 3_000), ...Array.from({ length: 3_000 }, () => draw(next))]) {
    expect(index?.findValues(Float64Array.of(value, 0, 0))).toBe(scan(boxes, [value, 0, 0]));
  }
});

test("an index beyond its budget is given up", () => {
  const boxes: Box[] = Array.from({ length: 100 }, (_, step) => [[step, step + 100], [step, step + 100], undefined]);
  expect(indexOf(boxes, 1_000)).toBeUndefined();
  expect(indexOf(boxes, 100_000)).toBeDefined();
});

describe("the look-up of what routes lead to", () => {
  /** Words hold the values themselves. */
  const spaces = [
    { what: "one small dimension", sizes: [256] },
    { what: "two small dimensions", sizes: [32, 32] },
    { what: "one large dimension", sizes: [2 ** 32] },
    { what: "a small and a large dimension", sizes: [16, 2 ** 32] },
    { what: "three small dimensions", sizes: [16, 16, 16] },
  ];

  test.each(spaces)("is that of a scan: $what", ({ sizes }) => {
    const own = sizes.map((size, word) => ({
      name: `${word}`,
      min: 0,
      max: size - 1,
      read: (words: readonly number[]) => words[word] as number,
    }));
    const box = fc.tuple(...own.map(() => fc.option(set, { nil: undefined })));
    const point = fc.tuple(...own.map(({ max }) => fc.nat(Math.min(28, max))));
    fc.assert(
      fc.property(
        fc.array(
          box.map((sets) => sets.map((each, slot) => each && clip(each, 0, own[slot]?.max ?? 0))),
          { maxLength: 30 },
        ),
        fc.array(point, { maxLength: 40 }),
        (boxes, points) => {
          const possible = boxes.filter((sets) => sets.every((each) => each === undefined || each.length > 0));
          const placed = possible.map((each, ordinal) => ({ ordinal, box: each }));
          const indexes = buildIndexes(placed, own, new Budget(1_000_000));
          if (indexes === undefined) throw new Error("beyond the budget");
          const find = new IdIndex(own, indexes).targetFinder({
            byOrdinal: possible.map((_, ordinal) => ordinal),
            fallback: NO_ROUTE,
          });
          for (const words of points) expect(find(words)).toBe(scan(possible, words));
        },
      ),
    );
  });
});
