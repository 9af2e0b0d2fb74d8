import { expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { BLOCK_NUMBERS_MAX, durableSequences } from "../../../src/features/mint/edge/sequences.ts";
import { objectInMemory } from "./object-in-memory.ts";

const MAX = 2 ** 48 - 1;

/** An isolate with a clock of its own, and what it does beside requests. */
const isolate = (namespace: Env["SEQUENCES"]) => {
  const work: Promise<unknown>[] = [];
  const clock = { ms: 0 };
  const sequences = durableSequences(namespace, { nowMs: () => clock.ms, waitUntil: (one) => work.push(one) });
  const settle = () => Promise.all(work.splice(0));
  return { sequences, clock, settle, work };
};

it("waits for the object no longer once it is under load, and reserves more at once", async () => {
  const object = objectInMemory();
  const { sequences, clock, settle, work } = isolate(object.namespace);
  let waits = 0;
  const given: number[] = [];
  for (let turn = 0; turn < 2_000; turn++) {
    clock.ms += 10;
    const before = object.calls.length;
    const numbers = await sequences.take("busy", 20, { max: MAX });
    if (!numbers.ok) throw new Error(numbers.error.reason);
    const ahead = work.length;
    await settle();
    waits += object.calls.length - before - ahead;
    given.push(...numbers.value);
  }
  expect(waits).toBeLessThanOrEqual(2);
  expect(given).toEqual(given.toSorted((a, b) => a - b));
  expect(new Set(given).size).toBe(40_000);
  expect(object.calls.length).toBeLessThan(60);
  expect(Math.max(...object.calls.map(({ count }) => count))).toBeLessThanOrEqual(BLOCK_NUMBERS_MAX);
});

it("reserves one small block where few numbers are asked for", async () => {
  const object = objectInMemory();
  const { sequences, clock, work } = isolate(object.namespace);
  for (let turn = 0; turn < 200; turn++) {
    clock.ms += 60_000;
    await sequences.take("idle", 1, { max: MAX });
  }
  expect(object.calls.map(({ count }) => count)).toEqual([64, 64, 64, 64]);
  expect(work).toEqual([]);
});

it("keeps blocks small for many requests at once, which each ask for the first", async () => {
  const object = objectInMemory();
  const { sequences } = isolate(object.namespace);
  await Promise.all(Array.from({ length: 200 }, () => sequences.take("burst", 1, { max: MAX })));
  expect(object.calls).toHaveLength(200);
  expect(new Set(object.calls.map(({ count }) => count))).toEqual(new Set([64]));
});

it("goes on by itself where a block that was fetched ahead never comes", async () => {
  const object = objectInMemory();
  const { sequences, clock, work } = isolate(object.namespace);
  const given: number[] = [];
  const take = async () => {
    const taken = await sequences.take("lost", 32, { max: MAX });
    if (taken.ok) given.push(...taken.value);
  };
  // The second block makes the sequence busy; half of it is left after the fourth take.
  for (let turn = 0; turn < 3; turn++) await take();
  object.isStuck = true;
  await take();
  expect(work).toHaveLength(1);
  object.isStuck = false;
  for (let turn = 0; turn < 50; turn++) {
    clock.ms += 1;
    await take();
  }
  expect(given.length).toBeGreaterThanOrEqual(50 * 32);
  expect(new Set(given).size).toBe(given.length);
});
