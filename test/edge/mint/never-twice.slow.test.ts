import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { isolateMinters } from "../../../src/features/mint/edge/minters.ts";
import { durableSequences } from "../../../src/features/mint/edge/sequences.ts";
import { type MintOrder, mintingOf, requiredFields } from "../../../src/features/mint/table/plan.ts";
import { everyLayout, type Layout, PRIMARY_KEY_MAX, type RandomWords } from "../../../src/ids/index.ts";
import type { WordRows } from "../../../src/ids/mint/mint.ts";
import { firstFall, IdList, isOrdered } from "../../ids/mint/repeats.ts";
import { seededWide } from "../../ids/mint/scripted-entropy.ts";
import { runs } from "../../setup/property-runs.ts";

/**
 * IDs of 50 isolates with the same keys, minted at the same time over the real sequences: clocks stop, differ and go
 * back, isolates restart and objects are lost on the way.
 */

const { SEQUENCES } = env as Env;

/** A million in `npm run test:slow`. */
const IDS = runs(50_000);
const ISOLATES = 50;
const BATCH_MAX = 1000;
const START_MS = Date.UTC(2026, 10, 22, 12);

const MINTABLE = everyLayout.filter((layout) => mintingOf(layout) !== "none");

const below = (end: number, { word }: RandomWords): number => word() % end;

/** An isolate with a clock of its own. */
class Isolate {
  readonly #layout: Layout;
  readonly #entropy: RandomWords;
  readonly #order: MintOrder;
  readonly #common: { nowMs: number };
  /** How far its clock is from that of all. */
  #offsetMs: number;
  #minters: ReturnType<typeof isolateMinters>;
  #last: WordRows | undefined;
  restarts = 0;

  constructor(layout: Layout, entropy: RandomWords, common: { nowMs: number }) {
    this.#layout = layout;
    this.#entropy = entropy;
    this.#common = common;
    this.#order = { layout, keys: Object.fromEntries(requiredFields(layout).map(({ name }) => [name, 1])) };
    this.#offsetMs = below(1000, entropy) - 500;
    this.#minters = this.#start();
  }

  #start() {
    const clock = { nowMs: () => this.#common.nowMs + this.#offsetMs };
    const pause = async (ms: number): Promise<void> => {
      this.#offsetMs += ms;
    };
    return isolateMinters({ clock, entropy: this.#entropy, sequences: durableSequences(SEQUENCES), pause });
  }

  /** Begins anew, with a clock that may be far behind the last ID. */
  restart(): void {
    this.#offsetMs -= below(30_000, this.#entropy);
    this.#minters = this.#start();
    this.#last = undefined;
    this.restarts++;
  }

  /** Its clock stands still, runs or goes back. A step of a second is the most after which all layouts promise order. */
  tick(): void {
    const kind = below(8, this.#entropy);
    if (kind === 0) this.#offsetMs -= below(900, this.#entropy);
    if (kind === 1) this.#offsetMs += below(900, this.#entropy);
    if (this.#offsetMs < -40_000) this.#offsetMs = below(1000, this.#entropy);
  }

  /** The IDs made; none after a refusal: others have then used up all that may be given now. */
  async mint(count: number): Promise<WordRows> {
    const minted = await this.#minters.mint(this.#order, count);
    if (!minted.ok) {
      expect(["sequence-ahead", "sequence-unavailable"]).toContain(minted.error.reason);
      return new Uint32Array();
    }
    const rows = minted.value;
    const width = this.#layout.fixed.value.length;
    expect(rows.length).toBe(count * width);
    if (isOrdered(this.#layout)) expect(firstFall(this.#layout, rows, this.#last)).toBeUndefined();
    this.#last = rows.slice(-width);
    return rows;
  }
}

async function mintMany(layout: Layout, seed: number): Promise<{ readonly ids: IdList; readonly restarts: number }> {
  const entropy = seededWide(seed);
  const common = { nowMs: START_MS };
  const isolates = Array.from({ length: ISOLATES }, () => new Isolate(layout, entropy, common));
  const ids = new IdList(layout.fixed.value.length, IDS + ISOLATES * BATCH_MAX);
  while (ids.length < IDS) {
    const chance = below(100, entropy);
    // Now and then all clocks stand still together.
    if (chance >= 20) common.nowMs += below(3000, entropy);
    const made = isolates.map((isolate) => {
      isolate.tick();
      if (below(20, entropy) === 0) isolate.restart();
      return isolate.mint(1 + below(BATCH_MAX, entropy));
    });
    // In the middle of the calls.
    if (chance % 10 === 0) await abortAllDurableObjects();
    for (const rows of await Promise.all(made)) ids.push(rows);
  }
  return { ids, restarts: isolates.reduce((sum, { restarts }) => sum + restarts, 0) };
}

describe(`${IDS} IDs of ${ISOLATES} isolates`, () => {
  it.each(MINTABLE.map((layout, at) => [layout.name, layout, at] as const))(
    "%s: none is made twice, and those of one isolate rise",
    async (_, layout, at) => {
      const seed = (inject("propertySeed") ?? crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) + at;
      const { ids, restarts } = await mintMany(layout, seed);
      expect(ids.length).toBeGreaterThanOrEqual(IDS);
      expect(restarts).toBeGreaterThan(0);
      expect({ seed, repeats: ids.repeats() }).toEqual({ seed, repeats: [] });
    },
  );
});

/** Sequences whose answers overtake each other, and now and then are lost when the block is written. */
const unreliable = ({ word }: RandomWords) =>
  ({
    idFromName: (name: string) => SEQUENCES.idFromName(name),
    get: (id: DurableObjectId) => ({
      async reserve(count: number, max: number, least?: number) {
        const reserved = await SEQUENCES.get(id).reserve(count, max, least);
        if (word() % 50 === 0) throw new Error("the connection is lost");
        for (let late = word() % 3; late > 0; late--) await SEQUENCES.get(id).reserve(0, max);
        return reserved;
      },
    }),
  }) as typeof SEQUENCES;

it(`${IDS} primary keys of 20 isolates: none is given twice, and those of one isolate rise`, async () => {
  const entropy = seededWide(20);
  const start = () => ({ sequences: durableSequences(unreliable(entropy)), last: 0 });
  const isolates = Array.from({ length: 20 }, start);
  const isGiven = new Uint8Array(IDS * 4);
  const faults: (readonly [number: number, last: number])[] = [];
  let given = 0;
  const take = async (isolate: ReturnType<typeof start>): Promise<void> => {
    const numbers = await isolate.sequences.take("million", 1 + below(400, entropy), { max: PRIMARY_KEY_MAX });
    if (!numbers.ok) return;
    given += numbers.value.length;
    for (const number of numbers.value) {
      if (isGiven[number] !== 0 || number <= isolate.last) faults.push([number, isolate.last]);
      isGiven[number] = 1;
      isolate.last = number;
    }
  };
  for (let round = 0; given < IDS && faults.length === 0; round++) {
    const taken = isolates.flatMap((isolate) => [take(isolate), take(isolate), take(isolate)]);
    // Some isolates begin anew while calls of the old ones are under way.
    for (const at of isolates.keys()) if (below(20, entropy) === 0) isolates[at] = start();
    if (round % 20 === 10) await abortAllDurableObjects();
    await Promise.all(taken);
  }
  expect(faults).toEqual([]);
  expect(isGiven.reduce((sum, one) => sum + one, 0)).toBe(given);
});
