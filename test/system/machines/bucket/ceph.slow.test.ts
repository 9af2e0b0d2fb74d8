import { afterAll, beforeAll, describe } from "vitest";
import { type RunningCeph, startCeph, whyNoCeph } from "./ceph.ts";
import { describeContract } from "./contract.ts";

/** The contract of the stand-in, on a real store. Takes about 40 s, most of it Ceph's start. */

const whyNot = whyNoCeph();
let ceph: RunningCeph | undefined;
beforeAll(async () => {
  if (whyNot === undefined) ceph = await startCeph();
}, 240_000);
afterAll(() => ceph?.stop());

describe(`Debian's Ceph by the contract of stores${whyNot === undefined ? "" : `: ${whyNot}`}`, () => {
  describeContract(() => ceph?.access);
});
