import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { seededWords } from "../../bench/random-words.ts";
import { seededChance } from "../../bench/scale/chance.ts";
import { CALLS_PER_REVISION, fleetOf, kvUse, MONTH_DAYS } from "../../bench/scale/figures.ts";
import { MILLION } from "../../bench/scale/inputs.ts";
import { SimulatedIsolate } from "../../bench/scale/isolate.ts";
import { SimulatedBlocks } from "../../bench/scale/simulated-blocks.ts";
import { SimulatedPages } from "../../bench/scale/simulated-pages.ts";
import type { Env } from "../../src/edge/env.ts";
import { kvPacks } from "../../src/edge/packs.ts";
import type { SequenceBlocks } from "../../src/edge/sequence-blocks.ts";
import { durableSequences } from "../../src/edge/sequences.ts";
import { TableKeeper } from "../../src/edge/table-keeper.ts";
import { bundledRevision } from "../../src/edge/table-ledger.ts";
import { POINTER_KEY } from "../../src/edge/table-store.ts";
import { kvTables } from "../../src/edge/tables.ts";
import { isolateTraffic } from "../../src/edge/traffic.ts";
import { loadTable } from "../../src/routing/index.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { REQUEST_LINE } from "../fixtures/request-line.ts";
import { declaredOf, makePack, storePack } from "./pack-files.ts";

const { TABLE_KV, TABLE_TRUTH } = env as Env;

beforeEach(() => reset());

/** docs/scale.md stands on these rules: what the simulation takes an isolate for is what the isolates of the source do. */

const RULES = { refreshSeconds: 30, refreshJitter: 0.1, reportSeconds: 10 };
const SECONDS = 2_000;

/** Times of requests at random, in seconds. A clock that begins at 0 would be before anything was due. */
const arrivals = (meanGapSeconds: number, seed: number): readonly number[] => {
  const { exponential } = seededChance(seed);
  const times: number[] = [];
  for (let at = 1_000; at < 1_000 + SECONDS; at += Math.max(0.001, exponential(meanGapSeconds))) times.push(at);
  return times;
};

describe.each([0.1, 1, 20, 100])("an isolate with a request each %d s", (meanGapSeconds) => {
  const times = arrivals(meanGapSeconds, 7);

  it("looks for a table when the simulated one does", async () => {
    const clock = { ms: 0 };
    const looked: number[] = [];
    const entropy = seededWords(11);
    const get = async (): Promise<null> => {
      looked.push(clock.ms);
      return null;
    };
    const background: Promise<unknown>[] = [];
    const tables = kvTables({
      kv: { get } as unknown as KVNamespace,
      cache: undefined,
      namespace: "one",
      bundled: { regions: {}, entities: {}, routes: [] },
      clock: { nowMs: () => clock.ms },
      entropy,
      refreshMs: RULES.refreshSeconds * 1000,
      report: () => undefined,
      waitUntil: (work) => background.push(work),
    });
    const { uniform } = seededChance(11);
    const simulated = new SimulatedIsolate(RULES, uniform);
    const expected: number[] = [];
    for (const seconds of times) {
      clock.ms = seconds * 1000;
      if (tables.peek((work) => background.push(work)) === undefined) await tables.load();
      if (simulated.looks(seconds)) expected.push(clock.ms);
    }
    await Promise.all(background);
    expect(expected.length).toBeGreaterThan(10);
    expect(looked).toEqual(expected);
  });

  it("reports when the simulated one does", async () => {
    const clock = { ms: 0 };
    const reported: number[] = [];
    const traffic = isolateTraffic({
      store: {
        report: async () => {
          reported.push(clock.ms);
          return [];
        },
        totals: () => Promise.reject(new Error("nobody asks")),
      },
      reportMs: RULES.reportSeconds * 1000,
      clock: { nowMs: () => clock.ms },
      onBreaker: () => undefined,
      onReportFailure: () => undefined,
    });
    const simulated = new SimulatedIsolate(RULES, () => 0.5);
    const expected: number[] = [];
    for (const seconds of times) {
      clock.ms = seconds * 1000;
      const background: Promise<unknown>[] = [];
      traffic.observe({ atMs: clock.ms, ...REQUEST_LINE }, (work) => background.push(work));
      await Promise.all(background);
      if (simulated.reports(seconds, false)) expected.push(clock.ms);
    }
    expect(expected.length).toBeGreaterThan(10);
    expect(reported).toEqual(expected);
  });
});

/** So many ranges, of which a page holds one. */
const rangesOf = (pages: number) =>
  Array.from({ length: pages }, (_, at) => ({ from: at * 1_000, to: at * 1_000, region: "eu" }));

const tableWith = (shards: ReturnType<typeof declaredOf>) => ({
  ...DECLARED_TABLE,
  packs: { shards },
  routes: [{ when: { layout: "hotguid" }, pack: "shards" }, ...DECLARED_TABLE.routes],
});

