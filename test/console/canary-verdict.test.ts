import { describe, expect, it } from "vitest";
import {
  type CanaryTimes,
  differenceOf,
  figuresFrom,
  judgeCanary,
  P99_MORE_MAX,
  REQUESTS_MIN,
  SECONDS_MIN,
} from "../../src/formats/canary-verdict.ts";
import { type ClassCounts, classOf, type StatusClass } from "../../src/formats/status-classes.ts";

const NONE: ClassCounts = { "2xx": 0, "3xx": 0, "404": 0, "421": 0, "4xx": 0, "5xx": 0, elsewhere: 0, left: 0 };

/** `all` requests, good but for those that are named. */
const counts = (all: number, bad: Partial<Record<StatusClass, number>> = {}): ClassCounts => ({
  ...NONE,
  ...bad,
  "2xx": all - Object.values(bad).reduce((sum, one) => sum + one, 0),
});

describe("the class of an answer", () => {
  it.each<[number, string, boolean | undefined, StatusClass]>([
    [101, "answered", undefined, "2xx"],
    [200, "answered", undefined, "2xx"],
    [200, "answered", true, "elsewhere"],
    [304, "answered", undefined, "3xx"],
    [404, "answered", undefined, "404"],
    [404, "answered", true, "404"],
    [404, "unassigned-key", undefined, "404"],
    [421, "answered", undefined, "421"],
    [400, "malformed-id", undefined, "4xx"],
    [410, "answered", undefined, "4xx"],
    [422, "wrong-entity", undefined, "4xx"],
    [499, "client-left", undefined, "left"],
    [500, "answered", undefined, "5xx"],
    [502, "origins-disagree", undefined, "5xx"],
    [503, "answered", true, "5xx"],
  ])("%d %s, elsewhere: %s, is %s", (status, outcome, isElsewhere, name) =>
    expect(classOf({ status, outcome, isElsewhere })).toBe(name),
  );
});

