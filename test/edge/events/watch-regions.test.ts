import { describe, expect, it } from "vitest";
import { WatchedStates } from "../../../src/edge/events/settled.ts";
import { shownStates, watchRegions } from "../../../src/edge/events/watch-regions.ts";
import type { RecentTraffic } from "../../../src/formats/region-state.ts";
import type { OriginStatus } from "../../../src/ports/gateway.ts";

const SECOND = 1_000;
const START = Date.UTC(2026, 10, 23);

/** An origin of `us`, which answered at the time. */
const origin = (more: Partial<OriginStatus> = {}): OriginStatus => ({
  region: "us",
  index: 0,
  host: "us-1.test",
  weight: 1,
  breaker: "closed",
  openUntilMs: undefined,
  lastFault: undefined,
  lastAnswerAtMs: START,
  lastCheck: undefined,
  ...more,
});

const OPEN = origin({ breaker: "open", lastFault: { fault: "connection_refused", atMs: START } });
const HALF_OPEN = origin({ breaker: "half-open" });
const GOOD: RecentTraffic = { requests: 100, errors: 0, faults: 0, answers: 100 };
const figures = (requests: number, errors: number): RecentTraffic => ({
  requests,
  errors,
  faults: 0,
  answers: requests - errors,
});

/** A log whose clock goes on by steps; each is judged. */
function watch(stored: Iterable<Parameters<WatchedStates["set"]>> = []) {
  let states = new WatchedStates(stored);
  let nowMs = START;
  const told: { readonly atS: number; readonly type: string; readonly words: string; readonly isOver?: boolean }[] = [];
  const judge = (
    origins: readonly OriginStatus[],
    recent: RecentTraffic | undefined = GOOD,
    { seconds = 0, every = 5, isCertain = true } = {},
  ) => {
    const ofUs = new Map(recent === undefined ? [] : [["us", recent]]);
    const once = () => {
      const { drafts } = watchRegions(states, { origins, recent: ofUs, isCertain }, nowMs);
      for (const { type, words, isOver } of drafts)
        told.push({ atS: (nowMs - START) / SECOND, type, words, ...(isOver && { isOver }) });
      return drafts;
    };
    if (seconds === 0) return once();
    for (const endMs = nowMs + seconds * SECOND; nowMs < endMs; nowMs += every * SECOND) once();
    return [];
  };
  const restart = () => {
    const kept = states.takeChanges().flatMap(([key, state]) => (state === undefined ? [] : [[key, state] as const]));
    states = new WatchedStates(kept);
  };
  return {
    judge,
    restart,
    told,
    types: () => told.map(({ type }) => type),
    shown: () => shownStates(states).get("us"),
    /** Seconds since the start. */
    after: (seconds: number) => {
      nowMs += seconds * SECOND;
    },
  };
}

describe("the state of a region", () => {
  it("is no event as long as it is healthy, or nobody asks", () => {
    const { judge, types, shown } = watch();
    judge([origin()], GOOD, { seconds: 60 });
    judge([origin({ lastAnswerAtMs: undefined })], figures(0, 0), { seconds: 600 });
    judge([origin()], GOOD, { seconds: 60 });
    expect(types()).toEqual([]);
    expect(shown()).toMatchObject({ state: "healthy", sinceMs: START + 660 * SECOND });
  });

  it("is told when it is down, and when it is healthy again for half a minute", () => {
    const { judge, told } = watch();
    judge([origin()], GOOD, { seconds: 60 });
    judge([OPEN], figures(100, 100), { seconds: 300 });
    judge([origin()], GOOD, { seconds: 60 });
    expect(told).toEqual([
      {
        atS: 60,
        type: "region.down",
        words: "us is down. Its origin gets no request: its circuit breaker is open.",
      },
      { atS: 390, type: "region.healthy", words: "us is healthy again, after 5 min down.", isOver: true },
    ]);
  });

  it("stays down while its breaker is half open now and then, also as it is shown", () => {
    const { judge, types, shown } = watch();
    judge([origin()], GOOD, { seconds: 30 });
    for (let cycle = 0; cycle < 20; cycle++) {
      judge([OPEN], figures(100, 100), { seconds: 10 });
      judge([HALF_OPEN], figures(100, 100), { seconds: 5 });
    }
    judge([OPEN], figures(100, 100));
    expect(types()).toEqual(["region.down"]);
    expect(shown()).toEqual({ state: "down", sinceMs: START + 30 * SECOND });
  });

  it("is not told twice when it goes up and down within seconds", () => {
    const { judge, types } = watch();
    for (let cycle = 0; cycle < 30; cycle++) {
      judge([OPEN], GOOD, { seconds: 5 });
      judge([origin()], GOOD, { seconds: 20 });
    }
    expect(types()).toEqual(["region.down"]);
    judge([origin()], GOOD, { seconds: 30 });
    expect(types()).toEqual(["region.down", "region.healthy"]);
  });

  it("has no errors of its own after an outage, whose figures are still in the last minute", () => {
    const { judge, types } = watch();
    judge([OPEN], figures(100, 100), { seconds: 60 });
    for (let left = 95; left > 0; left -= 8) judge([origin()], figures(100, left), { seconds: 5 });
    judge([origin()], GOOD, { seconds: 120 });
    expect(types()).toEqual(["region.down", "region.healthy"]);
  });

  it("is told as tested when nothing more is known for a minute", () => {
    const { judge, types } = watch();
    judge([OPEN], figures(100, 100), { seconds: 20 });
    judge([HALF_OPEN], figures(0, 0), { seconds: 65 });
    expect(types()).toEqual(["region.down", "region.testing"]);
  });

  it("is known after a restart, and not told again", () => {
    const { judge, restart, types, shown } = watch();
    judge([origin()], GOOD, { seconds: 30 });
    judge([OPEN], figures(100, 100), { seconds: 20 });
    restart();
    judge([OPEN], figures(100, 100), { seconds: 20 });
    expect(types()).toEqual(["region.down"]);
    expect(shown()).toEqual({ state: "down", sinceMs: START + 30 * SECOND });
    judge([origin()], GOOD, { seconds: 60 });
    expect(types()).toEqual(["region.down", "region.healthy"]);
  });

  it("ends with the region, unless the table is perhaps an old one", () => {
    const { judge, told } = watch();
    const eu = origin({ region: "eu", host: "eu-1.test" });
    judge([OPEN, eu]);
    judge([eu], GOOD, { isCertain: false });
    expect(told.map(({ type }) => type)).toEqual(["region.down"]);
    judge([eu]);
    expect(told.at(-1)).toEqual({
      atS: 0,
      type: "region.gone",
      words: "us is no longer a region of the table.",
      isOver: true,
    });
  });

  it("is not known from before the log began", () => {
    const { judge, shown } = watch();
    judge([origin()], GOOD, { seconds: 30 });
    expect(shown()).toBeUndefined();
  });

  it("carries its figures", () => {
    const { judge } = watch();
    const [event] = judge([OPEN, origin({ host: "us-2.test", breaker: "open" })], {
      requests: 5_000,
      errors: 4_990,
      faults: 12_000,
      answers: 10,
    });
    expect(event).toMatchObject({
      kind: "region",
      region: "us",
      atMs: START,
      evidence: { origins: 2, originsDown: 2, requests: 5_000, errors: 4_990, faults: 12_000 },
    });
  });
});

