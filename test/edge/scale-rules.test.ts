import { describe, expect, it } from "vitest";
import { seededWords } from "../../bench/random-words.ts";
import { seededChance } from "../../bench/scale/chance.ts";
import { SimulatedIsolate } from "../../bench/scale/isolate.ts";
import { kvTables } from "../../src/edge/tables.ts";
import { isolateTraffic } from "../../src/edge/traffic.ts";
import { REQUEST_LINE } from "../fixtures/request-line.ts";

/** docs/scale.md stands on these rules: what the simulation takes an isolate for is what the isolates of the source do. */

const RULES = { refreshSeconds: 30, refreshJitter: 0.1, reportSeconds: 10 };
const SECONDS = 2_000;

/** Times of requests at random, in seconds. A clock that begins at 0 would be before anything was due. */
const arrivals = (meanGapSeconds: number, seed: number): readonly number[] => {
  const { exponential } = seededChance(seed);
  const times: number[] = [];
  for (let at = 1_000; at < 1_000 + SECONDS; at += Math.max(0.001, exponential(meanGapSeconds))) times.push(at);
  return times;
};

describe.each([0.1, 1, 20, 100])("an isolate with a request each %d s", (meanGapSeconds) => {
  const times = arrivals(meanGapSeconds, 7);

  it("looks for a table when the simulated one does", async () => {
    const clock = { ms: 0 };
    const looked: number[] = [];
    const entropy = seededWords(11);
    const get = async (): Promise<null> => {
      looked.push(clock.ms);
      return null;
    };
    const background: Promise<unknown>[] = [];
    const tables = kvTables({
      kv: { get } as unknown as KVNamespace,
      cache: undefined,
      namespace: "one",
      bundled: { regions: {}, entities: {}, routes: [] },
      clock: { nowMs: () => clock.ms },
      entropy,
      refreshMs: RULES.refreshSeconds * 1000,
      report: () => undefined,
      waitUntil: (work) => background.push(work),
    });
    const { uniform } = seededChance(11);
    const simulated = new SimulatedIsolate(RULES, uniform);
    const expected: number[] = [];
    for (const seconds of times) {
      clock.ms = seconds * 1000;
      if (tables.peek((work) => background.push(work)) === undefined) await tables.load();
      if (simulated.looks(seconds)) expected.push(clock.ms);
    }
    await Promise.all(background);
    expect(expected.length).toBeGreaterThan(10);
    expect(looked).toEqual(expected);
  });

  it("reports when the simulated one does", async () => {
    const clock = { ms: 0 };
    const reported: number[] = [];
    const traffic = isolateTraffic({
      store: {
        report: async () => {
          reported.push(clock.ms);
          return [];
        },
        totals: () => Promise.reject(new Error("nobody asks")),
      },
      reportMs: RULES.reportSeconds * 1000,
      clock: { nowMs: () => clock.ms },
      onBreaker: () => undefined,
      onReportFailure: () => undefined,
    });
    const simulated = new SimulatedIsolate(RULES, () => 0.5);
    const expected: number[] = [];
    for (const seconds of times) {
      clock.ms = seconds * 1000;
      const background: Promise<unknown>[] = [];
      traffic.observe({ atMs: clock.ms, ...REQUEST_LINE }, (work) => background.push(work));
      await Promise.all(background);
      if (simulated.reports(seconds, false)) expected.push(clock.ms);
    }
    expect(expected.length).toBeGreaterThan(10);
    expect(reported).toEqual(expected);
  });
});
