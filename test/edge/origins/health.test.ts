import { describe, expect, it } from "vitest";
import { originHealth } from "../../../src/edge/origins/health.ts";
import type { Origin, Region } from "../../../src/routing/table.ts";

const OPEN_MS = 10_000;
const FAILURES = 3;
const POLICY = { failures: FAILURES, openMs: OPEN_MS };
const ORIGIN: Origin = { url: "http://eu.test", weight: 1, binding: undefined };
const NO_DEADLINES = { firstByteMs: undefined, idleMs: undefined, totalMs: undefined };

const regionWith = (breaker: Region["breaker"]): Region => ({
  name: "eu",
  origins: [ORIGIN],
  servers: [ORIGIN],
  failover: [],
  failoverWrites: false,
  deadlines: NO_DEADLINES,
  wholeAnswers: undefined,
  breaker,
  health: undefined,
});
const REGION = regionWith(POLICY);

function setUp() {
  const turns: string[] = [];
  const attempts: string[] = [];
  const health = originHealth({
    attempts: { attempt: (region, fault) => attempts.push(`${region} ${fault ?? "answered"}`) },
    onStateChange: (region, url, state) => turns.push(`${region} ${url} ${state}`),
  });
  const admit = (nowMs: number) => health.admit(ORIGIN, POLICY, nowMs).state;
  const failProbe = (nowMs: number) => health.report(REGION, ORIGIN, "connection_terminated", nowMs, "probe");
  const answer = (nowMs: number) => health.report(REGION, ORIGIN, undefined, nowMs);
  const fail = (nowMs: number, times = 1) => {
    for (let count = 0; count < times; count++) health.report(REGION, ORIGIN, "connection_terminated", nowMs);
  };
  const hint = (seenAtMs: number) => health.learn([{ url: ORIGIN.url, seenAtMs }]);
  return { health, turns, attempts, admit, answer, fail, failProbe, hint };
}

describe("a breaker of this isolate", () => {
  it("opens after failures in a row, lets one request through later, and tells of each turn once", () => {
    const { admit, fail, failProbe, answer, turns } = setUp();
    fail(0, FAILURES);
    expect(admit(1)).toBe("open");
    expect(admit(OPEN_MS)).toBe("probe");
    expect(admit(OPEN_MS + 1)).toBe("open");
    failProbe(OPEN_MS + 1);
    expect(admit(OPEN_MS + 2)).toBe("open");
    expect(admit(2 * OPEN_MS + 1)).toBe("probe");
    answer(2 * OPEN_MS + 2);
    expect(admit(2 * OPEN_MS + 3)).toBe("closed");
    expect(turns).toEqual(["eu http://eu.test open", "eu http://eu.test closed"]);
  });

  it("counts a request once, however often it was sent", () => {
    const { health, admit, fail, attempts } = setUp();
    for (let count = 0; count < FAILURES - 1; count++) {
      fail(0);
      health.report(REGION, ORIGIN, "connection_terminated", 0, "again");
    }
    expect(admit(1)).toBe("closed");
    expect(attempts).toHaveLength(2 * (FAILURES - 1));
  });

  it("stays closed for bursts of failures beside answers, and opens when half of much traffic fails", () => {
    const { admit, answer, fail } = setUp();
    for (let second = 0; second < 60; second += 2) {
      for (let ms = 0; ms < 2_000; ms += 10) answer(second * 1_000 + ms);
      fail(second * 1_000 + 1_995, 20);
      expect(admit(second * 1_000 + 1_996)).toBe("closed");
    }
    for (let ms = 0; ms < 10_000; ms += 20) {
      fail(60_000 + ms, 2);
      answer(60_000 + ms);
    }
    fail(70_001);
    expect(admit(70_002)).toBe("open");
  });

  it("lets a few requests at a time go to an origin that has no other beside it", () => {
    const { health, fail, admit, answer } = setUp();
    fail(0, FAILURES);
    const last = (nowMs: number) => health.admitLast(ORIGIN, POLICY, nowMs).state;
    expect(Array.from({ length: 101 }, () => last(1)).filter((state) => state === "last")).toHaveLength(100);
    health.report(REGION, ORIGIN, "connection_terminated", 2, "last");
    health.release(ORIGIN, "last");
    expect([last(3), last(3), last(3)]).toEqual(["last", "last", "open"]);
    // Requests whose clients left are never reported.
    expect(last(1 + OPEN_MS)).toBe("last");
    expect(admit(4)).toBe("open");
    answer(5);
    expect(admit(6)).toBe("closed");
  });

  it("refuses nothing while the origin answers, however slowly, and whatever share of its requests fails", () => {
    const { health, admit, answer, fail } = setUp();
    const rate = 500;
    const latencyMs = 1_000;
    let refused = 0;
    let wasOpen = false;
    const sent: ("closed" | "last" | "probe")[] = [];
    for (let at = 0; at < 10 * rate; at++) {
      const nowMs = (at * 1_000) / rate;
      fail(nowMs);
      const first = admit(nowMs);
      wasOpen ||= first === "open";
      const given = first === "open" ? health.admitLast(ORIGIN, POLICY, nowMs).state : first;
      if (given === "open") refused++;
      else sent[at] = given;
      const answered = at - (latencyMs * rate) / 1_000;
      if (answered >= 0) health.report(REGION, ORIGIN, undefined, nowMs, sent[answered] ?? "closed");
      else answer(nowMs);
    }
    expect([refused, wasOpen]).toEqual([0, true]);
  });

  it("that opens and closes all the time is told once in ten seconds, and so is one that then stays open", () => {
    const { fail, answer, failProbe, turns } = setUp();
    for (let nowMs = 0; nowMs < 9_000; nowMs += 500) {
      fail(nowMs, FAILURES * 4);
      answer(nowMs + 250);
    }
    expect(turns).toEqual(["eu http://eu.test open", "eu http://eu.test closed"]);
    fail(9_500, FAILURES * 4);
    expect(turns).toHaveLength(2);
    failProbe(9_500 + OPEN_MS);
    failProbe(9_500 + 2 * OPEN_MS);
    answer(9_500 + 3 * OPEN_MS);
    expect(turns.slice(2)).toEqual(["eu http://eu.test open", "eu http://eu.test closed"]);
  });

  it("does not wait for ever for a probe whose client has left", () => {
    const { admit, fail } = setUp();
    fail(0, FAILURES);
    expect(admit(OPEN_MS)).toBe("probe");
    expect(admit(2 * OPEN_MS - 1)).toBe("open");
    expect(admit(2 * OPEN_MS)).toBe("probe");
  });

  it("is of the origin: another one is not touched", () => {
    const { health, fail } = setUp();
    fail(0, FAILURES);
    expect(health.admit({ ...ORIGIN, url: "http://us.test" }, POLICY, 1).state).toBe("closed");
  });

  it("is none where the table wants none, and attempts are counted all the same", () => {
    const { health, attempts, turns } = setUp();
    for (let count = 0; count < 9; count++) health.report(regionWith(undefined), ORIGIN, "dns_error", 0);
    expect(health.admit(ORIGIN, undefined, 1).state).toBe("closed");
    expect([attempts.length, attempts[0], turns]).toEqual([9, "eu dns_error", []]);
  });
});

