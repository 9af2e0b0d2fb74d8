import type { Entropy } from "../ports.ts";

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
