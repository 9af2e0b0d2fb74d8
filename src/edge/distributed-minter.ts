import {
  type DistributedIdKind,
  type MintError,
  ok,
  type RandomWords,
  type Result,
  startDistributedId,
  stepDistributedId,
  type Words,
} from "../ids/index.ts";
import { randomBits } from "../ids/random.ts";
import type { Clock } from "../ports.ts";

/** Lets time pass; in a Worker this is also what moves the clock. */
const pause = (durationMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, durationMs));

/**
 * A generator of Architect.Identities for the whole isolate. Requests share its state and not a queue, since one request must
 * not wait for the promise of another: a step is taken at once, and only who must wait does.
 */
export function distributedMinter(
  kind: DistributedIdKind,
  { clock, entropy }: { readonly clock: Clock; readonly entropy: RandomWords },
) {
  let state = startDistributedId;
  return async (count: number): Promise<Result<readonly Words[], MintError>> => {
    const ids: Words[] = [];
    while (ids.length < count) {
      const random = randomBits(kind.random.bits, entropy);
      const step = stepDistributedId(kind, state, clock.nowMs(), random);
      if (!step.ok) return step;
      if (step.value.kind === "wait") await pause(step.value.sleepMs);
      else {
        state = step.value.state;
        ids.push(step.value.words);
      }
    }
    return ok(ids);
  };
}