describe("others' word of an origin", () => {
  it("makes one request try it while the rest wait, until it has answered", () => {
    const { admit, answer, hint, turns } = setUp();
    hint(1_000);
    expect(admit(1_001)).toBe("probe");
    expect(admit(1_002)).toBe("open");
    answer(1_003);
    expect(admit(1_004)).toBe("closed");
    expect(turns).toEqual([]);
  });

  it("opens the breaker when the one request finds it true", () => {
    const { admit, failProbe, hint, turns } = setUp();
    hint(1_000);
    expect(admit(1_001)).toBe("probe");
    failProbe(1_002);
    expect(admit(1_003)).toBe("open");
    expect(admit(1_002 + OPEN_MS)).toBe("probe");
    expect(turns).toEqual(["eu http://eu.test open"]);
  });

  it("denies nothing for longer than the policy says, whatever became of the one request", () => {
    const { admit, hint } = setUp();
    hint(1_000);
    expect(admit(1_001)).toBe("probe");
    expect(admit(1_000 + OPEN_MS - 1)).toBe("open");
    expect(admit(1_000 + OPEN_MS)).toBe("closed");
    hint(1_000);
    expect(admit(1_001 + OPEN_MS)).toBe("closed");
  });

  it("from a clock that is ahead denies no longer either", () => {
    const { admit, hint } = setUp();
    hint(1_000_000);
    expect(admit(0)).toBe("probe");
    expect(admit(OPEN_MS)).toBe("closed");
  });

  it.each(["answer", "fail"] as const)("is overruled by what was seen here since: %s", (what) => {
    const { admit, hint, ...seen } = setUp();
    seen[what](2_000);
    hint(1_999);
    expect(admit(2_001)).toBe("closed");
  });

  it("is of no use when it is old, or when the breaker is open anyway", () => {
    const { admit, fail, hint } = setUp();
    hint(1_000);
    expect(admit(1_000 + OPEN_MS)).toBe("closed");
    fail(20_000, FAILURES);
    hint(20_001);
    expect(admit(20_002)).toBe("open");
  });
});

describe("news for others", () => {
  it("are told once", () => {
    const { health, answer, fail } = setUp();
    answer(5);
    fail(105, FAILURES);
    const news = health.drainUpdates();
    expect(news).toEqual([
      {
        url: ORIGIN.url,
        answeredAtMs: 5,
        fault: { fault: "connection_terminated", atMs: 105 },
        breaker: { atMs: 105, untilMs: 105 + OPEN_MS },
      },
    ]);
    expect(health.drainUpdates()).toEqual([]);
  });
});