describe("one origin of several", () => {
  const second = origin({ host: "us-2.test", index: 1 });

  it("is told when it is down and when it answers again", () => {
    const { judge, told } = watch();
    judge([OPEN, second], GOOD, { seconds: 8 });
    const failed = { atMs: START, isGood: false, status: 503, fault: undefined };
    judge([OPEN, { ...second, lastCheck: failed }], GOOD, { seconds: 5 });
    judge([origin(), second], GOOD, { seconds: 60 });
    expect(told.filter(({ type }) => type.startsWith("origin"))).toEqual([
      {
        atS: 0,
        type: "origin.down",
        words: "us-1.test of us is down: its circuit breaker is open, after failures (connection refused).",
      },
      { atS: 10, type: "origin.down", words: "us-2.test of us is down: its check got status 503." },
      { atS: 45, type: "origin.up", words: "us-1.test of us answers again, after 15 s.", isOver: true },
      { atS: 45, type: "origin.up", words: "us-2.test of us answers again, after 5 s.", isOver: true },
    ]);
  });

  it("is degraded for its region, by the origin's own word", () => {
    const { judge, types } = watch();
    judge([OPEN, second], GOOD, { seconds: 30 });
    expect(types()).toEqual(["origin.down", "region.degraded"]);
  });

  it("is over when it is drained", () => {
    const { judge, told } = watch();
    judge([OPEN, second, origin({ host: "us-3.test" })]);
    judge([{ ...OPEN, weight: 0 }, second, origin({ host: "us-3.test" })]);
    expect(told.at(-1)).toMatchObject({ type: "origin.gone", isOver: true });
  });
});

describe("the share of errors", () => {
  it("is told above its bound after some seconds, and below half of it after a minute", () => {
    const { judge, told } = watch();
    judge([origin()], GOOD, { seconds: 30 });
    judge([origin()], figures(1_000, 62), { seconds: 120 });
    judge([origin()], figures(1_000, 30), { seconds: 300 });
    judge([origin()], figures(1_000, 20), { seconds: 90 });
    expect(told).toEqual([
      {
        atS: 40,
        type: "errors.many",
        words: "6.2 % of the requests to us fail: 62 of 1,000 in the last minute.",
      },
      {
        atS: 510,
        type: "errors.few",
        words: "The errors of requests to us are over, after 7 min: 20 of 1,000 failed in the last minute.",
        isOver: true,
      },
    ]);
  });

  it("does not flap around its bound", () => {
    const { judge, types } = watch();
    for (let cycle = 0; cycle < 40; cycle++) {
      judge([origin()], figures(1_000, 55), { seconds: 15 });
      judge([origin()], figures(1_000, 45), { seconds: 15 });
      judge([origin()], figures(1_000, 10), { seconds: 15 });
    }
    expect(types()).toEqual(["errors.many"]);
  });

  it("says nothing of few requests", () => {
    const { judge, types } = watch();
    judge([origin()], figures(2, 2), { seconds: 60 });
    expect(types().filter((type) => type.startsWith("errors"))).toEqual([]);
  });
});
