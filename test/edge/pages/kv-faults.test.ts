import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { packKey, pageKey } from "../../../src/features/packs/table/pack.ts";
import { POINTER_KEY } from "../../../src/formats/kv.ts";
import { IDS } from "../../routes/harness.ts";
import { putTable, READ_FAULTS, type ReadFault } from "../faulty-kv.ts";
import { makePack, RANGES, storePack } from "./files.ts";
import { EU, INTERVAL_MS, packedTable, US, withPacks } from "./isolate.ts";

const { TABLE_KV } = env as Env;

/** Those that the pages decide, and the others. */
const TARGETS = { [EU]: "eu", [US]: "us" };
const OTHERS = Object.values(IDS).filter((id) => !id.startsWith("6347"));

const OF_POINTERS: readonly ReadFault[] = ["old pointer", "corrupt pointer"];
const OF_KV: readonly ReadFault[] = ["throws", "hangs", "body throws"];

/** When a part is asked for again that fails each time, in seconds. */
const TRIES = [0, 1, 3, 7, 15, 31, 61];

/** A KV that hangs is waited for in real time, and one that answers must not be late. */
const SHORT = { chunkDeadlineMs: 500 };

const isPart = (key: string) => key.startsWith("pack.");

beforeEach(() => reset());

describe.each(READ_FAULTS)("a table with a pack, while KV fails: %s", (fault) => {
  it("with its pages in memory an isolate routes every ID as before, and reads the pointer alone", async () => {
    const { store, time, isolate } = await withPacks(TABLE_KV);
    const { loaded, peek, settle, targetOf } = isolate();
    const { table } = await loaded();
    const before = await Promise.all([...OTHERS, EU, US].map((id) => targetOf(table, id)));
    expect(before.slice(-2)).toEqual(["eu", "us"]);
    store.fault = fault;
    store.reads.length = 0;
    for (let second = 1; second <= 90; second++) {
      time.nowMs += 1_000;
      const served = peek();
      if (served === undefined) throw new Error("the table is gone");
      expect(await Promise.all([...OTHERS, EU, US].map((id) => targetOf(served.table, id)))).toEqual(before);
      if (second % 30 === 1) await settle();
    }
    expect(store.reads).toEqual([POINTER_KEY, POINTER_KEY, POINTER_KEY]);
  });

  it("with its pages in the edge's cache a new isolate routes every ID as others of its location, and reads the pointer alone", async () => {
    const { store, isolate } = await withPacks(TABLE_KV);
    const first = isolate();
    const { table } = await first.loaded();
    const before = await Promise.all([...OTHERS, EU, US].map((id) => first.targetOf(table, id)));
    await first.settle();
    store.fault = fault;
    store.reads.length = 0;
    const { loaded, targetOf } = isolate();
    const served = await loaded();
    expect(served.label).toBe("rev=5; source=edge; age=0");
    expect(await Promise.all([...OTHERS, EU, US].map((id) => targetOf(served.table, id)))).toEqual(before);
    expect(store.reads).toEqual([POINTER_KEY]);
  });

  it("with its pages nowhere refuses the IDs that need them and no others, reads less and less, and recovers when it said", async () => {
    const { store, time, isolate, pack } = await withPacks(TABLE_KV);
    const { loaded, targetOf, failures } = isolate({ isShared: false, ...(fault === "hangs" ? SHORT : {}) });
    const { table } = await loaded();
    const others = await Promise.all(OTHERS.map((id) => targetOf(table, id)));
    store.fault = fault;
    store.reads.length = 0;
    const isHarmed = !OF_POINTERS.includes(fault);
    const seconds = fault === "hangs" ? 14 : 90;
    const waits = new Map<string, number>();
    for (let second = 0; second < seconds; second++) {
      for (const [id, region] of Object.entries(TARGETS)) {
        const target = await targetOf(table, id);
        if (isHarmed) waits.set(id, Number(target));
        expect(
          isHarmed ? Number(target) > 0 && Number(target) <= 30 : target === region,
          `${second} s: ${target}`,
        ).toBe(true);
      }
      expect(await Promise.all(OTHERS.map((id) => targetOf(table, id)))).toEqual(others);
      time.nowMs += 1_000;
    }
    const reads = store.reads.filter(isPart);
    expect(reads.length).toBe(store.reads.length);
    const tries = TRIES.filter((second) => second < seconds).length;
    if (!isHarmed) expect(reads).toHaveLength(2);
    // Each page by itself; but where KV fails at all, both of them together have hardly more.
    else if (OF_KV.includes(fault)) expect(reads.length).toBeLessThanOrEqual(tries + 3);
    else
      expect([0, 1].map((n) => reads.filter((key) => key === pageKey(pack.sha256, n)).length)).toEqual([tries, tries]);
    // A line for each try, and none for each request.
    expect(failures.length).toBeLessThanOrEqual(2 * tries);
    store.fault = undefined;
    for (const [id, region] of Object.entries(TARGETS)) {
      const waitSeconds = waits.get(id) ?? 0;
      time.nowMs += waitSeconds * 1_000;
      expect(await targetOf(table, id)).toBe(region);
    }
    expect(store.reads.filter(isPart).length - reads.length).toBe(isHarmed ? 2 : 0);
  }, 30_000);
});

