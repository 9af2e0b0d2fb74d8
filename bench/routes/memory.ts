import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes that this process retains after a full collection: heap and buffers. */
export function retainedBytes(): number {
  collectGarbage();
  // Buffers are freed concurrently; the second collection waits for that.
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Runs a full collection, without a flag on the command line. */
const collectGarbage = garbageCollector();

function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const found: unknown = runInNewContext("gc");
  if (typeof found !== "function") throw new Error("this Node has no garbage collector to call");
  return () => void found();
}
