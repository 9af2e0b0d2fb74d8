import { mixWords, type Words } from "../ids/index.ts";
import type { RetryBudget } from "../ports/gateway.ts";
import type { Origin, Region } from "../routing/table.ts";

/** One origin to try, and the region that it stands in. */
export type Attempt = Readonly<{ region: Region; origin: Origin }>;

/**
 * The origin of a region for an ID: a share of the IDs by weight, and always the same one for the same ID, so that
 * an origin's caches stay useful. A checked table has at least one origin of weight above 0 in every region.
 */
export function chooseOrigin(region: Region, words: Words): Origin {
  const [only, ...others] = region.servers;
  if (only === undefined) throw new Error(`region ${region.name} was not checked`);
  if (others.length === 0) return only;
  let total = 0;
  for (const origin of region.servers) total += origin.weight;
  let rest = (mixWords(words) / 2 ** 32) * total;
  for (const origin of region.servers) {
    rest -= origin.weight;
    if (rest < 0) return origin;
  }
  return only;
}

/**
 * Where a request can go, in order: the ID's own origin, the region's other ones, then the regions that the table names for
 * failover, if they may take it. Draining origins (weight 0) take nothing.
 */
export function candidatesFor(
  region: Region,
  regions: ReadonlyMap<string, Region>,
  words: Words,
  mayFailOver: boolean,
): readonly Attempt[] {
  const candidates = originsOf(region, words);
  for (const name of mayFailOver ? region.failover : []) {
    const other = regions.get(name);
    if (other !== undefined) candidates.push(...originsOf(other, words));
  }
  return candidates;
}

function originsOf(region: Region, words: Words): Attempt[] {
  const first = chooseOrigin(region, words);
  const candidates = [{ region, origin: first }];
  for (const origin of region.servers) {
    if (origin !== first && origin.weight > 0) candidates.push({ region, origin });
  }
  return candidates;
}

/** Each request pays for a fifth of a retry: when all fail, the origins that are left see 20 % more, not twice as much. */
const EARNED_PER_REQUEST = 0.2;

/** A region with little traffic may retry at once. One that lost an origin under load may retry until its breaker opens. */
const TOKENS_MAX = 200;

/** A token bucket for each region, as one isolate counts. Regions are few and named by the table. */
export function retryBudget(): RetryBudget {
  const tokens = new Map<string, number>();
  const budget = {
    isFull: true,
    earn(region: string): void {
      const now = tokens.get(region);
      // A full bucket is not noted: most never lose a token.
      if (now === undefined) return;
      if (now + EARNED_PER_REQUEST < TOKENS_MAX) tokens.set(region, now + EARNED_PER_REQUEST);
      else tokens.delete(region);
      budget.isFull = tokens.size === 0;
    },
    spend(region: string): boolean {
      const now = tokens.get(region) ?? TOKENS_MAX;
      if (now < 1) return false;
      budget.isFull = false;
      tokens.set(region, now - 1);
      return true;
    },
  };
  return budget;
}
