import type { Words } from "../../ids/index.ts";
import { identityWords } from "../identity.ts";
import type { DeclaredSplit } from "../schema/parts.ts";
import type { CanaryPlace, Found, Gone, NeedsPage, Target } from "../table.ts";

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
const CANARY_SEED = 0x9747b28c;

/** MurmurHash3, x86, 32 bits, over the words as little-endian blocks (A. Appleby, smhasher, MurmurHash3.cpp). */
export const shareHash = (words: Words, seed = CANARY_SEED): number => {
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

/** Any but those of other uses: the parts of a split must not follow the shares of a canary. */
const SPLIT_SEED = 0x3c6ef372;

/** Which of so many equal parts an entity is in, from 0: by what it is told by alone, so that all texts of it agree. */
export const partOf = (layout: string, words: Words, parts: number): number =>
  Math.floor((shareHash(identityWords(layout, words), SPLIT_SEED) / 2 ** 32) * parts);

/** Where one ID goes of those that the routes treat alike: by a split's part or a canary's share. */
export const applyRollout = (
  found: Found | undefined,
  layout: string,
  words: Words,
): Target | NeedsPage | undefined => {
  if (found === undefined || found.region !== undefined) return shareOut(found, layout, words);
  return "parts" in found ? found.parts[partOf(layout, words, found.parts.length)] : found;
};

export interface SplitFault {
  /** Below the split's `regions`. */
  readonly place: readonly (string | number)[];
  readonly message: string;
}

export interface ReadSplit {
  /** The region of each part; only without faults has every part one. */
  readonly regions: readonly string[];
  readonly faults: readonly SplitFault[];
}

/** The regions of a split's parts. Each part must have exactly one. */
export const readSplit = ({ parts, regions }: DeclaredSplit): ReadSplit => {
  if (Array.isArray(regions)) {
    const message = `There are ${parts} parts and ${regions.length} regions; name one region for each part.`;
    return { regions, faults: regions.length === parts ? [] : [{ place: [], message }] };
  }
  const faults: SplitFault[] = [];
  const found: (string | undefined)[] = new Array(parts).fill(undefined);
  for (const [key, region] of Object.entries(regions)) {
    const [, from, to = from] = /^(0|[1-9][0-9]{0,3})(?:-(0|[1-9][0-9]{0,3}))?$/.exec(key) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (!(first <= last && last < parts)) {
      faults.push({
        place: [key],
        message: `Parts are numbered from 0 to ${parts - 1}; write one or a range of them.`,
      });
      continue;
    }
    const taken = found.findIndex((other, part) => part >= first && part <= last && other !== undefined);
    if (taken !== -1) faults.push({ place: [key], message: `Part ${taken} has a region already; name it once.` });
    found.fill(region, first, last + 1);
  }
  const without = found.flatMap((region, part) => (region === undefined ? [part] : []));
  if (without.length > 0 && faults.length === 0) {
    faults.push({ place: [], message: `No region is named for part ${without.join(", ")}; name one for each part.` });
  }
  return { regions: found.filter((region) => region !== undefined), faults };
};