it("a page that failed once is had a second later, and whoever comes in that second costs no read", async () => {
  const { store, time, isolate } = await withPacks(TABLE_KV);
  const { loaded, targetOf } = isolate({ isShared: false });
  const { table } = await loaded();
  store.fault = "throws";
  expect(await targetOf(table, EU)).toBe(1);
  store.fault = undefined;
  store.reads.length = 0;
  time.nowMs += 900;
  expect(await Promise.all(Array.from({ length: 100 }, () => targetOf(table, EU)))).toEqual(new Array(100).fill(0.1));
  expect(store.reads).toEqual([]);
  time.nowMs += 100;
  expect(await Promise.all(Array.from({ length: 100 }, () => targetOf(table, EU)))).toEqual(new Array(100).fill("eu"));
  expect(store.reads).toHaveLength(1);
});

it("a page that hangs is asked for once, however many wait for it, and each learns when to come again", async () => {
  const { store, isolate } = await withPacks(TABLE_KV);
  const { loaded, targetOf, failures } = isolate({ isShared: false, ...SHORT });
  const { table } = await loaded();
  store.fault = "hangs";
  store.reads.length = 0;
  expect(await Promise.all(Array.from({ length: 100 }, () => targetOf(table, EU)))).toEqual(new Array(100).fill(1));
  expect([store.reads.length, failures.length]).toEqual([1, 1]);
});

it("a new table whose header is not there yet leaves the one before in force, and is in force soon after it came", async () => {
  const { store, time, isolate } = await withPacks(TABLE_KV);
  const { loaded, peek, settle } = isolate();
  await loaded();
  const next = await storePack(TABLE_KV, RANGES, 2);
  const { header } = await makePack(RANGES, 2);
  await TABLE_KV.delete(packKey(next.sha256));
  await putTable(TABLE_KV, 6, JSON.stringify(packedTable(next)));
  time.nowMs += INTERVAL_MS;
  peek();
  await settle();
  store.reads.length = 0;
  for (let second = 0; second < 90; second++) {
    for (let request = 0; request < 5; request++) expect(peek()?.table.revision).toBe(5);
    await settle();
    time.nowMs += 1_000;
  }
  expect(store.reads.filter(isPart)).toHaveLength(TRIES.length);
  expect(store.reads.filter((key) => !isPart(key))).toEqual([POINTER_KEY, POINTER_KEY]);
  await TABLE_KV.put(packKey(next.sha256), header);
  time.nowMs += 2_000;
  peek();
  await settle();
  expect(peek()?.table.revision).toBe(6);
});
