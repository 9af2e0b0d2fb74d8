import type { Ok, Result } from "../ids/result.ts";
import type { Clock, Entropy } from "../ports.ts";

/** The platform's clock. On Cloudflare it stands still between I/O. */
export const systemClock: Clock = { nowMs: () => Date.now() };

/** Waits by the platform's timer. */
export const systemPause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Words fetched at once: a call into the platform costs far more than an ID. 4 KiB. */
const POOL_WORDS = 1024;

/** Web Crypto's random bits, from a pool that is filled on first use (a Worker has no randomness at start-up). */
export function pooledEntropy(): Entropy {
  const pool = new Uint32Array(POOL_WORDS);
  let next = POOL_WORDS;
  return {
    word() {
      if (next === POOL_WORDS) {
        crypto.getRandomValues(pool);
        next = 0;
      }
      const word = pool[next] as number;
      // A word is given once: nothing that can be read later tells an ID made before.
      pool[next++] = 0;
      return word;
    },
  };
}

/** What work comes to, or what `late` gives or throws when it takes longer than a time. The work itself goes on. */
export function withTimeout<Value, Late>(
  work: Promise<Value>,
  deadlineMs: number,
  late: (deadlineMs: number) => Late,
): Promise<Value | Late> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // A throw becomes a rejection here as in any other promise.
      new Promise<Late>((give) => give(late(deadlineMs))).then(resolve, reject);
    }, deadlineMs);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** For work without which nothing can be said. */
export function throwTimeout(deadlineMs: number): never {
  throw new Error(`no answer within ${deadlineMs} ms`);
}

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

/**
 * Counts by key, begun anew with each full period: one number a key, so that up to twice a limit may pass across the seam of
 * two periods. When there are too many keys, the oldest is dropped: a client with so many keys passes limits by key
 * anyway, and no client is refused for what others did.
 */
export function periodCounts(periodSeconds: number, clock: Clock, keysMax: number) {
  const periodMs = periodSeconds * 1000;
  let period = Number.NaN;
  const counts = new Map<string, number>();

  const countOf = (key: string): number => {
    const now = Math.floor(clock.nowMs() / periodMs);
    if (now !== period) {
      period = now;
      counts.clear();
    }
    return counts.get(key) ?? 0;
  };

  return {
    countOf,
    /** Until the period ends and all are counted anew: from 1 to `periodSeconds`. */
    secondsLeft: (): number => Math.ceil((periodMs - (clock.nowMs() % periodMs)) / 1000),
    add(key: string): void {
      const count = countOf(key);
      if (count === 0 && counts.size >= keysMax) for (const oldest of counts.keys()) if (counts.delete(oldest)) break;
      counts.set(key, count + 1);
    },
  };
}
