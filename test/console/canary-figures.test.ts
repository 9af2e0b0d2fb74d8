import { describe, expect, it } from "vitest";
import {
  comparedRows,
  inForceText,
  refusedShares,
  shareIn,
  shownConditions,
  shownVerdict,
} from "../../src/console/canary/figures.ts";
import { type CanaryTimes, judgeCanary } from "../../src/formats/canary-verdict.ts";
import type { MetricsHistory } from "../../src/formats/console-api.ts";
import type { ClassCounts } from "../../src/formats/status-classes.ts";

const NONE: ClassCounts = { "2xx": 0, "3xx": 0, "404": 0, "421": 0, "4xx": 0, "5xx": 0, elsewhere: 0, left: 0 };

/** The figures of two tables, as the gateway answers them. */
function figures(stable: ClassCounts, canary: ClassCounts, more: Partial<CanaryTimes> = {}): MetricsHistory {
  const times = { buckets: [980, 20], p99: 40 };
  const own: CanaryTimes = { seconds: 3_600, boundsMs: [50], stable: times, canary: times, ...more };
  const of = (classes: ClassCounts, p99: number | null) => ({ requests: 0, errors: 0, classes, p50: 10, p99 });
  return {
    source: "all",
    tables: { stable: of(stable, own.stable.p99), canary: of(canary, own.canary.p99) },
    canaryVerdict: judgeCanary(stable, canary, own),
  } as MetricsHistory;
}

const GOOD = figures({ ...NONE, "2xx": 9_900, "5xx": 100 }, { ...NONE, "2xx": 990, "5xx": 10 });
const BAD = figures({ ...NONE, "2xx": 9_810, "404": 190 }, { ...NONE, "2xx": 949, "404": 51 });

describe("the rows of a comparison", () => {
  const row = (of: MetricsHistory, name: string) => comparedRows(of).find((each) => each.name === name);

  it("have every class, the times, and how many requests they rest on", () => {
    expect(comparedRows(GOOD).map(({ name }) => name)).toEqual([
      "Requests",
      "2xx",
      "3xx",
      "404, not found",
      "421, another region's",
      "Other 4xx",
      "5xx",
      "Answered elsewhere",
      "Clients that left",
      "p50",
      "p99",
    ]);
    expect(row(GOOD, "Requests")).toMatchObject({
      inForce: "10,000",
      canary: "1,000",
      words: "9.09 % of all",
    });
  });

  it("say a difference in points with its bounds, and mark what is worse", () => {
    expect(row(BAD, "404, not found")).toMatchObject({
      inForce: "1.90 %",
      canary: "5.10 %",
      difference: "+3.20",
      words: expect.stringMatching(/^1\.\d+ to 6\.\d+ more$/),
      isWorse: true,
    });
    expect(row(BAD, "2xx")).toMatchObject({ difference: "−3.20", isWorse: true });
    expect(row(GOOD, "5xx")).toMatchObject({
      difference: "0.00",
      words: expect.stringMatching(/^same: −0\.\d+ to \+1\.\d+$/),
      isWorse: false,
    });
    expect(row(GOOD, "421, another region's")?.words).toBe("none of either");
  });

  it("say of a little that it is not none", () => {
    const few = figures({ ...NONE, "2xx": 9_999_990, "5xx": 10 }, { ...NONE, "2xx": 100 });
    expect(row(few, "5xx")).toMatchObject({ inForce: "< 0.01 %", canary: "0 %" });
    expect(row(few, "Requests")?.words).toBe("< 0.01 % of all");
  });

  it("say nothing of what was not measured", () => {
    const nothing = figures(NONE, NONE, { canary: { buckets: [0, 0], p99: null } });
    expect(row(nothing, "Requests")?.words).toBe("none yet");
    expect(row(nothing, "404, not found")).toMatchObject({
      inForce: "–",
      difference: "–",
      words: "nothing to compare",
    });
    expect(row(nothing, "p99")).toMatchObject({ canary: "–", words: "not measured", isWorse: false });
  });

  it("mark a p99 that is higher beyond chance", () => {
    const slow = figures(
      { ...NONE, "2xx": 10_000 },
      { ...NONE, "2xx": 1_000 },
      { canary: { buckets: [700, 300], p99: 50 } },
    );
    expect(row(slow, "p99")).toMatchObject({ difference: "+10 ms", words: "+25 %, beyond chance", isWorse: true });
  });
});