describe("the verdict about a canary", () => {
  it.each<[string, ClassCounts, ClassCounts, string, RegExp]>([
    ["nothing", NONE, NONE, "too-few", /^Too few requests to judge: .* 100, the canary has 0/],
    ["one request too few", counts(10_000), counts(REQUESTS_MIN - 1), "too-few", /has 99/],
    ["few in force", counts(99), counts(10_000), "too-few", /Too few/],
    ["no errors", counts(1_000), counts(100), "no-worse", /^No kind of failure/],
    ["errors only, in both", counts(1_000, { "5xx": 1_000 }), counts(100, { "5xx": 100 }), "no-worse", /^No kind/],
    ["what chance explains", counts(1_000, { "5xx": 10 }), counts(100, { "5xx": 2 }), "no-worse", /^No kind/],
    // By the normal distribution one failure among many requests is ten deviations.
    ["one failure ever", counts(100_000), counts(1_000, { "5xx": 1 }), "no-worse", /^No kind/],
    ["fewer errors", counts(1_000, { "5xx": 300 }), counts(1_000, { "5xx": 100 }), "no-worse", /^No kind/],
    ["bots in both", counts(10_000, { "404": 3_000 }), counts(500, { "404": 150 }), "no-worse", /^No kind/],

    [
      "orders of one country get 404",
      counts(48_120, { "404": 914 }),
      counts(2_410, { "404": 123 }),
      "worse",
      /^Do not promote: 5.1 % get 404, 1.9 % in force\.$/,
    ],
    ["421", counts(10_000), counts(500, { "421": 9 }), "worse", /^Do not promote: 1.8 % get 421, 0 % in force/],
    ["a 421 that was followed", counts(10_000), counts(500, { elsewhere: 9 }), "worse", /answered by another region/],
    ["5xx", counts(1_000, { "5xx": 10 }), counts(100, { "5xx": 10 }), "worse", /^Do not promote: 10 % get 5xx, 1 %/],
    ["refused", counts(10_000, { "4xx": 100 }), counts(500, { "4xx": 50 }), "worse", /10 % are refused \(4xx\)/],
    ["clients that leave", counts(10_000), counts(500, { left: 50 }), "worse", /given up by their clients/],
    ["all of few requests", counts(10_000), counts(9, { "404": 9 }), "worse", /^Do not promote: 100 % get 404, 0 %/],
    [
      "worse in one, better in another",
      counts(1_000, { "5xx": 300 }),
      counts(1_000, { "404": 30 }),
      "worse",
      /^Do not promote: 3 % get 404, 0 % in force\.$/,
    ],
    [
      "worse in two: the larger difference first",
      counts(10_000),
      counts(1_000, { "5xx": 20, "404": 200 }),
      "worse",
      /^Do not promote: 20 % get 404, 0 % in force; 2 % get 5xx, 0 % in force\.$/,
    ],
    ["no request in force, at a share of 100", NONE, counts(10_000, { "404": 10_000 }), "too-few", /Too few/],
    ["millions", counts(9_000_000, { "404": 90_000 }), counts(1_000_000, { "404": 10_600 }), "worse", /1.1 % get 404/],
    ["millions alike", counts(9_000_000, { "404": 90_000 }), counts(1_000_000, { "404": 10_200 }), "no-worse", /^No/],
  ])("%s", (_, stable, canary, verdict, words) => {
    const judged = judgeCanary(stable, canary);
    expect([judged.verdict, judged.words]).toEqual([verdict, expect.stringMatching(words)]);
    expect(judged.worse.length > 0).toBe(verdict === "worse");
  });

  it("is that of all tables of small numbers, counted one by one", () => {
    const choose = (all: number, some: number): number => (some === 0 ? 1 : (choose(all - 1, some - 1) * all) / some);
    const inForce = 60;
    const own = 12;
    for (let failed = 0; failed <= own; failed++) {
      for (let other = 0; other <= 20; other++) {
        let chance = 0;
        for (let at = failed; at <= Math.min(own, failed + other); at++)
          chance += (choose(own, at) * choose(inForce, failed + other - at)) / choose(inForce + own, failed + other);
        const { verdict } = judgeCanary(counts(inForce, { "404": other }), counts(own, { "404": failed }));
        expect([failed, other, verdict === "worse"]).toEqual([failed, other, chance < 0.001]);
      }
    }
  });

  const BOUNDS = [10, 100, 1_000];
  const LONG: CanaryTimes = {
    seconds: SECONDS_MIN,
    boundsMs: BOUNDS,
    stable: { buckets: [9_800, 190, 10, 0], p99: 50 },
    canary: { buckets: [980, 19, 1, 0], p99: 50 },
  };

  it("needs half an hour, and none of it for what is worse", () => {
    const [stable, canary] = [counts(10_000), counts(1_000)];
    expect(judgeCanary(stable, canary, LONG).verdict).toBe("no-worse");
    const early = judgeCanary(stable, canary, { ...LONG, seconds: SECONDS_MIN - 1 });
    expect([early.verdict, early.words]).toEqual([
      "too-few",
      "Too early to judge: the canary was counted for 29 min, it takes at least 30 min.",
    ]);
    expect(early.conditions?.map(({ name, holds }) => [name, holds])).toEqual([
      ["requests", true],
      ["time", false],
      ["classes", true],
      ["p99", true],
    ]);
    const bad = judgeCanary(stable, counts(1_000, { "404": 50 }), { ...LONG, seconds: 10 });
    expect(bad.verdict).toBe("worse");
  });

  it.each<[string, CanaryTimes["canary"], number, boolean]>([
    ["equal", { buckets: [980, 19, 1, 0], p99: 50 }, 0, true],
    ["a tenth higher", { buckets: [980, 19, 1, 0], p99: 55 }, P99_MORE_MAX, true],
    ["lower", { buckets: [999, 1, 0, 0], p99: 9 }, -0.82, true],
    ["higher, of few requests", { buckets: [19, 0, 1, 0], p99: 820 }, 15.4, true],
    ["higher in another bucket", { buckets: [950, 20, 30, 0], p99: 700 }, 13, false],
    ["higher in the same bucket", { buckets: [800, 200, 0, 0], p99: 95 }, 0.9, false],
    ["beyond all bounds", { buckets: [900, 0, 0, 100], p99: 1_000 }, 19, false],
  ])("judges p99: %s", (_, canary, more, holds) => {
    const { verdict, words, conditions } = judgeCanary(counts(10_000), counts(1_000), { ...LONG, canary });
    const p99 = conditions?.find(({ name }) => name === "p99");
    expect([p99?.value, p99?.holds, p99?.bound]).toEqual([expect.closeTo(more, 9), holds, P99_MORE_MAX]);
    expect(verdict).toBe(holds ? "no-worse" : "worse");
    if (!holds) expect(words).toBe(`Do not promote: p99 is ${canary.p99} ms, 50 ms in force.`);
  });

  it("says of what was not measured that it was not", () => {
    const none = { buckets: [0, 0, 0, 0], p99: null };
    const { verdict, conditions } = judgeCanary(counts(10_000), counts(1_000), { ...LONG, canary: none });
    expect(verdict).toBe("no-worse");
    expect(conditions?.find(({ name }) => name === "p99")).toMatchObject({ holds: null, value: null });
  });

  it("begins 20 s after the canary", () => expect(figuresFrom("2026-06-01T12:00:00.900Z")).toBe(1_780_315_220));
});

/** R. G. Newcombe, Interval estimation for the difference between independent proportions, 1998: table II, method 10, 95 %. */
describe("the interval of a difference", () => {
  it.each<[count: number, all: number, other: number, otherAll: number, low: number, high: number]>([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ])("of %d in %d and %d in %d", (count, all, other, otherAll, low, high) => {
    const found = differenceOf(count, all, other, otherAll, 1.959964);
    expect([found?.low, found?.high]).toEqual([expect.closeTo(low, 4), expect.closeTo(high, 4)]);
    const wide = differenceOf(count, all, other, otherAll);
    expect(wide?.low).toBeLessThan(found?.low ?? 0);
    expect(wide?.difference).toBeCloseTo(count / all - other / otherAll, 12);
  });

  it("is none without requests", () => expect(differenceOf(0, 0, 1, 2)).toBeUndefined());
});
