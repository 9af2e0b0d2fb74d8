import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { COLD_DEADLINE_MS, IsolateTable } from "../../../src/edge/table/isolate-table.ts";
import { packHeaders } from "../../../src/features/packs/edge/index.ts";
import { kvPacks } from "../../../src/features/packs/edge/packs.ts";
import type { Packs } from "../../../src/features/packs/port.ts";
import { packKey } from "../../../src/features/packs/table/pack.ts";
import { slotsOf } from "../../../src/features/packs/table/slots.ts";
import { POINTER_KEY } from "../../../src/formats/kv.ts";
import { ok } from "../../../src/ids/result.ts";
import { loadTable, resolveAny } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS } from "../../routes/harness.ts";
import { putTable } from "../faulty-kv.ts";
import { RANGES, storePack } from "./files.ts";
import { EU, INTERVAL_MS, packedTable, US, withPacks } from "./isolate.ts";

const { TABLE_KV } = env as Env;

/** Those that no pack decides. */
const OTHERS = Object.values(IDS).filter((id) => !id.startsWith("6347"));

const compiled = (declared: object) => {
  const table = loadTable(declared, 5);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  return table.value;
};

const expectedOf = (id: string) => {
  const decided = resolveAny(compiled(DECLARED_TABLE), id, Date.UTC(2026, 0, 1));
  return decided.ok ? decided.value.target.region.name : decided.error.reason;
};

beforeEach(() => reset());

it("a new isolate whose header never comes routes what needs no pack by the table in force, and refuses the rest, by one read", async () => {
  const { store, time, isolate, pack } = await withPacks(TABLE_KV);
  store.hangsAt = packKey(pack.sha256);
  const { loaded, peek, settle, targetOf } = isolate();
  const served = await Promise.all(Array.from({ length: 20 }, loaded));
  expect(new Set(served.map(({ label }) => label))).toEqual(new Set(["rev=5; source=kv; age=0"]));
  const table = peek()?.table;
  if (table === undefined) throw new Error("there is no table");
  expect(await Promise.all(OTHERS.map((id) => targetOf(table, id)))).toEqual(OTHERS.map(expectedOf));
  // Within a second of the first request each is told to come again in a second.
  expect(await Promise.all(Array.from({ length: 20 }, () => targetOf(table, EU)))).toEqual(new Array(20).fill(1));
  expect(store.reads.filter((key) => key.startsWith("pack."))).toEqual([packKey(pack.sha256)]);
  store.hangsAt = undefined;
  time.nowMs += 1_000;
  expect([await targetOf(table, EU), await targetOf(table, US)]).toEqual(["eu", "us"]);
  await settle();
});

it("the table of the build never decides where a table with packs is known, whether it was served before or not", async () => {
  const { store, time, isolate } = await withPacks(TABLE_KV);
  store.fault = "throws";
  const { loaded, peek, settle, targetOf } = isolate();
  const first = await loaded();
  // The bundled table of the tests sends all to `ap`.
  expect([first.source, await targetOf(first.table, EU)]).toEqual(["bundled", "ap"]);
  store.fault = undefined;
  store.hangsAt = "pack.";
  time.nowMs += INTERVAL_MS;
  peek();
  await settle();
  const served = peek();
  if (served === undefined) throw new Error("there is no table");
  expect(served.table.revision).toBe(5);
  expect(await Promise.all(OTHERS.map((id) => targetOf(served.table, id)))).toEqual(OTHERS.map(expectedOf));
  expect(Number(await targetOf(served.table, EU))).toBeGreaterThan(0);
});

it("headers have what the table left of the time that first requests wait", async () => {
  const waits: (number | undefined)[] = [];
  const packs: Packs = {
    open: async (_, waitMs) => {
      waits.push(waitMs);
      return ok(undefined);
    },
    load: async () => ok(undefined),
  };
  const time = { nowMs: 1_000_000 };
  await putTable(TABLE_KV, 5, JSON.stringify(packedTable(await storePack(TABLE_KV, RANGES))));
  const read = (...[key, ...rest]: [string, ...unknown[]]) => {
    if (key === POINTER_KEY) time.nowMs += 650;
    return Reflect.apply(TABLE_KV.get, TABLE_KV, [key, ...rest]);
  };
  const kv = new Proxy(TABLE_KV, { get: (target, name) => (name === "get" ? read : Reflect.get(target, name)) });
  const tables = new IsolateTable({
    kv,
    cache: undefined,
    namespace: "one",
    bundled: DECLARED_TABLE,
    clock: { nowMs: () => time.nowMs },
    entropy: { word: () => 2 ** 31 },
    refreshMs: INTERVAL_MS,
    openers: [packHeaders(packs)],
    report: () => undefined,
    waitUntil: () => undefined,
  });
  await tables.load();
  expect(waits).toEqual([250]);
});

/** The packs of an isolate to which some headers never come. */
function withoutHeaders(...digests: readonly string[]) {
  const reads: string[] = [];
  const stuck = new Set(digests.map(packKey));
  const read = (...[key, ...rest]: [string, ...unknown[]]) => {
    reads.push(key);
    return stuck.has(key) ? new Promise(() => undefined) : Reflect.apply(TABLE_KV.get, TABLE_KV, [key, ...rest]);
  };
  const kv = new Proxy(TABLE_KV, { get: (target, name) => (name === "get" ? read : Reflect.get(target, name)) });
  const packs = kvPacks({
    kv,
    cache: undefined,
    namespace: "one",
    clock: { nowMs: () => 1_000_000 },
    entropy: { word: () => 2 ** 31 },
    retryMsMax: INTERVAL_MS,
    report: () => undefined,
    waitUntil: () => undefined,
  });
  return { packs, reads };
}

it("a request that comes while a header is on its way waits for it no longer than for a first table", async () => {
  const pack = await storePack(TABLE_KV, RANGES);
  const { packs } = withoutHeaders(pack.sha256);
  expect(await packs.load(compiled(packedTable(pack)), { pack: "shards", page: undefined })).toMatchObject({
    ok: false,
    error: { why: `pack shards: KV did not answer within ${COLD_DEADLINE_MS} ms`, retryAfterMs: 1_000 },
  });
});

it("all headers of a table are read at the same time, and one that does not come keeps none of the others away", async () => {
  const [a, b, c] = await Promise.all(
    [1, 2, 3].map((less) =>
      storePack(
        TABLE_KV,
        RANGES.map((range) => ({ ...range, to: range.to - less })),
      ),
    ),
  );
  if (a === undefined || b === undefined || c === undefined) throw new Error("three were stored");
  const { packs, reads } = withoutHeaders(a.sha256, b.sha256);
  const routes = ["a", "b", "c"].map((pack) => ({ when: { layout: "hotguid" }, pack }));
  const table = compiled({ ...DECLARED_TABLE, packs: { a, b, c }, routes: [...routes, ...DECLARED_TABLE.routes] });
  expect(await packs.open(table, 50)).toMatchObject({ ok: false, error: { retryAfterMs: 1_000 } });
  expect(reads).toEqual([a, b, c].map(({ sha256 }) => packKey(sha256)));
  expect([...slotsOf(table).values()].map(({ content }) => content !== undefined)).toEqual([false, false, true]);
});
