import fc from "fast-check";
import { expect, test } from "vitest";
import { keySegmentsOf, segmentKey, slicesIn, spreadKey } from "../../../src/routing/diff/key-space.ts";
import { draftOf } from "../../../src/routing/layouts/declared.ts";
import { planLayouts } from "../../../src/routing/layouts/plan.ts";
import { countOf, includes, type Ranges, rangesOf } from "../../../src/routing/lookup/ranges.ts";
import { sampleTable } from "../tables.ts";

const plan = planLayouts(
  draftOf({ ...sampleTable(), layouts: { hotguid: { slices: { head: [0, 10], middle: [8, 6], tail: [30, 2] } } } }),
).get("hotguid");
if (plan === undefined) throw new Error("the sample uses HotGuids");
const atoms = keySegmentsOf(32, [...plan.slices.values()]);
const boxOf = (sets: Readonly<Record<string, Ranges>>) => plan.dimensions.map(({ name }) => sets[name]);

/** The number in some bits of a key. */
const bitsAt = (key: number, offset: number, bits: number): number =>
  Math.floor(key / 2 ** (32 - offset - bits)) % 2 ** bits;

const ranges = (max: number) =>
  fc
    .array(fc.tuple(fc.nat(max), fc.nat(max)), { minLength: 1, maxLength: 3 })
    .map((pairs) => rangesOf(pairs.map(([a, b]) => [Math.min(a, b), Math.max(a, b)])));

test("keys are cut at the borders of the slices", () => {
  expect(atoms.map(({ offset, bits }) => [offset, bits])).toEqual([
    [0, 8],
    [8, 2],
    [10, 4],
    [14, 16],
    [30, 2],
  ]);
  expect(atoms.map((atom) => segmentKey(atom, plan))).toEqual([
    "shardKey bits 0-7",
    "shardKey bits 8-9",
    "shardKey bits 10-13",
    "shardKey bits 14-29",
    "slices.tail",
  ]);
  expect(segmentKey({ offset: 0, bits: 32 }, plan)).toBe("shardKey");
});

test("only slices that routes ask for cut the key", () => {
  const asked = slicesIn(plan, [boxOf({ shardKey: [0, 1] }), boxOf({ "slices.tail": [0, 1] })]);
  expect(asked).toEqual([expect.objectContaining({ name: "tail" })]);
});

test("a range of keys is spread over the atoms without loss or overlap", () => {
  fc.assert(
    fc.property(ranges(2 ** 32 - 1), fc.array(fc.nat(2 ** 32 - 1)), (keys, random) => {
      const boxes = spreadKey(plan, boxOf({ shardKey: keys }), atoms);
      const sizes = boxes.map((box) =>
        box.reduce((product, set, at) => product * (set === undefined ? 2 ** (atoms[at]?.bits ?? 0) : countOf(set)), 1),
      );
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(countOf(keys));
      for (const key of [...random, ...keys]) expect(holders(boxes, key)).toBe(includes(keys, key) ? 1 : 0);
    }),
  );
});

test("slices that overlap each other and a range of keys leave what is in all of them", () => {
  fc.assert(
    fc.property(
      ranges(2 ** 32 - 1),
      ranges(1023),
      ranges(63),
      fc.array(fc.nat(2 ** 32 - 1)),
      (keys, head, middle, random) => {
        const boxes = spreadKey(plan, boxOf({ shardKey: keys, "slices.head": head, "slices.middle": middle }), atoms);
        for (const key of [...random, ...keys]) {
          const isIn = includes(keys, key) && includes(head, bitsAt(key, 0, 10)) && includes(middle, bitsAt(key, 8, 6));
          expect(holders(boxes, key)).toBe(isIn ? 1 : 0);
        }
      },
    ),
  );
});

/** How many of the boxes hold a key. */
const holders = (boxes: ReturnType<typeof spreadKey>, key: number): number =>
  boxes.filter((box) =>
    box.every(
      (set, at) => set === undefined || includes(set, bitsAt(key, atoms[at]?.offset ?? 0, atoms[at]?.bits ?? 0)),
    ),
  ).length;
