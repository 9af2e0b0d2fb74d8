import { describe, expect, it } from "vitest";
import { seededWords } from "../../../bench/lib/random.ts";
import { SimulatedIsolate } from "../../../bench/scale/simulation.ts";
import { IsolateTable } from "../../../src/edge/table/isolate-table.ts";

/** docs/design/scale.md depends on these rules: a simulated isolate reads the pointer when a real one does. */

const RULES = { refreshSeconds: 30, refreshJitter: 0.1, reportSeconds: 10 };

const uniformOf = (seed: number) => {
  const { word } = seededWords(seed);
  return (): number => (word() + 0.5) / 2 ** 32;
};

/** Times of requests at random, in seconds. A clock that begins at 0 would be before anything was due. */
const arrivals = (meanGapSeconds: number, seed: number): readonly number[] => {
  const uniform = uniformOf(seed);
  const times: number[] = [];
  for (let at = 1_000; at < 3_000; at += Math.max(0.001, -meanGapSeconds * Math.log(uniform()))) times.push(at);
  return times;
};

describe.each([0.1, 1, 20, 100])("an isolate with a request each %d s", (meanGapSeconds) => {
  const times = arrivals(meanGapSeconds, 7);

  it("reads the pointer when the simulated one does", async () => {
    const clock = { ms: 0 };
    const looked: number[] = [];
    const entropy = seededWords(11);
    const get = async (): Promise<null> => {
      looked.push(clock.ms);
      return null;
    };
    const background: Promise<unknown>[] = [];
    const tables = new IsolateTable({
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
    const simulated = new SimulatedIsolate(RULES, uniformOf(11));
    const expected: number[] = [];
    for (const seconds of times) {
      clock.ms = seconds * 1000;
      if (tables.peek((work) => background.push(work)) === undefined) await tables.load();
      if (simulated.reads(seconds)) expected.push(clock.ms);
    }
    await Promise.all(background);
    expect(expected.length).toBeGreaterThan(10);
    expect(looked).toEqual(expected);
  });
});
