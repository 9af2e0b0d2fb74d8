import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  afterAnswer,
  afterFailure,
  afterInconclusive,
  allowRequest,
  type Breaker,
  CLOSED,
} from "../../src/proxy/breaker.ts";

const POLICY = { failures: 3, openMs: 1000 };

/** An origin that nobody has had an answer from. */
const SILENT = { silentMs: Infinity, answers: 0, failures: 0 };

const failed = (times: number, nowMs: number, from: Breaker = CLOSED): Breaker => {
  let breaker = from;
  for (let count = 0; count < times; count++) breaker = afterFailure(breaker, POLICY, nowMs, SILENT);
  return breaker;
};

/** Takes the one probe that an open breaker lets through. */
const probed = (breaker: Breaker, nowMs: number): Breaker => {
  const given = allowRequest(breaker, POLICY, nowMs);
  if (given.state !== "probe") throw new Error(`no probe, but ${given.state}`);
  return given.breaker;
};

describe("a breaker", () => {
  it("opens at the last of the failures in a row, not before", () => {
    expect(allowRequest(failed(2, 0), POLICY, 0)).toEqual({ state: "closed" });
    expect(allowRequest(failed(3, 0), POLICY, 0)).toEqual({ state: "open", retryAfterMs: 1000 });
  });

  it.each([
    { what: "while others get answers", silentMs: 99, answers: 1, failures: 3, state: "closed" },
    { what: "in a silence of 100 ms", silentMs: 100, answers: 1, failures: 3, state: "open" },
    { what: "when half of much traffic fails", silentMs: 1, answers: 12, failures: 12, state: "open" },
    { what: "when less than half of it fails", silentMs: 1, answers: 13, failures: 12, state: "closed" },
    { what: "when half of little traffic fails", silentMs: 1, answers: 1, failures: 11, state: "closed" },
  ])("after failures in a row $what: $state", ({ state, ...traffic }) => {
    expect(allowRequest(afterFailure(failed(2, 0), POLICY, 0, traffic), POLICY, 0).state).toBe(state);
  });

  it("forgets failures with each answer", () => {
    expect(allowRequest(failed(2, 0, afterAnswer(failed(2, 0))), POLICY, 0)).toEqual({ state: "closed" });
  });

  it("stays open until its time has passed, then lets one request through", () => {
    const open = failed(3, 0);
    expect(allowRequest(open, POLICY, 999)).toEqual({ state: "open", retryAfterMs: 1 });
    const trying = probed(open, 1000);
    expect(allowRequest(trying, POLICY, 1001).state).toBe("open");
  });

  it("closes when the probe is answered, and opens anew when it is not", () => {
    const trying = probed(failed(3, 0), 1000);
    expect(afterAnswer(trying)).toBe(CLOSED);
    expect(allowRequest(afterFailure(trying, POLICY, 1200, SILENT, true), POLICY, 1300)).toEqual({
      state: "open",
      retryAfterMs: 900,
    });
  });

  it("is not kept open by requests that were on their way when it opened", () => {
    const open = failed(3, 0);
    expect(afterFailure(open, POLICY, 900, SILENT)).toBe(open);
    const trying = probed(open, 1000);
    expect(afterFailure(trying, POLICY, 1100, SILENT)).toBe(trying);
  });

  it("gives the place of a probe that never reported to another one", () => {
    const trying = probed(failed(3, 0), 1000);
    expect(allowRequest(trying, POLICY, 1999).state).toBe("open");
    expect(allowRequest(trying, POLICY, 2000).state).toBe("probe");
  });

  it("lets the next one try when a probe found nothing out", () => {
    const trying = probed(failed(3, 0), 1000);
    expect(allowRequest(afterInconclusive(trying), POLICY, 1001).state).toBe("probe");
    const closed = failed(2, 0);
    expect(afterInconclusive(closed)).toBe(closed);
  });

  it("never lets a second probe through before the first one's time is over, whatever happens in whatever order", () => {
    const event = fc.record({
      what: fc.constantFrom("ask", "answer", "fail", "probe fails"),
      waitMs: fc.integer({ min: 0, max: 700 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let breaker = CLOSED;
        let nowMs = 0;
        let probeSinceMs: number | undefined;
        for (const { what, waitMs } of events) {
          nowMs += waitMs;
          if (what === "ask") {
            const given = allowRequest(breaker, POLICY, nowMs);
            if (given.state !== "probe") continue;
            if (probeSinceMs !== undefined) expect(nowMs - probeSinceMs).toBeGreaterThanOrEqual(POLICY.openMs);
            probeSinceMs = nowMs;
            breaker = given.breaker;
          } else {
            const wasProbe = what === "probe fails" && probeSinceMs !== undefined;
            breaker = what === "answer" ? afterAnswer(breaker) : afterFailure(breaker, POLICY, nowMs, SILENT, wasProbe);
            if (what === "answer" || wasProbe) probeSinceMs = undefined;
          }
        }
      }),
    );
  });
});
