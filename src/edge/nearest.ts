import type { Ok, Result } from "../ids/result.ts";
import { withTimeout } from "./in-time.ts";

/** What is near has so long to itself; then what is far is asked beside it. */
const GRACE_MS = 100;

/**
 * What the edge's cache has, or else KV, which is asked too when the cache takes its time: the first that is good is taken.
 * Both end by themselves. `near`: `undefined` for nothing there.
 */
export async function raceCacheAndKv<Value, Failure>(
  near: Promise<Ok<Value> | undefined>,
  far: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure>> {
  const found = await withTimeout(near, GRACE_MS, () => "late" as const);
  if (found !== "late") return found ?? far();
  const asked = far();
  const first = await Promise.race([near, asked]);
  return first?.ok ? first : ((await near) ?? asked);
}
