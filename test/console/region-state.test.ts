import { describe, expect, it } from "vitest";
import { FRESH_MS, judgeRegion, type ObservedOrigin, type RecentTraffic } from "../../src/formats/region-state.ts";

const NOW = Date.parse("2026-06-01T12:00:00Z");
const ago = (seconds: number): number => NOW - seconds * 1000;

const origin = (more: Partial<ObservedOrigin> = {}): ObservedOrigin => ({
  weight: 100,
  breaker: "closed",
  lastFault: undefined,
  lastAnswerAtMs: ago(2),
  lastCheck: undefined,
  ...more,
});
const open = origin({ breaker: "open", lastFault: { atMs: ago(1) } });
const halfOpen = origin({ breaker: "half-open", lastFault: { atMs: ago(31) }, lastAnswerAtMs: ago(60) });
const unfit = origin({ lastCheck: { atMs: ago(5), isGood: false } });
const fit = origin({ lastAnswerAtMs: undefined, lastCheck: { atMs: ago(5), isGood: true } });
const fresh = origin({ lastAnswerAtMs: undefined });
const silent = origin({ lastFault: { atMs: ago(1) }, lastAnswerAtMs: ago(30) });

const traffic = (requests: number, errors = 0, faults = 0, answers = requests - errors): RecentTraffic => ({
  requests,
  errors,
  faults,
  answers,
});

describe("the state of a region, by the worst that is known", () => {
  it.each<[string, readonly ObservedOrigin[], RecentTraffic | undefined, string, RegExp]>([
    ["answers", [origin()], traffic(100), "healthy", /^No request of the last minute failed/],
    ["answers, and no counter can be read", [origin()], undefined, "healthy", /^It answered 2 s ago/],
    ["few errors among many", [origin()], traffic(1_000, 4), "healthy", /^0.4 % of the requests/],
    ["one error in a hundred thousand", [origin()], traffic(100_000, 1), "healthy", /^0.01 % of the requests/],
    ["two errors that are not half", [origin()], traffic(5, 2), "healthy", /^40 %/],
    ["a check alone", [fit], undefined, "healthy", /^Its last check passed/],
    ["a fault beside answers", [origin({ lastFault: { atMs: ago(1) } })], traffic(900, 0, 1), "healthy", /^No request/],

    ["half open", [halfOpen], undefined, "testing", /^Its origin gets one request at a time/],
    ["half open, and all failed", [halfOpen], traffic(50, 50), "testing", /half open/],
    ["half open and open", [halfOpen, open], undefined, "testing", /^1 of its 2 origins gets one request/],
    ["one of two half open", [halfOpen, origin()], traffic(10), "testing", /^1 of its 2 origins/],

    ["many errors", [origin()], traffic(100, 5), "degraded", /^5 % of the requests of the last minute failed/],
    ["one request, one error", [origin()], traffic(1, 1), "degraded", /^100 % of the requests/],
    ["nearly all", [origin()], traffic(1_000, 999), "degraded", /^99 % of the requests/],
    ["attempts that a retry mended", [origin()], traffic(100, 0, 10), "degraded", /^9.1 % of the attempts/],
    ["one of two open", [open, origin()], traffic(10), "degraded", /^1 of its 2 origins gets no request/],
    ["one of two unfit", [unfit, origin()], undefined, "degraded", /^1 of its 2 origins failed its last check/],
    ["half open among errors", [halfOpen, origin()], traffic(100, 20), "degraded", /^20 %/],
    [
      "silent since its last fault",
      [silent],
      undefined,
      "degraded",
      /^Its origin did not answer when it was last asked/,
    ],
    ["only ever a fault", [{ ...silent, lastAnswerAtMs: undefined }], undefined, "degraded", /did not answer/],

    ["open", [open], undefined, "down", /^Its origin gets no request: its circuit breaker is open/],
    ["open, though others failed over", [open], traffic(100, 0, 100), "down", /circuit breaker is open/],
    [
      "all open",
      [open, open],
      undefined,
      "down",
      /^2 of its 2 origins get no request: their circuit breakers are open/,
    ],
    ["all half open", [halfOpen, halfOpen], undefined, "testing", /^2 of its 2 origins get one request at a time each/],
    ["all unfit", [unfit, unfit], undefined, "down", /^2 of its 2 origins failed their last checks/],
    ["unfit by its check", [unfit], traffic(100), "down", /^Its origin failed its last check/],
    ["both", [open, unfit], undefined, "down", /circuit breaker is open/],
    [
      "answers that are all errors",
      [origin()],
      traffic(40, 40, 0, 40),
      "down",
      /^Every request of the last minute failed/,
    ],

    ["nothing yet", [fresh], undefined, "not-asked", /^No request was answered yet/],
    ["requests that nobody waited for", [fresh], traffic(9, 0, 0, 0), "not-asked", /^No request was answered yet/],
    ["an answer long ago", [origin({ lastAnswerAtMs: ago(7_200) })], undefined, "not-asked", /answered for 2 h/],
    [
      "a check long ago",
      [{ ...fit, lastCheck: { atMs: NOW - FRESH_MS, isGood: true } }],
      undefined,
      "not-asked",
      /yet/,
    ],
    [
      "a failed check long ago",
      [{ ...unfit, lastAnswerAtMs: ago(3), lastCheck: { atMs: NOW - FRESH_MS, isGood: false } }],
      undefined,
      "healthy",
      /3 s ago/,
    ],
    ["drained", [{ ...open, weight: 0 }], undefined, "not-asked", /drained/],
    ["no origin", [], undefined, "not-asked", /drained/],
    [
      "a drained one that is open, beside one that answers",
      [{ ...open, weight: 0 }, origin()],
      traffic(9),
      "healthy",
      /^No request/,
    ],
  ])("%s", (_, origins, recent, state, basis) => {
    expect(judgeRegion(origins, recent, NOW)).toEqual({ state, basis: expect.stringMatching(basis) });
  });

  it("is never green in an outage of 240 s, whenever one looks, nor in the minute after it", () => {
    // The breaker opens for 30 s; then one request tries, and fails: it opens again when that is reported.
    for (let second = 0; second < 240; second++) {
      const turn = second % 36;
      const breaker = turn < 30 ? "open" : "half-open";
      const seen = origin({ breaker, lastFault: { atMs: NOW }, lastAnswerAtMs: ago(second) });
      const recent = second % 2 === 0 ? undefined : traffic(Math.max(0, 60 - second), Math.max(0, 60 - second));
      expect(["down", "testing"]).toContain(judgeRegion([seen], recent, NOW).state);
    }
    for (let good = 1; good < 60; good++) {
      const state = judgeRegion([origin()], traffic(60, 60 - good), NOW).state;
      expect([good, state]).toEqual([good, (60 - good) / 60 >= 0.05 ? "degraded" : "healthy"]);
    }
  });
});
