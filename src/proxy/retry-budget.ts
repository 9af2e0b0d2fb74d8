import type { RetryBudget } from "../ports.ts";

/** Each request pays for a fifth of a retry: when all fail, the origins that are left see 20 % more, not twice as much. */
const EARNED_PER_REQUEST = 0.2;

/** A region with little traffic may retry at once, and one that lost an origin under load may until its breaker opens. */
const TOKENS_MAX = 200;

/** A token bucket for each region, as one isolate counts. Regions are few and named by the table. */
export function retryBudget(): RetryBudget {
  const tokens = new Map<string, number>();
  const left = (region: string): number => tokens.get(region) ?? TOKENS_MAX;
  return {
    earn(region) {
      const now = tokens.get(region);
      // A full bucket is not noted: most never lose a token.
      if (now !== undefined) tokens.set(region, Math.min(TOKENS_MAX, now + EARNED_PER_REQUEST));
    },
    spend(region) {
      const now = left(region);
      if (now < 1) return false;
      tokens.set(region, now - 1);
      return true;
    },
  };
}
