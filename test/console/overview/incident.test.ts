import { describe, expect, it } from "vitest";
import { type Incident, incidentsOf, troubleOf } from "../../../src/console/overview/incident.ts";
import type { RegionState } from "../../../src/formats/region-state.ts";
import { figuresOf, START_SECONDS, seriesOf, steps } from "./figures.ts";

const STATUS: Readonly<Record<string, number>> = {
  "origin-unreachable": 502,
  "origin-open-circuit": 503,
  "unknown-id": 404,
};
const statusOf = (slug: string) => STATUS[slug];

const stateOf = (state: RegionState, since?: string) => ({ state, basis: "A reason.", since });
const only = (incidents: readonly Incident[]): Incident => {
  expect(incidents).toHaveLength(1);
  return incidents[0] as Incident;
};
const atStep = (step: number) => (START_SECONDS + step * 10) * 1000;

describe("incidents", () => {
  const SOUND = seriesOf(steps([60, 100]));
  const ALL_FAIL = seriesOf(steps([60, 100]), steps([40, 0], [20, 100]));
  const HALF_FAIL = seriesOf(steps([60, 100]), steps([40, 0], [20, 50]));
  const FEW_FAIL = seriesOf(steps([60, 100]), steps([40, 0], [20, 1]));
  const SILENT = seriesOf(steps([30, 100], [30, 0]));

  it.each<[string, RegionState | undefined, ReturnType<typeof seriesOf>, Incident["level"] | undefined]>([
    ["a healthy region", "healthy", SOUND, undefined],
    ["one that was not asked yet", "not-asked", SILENT, undefined],
    ["single errors", "healthy", FEW_FAIL, undefined],
    ["one that is down", "down", ALL_FAIL, "down"],
    ["one that is down and gets no request", "down", SILENT, "down"],
    ["errors of the origin itself while all breakers are closed", "degraded", HALF_FAIL, "failing"],
    ["errors before the state says so", "healthy", HALF_FAIL, "failing"],
    ["errors without a known state", undefined, HALF_FAIL, "failing"],
    ["half-open breakers whose requests fail", "testing", ALL_FAIL, "failing"],
    ["half-open breakers whose requests pass", "testing", SOUND, "warn"],
    ["one of three origins down", "degraded", SOUND, "warn"],
  ])("%s", (_, state, series, level) => {
    const regions = state === undefined ? {} : { us: stateOf(state) };
    expect(incidentsOf({ regions, history: figuresOf({ us: series }), statusOf })[0]?.level).toBe(level);
  });

  it("says how much fails, since when, and what the requests get", () => {
    const history = figuresOf(
      { us: ALL_FAIL, eu: seriesOf(steps([60, 300])) },
      {
        problems: { "origin-unreachable": steps([40, 0], [20, 98]), "unknown-id": steps([60, 500]) },
      },
    );
    const found = only(incidentsOf({ regions: { us: stateOf("down"), eu: stateOf("healthy") }, history, statusOf }));
    expect(found).toMatchObject({
      region: "us",
      sinceMs: atStep(40),
      isAtLeast: false,
      failedShare: 1,
      trafficShare: 0.25,
      problem: "origin-unreachable",
    });
    expect(found.failedPerSecond).toBe(10);
  });

  it.each<[string, readonly number[], number | undefined]>([
    ["none in the step that is not over", steps([59, 0], [1, 40]), undefined],
    ["none of the step in which it began", steps([58, 0], [1, 40], [1, 70]), undefined],
    ["of whole steps since", steps([57, 0], [1, 40], [1, 100], [1, 10]), 10],
    ["of the last minute at most", [...steps([50, 90]), ...steps([10, 80])], 8],
  ])("counts failures a second: %s", (_, errors, rate) => {
    const history = figuresOf({ us: seriesOf(steps([60, 100]), errors) });
    expect(only(incidentsOf({ regions: { us: stateOf("down") }, history, statusOf })).failedPerSecond).toBe(rate);
  });

  it("names no problem where an origin answers with errors itself", () => {
    const history = figuresOf({ us: HALF_FAIL }, { problems: { "origin-unreachable": steps([59, 0], [1, 3]) } });
    expect(only(incidentsOf({ regions: { us: stateOf("degraded") }, history, statusOf })).problem).toBeUndefined();
  });

  it.each<[string, readonly number[], readonly number[], number, boolean]>([
    ["all of the time that is known", steps([60, 10]), steps([60, 10]), 0, true],
    ["since a step", steps([60, 10]), steps([30, 0], [30, 10]), 30, false],
    ["with a pause of one step", steps([60, 10]), steps([30, 0], [10, 10], [1, 0], [19, 10]), 30, false],
    ["after an earlier one that ended", steps([60, 10]), steps([10, 10], [30, 0], [20, 10]), 40, false],
    [
      "over a time without requests",
      steps([30, 10], [20, 0], [10, 10]),
      steps([28, 0], [2, 10], [20, 0], [10, 10]),
      28,
      false,
    ],
    ["in the step that is not over", steps([59, 100], [1, 40]), steps([59, 0], [1, 40]), 59, false],
  ])("began %s", (_, requests, errors, step, isAtLeast) => {
    const history = figuresOf({ us: seriesOf(requests, errors) });
    expect(only(incidentsOf({ regions: { us: stateOf("degraded") }, history, statusOf }))).toMatchObject({
      sinceMs: atStep(step),
      isAtLeast,
    });
  });

  it("began when requests failed, if the state came later, and else with the state", () => {
    const began = (since: string) =>
      only(incidentsOf({ regions: { us: stateOf("down", since) }, history: figuresOf({ us: ALL_FAIL }), statusOf }))
        .sinceMs;
    expect(began(new Date(atStep(42)).toISOString())).toBe(atStep(40));
    expect(began(new Date(atStep(-900)).toISOString())).toBe(atStep(-900));
    const idle = {
      regions: { us: stateOf("down", new Date(atStep(7)).toISOString()) },
      history: figuresOf({ us: SILENT }),
    };
    expect(only(incidentsOf({ ...idle, statusOf })).sinceMs).toBe(atStep(7));
    expect(only(incidentsOf({ regions: { us: stateOf("down", "no time") } })).sinceMs).toBeUndefined();
  });

  it("has recovered when a minute was sound", () => {
    const soundFor = (good: number) => {
      const history = figuresOf({ us: seriesOf(steps([60, 100]), steps([60 - good, 100], [good, 0])) });
      return incidentsOf({ regions: { us: stateOf("healthy") }, history, statusOf }).map(({ level }) => level);
    };
    expect([soundFor(1), soundFor(6), soundFor(7)]).toEqual([["failing"], ["failing"], []]);
  });

  it("tells of requests that fail before any region is asked", () => {
    const none = seriesOf(steps([60, 20]), steps([50, 0], [10, 20]));
    const history = figuresOf({ us: SOUND }, { none });
    expect(only(incidentsOf({ regions: { us: stateOf("healthy") }, history, statusOf }))).toMatchObject({
      region: undefined,
      level: "failing",
      sinceMs: atStep(50),
    });
  });

  it("goes by states alone where nothing is counted", () => {
    const regions = { us: stateOf("down"), eu: stateOf("degraded"), ap: stateOf("healthy") };
    const none = { ...figuresOf({}), source: "none" as const };
    for (const history of [undefined, none, figuresOf({})]) {
      const found = incidentsOf({ regions, history, statusOf });
      expect(found.map(({ region, level }) => [region, level])).toEqual([
        ["us", "down"],
        ["eu", "warn"],
      ]);
      expect(found[0]?.failedPerSecond).toBeUndefined();
    }
  });

  it("has the worst first, and of two the one that hits more requests", () => {
    const history = figuresOf({ ap: HALF_FAIL, us: ALL_FAIL, eu: ALL_FAIL, sa: SOUND });
    const regions = { ap: stateOf("degraded"), us: stateOf("healthy"), eu: stateOf("down"), sa: stateOf("testing") };
    expect(incidentsOf({ regions, history, statusOf }).map(({ region }) => region)).toEqual(["eu", "us", "ap", "sa"]);
  });

  it("knows regions by any name", () => {
    const regions = { toString: stateOf("down") };
    expect(
      incidentsOf({ regions, history: figuresOf({ constructor: HALF_FAIL }), statusOf }).map(({ region }) => region),
    ).toEqual(["toString", "constructor"]);
  });
});

describe("the title of the tab", () => {
  const of = (...states: readonly RegionState[]) =>
    troubleOf(incidentsOf({ regions: Object.fromEntries(states.map((state, at) => [`r${at}`, stateOf(state)])) }));
  it.each<[readonly RegionState[], ReturnType<typeof troubleOf>]>([
    [["healthy", "not-asked"], { worst: undefined, words: "" }],
    [["degraded", "healthy"], { worst: "degraded", words: "r0 is degraded" }],
    [["testing"], { worst: "degraded", words: "r0 is being tested" }],
    [["healthy", "down"], { worst: "down", words: "r1 is down" }],
    [["degraded", "down"], { worst: "down", words: "r1 is down and 1 more" }],
    [["down", "down", "down"], { worst: "down", words: "r0 is down and 2 more" }],
  ])("%j", (states, trouble) => expect(of(...states)).toEqual(trouble));

  it("says that requests fail", () => {
    const history = figuresOf({ us: seriesOf(steps([9, 10]), steps([9, 5])) });
    expect(troubleOf(incidentsOf({ regions: {}, history }))).toEqual({ worst: "degraded", words: "us fails requests" });
  });
});
