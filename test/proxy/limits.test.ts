import { describe, expect, it } from "vitest";
import { bodyIdleMs, limitsFor } from "../../src/proxy/attempt.ts";
import { fieldRules, readResponseFields } from "../../src/proxy/headers.ts";
import { tableWith } from "./passages.ts";

const OWN = { firstByteMs: 1, idleMs: 2, totalMs: 3 };

const limits = (eu: object, order: object, fields: Record<string, string> = {}, own = OWN, passesBody = false) => {
  const read = readResponseFields(new Headers(fields), fieldRules());
  const table = tableWith(eu, order);
  const entity = table.entities.get("order");
  const region = table.regions.get("eu");
  if (entity === undefined || region === undefined) throw new Error("the fixtures lack what this test needs");
  const { isIdleChosen, isBodyWatched, isWholeChosen, ...attempt } = limitsFor(entity, region, own, 1000, passesBody);
  return {
    attempt,
    isBodyWatched,
    isWholeChosen,
    bodyIdleMs: bodyIdleMs({ ...attempt, isIdleChosen, isBodyWatched, isWholeChosen }, read),
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

  const deadlines = { idleMs: 9 };
  const whole = { wholeAnswers: true };
  const passed = { wholeAnswers: false };
  it.each([
    { what: "no deadline", eu: {}, order: {}, own: {}, isBodyWatched: false },
    { what: "none on purpose", eu: {}, order: { deadlines: { idleMs: 0 } }, own: {}, isBodyWatched: false },
    { what: "an entity's", eu: {}, order: { deadlines }, own: {}, isBodyWatched: true },
    { what: "a region's", eu: { deadlines }, order: {}, own: {}, isBodyWatched: true },
    { what: "a total one", eu: {}, order: { deadlines: { totalMs: 9 } }, own: {}, isBodyWatched: true },
    { what: "the deployment's total one", eu: {}, order: {}, own: { totalMs: 9 }, isBodyWatched: true },
    { what: "minimal fields", eu: {}, order: { fields: "minimal" }, own: {}, isBodyWatched: false },
    { what: "full fields", eu: {}, order: { fields: "full" }, own: {}, isBodyWatched: true },
    { what: "full fields, passed", eu: {}, order: { fields: "full", ...passed }, own: {}, isBodyWatched: false },
    { what: "full fields, passed by the region", eu: passed, order: { fields: "full" }, own: {}, isBodyWatched: false },
    { what: "an entity's word", eu: {}, order: whole, own: {}, isBodyWatched: true },
    { what: "a region's word", eu: whole, order: {}, own: {}, isBodyWatched: true },
    { what: "an entity's before a region's", eu: whole, order: passed, own: {}, isBodyWatched: false },
    { what: "an entity's before a region's", eu: passed, order: whole, own: {}, isBodyWatched: true },
    { what: "a deadline, though passed", eu: {}, order: { deadlines, ...passed }, own: {}, isBodyWatched: true },
  ])("of a body that passes as it comes, by $what: watched $isBodyWatched", ({ eu, order, own, isBodyWatched }) => {
    const given = { ...OWN, totalMs: 0, ...own };
    expect(limits(eu, order, {}, given, true).isBodyWatched).toBe(isBodyWatched);
    expect(limits(eu, order, {}, given, false).isBodyWatched).toBe(true);
  });
});
