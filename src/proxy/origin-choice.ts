import { mixWords, type Words } from "../ids/index.ts";
import type { Origin, Region } from "../routing/table.ts";

/** One origin to try, and the region that it stands in. */
export interface Attempt {
  readonly region: Region;
  readonly origin: Origin;
}

/**
 * The origin of a region for an ID: a share of the IDs by weight, and always the same one for the same ID, so that
 * an origin's caches stay useful. A checked table has at least one origin of weight above 0 in every region.
 */
export function chooseOrigin(region: Region, words: Words): Origin {
  const [only, ...others] = region.origins;
  if (only === undefined) throw new Error(`region ${region.name} has no origin: the table was not checked`);
  if (others.length === 0) return only;
  let total = 0;
  for (const origin of region.origins) total += origin.weight;
  let rest = (mixWords(words) / 2 ** 32) * total;
  for (const origin of region.origins) {
    rest -= origin.weight;
    if (rest < 0) return origin;
  }
  return only;
}

/**
 * Where a request that may be sent again can go, in order: the ID's own origin, the region's other ones, then the regions
 * that the table names for failover, if they may take it. Draining origins (weight 0) take nothing.
 */
export function attemptsFor(
  region: Region,
  regions: ReadonlyMap<string, Region>,
  words: Words,
  mayFailOver: boolean,
): readonly Attempt[] {
  const attempts = attemptsWithin(region, words);
  for (const name of mayFailOver ? region.failover : []) {
    const other = regions.get(name);
    if (other !== undefined) attempts.push(...attemptsWithin(other, words));
  }
  // A kept connection may be closed just as it is used again: where there is nowhere else to go, the same origin is asked twice.
  const [only, second] = attempts;
  return only !== undefined && second === undefined ? [only, only] : attempts.slice(0, ATTEMPTS_MAX);
}

/** Each attempt may cost a connection time-out; a client does not wait for more of them than this. */
const ATTEMPTS_MAX = 4;

function attemptsWithin(region: Region, words: Words): Attempt[] {
  const first = chooseOrigin(region, words);
  const attempts = [{ region, origin: first }];
  for (const origin of region.origins) {
    if (origin !== first && origin.weight > 0) attempts.push({ region, origin });
  }
  return attempts;
}
