import { describe, expect, it } from "vitest";
import {
  changeOf,
  courseOf,
  follows,
  lastOf,
  mergeHistory,
  periodsOf,
  pointsOf,
  problemCounts,
  ratesOf,
  recentOf,
  sumWithin,
  thinned,
  wholeOf,
} from "../../../src/console/overview/history.ts";
import type { MetricsHistory } from "../../../src/formats/console-api.ts";
import { figuresOf, seriesOf, steps } from "./figures.ts";

const historyAt = (
  at: readonly number[],
  requests: readonly number[],
  problems: MetricsHistory["problems"] = {},
): MetricsHistory => ({ ...figuresOf({ eu: seriesOf(requests) }), at, problems });

describe("figures over time", () => {
  it("takes steps that are new or changed, and knows nothing of what was not there", () => {
    const merged = mergeHistory(historyAt([10, 20], [1, 2], { "unknown-id": [0, 1] }), {
      ...historyAt([20, 30], [5, 6], { "malformed-id": [3, 0] }),
      regions: { us: seriesOf([7, 8]) },
    });
    expect(merged.at).toEqual([10, 20, 30]);
    expect(merged.total.requests).toEqual([1, 5, 6]);
    expect([merged.regions["eu"]?.requests, merged.regions["us"]?.requests]).toEqual([
      [1, 0, 0],
      [0, 7, 8],
    ]);
    expect(merged.regions["us"]?.p50).toEqual([null, null, null]);
    expect(merged.problems).toEqual({ "unknown-id": [0, 0, 0], "malformed-id": [0, 3, 0] });
    expect(problemCounts(merged)).toEqual([["malformed-id", 3]]);
  });

  it.each([
    ["the step that is not over", [20], true],
    ["the next step", [30], true],
    ["none", [], true],
    ["a step after a gap, as after a night", [40], false],
  ])("goes on with %s", (_, at, isNext) => {
    expect(follows(historyAt([10, 20], [1, 2]), historyAt(at, at))).toBe(isNext);
  });

  it("never goes on where the counters could not be read: what is known would pass for now", () => {
    const [known, none] = [historyAt([10, 20], [1, 2]), { ...historyAt([], []), source: "none" } as const];
    expect([follows(known, none), follows(none, historyAt([20], [1]))]).toEqual([false, false]);
  });

  it("counts problems before and after each publication", () => {
    const shown = historyAt([100, 110, 120, 130, 140, 150], [1, 1, 1, 1, 1, 1]);
    const marks = [
      { at: 138, text: "3" },
      { at: 110, text: "2" },
      // Before all steps, and after them.
      { at: 20, text: "1" },
      { at: 151, text: "4" },
    ];
    const periods = periodsOf(shown, marks);
    expect(periods.map(({ name, from, to, minutes }) => [name, from, to, minutes * 6])).toEqual([
      ["before 2", 0, 1, 1],
      ["after 2", 1, 4, 3],
      ["after 3", 4, 6, 2],
    ]);
    expect(periods.map((period) => sumWithin([1, 2, 3, 4, 5, 6], period))).toEqual([1, 9, 11]);
    expect(periodsOf(shown, [])).toEqual([]);
    // Two within one step: the later one's figures are those after both.
    const twice = [
      { at: 111, text: "2" },
      { at: 112, text: "3" },
    ];
    expect(periodsOf(shown, twice).map(({ name }) => name)).toEqual(["before 2", "after 3"]);
    const many = [105, 115, 125, 135].map((at) => ({ at, text: `${at}` }));
    expect(periodsOf(shown, many).map(({ name }) => name)).toEqual([
      "before 115",
      "after 115",
      "after 125",
      "after 135",
    ]);
  });

  it("never grows without end", () => {
    expect(ratesOf([10, 20, 5], 10)).toEqual([1, 2, 0.5]);
    expect(recentOf(seriesOf([60, 60, 1], [0, 0, 0], [3, 4, null]), 10)).toMatchObject({
      perSecond: 6,
      errorShare: 0,
      p50: 4,
    });
    let history = historyAt([0], [1]);
    for (let at = 10; at < 10_000; at += 10) history = mergeHistory(history, historyAt([at], [1]));
    expect(history.at.length).toBe(400);
    expect(history.total.requests.length).toBe(400);
  });
});

