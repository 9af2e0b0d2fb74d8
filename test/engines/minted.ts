import { everyLayout, type Layout, type Words } from "../../src/ids/index.ts";
import { wordMinter } from "../../src/ids/mint/create-minter.ts";
import { seeded } from "../ids/mint/scripted-entropy.ts";

/** 300 IDs of one minter over rising times, the same each time, and a period that has 73 of them. */

export const MINTED = 300;
/** Short COMBs have another interval each time. */
const STEP_MS = 61_000;
const FROM_MS = Date.UTC(2026, 10, 21);

const FIRST_OF_PERIOD = 100;
const IDS_OF_PERIOD = 73;
const timeOf = (at: number): number => FROM_MS + at * STEP_MS;
/** Its ends are between two IDs: the first tick of a DistributedId is a little before its minting. */
export const PERIOD = {
  fromMs: timeOf(FIRST_OF_PERIOD - 0.5),
  toMs: timeOf(FIRST_OF_PERIOD + IDS_OF_PERIOD - 0.5),
} as const;
/** The places of the period's IDs in the order of minting. */
export const PLACES_OF_PERIOD: readonly number[] = Array.from(
  { length: IDS_OF_PERIOD },
  (_, at) => FIRST_OF_PERIOD + at,
);

export const mintable: readonly Layout[] = everyLayout.filter(({ table }) => table.minter !== "none");

/** Keys and nodes are 1, so that services of iUIDs are those that MariaDB's UUID refuses. */
export const mintedIds = (layout: Layout): readonly Words[] => {
  const fields = layout.fields.filter(({ role }) => role === "key" || role === "node");
  const keys = Object.fromEntries(fields.map(({ name, bits }) => [name, bits > 53 ? 1n : 1]));
  const minter = wordMinter(layout, keys, seeded(20_261_121));
  if (!minter.ok) throw new Error(minter.error.reason);
  return Array.from({ length: MINTED }, (_, at) => {
    const words = minter.value(timeOf(at));
    if (!words.ok) throw new Error(words.error.reason);
    return words.value;
  });
};
