import { expect, it } from "vitest";
import { Admission } from "../../../src/edge/machines/admission.ts";

const NOW_MS = 1_000_000;
const END_MS = NOW_MS + 2_000;
const never = () => new Promise<never>(() => undefined);

it("calls of requests that the runtime has dropped end by time", () => {
  let nowMs = NOW_MS;
  const admission = new Admission({ nowMs: () => nowMs });
  for (let at = 0; at < 40; at++) void admission.count(never(), END_MS);
  expect(admission.isFull()).toBe(false);
  admission.lower();
  expect(admission.isFull()).toBe(true);
  nowMs = END_MS - 1;
  expect(admission.isFull()).toBe(true);
  nowMs = END_MS;
  expect(admission.isFull()).toBe(false);
});

it("calls that fail have ended, and raise no limit", async () => {
  const admission = new Admission({ nowMs: () => NOW_MS });
  for (let at = 0; at < 40; at++) void admission.count(never(), END_MS);
  admission.lower();
  for (let at = 0; at < 1_000; at++)
    await admission.count(Promise.reject(new Error("no owner")), END_MS).catch(() => undefined);
  expect(admission.isFull()).toBe(true);
});

it("nodes that come back get a few calls, and twice as many each round, until one is busy", async () => {
  let nowMs = NOW_MS;
  const admission = new Admission({ nowMs: () => nowMs });
  const round = async (): Promise<number> => {
    const ends: (() => void)[] = [];
    const calls: Promise<unknown>[] = [];
    while (!admission.isFull()) calls.push(admission.count(new Promise<void>((end) => ends.push(end)), nowMs + 2_000));
    for (const end of ends) end();
    await Promise.all(calls);
    return calls.length;
  };
  const rounds = async (count: number) => {
    const counts: number[] = [];
    for (let at = 0; at < count; at++) counts.push(await round());
    return counts;
  };
  admission.startAgain();
  expect(await rounds(4)).toEqual([8, 16, 32, 64]);
  nowMs += 1_000;
  for (let at = 0; at < 40; at++) void admission.count(never(), END_MS).catch(() => undefined);
  admission.lower();
  nowMs = END_MS;
  // Half of 40, then some more each round.
  const after = await rounds(4);
  expect(after[0]).toBe(20);
  for (const [at, count] of after.entries()) if (at > 0) expect(count - (after[at - 1] ?? 0)).toBeOneOf([3, 4, 5]);
  // Where again none answers, it starts again.
  admission.startAgain();
  expect(await rounds(2)).toEqual([8, 16]);
});
