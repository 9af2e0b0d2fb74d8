import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { pageKey } from "../../../src/features/packs/table/pack.ts";
import { RANGES, storePack } from "../../edge/pages/files.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { servedBeside, tablesOf } from "../beside.ts";
import { setUp } from "../harness.ts";

const { TABLE_KV } = env as Env;

beforeEach(() => reset());

/** Parcels of the shard keys 10, 5500 and 4000. */
const EU = "6347eb00-bbaa-01cc-0201-02030a000000";
const US = "6347eb00-bbaa-01cc-0201-02037c150000";
const NOWHERE = "6347eb00-bbaa-01cc-0201-0203a00f0000";

async function withPack() {
  const shards = await storePack(TABLE_KV, RANGES);
  const { default: _, ...table } = DECLARED_TABLE as typeof DECLARED_TABLE & { default?: string };
  const declared = { ...table, packs: { shards }, routes: [{ when: { layout: "hotguid" }, pack: "shards" }] };
  return { shards, declared };
}

it("sends requests where the pages of a pack say, loading each when it is needed", async () => {
  const { declared } = await withPack();
  const { request } = setUp({ declared });
  for (const [id, region] of [
    [EU, "eu"],
    [US, "us"],
    [EU, "eu"],
  ]) {
    for (const path of [`/parcels/${id}`, `/any/${id}`]) {
      const response = await request(path);
      expect([response.status, response.headers.get("waybill-region")], path).toEqual([200, region]);
    }
  }
  expect((await request(`/parcels/${NOWHERE}`)).status).toBe(404);
});

it("answers 503 where a page cannot be had, and never by a later route", async () => {
  const { shards, declared } = await withPack();
  await TABLE_KV.delete(pageKey(shards.sha256, 0));
  const routes = [...declared.routes, { when: { layout: "hotguid" }, region: "us" }];
  const { request, seen } = setUp({ declared: { ...declared, routes } });
  for (const path of [`/parcels/${EU}`, `/any/${EU}`, `/-/ids/${EU}`]) {
    const response = await request(path);
    expect(response.status, path).toBe(503);
    expect(await response.json()).toMatchObject({ type: "/-/problems/table-unavailable" });
    // The page is asked for again after a second (and a tenth): a client that comes then does not come in vain.
    expect(response.headers.get("retry-after"), path).toMatch(/^[12]$/);
  }
  expect(seen).toEqual([]);
  expect((await request(`/parcels/${US}`)).headers.get("waybill-region")).toBe("us");
  expect((await request(`/parcels/${NOWHERE}`)).headers.get("waybill-region")).toBe("us");
});

it("says with a 503 how long the page will not be asked for, which becomes longer, and then has it", async () => {
  const { shards, declared } = await withPack();
  const page = await TABLE_KV.get(pageKey(shards.sha256, 0), "arrayBuffer");
  if (page === null) throw new Error("the page is there");
  await TABLE_KV.delete(pageKey(shards.sha256, 0));
  const options = { declared, nowMs: Date.UTC(2026, 10, 21) };
  const { request } = setUp(options);
  const waited: number[] = [];
  for (let tries = 0; tries < 6; tries++) {
    const response = await request(`/parcels/${EU}`);
    const seconds = Number(response.headers.get("retry-after"));
    expect((await request(`/any/${EU}`)).headers.get("retry-after")).toBe(String(seconds));
    waited.push(seconds);
    options.nowMs += seconds * 1_000;
  }
  for (const [at, seconds] of [1, 2, 4, 8, 16, 30].entries()) {
    expect(waited[at]).toBeGreaterThanOrEqual(0.9 * seconds);
    expect(waited[at]).toBeLessThanOrEqual(Math.ceil(1.1 * seconds));
  }
  await TABLE_KV.put(pageKey(shards.sha256, 0), page);
  expect((await request(`/parcels/${EU}`)).headers.get("waybill-region")).toBe("eu");
});

it("explains an ID by the page that it is in", async () => {
  const { declared } = await withPack();
  const { request } = setUp({ declared });
  expect(await (await request(`/-/ids/${US}`)).json()).toMatchObject({
    decision: { region: "us", rule: { kind: "route", index: 0, pack: "shards" } },
  });
});

describe("beside a canary for an entity of its own", () => {
  /** A gateway whose canary serves the entity `bill`, which has the layout of parcels. */
  const beside = (declared: object, canary: object) =>
    setUp({ gateway: { tables: tablesOf(servedBeside(declared, canary, { entities: ["bill"] })) } });
  const { parcel: _, ...others } = DECLARED_TABLE.entities;
  const entities = { ...others, bill: { path: "/bills/:id", ids: [{ layout: "hotguid" }] } };

  it("a missing page of the table is 503 on /any, and never a guess by the canary", async () => {
    const { shards, declared } = await withPack();
    await TABLE_KV.delete(pageKey(shards.sha256, 0));
    const canary = { ...DECLARED_TABLE, entities, routes: [{ when: {}, region: "us" }] };
    const { request, seen } = beside(declared, canary);
    for (const path of [`/any/${EU}`, `/-/ids/${EU}`]) expect((await request(path)).status, path).toBe(503);
    expect(seen).toEqual([]);
    expect((await request(`/any/${US}`, { headers: { "waybill-debug": "1" } })).headers.get("waybill-table")).toBe(
      "rev=1",
    );
  });

  it("pages of the canary are loaded for /any and for an explanation", async () => {
    const { shards, declared } = await withPack();
    const stable = { ...DECLARED_TABLE, entities: others, layouts: {}, routes: [{ when: {}, region: "ap" }] };
    const { request } = beside(stable, { ...declared, entities });
    const answer = await request(`/any/${US}`);
    expect([answer.status, answer.headers.get("waybill-region")]).toEqual([200, "us"]);
    const explained = await request(`/-/ids/${US}`);
    expect(explained.headers.get("waybill-table")).toBe("rev=2; canary");
    expect(await explained.json()).toMatchObject({ decision: { region: "us", entity: "bill" } });
    await TABLE_KV.delete(pageKey(shards.sha256, 0));
    expect((await request(`/any/${EU}`)).status).toBe(503);
  });
});
