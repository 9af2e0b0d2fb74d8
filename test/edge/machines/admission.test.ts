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