describe("what is said of figures", () => {
  it("counts failures of the step that is not over, and rates of whole steps alone", () => {
    const failing = seriesOf(steps([59, 100], [1, 50]), steps([59, 0], [1, 50]));
    expect(recentOf(failing, 10)).toMatchObject({ perSecond: 10, errorShare: 50 / 650 });
    expect(recentOf(seriesOf([0, 0, 0]), 10)).toMatchObject({ perSecond: 0, errorShare: undefined, p99: undefined });
    // A time that is older than the last minute is none of now.
    expect(
      recentOf(seriesOf(steps([20, 1]), steps([20, 0]), [5, ...Array.from({ length: 19 }, () => null)]), 10).p99,
    ).toBe(undefined);
  });

  it("is cut to a shorter range", () => {
    const cut = lastOf(historyAt([10, 20, 30, 40], [1, 2, 3, 4], { "unknown-id": [4, 3, 2, 1] }), 20);
    expect([cut.at, cut.total.requests, cut.regions["eu"]?.requests, cut.problems["unknown-id"]]).toEqual([
      [30, 40],
      [3, 4],
      [3, 4],
      [2, 1],
    ]);
    expect(lastOf(historyAt([10, 20], [1, 2]), 3_600).at).toEqual([10, 20]);
    // The step that is not over is no fall.
    expect(wholeOf(historyAt([10, 20], [5, 1])).total.requests).toEqual([5]);
    expect(wholeOf(historyAt([], [])).at).toEqual([]);
  });

  it("has so few points that a line is one", () => {
    const at = Array.from({ length: 360 }, (_, place) => 10_010 + place * 10);
    const points = pointsOf({ at, stepSeconds: 10 });
    expect([points.length, points[0], points[1], points.at(-1)]).toEqual([121, [0], [1, 2, 3], [358, 359]]);
    // A step later the same steps stand together.
    expect(pointsOf({ at: at.map((time) => time + 10), stepSeconds: 10 })[0]).toEqual([0, 1, 2]);
    expect(pointsOf({ at: at.slice(0, 100), stepSeconds: 10 })).toEqual(at.slice(0, 100).map((_, place) => [place]));
    const groups = [[0, 1], [2, 3], [4]];
    expect(thinned([1, 3, null, 8, null], groups, "average")).toEqual([2, 8, null]);
    expect(thinned([1, 3, null, 8, null], groups, "highest")).toEqual([3, 8, null]);
  });

  it.each<[string, readonly number[], number | undefined]>([
    ["a tenth more", steps([180, 100], [180, 110]), 0.1],
    ["half", steps([180, 100], [180, 50]), -0.5],
    ["nothing to compare with", steps([180, 0], [180, 5]), undefined],
    ["less than an hour", steps([300, 100]), undefined],
  ])("compares with an hour before: %s", (_, counts, change) => {
    const found = changeOf(counts, 10);
    if (change === undefined) expect(found).toBeUndefined();
    else expect(found).toBeCloseTo(change);
  });

  it.each<[string, readonly number[], number | undefined, number | undefined]>([
    ["new after a time without", steps([100, 0], [20, 5]), 1_000, undefined],
    ["nothing where nothing is known of before", steps([10, 0], [20, 5]), undefined, undefined],
    ["as before", steps([120, 5]), undefined, 1],
    ["more often", [...steps([113, 1]), ...steps([7, 8])], undefined, 8],
    ["new, however few", [...steps([113, 0]), 1, ...steps([6, 0])], 1_130, undefined],
  ])("says the course of a problem: %s", (_, counts, newSince, times) => {
    const at = counts.map((_, place) => place * 10);
    expect(courseOf(counts, { at, stepSeconds: 10 })).toMatchObject({ newSince, times });
  });
});
