import { describe, expect, it } from "vitest";
import { leftOf, moveApart, nearest, placeFlags, timeAt, topOf } from "../../../src/console/overview/plot/places.ts";

const SPAN = { from: 1_000, to: 2_000 };
const flag = (at: number, text: string, isCanary = false) => ({
  at,
  text,
  isCanary,
  href: `#/history?revision=${text}`,
  title: `note of ${text}`,
});

describe("flags", () => {
  const placed = (...flags: readonly ReturnType<typeof flag>[]) =>
    placeFlags(flags, SPAN, 500).map(({ left, text, isCanary }) => `${left} ${text}${isCanary ? " dashed" : ""}`);

  it.each<[string, readonly ReturnType<typeof flag>[], readonly string[]]>([
    ["stand at their time", [flag(1_100, "41"), flag(1_500, "42")], ["50 41", "250 42"]],
    ["join when near", [flag(1_100, "41"), flag(1_110, "42"), flag(1_500, "43")], ["50 41–42", "250 43"]],
    ["join with one that grew", [flag(1_100, "41"), flag(1_110, "42"), flag(1_170, "43")], ["50 41–43"]],
    [
      "are dashed only where all are canaries",
      [flag(1_100, "41", true), flag(1_110, "42"), flag(1_800, "43", true)],
      ["50 41–42", "400 43 dashed"],
    ],
    ["stay in the plot", [flag(2_000, "44")], ["472 44"]],
    ["join at its edge", [flag(1_950, "43"), flag(2_000, "44")], ["451 43–44"]],
    ["leave out what is before", [flag(900, "40"), flag(2_100, "45")], []],
    ["come in any order", [flag(1_500, "42"), flag(1_100, "41")], ["50 41", "250 42"]],
  ])("%s", (_, flags, expected) => expect(placed(...flags)).toEqual(expected));

  it("never cover each other, however many there are", () => {
    for (const count of [3, 17, 60, 400]) {
      const flags = Array.from({ length: count }, (_, at) => flag(1_000 + ((at * 7_919) % 1_000), `${at + 1}`));
      const all = placeFlags(flags, SPAN, 500);
      for (const [at, { left }] of all.entries()) {
        const before = all[at - 1];
        if (before !== undefined) expect(left).toBeGreaterThanOrEqual(before.left + before.text.length * 7 + 14);
      }
    }
  });

  it("lead to the last of those that they stand for, and name all", () => {
    const [only] = placeFlags([flag(1_100, "41"), flag(1_101, "42")], SPAN, 500);
    expect(only).toMatchObject({ href: "#/history?revision=42", title: "note of 41; note of 42" });
  });
});

describe("places in a plot", () => {
  it("are of times, and back", () => {
    expect(leftOf(1_250, SPAN, 400)).toBe(100);
    expect([timeAt(100, SPAN, 400), timeAt(-5, SPAN, 400), timeAt(900, SPAN, 400)]).toEqual([1_250, 1_000, 2_000]);
    expect(leftOf(5, { from: 5, to: 5 }, 400)).toBe(0);
  });

  it.each([
    [1, 0],
    [14, 0],
    [16, 1],
    [99, 2],
  ])("time %d is nearest to place %d", (time, place) => expect(nearest([10, 20, 30], time)).toBe(place));

  it("move apart, and stay within", () => {
    expect(moveApart([50, 52, 10], 12, 132)).toEqual([50, 62, 10]);
    expect(moveApart([132, 132, 132], 12, 132)).toEqual([108, 120, 132]);
    expect(moveApart([], 12, 132)).toEqual([]);
  });

  it("reach above the highest value that is shown", () => {
    const lines = [{ values: [1, 10, null, 3] }];
    expect(topOf([1, 2, 3, 4], lines, { from: 1, to: 4 })).toBeCloseTo(11);
    expect(topOf([1, 2, 3, 4], lines, { from: 3, to: 4 })).toBeCloseTo(3.3);
    expect(topOf([1, 2], [{ values: [0, 0] }], { from: 1, to: 2 })).toBe(1.1);
  });
});