describe.each([2, 5, 11, 12])("an isolate that keeps %d of 12 pages", (kept) => {
  it("loads a page when the simulated one does", async () => {
    const declared = await storePack(TABLE_KV, rangesOf(12));
    const loaded = loadTable(tableWith(declared), 1);
    const slot = loaded.ok ? loaded.value.packs.get("shards") : undefined;
    if (!loaded.ok || slot === undefined) throw new Error("the table has no pack");
    const packs = kvPacks({
      ...{ kv: TABLE_KV, cache: undefined, namespace: "one", clock: { nowMs: () => 1_000_000 } },
      ...{ entropy: seededWords(3), retryMsMax: 30_000, report: () => undefined, waitUntil: () => undefined },
      // A page of one range takes its record of 8 octets and two buckets of 2.
      pageOctetsMax: kept * 12,
    });
    await packs.open(loaded.value);
    const simulated = new SimulatedPages(12, kept);
    const { uniform } = seededChance(5);
    const [real, expected]: number[][] = [[], []];
    for (let look = 0; look < 400; look++) {
      // Some pages are looked into more often than others.
      const page = Math.floor(12 * uniform() ** 2);
      if (slot.find(page * 1_000) === -2) {
        real?.push(look);
        expect(await packs.load(loaded.value, slot.missing(page * 1_000))).toMatchObject({ ok: true });
        expect(slot.find(page * 1_000)).toBe(0);
      }
      if (!simulated.lacks(page)) continue;
      expected?.push(look);
      simulated.load(page);
    }
    expect(expected?.length).toBeGreaterThanOrEqual(12);
    expect(real).toEqual(expected);
  });
});

it("an isolate asks for a block of numbers when the simulated one does", async () => {
  const asked: string[] = [];
  let next = 1;
  const namespace = {
    idFromName: (name: string) => name,
    get: (name: string) => ({
      reserve: async (count: number) => {
        asked.push(name);
        next += count;
        return next - count;
      },
    }),
  };
  const sequences = durableSequences(namespace as unknown as DurableObjectNamespace<SequenceBlocks>);
  const simulated = new SimulatedBlocks({ blockNumbers: MILLION.blockNumbers, mintNames: 3 });
  const { uniform } = seededChance(9);
  const expected: string[] = [];
  for (let mint = 0; mint < 2_000; mint++) {
    const name = Math.floor(3 * uniform());
    await sequences.take(String(name), 1, 2 ** 48);
    if (simulated.take(name)) expected.push(String(name));
  }
  expect(expected.length).toBeGreaterThan(30);
  expect(asked).toEqual(expected);
});

it("one publication with a new pack calls the truth and writes to KV as often as the figures say", async () => {
  const pack = await makePack(rangesOf(3));
  const octets = new TextEncoder().encode(JSON.stringify(tableWith(declaredOf(pack))));
  const puts: string[] = [];
  const kv = new Proxy(TABLE_KV, {
    get:
      (target, name) =>
      (...parameters: [string, ...unknown[]]) => {
        if (name === "put") puts.push(parameters[0]);
        if (name === "get" && parameters[0] === POINTER_KEY && time.nowMs < showsAtMs) return Promise.resolve(null);
        return Reflect.apply(Reflect.get(target, name), target, parameters);
      },
  });
  const time = { nowMs: Date.UTC(2026, 10, 21) };
  // A key that was asked for before it was there.
  const showsAtMs = time.nowMs + MILLION.kvDelaySeconds * 1000;
  let alarms = 0;
  const stub = TABLE_TRUTH.get(TABLE_TRUTH.idFromName("publication"));
  await runInDurableObject(stub, async (_, { storage }) => {
    let dueMs: number | undefined;
    const wakeAt = async (atMs: number) => {
      dueMs = atMs;
    };
    const clock = { nowMs: () => time.nowMs };
    const keeper = new TableKeeper({ storage, kv, clock, bundled: await bundledRevision(DECLARED_TABLE), wakeAt });
    const wish = { sha256: pack.sha256, author: "ann" };
    await keeper.putHeader(wish, pack.header);
    for (const [number, page] of pack.pages.entries()) await keeper.putPage(wish, number, page);
    expect(await keeper.publish({ expect: 0, author: "ann", note: "" }, octets)).toMatchObject({ ok: true });
    expect(await keeper.status()).toMatchObject({ ok: true });
    for (; dueMs !== undefined; alarms++) {
      time.nowMs = Math.max(time.nowMs, dueMs);
      dueMs = undefined;
      await keeper.run();
    }
    expect(await keeper.status()).toMatchObject({ value: { isPending: false } });
  });
  // The call that publishes, a look at the status, and the alarms.
  expect(2 + alarms).toBe(CALLS_PER_REVISION);
  const inputs = { ...MILLION, packRanges: 3, rangeOctets: 1, pageOctets: 1, revisionsPerDay: 1, packsPerDay: 1 };
  expect(puts.length).toBe(kvUse(fleetOf(inputs)).writes / MONTH_DAYS);
});
