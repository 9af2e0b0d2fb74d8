import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

const { regions } = DECLARED_TABLE;

const declared = {
  regions,
  routes: [],
  withoutId: {
    app: {
      path: ["/", "/**"],
      sources: [{ header: "datacenter", values: { aws: "us" }, unlisted: "next" }, { region: "eu" }],
    },
  },
};

describe.each([
  ["without entities", declared],
  ["with none", { ...declared, entities: {} }],
])("a table %s", (_, table) => {
  const open = () => setUp({ declared: table as never });

  it.each([
    ["/", {}, "eu"],
    ["/orders/17", { datacenter: "aws" }, "us"],
    [`/orders/${IDS.orderBr}`, { datacenter: "gcp" }, "eu"],
  ])("proxies %s", async (path, headers, region) => {
    const { request, seen, defects } = open();
    expect((await request(path, { headers: headers as Record<string, string> })).headers.get("waybill-region")).toBe(
      region,
    );
    expect([seen.length, defects]).toEqual([1, []]);
  });

  it.each<[string, RequestInit, string]>([
    [`/any/${IDS.orderBr}`, {}, "malformed-id"],
    ["/any/x", {}, "malformed-id"],
    ["/mint", { method: "POST", body: '{"entity":"order"}' }, "unknown-name"],
    ["/mint", { method: "POST", body: "{}" }, "malformed-request"],
  ])("has no IDs: %s", async (path, init, type) => {
    const { request, seen, defects } = open();
    expect(slug(await problemOf(await request(path, init)))).toBe(type);
    expect([seen, defects]).toEqual([[], []]);
  });

  it("answers many IDs one by one", async () => {
    const { request, defects } = open();
    const answer = await request("/any", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ids: [IDS.orderBr] }),
    });
    expect(answer.status).toBeLessThan(500);
    await answer.text();
    expect(defects).toEqual([]);
  });

  it.each([
    "/-/ready",
    "/-/health",
    "/-/openapi.json",
    "/-/problems",
    "/-/regions",
    "/-/metrics",
    `/-/ids/${IDS.orderBr}`,
  ])("has the page %s", async (path) => {
    const { request, defects } = open();
    const answer = await request(path, { headers: { accept: "application/json" } });
    expect(answer.status).toBeLessThan(500);
    await answer.text();
    expect(defects).toEqual([]);
  });

  it("describes its paths for OpenAPI", async () => {
    const { request } = open();
    const text = await (await request("/-/openapi.json")).text();
    expect(text).not.toContain('"enum":[]');
    const { paths } = JSON.parse(text);
    expect(Object.keys(paths)).toContain("/");
    expect(Object.keys(paths).filter((path) => path.includes("{id}") && !path.startsWith("/-/"))).toEqual([]);
  });
});
