import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { pooledEntropy } from "../../../src/edge/platform.ts";
import { isolateMinters } from "../../../src/features/mint/edge/minters.ts";
import { durableSequences } from "../../../src/features/mint/edge/sequences.ts";
import { fieldOf, luuid } from "../../../src/ids/index.ts";
import { wordsIn } from "../../../src/ids/mint/mint.ts";
import { objectInMemory } from "./object-in-memory.ts";

const { SEQUENCES } = env as Env;
const ISOLATES = 20;
const primaryKey = fieldOf(luuid, "primaryKey");

/** The gateway's minters in one isolate; a new one is what remains after an eviction. */
const isolate = (namespace: Env["SEQUENCES"], clock: { ms: number }) =>
  isolateMinters({
    clock: { nowMs: () => clock.ms },
    entropy: pooledEntropy(),
    sequences: durableSequences(namespace, { nowMs: () => clock.ms, waitUntil: () => undefined }),
  });

const mintKeys = async (one: ReturnType<typeof isolate>, count: number): Promise<number[]> => {
  const minted = await one.mint({ layout: luuid, keys: { group: 7 } }, count);
  if (!minted.ok) throw new Error(minted.error.reason);
  return wordsIn(minted.value, 4).map((words) => primaryKey.read(words));
};

/** Rounds of concurrent mints in 20 isolates; after each some isolates are evicted. */
const mintAll = async (
  namespace: Env["SEQUENCES"],
  rounds: number,
  countOf: (turn: number) => number,
  between = async () => undefined as unknown,
) => {
  const clock = { ms: 0 };
  const isolates = Array.from({ length: ISOLATES }, () => isolate(namespace, clock));
  const seen = new Set<number>();
  let minted = 0;
  for (let round = 0; round < rounds; round++) {
    clock.ms += 137;
    const batches = await Promise.all(
      isolates.flatMap((one, at) => [mintKeys(one, countOf(round + at)), mintKeys(one, countOf(round * at))]),
    );
    for (const batch of batches) {
      minted += batch.length;
      for (const [at, key] of batch.entries()) {
        if (at > 0 && key <= (batch[at - 1] as number)) throw new Error("keys of one mint fall");
        seen.add(key);
      }
    }
    isolates[round % ISOLATES] = isolate(namespace, clock);
    await between();
  }
  return { minted, distinct: seen.size };
};

it("gives a million primary keys from 20 isolates, each once, over evictions", async () => {
  const late = async () => {
    for (let ticks = Math.random() * 5; ticks > 0; ticks--) await Promise.resolve();
  };
  const { minted, distinct } = await mintAll(objectInMemory(late).namespace, 100, (turn) => 1 + ((turn * 389) % 1000));
  expect(minted).toBeGreaterThan(1_000_000);
  expect(distinct).toBe(minted);
});

it("gives each once on real objects, which restart between rounds", async () => {
  const { minted, distinct } = await mintAll(SEQUENCES, 10, (turn) => 1 + ((turn * 37) % 200), abortAllDurableObjects);
  expect(minted).toBeGreaterThan(20_000);
  expect(distinct).toBe(minted);
});
