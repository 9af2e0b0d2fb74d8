import type { Words } from "../ids/index.ts";
import { identityWords } from "./identity.ts";
import type { CanaryPlace, Gone, Target } from "./table.ts";

/**
 * The target of one ID: the canary's for as many of the IDs as it has a share. It depends on the entity alone, so that an
 * entity never flips while a share only grows, whatever else changes in the table.
 */
export const shareOut = (target: Target | undefined, layout: string, words: Words): Target | undefined => {
  const canary = target?.canary;
  return canary !== undefined && placeOf(layout, words) < canary.share ? canary.target : target;
};

/** Where an entity stands among all: from 0 up to, not including, 1. A share takes those below it. */
export const placeOf = (layout: string, words: Words, seed?: number): number =>
  shareHash(identityWords(layout, words), seed) / 2 ** 32;

/** Of percents with four decimals the least one at which a canary takes the entity. */
export const percentTaking = (layout: string, words: Words): number =>
  (Math.floor(placeOf(layout, words) * 1e6) + 1) / 1e4;

/** Where an ID stands; `undefined` where its route has no canary, or where the table says more of the ID than its route does. */
export const canaryPlace = (
  route: Target | undefined,
  target: Target | Gone | undefined,
  layout: string,
  words: Words,
): CanaryPlace | undefined => {
  const canary = route?.canary;
  if (canary === undefined || (target !== route && target !== canary.target)) return undefined;
  return {
    region: canary.target.region.name,
    percent: percentOf(canary.share),
    takesFrom: percentTaking(layout, words),
  };
};

/** A share as the table writes it. */
export const percentOf = (share: number): number => Number((share * 100).toPrecision(12));

/** Any but that of another use, so that what else is chosen by a hash of the ID is chosen independently. */
const SEED = 0x9747b28c;

/** MurmurHash3, x86, 32 bits, over the words as little-endian blocks (A. Appleby, smhasher, MurmurHash3.cpp). */
export const shareHash = (words: Words, seed = SEED): number => {
  let hash = seed;
  for (let at = 0; at < words.length; at++) {
    const block = Math.imul(words[at] as number, 0xcc9e2d51);
    hash ^= Math.imul((block << 15) | (block >>> 17), 0x1b873593);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  hash ^= words.length * 4;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};
