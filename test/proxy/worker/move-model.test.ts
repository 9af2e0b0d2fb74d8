import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SLOW_MS } from "../../../src/proxy/attempt.ts";
import { runs } from "../../setup/property-runs.ts";
import { type Event, MoveModel } from "./move-model.ts";
import type { Breach } from "./move-origins.ts";

const HISTORIES = runs(150);

const some = fc.nat({ max: 59 });
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("write"), gateway: some }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("read"), gateway: some }) },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant("travel"), which: some }) },
  { weight: 7, arbitrary: fc.record({ kind: fc.constant("operate"), choice: some }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("refresh"), gateway: some, revision: some }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart"), gateway: some, revision: some }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("reroute"), choice: some }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("repeat"), which: some }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait"), seconds: some }) },
);

const history = fc.array(event, { minLength: 30, maxLength: 200, size: "max" });

/** Holds random histories to the protocol, and counts what happened in them. */
const explore = async (numRuns: number, breach?: Breach) => {
  const totals = { acknowledged: 0, refused: 0, forwarded: 0, reads: 0, switches: 0 };
  let ran = 0;
  const property = fc.asyncProperty(history, async (events) => {
    // Here all requests are one to workerd, which lets 10,000 timers wait for one: those that watch for clients run out.
    if (++ran % 100 === 0) await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    const model = new MoveModel(breach);
    await model.run(events);
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += model.counts[name];
    expect(model.violations).toEqual([]);
  });
  const outcome = await fc.check(property, { numRuns, endOnFailure: true });
  return { outcome, totals };
};

describe("moves of an entity, whatever happens in which order", () => {
  it("lose no acknowledged write, let none in at a fenced source, and forward a request once at most", async () => {
    const { outcome, totals } = await explore(HISTORIES);
    expect(outcome.failed, fc.defaultReportMessage(outcome)).toBe(false);
    // The histories are no idle ones.
    for (const count of Object.values(totals)) expect(count).toBeGreaterThan(HISTORIES);
  });

  it.each<Breach>([
    "a source that ignores the epoch",
    "a copy before the fence",
    "a target that takes writes before the switch",
    "a region that takes commands of older steps",
    "a source that leaves before the switch",
    "a gateway that follows again",
    "an operator who forgets epochs",
    "a gateway that holds every table to what was said to one",
  ])("are found out: %s", async (breach) => {
    const { outcome } = await explore(20_000, breach);
    expect(outcome.failed).toBe(true);
    expect(String(outcome.errorInstance)).toContain("AssertionError");
  });
});
