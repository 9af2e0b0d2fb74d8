import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { subtleSha256 } from "../../../src/edge/platform.ts";
import { TableGate } from "../../../src/edge/table/table-gate.ts";
import { packHeaders } from "../../../src/features/packs/edge/index.ts";
import { kvPacks, type PackFailure } from "../../../src/features/packs/edge/packs.ts";
import type { Packs } from "../../../src/features/packs/port.ts";
import { encodePack } from "../../../src/features/packs/table/format.ts";
import { LoadedPack, packKey, pageKey, readHeader } from "../../../src/features/packs/table/pack.ts";
import type { DeclaredPack } from "../../../src/features/packs/table/schema.ts";
import { slotsOf } from "../../../src/features/packs/table/slots.ts";
import { ok } from "../../../src/ids/result.ts";
import type { Clock, ServedCanary, ServedTable, Tables } from "../../../src/ports/gateway.ts";
import { type CompiledTable, loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { RANGES, storePack } from "./files.ts";

const { TABLE_KV } = env as Env;

beforeEach(() => reset());

function tableWith(pack: DeclaredPack, revision = 1): CompiledTable {
  const routes = [{ when: { layout: "hotguid" }, pack: "shards" }, ...DECLARED_TABLE.routes];
  const table = loadTable({ ...DECLARED_TABLE, packs: { shards: pack }, routes }, revision);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  return table.value;
}

function plainTable(revision: number): CompiledTable {
  const table = loadTable(DECLARED_TABLE, revision);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  return table.value;
}

/** The real KV behind a switch. */
function setUp(options: { chunkBytesMax?: number; chunkDeadlineMs?: number; cache?: Cache } = {}) {
  const background: Promise<unknown>[] = [];
  const state = { fault: "none" as "none" | "throws" | "hangs", reads: [] as string[], nowMs: 1_000_000 };
  const kv = new Proxy(TABLE_KV, {
    get(target, name) {
      if (name !== "get") return Reflect.get(target, name);
      return (...parameters: [string, ...unknown[]]) => {
        state.reads.push(parameters[0]);
        if (state.fault === "throws") return Promise.reject(new Error("KV GET failed: 500"));
        if (state.fault === "hangs") return new Promise(() => undefined);
        return Reflect.apply(target.get, target, parameters);
      };
    },
  });
  const failures: PackFailure[] = [];
  const clock = { nowMs: () => state.nowMs };
  const packs = kvPacks({
    kv,
    cache: undefined,
    namespace: "one",
    clock,
    entropy: { word: () => 2 ** 31 },
    retryMsMax: 30_000,
    report: (failure) => failures.push(failure),
    waitUntil: (work) => background.push(work),
    ...options,
  });
  return { state, failures, packs, clock, background };
}

const slotOf = (table: CompiledTable) => {
  const slot = slotsOf(table).get("shards");
  if (slot === undefined) throw new Error("the table has no pack");
  return slot;
};

describe("packs in KV", () => {
  it("are loaded page by page, each once, and shared by tables with the same pack", async () => {
    const { packs, state } = setUp();
    const pack = await storePack(TABLE_KV, RANGES);
    const table = tableWith(pack);
    const slot = slotOf(table);
    expect(slot.missing(10)).toEqual({ feature: "packs", pack: "shards", page: undefined });
    expect(await packs.open(table)).toEqual(ok(undefined));
    expect(slot.missing(10)).toEqual({ feature: "packs", pack: "shards", page: 0 });
    await Promise.all([packs.load(table, slot.missing(10)), packs.load(table, slot.missing(20))]);
    expect([slot.find(10), slot.find(4000)]).toEqual([0, -1]);
    expect(slot.find(5500)).toBe(-2);
    expect(state.reads).toEqual([packKey(pack.sha256), pageKey(pack.sha256, 0)]);
    const next = tableWith(pack, 2);
    await packs.open(next);
    expect(slotOf(next).find(10)).toBe(0);
    expect(state.reads).toHaveLength(2);
  });

  const MOVED = RANGES.map((range) => (range.from === 0 ? range : { ...range, to: 6999 }));

  it("take the pages that a former pack has", async () => {
    const { packs, state } = setUp();
    const before = tableWith(await storePack(TABLE_KV, RANGES));
    await packs.open(before);
    for (const page of [0, 1]) await packs.load(before, { pack: "shards", page });
    const pack = await storePack(TABLE_KV, MOVED);
    const after = tableWith(pack, 2);
    state.reads.length = 0;
    await packs.open(after);
    expect([slotOf(after).find(10), slotOf(after).find(6500)]).toEqual([0, -2]);
    await packs.load(after, { pack: "shards", page: 1 });
    expect([slotOf(after).find(6500), slotOf(before).find(6500), slotOf(before).find(10)]).toEqual([1, -1, 0]);
    expect(state.reads).toEqual([packKey(pack.sha256), pageKey(pack.sha256, 1)]);
  });

  it("drop a page of several packs from all of them", async () => {
    const { packs } = setUp({ chunkBytesMax: 20 });
    const before = tableWith(await storePack(TABLE_KV, RANGES));
    await packs.open(before);
    await packs.load(before, { pack: "shards", page: 0 });
    const after = tableWith(await storePack(TABLE_KV, MOVED), 2);
    await packs.open(after);
    expect(slotOf(after).content?.pages[0]).toBeDefined();
    await packs.load(after, { pack: "shards", page: 1 });
    expect([slotOf(after).find(6500), slotOf(after).find(10), slotOf(before).find(10)]).toEqual([1, -2, -2]);
  });

  it.each([
    ["another number of regions", [...RANGES, { from: 7000, to: 7999, region: "ap" }], 32],
    ["a wider field", RANGES, 40],
  ])("take no page of a pack with %s", async (_, ranges, bits) => {
    const { packs } = setUp();
    const before = tableWith(await storePack(TABLE_KV, RANGES));
    await packs.open(before);
    await packs.load(before, { pack: "shards", page: 0 });
    const encoded = await encodePack(ranges, { fieldBits: bits, sha256: subtleSha256, rangesPerPage: 1 });
    if (!encoded.ok) throw new Error(encoded.error.reason);
    const header = await readHeader(encoded.value.header, subtleSha256);
    if (!header.ok) throw new Error(header.error.reason);
    const other = new LoadedPack(header.value);
    other.adoptPages(slotOf(before).content as LoadedPack);
    expect(other.pages.every((page) => page === undefined)).toBe(true);
  });

  it("load the header on demand, too, where a table came without", async () => {
    const { packs } = setUp();
    const table = tableWith(await storePack(TABLE_KV, RANGES));
    const slot = slotOf(table);
    expect(await packs.load(table, slot.missing(5500))).toEqual(ok(undefined));
    expect(await packs.load(table, slot.missing(5500))).toEqual(ok(undefined));
    expect(slot.find(5500)).toBe(1);
  });

  it("drop the page that was not looked into when memory is short", async () => {
    const { packs } = setUp({ chunkBytesMax: 20 });
    const table = tableWith(await storePack(TABLE_KV, RANGES));
    const slot = slotOf(table);
    await packs.open(table);
    await packs.load(table, { pack: "shards", page: 0 });
    await packs.load(table, { pack: "shards", page: 1 });
    expect([slot.find(10), slot.find(5500)]).toEqual([-2, 1]);
  });

  it.each(["throws", "hangs"] as const)(
    "say that they cannot be had when KV %s, and are had when it answers again",
    async (fault) => {
      const { packs, state, failures } = setUp(fault === "hangs" ? { chunkDeadlineMs: 500 } : {});
      const table = tableWith(await storePack(TABLE_KV, RANGES));
      await packs.open(table);
      state.fault = fault;
      const slot = slotOf(table);
      expect(await packs.load(table, slot.missing(10))).toMatchObject({
        ok: false,
        error: { reason: "table-unavailable" },
      });
      expect(failures).toHaveLength(1);
      expect(slot.find(10)).toBe(-2);
      state.fault = "none";
      state.nowMs += 10_000;
      expect(await packs.load(table, slot.missing(10))).toEqual(ok(undefined));
      expect(slot.find(10)).toBe(0);
    },
  );

  it.each([
    ["a page of other octets", (sha256: string) => TABLE_KV.put(pageKey(sha256, 0), new Uint8Array(16))],
    ["a page cut short", (sha256: string) => TABLE_KV.put(pageKey(sha256, 0), new Uint8Array(8))],
    ["no page", (sha256: string) => TABLE_KV.delete(pageKey(sha256, 0))],
    ["another header", (sha256: string) => TABLE_KV.put(packKey(sha256), new Uint8Array(100))],
    ["no header", (sha256: string) => TABLE_KV.delete(packKey(sha256))],
  ])("are refused with %s", async (_, spoil) => {
    const { packs } = setUp();
    const pack = await storePack(TABLE_KV, RANGES);
    await spoil(pack.sha256);
    const table = tableWith(pack);
    await packs.open(table);
    expect(await packs.load(table, { pack: "shards", page: 0 })).toMatchObject({ ok: false });
    expect(slotOf(table).find(10)).toBe(-2);
  });

  it("are refused where the table says something else of them", async () => {
    const { packs, failures } = setUp();
    const pack = await storePack(TABLE_KV, RANGES);
    expect(await packs.open(tableWith({ ...pack, regions: ["us", "eu"] }))).toMatchObject({ ok: false });
    expect(failures[0]?.why).toBe('the table says regions ["us","eu"], and it has ["eu","us"]');
  });
});

describe("a table with packs", () => {
  const servedAs = (table: CompiledTable): ServedTable => ({
    table,
    source: "kv",
    digest: undefined,
    canary: undefined,
    confirmedAtMs: 1_000_000,
    label: `rev=${table.revision}; source=kv; age=0`,
  });

  it("comes into force when its headers are there, and the one before it answers until then", async () => {
    const { packs, state, clock } = setUp();
    const whole = tableWith(await storePack(TABLE_KV, RANGES));
    const lacking = tableWith({ ...(await storePack(TABLE_KV, RANGES)), sha256: "0".repeat(64) }, 2);
    let inner = servedAs(whole);
    const tables = gated(() => inner, packs, clock);
    const background: Promise<unknown>[] = [];
    const peek = () => tables.peek((work) => background.push(work))?.table.revision;
    expect(await tables.load()).toMatchObject({ ok: true, value: { table: { revision: 1 } } });
    expect(peek()).toBe(1);
    inner = servedAs(lacking);
    expect(peek()).toBe(1);
    await Promise.all(background);
    expect(peek()).toBe(1);
    const reads = state.reads.length;
    peek();
    expect(state.reads).toHaveLength(reads);
    inner = servedAs(tableWith(await storePack(TABLE_KV, RANGES, 2), 3));
    state.nowMs += 6_000;
    peek();
    await Promise.all(background);
    expect(peek()).toBe(3);
  });

  it("is not brought back by headers that come later than those of the next", async () => {
    const { clock } = setUp();
    const pack = await storePack(TABLE_KV, RANGES);
    const plain = plainTable(1);
    const slow = tableWith(pack, 2);
    const next = tableWith(pack, 3);
    const arrive = new Map<CompiledTable, () => void>();
    const packs: Packs = {
      open: (table) => new Promise((answer) => arrive.set(table, () => answer(ok(undefined)))),
      load: async () => ok(undefined),
    };
    let inner = servedAs(plain);
    const tables = gated(() => inner, packs, clock);
    const background: Promise<unknown>[] = [];
    const peek = () => tables.peek((work) => background.push(work))?.table.revision;
    expect(peek()).toBe(1);
    inner = servedAs(slow);
    expect(peek()).toBe(1);
    inner = servedAs(next);
    // The next is asked for at once: it does not wait for the retry of the one before.
    expect(peek()).toBe(1);
    arrive.get(next)?.();
    await background[1];
    expect(peek()).toBe(3);
    arrive.get(slow)?.();
    await Promise.all(background);
    expect(peek()).toBe(3);
    inner = servedAs(tableWith(pack, 4));
    expect(peek()).toBe(3);
  });

  const canaryOf = (table: CompiledTable): ServedCanary => ({
    table,
    digest: "2".repeat(64),
    audience: { share: 100 },
    matches: () => true,
    ownsEntity: () => false,
    label: `rev=${table.revision}; canary; source=kv; age=0`,
  });

  it("leaves the table before it in force with its canary, and both are as old as they are", async () => {
    const { packs, state, clock } = setUp();
    const lacking = tableWith({ ...(await storePack(TABLE_KV, RANGES)), sha256: "0".repeat(64) }, 3);
    let inner: ServedTable = { ...servedAs(plainTable(1)), canary: canaryOf(plainTable(2)) };
    const tables = gated(() => inner, packs, clock);
    const labels = () => {
      const served = tables.peek(() => undefined);
      return [served?.label, served?.canary?.label];
    };
    expect(labels()).toEqual(["rev=1; source=kv; age=0", "rev=2; canary; source=kv; age=0"]);
    inner = servedAs(lacking);
    for (const age of [0, 8, 3600]) {
      state.nowMs = inner.confirmedAtMs + age * 1000;
      expect(labels()).toEqual([`rev=1; source=memory; age=${age}`, `rev=2; canary; source=memory; age=${age}`]);
    }
  });

  it("has no canary until the canary's headers are there, too", async () => {
    const { packs, state, clock } = setUp();
    const canary = canaryOf(tableWith(await storePack(TABLE_KV, RANGES), 2));
    const served = { ...servedAs(plainTable(1)), canary };
    const tables = gated(() => served, packs, clock);
    state.fault = "throws";
    const loaded = await tables.load();
    expect(loaded).toMatchObject({ ok: true, value: { table: { revision: 1 }, canary: undefined } });
    state.fault = "none";
    state.nowMs += 10_000;
    const background: Promise<unknown>[] = [];
    expect(tables.peek((work) => background.push(work))?.canary).toBeUndefined();
    await Promise.all(background);
    expect(tables.peek(() => undefined)?.canary?.table.revision).toBe(2);
  });
});

/** The newest table is what `newest` gives. */
function gated(newest: () => ServedTable, packs: Packs, clock: Clock): Tables {
  const gate = new TableGate([packHeaders(packs)], clock);
  return {
    peek: (waitUntil) => gate.peek(newest(), waitUntil),
    load: async () => ok(await gate.load(newest(), 900)),
  };
}
