import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes that this process holds after a whole collection: on the heap and in buffers. */
export function heldBytes(): number {
  collectGarbage();
  // Buffers of the first collection are let go of beside the program; the second one waits for that.
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** A whole collection at will, without a flag on the command line. */
const collectGarbage = garbageCollector();

function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const found: unknown = runInNewContext("gc");
  if (typeof found !== "function") throw new Error("this Node has no garbage collector to call");
  return () => void found();
}
