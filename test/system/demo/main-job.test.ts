import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DemoStack, startDemoStack } from "../stack.ts";
import { shardKeysOf } from "./demo.ts";

interface Minted {
  readonly region: string;
  readonly ids: readonly string[];
}

let stack: DemoStack;
beforeAll(async () => {
  stack = await startDemoStack();
});
afterAll(() => stack?.stop());

async function mint(request: object): Promise<Minted> {
  const response = await fetch(`${stack.url}/mint`, { method: "POST", body: JSON.stringify(request) });
  if (response.status !== 201) throw new Error(await response.text());
  return (await response.json()) as Minted;
}

/** Regions by the declared table, read by eye: the first route that names the country, newly minted. */
const REGION_OF_COUNTRY = { KZ: "ap", UZ: "ap", IN: "ap", BR: "us", MX: "us", DE: "eu", PL: "eu" };

describe("a minted ID reaches exactly the region that the table names", () => {
  it("the table above is the demo's", () => {
    expect(Object.keys(stack.declared.countries).sort()).toEqual(Object.keys(REGION_OF_COUNTRY).sort());
  });

  it.each(Object.entries(REGION_OF_COUNTRY))("an order and a ride of %s: %s", async (country, region) => {
    await reaches("/orders/", await mint({ entity: "order", country }), region);
    await reaches("/rides/", await mint({ entity: "ride", country }), region);
  });

  it("a parcel of each range and area of the shard key, both ends", async () => {
    for (const { shardKey, about } of shardKeysOf(stack.declared)) {
      const minted = await mint({ layout: "hotguid", shardKey });
      const route = stack.declared.routes.find(({ when }) => {
        const [from = Number.NaN, to = Number.NaN] = String(when.shardKey ?? "")
          .split("-")
          .map(Number);
        return (
          (shardKey >= from && shardKey <= to) || [when.slices?.["m49"]].flat().includes(Math.floor(shardKey / 2 ** 22))
        );
      });
      await reaches("/parcels/", minted, route?.region ?? about);
    }
  });

  it("a person, by the whole ID and by the short key", async () => {
    const minted = await mint({ entity: "person" });
    await reaches("/person/", minted, "eu");
    const [id = ""] = minted.ids;
    const shortKey = id.slice(0, 13).replace("-", "").replace(/^0+/, "");
    const response = await fetch(`${stack.url}/person/${shortKey}`);
    expect(response.headers.get("waybill-region")).toBe("eu");
  });

  it("an order minted before the cut-over stays where it was, and a moved one goes where it moved", async () => {
    // 2025-09-03, KZ, service 1: before the cut-over of 2026-06-01.
    const old = await fetch(`${stack.url}/any/01990f04-d900-8005-8040-000000000001`);
    expect(old.headers.get("waybill-region")).toBe("eu");
    const [moved = ""] = Object.keys(stack.declared.moved);
    const response = await fetch(`${stack.url}/any/${moved}`);
    expect(response.headers.get("x-demo-region")).toBe(stack.declared.moved[moved]);
  });

  async function reaches(collection: string, minted: Minted, region: string): Promise<void> {
    expect(minted.region).toBe(region);
    for (const id of minted.ids) {
      const put = await fetch(`${stack.url}${collection}${id}`, { method: "PUT", body: '{"made":true}' });
      expect([put.status, put.headers.get("x-demo-region")], id).toEqual([201, region]);
      for (const path of [`/any/${id}`, `${collection}${id}`]) {
        const got = await fetch(`${stack.url}${path}`);
        const where = [got.status, got.headers.get("waybill-region"), got.headers.get("x-demo-region")];
        expect(where, path).toEqual([200, region, region]);
        await got.body?.cancel();
      }
    }
  }
});

describe("all methods, through /any and through the entity path", () => {
  it.each(["/any/", "/orders/"])("%s", async (prefix) => {
    const { ids, region } = await mint({ entity: "order", country: "BR" });
    const url = `${stack.url}${prefix}${ids[0]}`;
    const json = { "content-type": "application/json" };
    const steps: [string, RequestInit, number][] = [
      ["GET", {}, 404],
      ["PUT", { body: '{"status":"new"}', headers: json }, 201],
      ["PATCH", { body: '{"status":"paid"}', headers: json }, 200],
      ["POST", { body: '{"note":"x"}', headers: json }, 200],
      ["GET", {}, 200],
      ["HEAD", {}, 200],
      ["OPTIONS", {}, 200],
      ["DELETE", {}, 200],
      ["GET", {}, 404],
    ];
    for (const [method, init, status] of steps) {
      const response = await fetch(url, { method, ...init });
      expect([method, response.status, response.headers.get("x-demo-region")]).toEqual([method, status, region]);
      await response.body?.cancel();
    }
  });
});
