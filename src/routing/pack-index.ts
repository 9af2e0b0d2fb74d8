import type { Words } from "../ids/index.ts";
import type { IdIndex } from "./id-index.ts";
import type { Dimension } from "./layout-plans.ts";
import { NOT_FOUND, NOT_LOADED } from "./pack/page.ts";
import type { PackSlot } from "./pack/slot.ts";
import type { Found, Target, Unloaded } from "./table.ts";

/** A route to a pack, ready for look-ups. */
export interface PackRoute {
  readonly ordinal: number;
  readonly slot: PackSlot;
  readonly read: Dimension["read"];
  /** By the numbers of the pack's regions. */
  readonly targets: readonly Target[];
}

/**
 * Looks an ID up in routes of which some lead to packs: each pack that stands before the route that takes the ID is asked
 * first, in order. A pack of which the page is not in memory ends the search: whatever comes behind it would be a guess.
 */
export const packFinder = (
  index: IdIndex,
  packs: readonly PackRoute[],
  targetOf: (ordinal: number) => Found | undefined,
): ((words: Words) => Found | undefined) => {
  const sorted = packs.toSorted((a, b) => a.ordinal - b.ordinal);
  return (words) => {
    const ordinal = index.find(words);
    for (let at = 0; at < sorted.length; at++) {
      const { ordinal: own, slot, read, targets } = sorted[at] as PackRoute;
      if (own > ordinal) break;
      const key = read(words);
      const number = slot.find(key);
      if (number === NOT_FOUND) continue;
      return number === NOT_LOADED ? unloaded(slot, key) : targets[number];
    }
    return targetOf(ordinal);
  };
};

const UNLOADED: Unloaded["rule"] = Object.freeze({ kind: "unloaded" });

const unloaded = (slot: PackSlot, key: number): Unloaded => ({
  region: undefined,
  rule: UNLOADED,
  missing: slot.missing(key),
});
