import { expect, inject, test } from "vitest";
import { hasEnoughEntropy } from "../../../src/features/mint/table/plan.ts";
import { everyLayout, type FieldValue, type Layout, type Words } from "../../../src/ids/index.ts";
import { type WordMinter, wordMinter } from "../../../src/ids/mint/create-minter.ts";
import { rowsOf, type WordRows } from "../../../src/ids/mint/mint.ts";
import { runs } from "../../setup/property-runs.ts";
import { firstFall, IdList, isOrdered } from "./repeats.ts";
import { seededWide } from "./scripted-entropy.ts";

/** A million in `npm run test:slow`. */
const IDS = runs(50_000);
const MINTERS = 50;
const BATCH_MAX = 1000;
const START_MS = Date.UTC(2026, 10, 22, 12);
const JUMP_MS = 120_000;

const isHotguid = ({ name }: Layout): boolean => name === "hotguid" || name === "hotguid-sql";

/** Minters with random bits have equal keys; others differ in their node numbers, which the library leaves to its user. */
const keysOf = (layout: Layout, minter: number, life: number): Record<string, FieldValue> => {
  if (isHotguid(layout)) return { shardKey: 7 };
  if (layout.name === "luuid") return { group: 7, primaryKey: (life * MINTERS + minter) * 1_000_000 };
  const given = layout.fields.filter(({ role }) => role === "key" || role === "node");
  const isEqual = hasEnoughEntropy(layout, "random");
  // A node number in two parts has five bits each.
  const numbers = isEqual ? [1, 1] : given.length === 1 ? [minter] : [minter % 25, Math.floor(minter / 25)];
  return Object.fromEntries(
    given.map(({ name, bits }, at) => [name, bits > 53 ? BigInt(numbers[at] ?? 0) : (numbers[at] ?? 0)]),
  );
};

interface Running {
  mint: WordMinter;
  nowMs: number;
  latestMs: number;
  last: WordRows | undefined;
  lives: number;
}

test.each(everyLayout.filter(({ table }) => table.minter !== "none"))(
  `${IDS} IDs of ${MINTERS} minters of $name: none is made twice, and those of one minter rise`,
  (layout) => {
    const seed = inject("propertySeed") ?? Math.floor(Math.random() * 2 ** 32);
    const entropy = seededWide(seed);
    const below = (end: number): number => entropy.word() % end;
    const start = (minter: number, life: number): WordMinter => {
      const started = wordMinter(layout, keysOf(layout, minter, life), entropy);
      if (!started.ok) throw new Error(JSON.stringify(started.error));
      return started.value;
    };
    const minters = Array.from(
      { length: MINTERS },
      (_, at): Running => ({ mint: start(at, 0), nowMs: START_MS, latestMs: START_MS, last: undefined, lives: 1 }),
    );
    const ids = new IdList(layout.fixed.value.length, IDS + BATCH_MAX);
    while (ids.length < IDS) {
      const at = below(MINTERS);
      const minter = minters[at] as Running;
      // The clock stands still, runs or goes back; after a restart it is beyond all IDs that were made.
      if (below(3) === 0) minter.nowMs += below(90_000) - 44_000;
      if (below(20) === 0) {
        Object.assign(minter, { mint: start(at, minter.lives++), nowMs: minter.latestMs + JUMP_MS, last: undefined });
      }
      minter.latestMs = Math.max(minter.latestMs, minter.nowMs);
      const made: Words[] = [];
      for (let count = 1 + below(BATCH_MAX); count > 0; count--) {
        const words = minter.mint(minter.nowMs);
        if (words.ok) made.push(words.value);
        else {
          // More than a minute behind its last ID.
          expect(words.error.reason).toBe("clock-behind");
          minter.nowMs = minter.latestMs;
        }
      }
      if (made.length === 0) continue;
      const rows = rowsOf(made);
      if (isOrdered(layout))
        expect({ seed, fall: firstFall(layout, rows, minter.last) }).toEqual({ seed, fall: undefined });
      minter.last = rows.slice(-layout.fixed.value.length);
      ids.push(rows);
    }
    expect({ seed, repeats: ids.repeats() }).toEqual({ seed, repeats: [] });
  },
);
