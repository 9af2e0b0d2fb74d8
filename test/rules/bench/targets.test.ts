import { expect, it } from "vitest";
import { judge, TARGETS, targetSection } from "../../../bench/gateway/targets.ts";

const rounds = (...figures: number[]) => figures;
const NINE_ABOUT_ONE = rounds(0.5, 0.96, 0.97, 0.98, 1, 1.02, 1.03, 1.04, 7);

it.each([
  ["at most: all below", NINE_ABOUT_ONE, 1.1, false, 0, "reached"],
  ["at most: the upper quartile is the target", NINE_ABOUT_ONE, 1.03, false, 0, "reached"],
  ["at most: the quartiles straddle it", NINE_ABOUT_ONE, 1, false, 0, "not decided"],
  ["at most: the lower quartile is the target", NINE_ABOUT_ONE, 0.97, false, 0, "not decided"],
  ["at most: all above", NINE_ABOUT_ONE, 0.9, false, 0, "not reached"],
  ["at least: all above", NINE_ABOUT_ONE, 0.9, true, 0, "reached"],
  ["at least: the lower quartile is the target", NINE_ABOUT_ONE, 0.97, true, 0, "reached"],
  ["at least: the quartiles straddle it", NINE_ABOUT_ONE, 1, true, 0, "not decided"],
  ["at least: the upper quartile is the target", NINE_ABOUT_ONE, 1.03, true, 0, "not decided"],
  ["at least: all below", NINE_ABOUT_ONE, 1.1, true, 0, "not reached"],
  ["at most: noise could hide a failure", NINE_ABOUT_ONE, 1.1, false, 0.1, "not decided"],
  ["at most: noise could hide a success", NINE_ABOUT_ONE, 0.9, false, 0.1, "not decided"],
  ["at least: noise could hide a failure", NINE_ABOUT_ONE, 0.9, true, 0.1, "not decided"],
  ["at least: noise could hide a success", NINE_ABOUT_ONE, 1.1, true, 0.1, "not decided"],
  ["far beyond the noise", NINE_ABOUT_ONE, 2, false, 0.1, "reached"],
  ["eight rounds", NINE_ABOUT_ONE.slice(1), 9, false, 0, "not decided"],
  ["no rounds", [], 9, false, 0, "not decided"],
  ["a round without a figure", [...NINE_ABOUT_ONE, Number.NaN], 9, false, 0, "not decided"],
  ["a round divided by nothing", [...NINE_ABOUT_ONE, Number.POSITIVE_INFINITY], 0.5, true, 0, "not decided"],
  ["unknown noise", NINE_ABOUT_ONE, 9, false, Number.NaN, "not decided"],
] as const)("judges %s", (_, figures, bound, isFloor, noise, verdict) => {
  expect(judge(figures, bound, isFloor, noise)).toBe(verdict);
});

it("prints a row for each figure, with a verdict on its target and its stretch", () => {
  const { columns, rows } = targetSection(
    [
      { target: TARGETS.standardRate, of: "1 field", figures: NINE_ABOUT_ONE.map((each) => each + 0.2), noise: 0.01 },
      { target: TARGETS.firstOf10, figures: NINE_ABOUT_ONE.map((each) => each * 20) },
      { target: { name: "beside it" }, figures: NINE_ABOUT_ONE },
      { target: TARGETS.p99, figures: [] },
    ],
    "",
  );
  expect(rows.map(([name, , , , , ...verdicts]) => [name, ...verdicts])).toEqual([
    [`${TARGETS.standardRate.name}; 1 field`, "≥ 1.1", "reached", "≥ 1.25", "not reached"],
    [TARGETS.firstOf10.name, "≤ 25", "reached", "≤ 15", "not reached"],
    ["beside it", "", "", "", ""],
    [TARGETS.p99.name, "≤ 1.2", "not decided", "≤ 1", "not decided"],
  ]);
  expect(rows[1]?.slice(1, 4)).toEqual([{ median: 20, min: 10, max: 140 }, 19.4, 20.6]);
  for (const row of rows) expect(row).toHaveLength(columns.length);
});

it("has a stretch beyond each target", () => {
  for (const { name, target, stretch, ...kind } of Object.values(TARGETS)) {
    expect("isFloor" in kind ? stretch - target : target - stretch, name).toBeGreaterThan(0);
  }
});
