import { describe, expect, it } from "vitest";
import { retryBackoff } from "../../../src/edge/chunks/store.ts";

const INTERVAL_MS = 30_000;

/** `word`: half of its range is no jitter. */
function setUp(word = 2 ** 31, intervalMs = INTERVAL_MS) {
  const time = { nowMs: 1_000_000 };
  const waits = retryBackoff({
    clock: { nowMs: () => time.nowMs },
    entropy: { word: () => word },
    retryMsMax: intervalMs,
  });
  /** Seconds after which each of so many tries in a row is allowed, when all fail. */
  const triesOf = (key: string, tries: number, isOfStore = false) =>
    Array.from({ length: tries }, () => {
      waits.failed(key, "none", isOfStore);
      const waitMs = waits.of(key)?.retryAfterMs ?? 0;
      time.nowMs += waitMs - 1;
      expect(waits.of(key)).toEqual({ why: "none", retryAfterMs: 1 });
      time.nowMs += 1;
      expect(waits.of(key)).toBeUndefined();
      return waitMs / 1000;
    });
  return { time, waits, triesOf };
}

describe("a part that fails", () => {
  it("waits a second first, then twice as long each time, up to the interval", () => {
    expect(setUp().triesOf("a", 7)).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  it.each([
    [86_400, [1, 2, 4, 8, 16, 32, 60, 60]],
    [5, [1, 2, 4, 5, 5, 5, 5, 5]],
    [1, [1, 1, 1, 1, 1, 1, 1, 1]],
  ])("waits for a minute at most, and for no longer than the interval: %d s", (seconds, waits) => {
    expect(setUp(2 ** 31, seconds * 1_000).triesOf("a", 8)).toEqual(waits);
  });

  it.each([
    [0, [0.9, 1.8, 27]],
    [2 ** 32, [1.1, 2.2, 33]],
  ])("drifts apart by a tenth at most (%d)", (word, [first, second, last]) => {
    const waited = setUp(word).triesOf("a", 8);
    expect([waited[0], waited[1], waited[7]]).toEqual([first, second, last]);
  });

  it("begins anew when it was had, and when nobody asked for longer than the interval", () => {
    const { time, waits, triesOf } = setUp();
    triesOf("a", 4);
    waits.succeeded("a");
    expect(triesOf("a", 3)).toEqual([1, 2, 4]);
    time.nowMs += INTERVAL_MS + 1;
    expect(triesOf("a", 1)).toEqual([1]);
  });

  it("fails once, however many wait for it", () => {
    const { waits } = setUp();
    expect([1, 2, 3].map(() => waits.failed("a", "none", true))).toEqual([true, false, false]);
    expect(waits.of("a")?.retryAfterMs).toBe(1_000);
  });

  it("leaves the others alone", () => {
    const { waits } = setUp();
    for (let part = 0; part < 20; part++) waits.failed(`${part}`, "none", false);
    expect(waits.of("other")).toBeUndefined();
    expect(waits.beginRead()).toBe(true);
  });
});

describe("KV that fails", () => {
  it("is left alone after three parts in a row, then tried by one read at a time, less and less often", () => {
    const { time, waits } = setUp();
    const tries: number[] = [];
    const beganMs = time.nowMs;
    for (let at = 0; at < 200; at++) {
      if (waits.beginRead()) {
        tries.push((time.nowMs - beganMs) / 1000);
        expect(tries.length <= 3 || !waits.beginRead()).toBe(true);
        waits.failed(`part ${at}`, "KV failed", true);
      }
      time.nowMs += 500;
    }
    expect(tries).toEqual([0, 0.5, 1, 2, 4, 8, 16, 32, 62, 92]);
  });

  it("says to parts that failed because of it when it will be asked again", () => {
    const { waits } = setUp();
    for (const part of ["a", "b", "c"]) waits.failed(part, "KV failed", true);
    expect(waits.of("a")?.retryAfterMs).toBe(1_000);
    waits.failed("d", "KV failed just before", false);
    expect(waits.of("d")?.retryAfterMs).toBe(1_000);
  });

  it("is asked again after a try that has no end", () => {
    const { time, waits } = setUp();
    for (const part of ["a", "b", "c"]) waits.failed(part, "KV failed", true);
    time.nowMs += 1_000;
    expect([waits.beginRead(), waits.beginRead()]).toEqual([true, false]);
    time.nowMs += 2_000;
    expect(waits.beginRead()).toBe(true);
  });

  it("is open for all as soon as it answers, whatever it says", () => {
    const { time, waits } = setUp();
    for (const part of ["a", "b", "c"]) waits.failed(part, "KV failed", true);
    time.nowMs += 1_000;
    expect(waits.beginRead()).toBe(true);
    waits.answered();
    waits.failed("a", "KV has no a", false);
    expect([1, 2, 3].map(() => waits.beginRead())).toEqual([true, true, true]);
  });
});
