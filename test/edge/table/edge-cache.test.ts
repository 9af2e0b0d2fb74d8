import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { packKey, pageKey } from "../../../src/features/packs/table/pack.ts";
import { bodyKey, POINTER_KEY } from "../../../src/formats/kv.ts";
import { type CompiledTable, resolveAny, TABLE_BYTES_MAX } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS } from "../../routes/harness.ts";
import { putTable } from "../faulty-kv.ts";
import { makePack, RANGES, storePack } from "../pages/files.ts";
import { EU, packedTable, US, withPacks } from "../pages/isolate.ts";

const { TABLE_KV } = env as Env;

const OTHER = { ...DECLARED_TABLE, routes: [{ when: {}, region: "ap" }] };

const regionOf = (table: CompiledTable, id: string) => {
  const decision = resolveAny(table, id, Date.UTC(2026, 0, 1));
  return decision.ok ? decision.value.target.region.name : decision.error.reason;
};

/** Puts bytes where the isolates of a deployment look for a part. */
const plant = (cache: Cache, key: string, body: BodyInit, namespace = "one") =>
  cache.put(
    `https://table.waybill.invalid/${namespace}/${key}`,
    new Response(body, { headers: { "cache-control": "max-age=600" } }),
  );

beforeEach(() => reset());

describe("what lies in the edge's cache", () => {
  it("is used: a body that KV has no longer is had from there", async () => {
    const { isolate, store, cache } = await withPacks(TABLE_KV);
    const key = bodyKey(await putTable(TABLE_KV, 9, JSON.stringify(OTHER)));
    await plant(cache, key, JSON.stringify(OTHER));
    await TABLE_KV.delete(key);
    const { loaded } = isolate();
    const { table, label } = await loaded();
    expect([label, regionOf(table, IDS.orderBr)]).toEqual(["rev=9; source=edge; age=0", "ap"]);
    expect(store.reads).not.toContain(key);
  });

  it.each([
    ["another table, which is valid", JSON.stringify(OTHER)],
    ["the table with one octet more", `${JSON.stringify(DECLARED_TABLE)} `],
    ["more octets than a table may have", `${JSON.stringify(DECLARED_TABLE)}${" ".repeat(TABLE_BYTES_MAX)}`],
    ["nothing", ""],
  ])("never decides in place of KV's: %s", async (_, planted) => {
    const { isolate, store, cache } = await withPacks(TABLE_KV);
    const key = bodyKey(await putTable(TABLE_KV, 9, JSON.stringify(DECLARED_TABLE)));
    await plant(cache, key, planted);
    const { table, label } = await isolate().loaded();
    expect(label).toBe("rev=9; source=kv; age=0");
    expect(regionOf(table, IDS.orderBr)).not.toBe("ap");
    expect(store.reads).toContain(key);
  });

  it("never decides in place of KV's: a page of the same form with the regions the other way round", async () => {
    const { isolate, store, cache } = await withPacks(TABLE_KV);
    const pack = await storePack(TABLE_KV, RANGES);
    const turned = await makePack(RANGES.map((range) => ({ ...range, region: range.region === "eu" ? "us" : "eu" })));
    for (const [number, page] of turned.pages.entries()) await plant(cache, pageKey(pack.sha256, number), page);
    await plant(cache, packKey(pack.sha256), turned.header);
    await putTable(TABLE_KV, 9, JSON.stringify(packedTable(pack)));
    const { loaded, targetOf } = isolate();
    const { table } = await loaded();
    expect([await targetOf(table, EU), await targetOf(table, US)]).toEqual(["eu", "us"]);
    expect(store.reads).toEqual(
      expect.arrayContaining([packKey(pack.sha256), pageKey(pack.sha256, 0), pageKey(pack.sha256, 1)]),
    );
  });

  it("is not that of another deployment", async () => {
    const { isolate, store } = await withPacks(TABLE_KV);
    const first = isolate();
    const { table } = await first.loaded();
    await first.targetOf(table, EU);
    await first.settle();
    for (const [namespace, isRead] of [
      ["one", false],
      ["two", true],
    ] as const) {
      store.reads.length = 0;
      const { loaded, targetOf } = isolate({ namespace });
      expect(await targetOf((await loaded()).table, EU)).toBe("eu");
      const isOf = (part: string) => store.reads.some((key) => key.startsWith(part) && key !== POINTER_KEY);
      expect([isOf("table."), isOf("pack.")], namespace).toEqual([isRead, isRead]);
    }
  });
});
