import type { Words } from "../ids/index.ts";
import { shareHash, shareOut } from "./canary.ts";
import { identityWords } from "./identity.ts";
import type { Found, Target, Unloaded } from "./table.ts";
import type { DeclaredSplit } from "./way-schema.ts";

/** Any but those of other uses: the parts of a split must not follow the shares of a canary. */
const SEED = 0x3c6ef372;

/** Which of so many equal parts an entity is in, from 0: by what it is told by alone, so that all texts of it agree. */
export const partOf = (layout: string, words: Words, parts: number): number =>
  Math.floor((shareHash(identityWords(layout, words), SEED) / 2 ** 32) * parts);

/** Where one ID goes of those that the routes treat alike: by a split's part or a canary's share. */
export const applyRollout = (found: Found | undefined, layout: string, words: Words): Target | Unloaded | undefined => {
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
