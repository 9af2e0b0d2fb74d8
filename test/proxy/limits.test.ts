import { describe, expect, it } from "vitest";
import { bodyIdleMs, limitsFor } from "../../src/proxy/attempt.ts";
import { fieldRules, readResponseFields } from "../../src/proxy/headers.ts";
import { tableWith } from "./passages.ts";

const OWN = { firstByteMs: 1, idleMs: 2, totalMs: 3 };

const limits = (eu: object, order: object, fields: Record<string, string> = {}) => {
  const read = readResponseFields(new Headers(fields), fieldRules());
  const table = tableWith(eu, order);
  const [entity, region] = [table.entities.get("order"), table.regions.get("eu")];
  if (entity === undefined || region === undefined) throw new Error("the fixtures lack what this test needs");
  const { isIdleChosen, ...attempt } = limitsFor(entity, region, OWN, 1000);
  return {
    attempt,
    bodyIdleMs: bodyIdleMs({ ...attempt, isIdleChosen }, read),
  };
};

describe("the limits of a request", () => {
  it.each([
    { eu: {}, order: {}, expected: { firstByteMs: 1, idleMs: 2, total: { untilMs: 1003, ms: 3 } } },
    {
      eu: { deadlines: { firstByteMs: 10, totalMs: 0 } },
      order: {},
      expected: { firstByteMs: 10, idleMs: 2, total: undefined },
    },
    {
      eu: { deadlines: { firstByteMs: 10, idleMs: 20 } },
      order: { deadlines: { idleMs: 0, totalMs: 50 } },
      expected: { firstByteMs: 10, idleMs: 0, total: { untilMs: 1050, ms: 50 } },
    },
  ])("are the entity's, else the region's, else the deployment's: $eu $order", ({ eu, order, expected }) => {
    expect(limits(eu, order).attempt).toEqual(expected);
  });

  it.each([
    { what: "no known length", fields: {}, idleMs: 2 },
    { what: "a long body", fields: { "content-length": "65537" }, idleMs: 2 },
    { what: "a small body", fields: { "content-length": "1" }, idleMs: 2 },
    { what: "events", fields: { "content-type": "text/event-stream; charset=utf-8" }, idleMs: 0 },
  ])("the deployment's idle deadline for $what", ({ fields, idleMs }) => {
    expect(limits({}, {}, fields).bodyIdleMs).toBe(idleMs);
    for (const [eu, order] of [
      [{ deadlines: { idleMs: 9 } }, {}],
      [{}, { deadlines: { idleMs: 9 } }],
    ] as const) {
      expect(limits(eu, order, fields).bodyIdleMs).toBe(9);
    }
  });
});