describe("the verdict", () => {
  it("is never a good one without figures", () => {
    expect(shownVerdict(undefined).mood).toBe("plain");
    expect(shownVerdict({ ...GOOD, source: "none" })).toMatchObject({
      mood: "plain",
      title: "No verdict: the counters cannot be read",
    });
    expect(shownVerdict(GOOD, true)).toMatchObject({
      mood: "plain",
      title: "No verdict of now: the gateway does not answer",
    });
    expect(shownVerdict(BAD, true).mood).toBe("bad");
    expect(shownVerdict(figures(NONE, NONE))).toMatchObject({
      mood: "plain",
      title: "Too few requests to judge",
      text: "Each table needs at least 100, the canary has 0.",
    });
    expect(
      shownVerdict(figures(GOOD.tables.stable.classes, GOOD.tables.canary.classes, { seconds: 60 })),
    ).toMatchObject({
      mood: "plain",
      title: "Too early to judge",
    });
  });

  it("says do not promote, and why", () => {
    expect(shownVerdict(BAD)).toMatchObject({ mood: "bad", title: "Do not promote: 5.1 % get 404, 1.9 % in force" });
    expect(shownVerdict(GOOD)).toMatchObject({ mood: "good", title: "Nothing is worse than in force" });
  });

  it("names each condition with its value and bound, and what it cannot see", () => {
    const lines = (of: MetricsHistory, audience: object) =>
      shownConditions(of.canaryVerdict, audience).map(({ name, words, holds }) => [name, words, holds]);
    expect(lines(BAD, { share: 5 })).toEqual([
      ["Enough requests", "1,000; at least 100", true],
      ["Long enough", "60 min; at least 30", true],
      ["Same kind of IDs", "chosen by hash", true],
      ["No class is worse", "404 is, beyond chance", false],
      ["p99 within 10 %", "same", true],
      ["What answers say", "not seen: a wrong 200 counts as good", undefined],
    ]);
    expect(lines(figures(NONE, NONE, { seconds: 0 }), { share: 5 }).slice(0, 2)).toEqual([
      ["Enough requests", "0; at least 100", undefined],
      ["Long enough", "0 min; at least 30", undefined],
    ]);
    expect(lines(GOOD, { countries: ["KZ"] })[2]).toEqual([
      "Same kind of IDs",
      "not chosen by hash: they may differ from the others anyway",
      undefined,
    ]);
    const { conditions: _, ...former } = GOOD.canaryVerdict;
    expect(lines({ ...GOOD, canaryVerdict: former }, { share: 5 })[1]).toEqual([
      "Long enough",
      "not measured",
      undefined,
    ]);
    expect(lines({ ...BAD, canaryVerdict: { ...BAD.canaryVerdict, conditions: undefined } }, { share: 5 })[3]).toEqual([
      "No class is worse",
      "404 is, beyond chance",
      false,
    ]);
  });
});

it("shares of refused requests leave out the step that is not over, and those without requests", () => {
  const steps = { requests: [10, 0, 4, 7], refused: [1, 0, 4, 7], errors: [], p50: [], p99: [], classes: {} };
  expect(refusedShares({ ...GOOD.tables.stable, steps })).toEqual([0.1, null, 1, null]);
  expect(refusedShares(GOOD.tables.stable)).toBeUndefined();
});

it.each([
  ["5", 5],
  [" 0.5 % ", 0.5],
  ["100", 100],
  ["0", undefined],
  ["101", undefined],
  ["-1", undefined],
  ["0.00001", undefined],
  ["", undefined],
  ["five", undefined],
])("reads the share %j as %j", (text, share) => expect(shareIn(text)).toBe(share));

it("says for whom a revision decides", () => {
  expect(inForceText(43, { share: 5 })).toBe("Revision 43 decides about 5 % of the IDs.");
  expect(inForceText(43, { countries: ["KZ", "UZ"] })).toBe("Revision 43 decides about IDs of KZ, UZ.");
  expect(inForceText(43, { entities: ["order"] })).toBe("Revision 43 decides about all IDs of order.");
});
