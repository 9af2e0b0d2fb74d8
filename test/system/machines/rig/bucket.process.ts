import { type BucketOptions, type RunningBucket, startBucket } from "../bucket/bucket.ts";
import type { Fault } from "../bucket/fault.ts";
import { answerCalls } from "./agent.ts";

let bucket: RunningBucket | undefined;
const running = (): RunningBucket => bucket ?? notStarted();
const notStarted = (): never => {
  throw new Error("the bucket is not started");
};

const calls = {
  start: async (options: BucketOptions) => {
    bucket = await startBucket(options);
    return bucket.url;
  },
  setFaults: (faults: readonly Fault[]) => running().setFaults(faults),
  setDown: (isDown: boolean) => running().setDown(isDown),
  shiftClock: (ms: number) => running().shiftClock(ms),
  counts: () => running().counts(),
  /** Texts of all objects whose keys end so. */
  texts: async (suffix: string) => {
    const keys = (await running().keys()).filter((key) => key.endsWith(suffix));
    return Promise.all(keys.map((key) => running().read(key)));
  },
  keys: (prefix?: string) => running().keys(prefix),
};

export type BucketCalls = typeof calls;

answerCalls(calls);
