import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { setUp } from "../harness.ts";

const IUID = { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] };
const declared = {
  ...DECLARED_TABLE,
  entities: { ...DECLARED_TABLE.entities, order: { ...IUID, methods: ["GET"] }, writes: IUID },
  routes: [
    { when: { entity: "order" }, region: "eu" },
    { when: {}, region: "us" },
  ],
};
const headers = { "content-type": "application/json" };

describe("entities that share a path and a number", () => {
  it.each([
    ["order", "eu"],
    ["writes", "us"],
  ])("mint IDs of %s for %s, which are read and written alike", async (entity, region) => {
    const { request, seen } = setUp({ declared });
    const body = JSON.stringify({ entity, country: "KZ" });
    const minted = await (await request("/mint", { method: "POST", headers, body })).json<{
      ids: string[];
      region: string;
    }>();
    expect(minted).toMatchObject({ entity, region });
    expect(minted.region).toBe(region);
    await request(`/any/${minted.ids[0]}`);
    await request(`/orders/${minted.ids[0]}`, { method: "PATCH" });
    expect(seen.map(({ url }) => new URL(url).host)).toEqual(["eu.test", "us.test"]);
    const many = await request("/any", { method: "POST", headers, body: JSON.stringify({ ids: minted.ids }) });
    expect(await many.text()).toContain('"eu"');
  });
});

describe("POST /any", () => {
  const text = "1541815603606036480";
  const hosted = {
    ...DECLARED_TABLE,
    entities: {
      ...DECLARED_TABLE.entities,
      here: { path: "/posts/:id", hosts: ["us.example.com"], ids: [{ layout: "snowflake" }] },
      elsewhere: { path: "/posts/:id", ids: [{ layout: "snowflake" }] },
    },
    routes: [
      { when: { entity: "here" }, region: "us" },
      { when: {}, region: "eu" },
    ],
  };

  it.each([
    ["us.example.com", "us"],
    ["gw.test", "eu"],
  ])("asks on the host %s for the entity that GET /any has there", async (host, region) => {
    const { request, seen } = setUp({ declared: hosted, origin: () => Response.json({ a: 1 }) });
    await request(`/any/${text}`, { headers: { host } });
    const body = JSON.stringify({ ids: [text] });
    const many = await request("/any", { method: "POST", headers: { ...headers, host }, body });
    expect(await many.text()).toContain(`"region":"${region}"`);
    const [one, other] = seen.map(({ url }) => url);
    expect(other).toBe(one);
    const where = JSON.stringify({ ids: [text], locate: true });
    const located = await request("/any", { method: "POST", headers: { ...headers, host }, body: where });
    expect(await located.text()).toContain(`"region":"${region}"`);
  });
});
