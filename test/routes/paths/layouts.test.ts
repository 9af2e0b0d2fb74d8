import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { problemOf, setUp, slug } from "../harness.ts";

const post = (any: "proxy" | "redirect") => ({
  path: [
    { path: "/legacy/:id", layout: "snowflake" },
    { path: "/posts/:id", layout: "discord" },
  ],
  ids: [{ layout: "snowflake" }, { layout: "discord" }],
  any,
});

const declaredWith = (any: "proxy" | "redirect") => ({
  ...DECLARED_TABLE,
  fields: "full",
  entities: { ...DECLARED_TABLE.entities, post: post(any) },
  layouts: { ...DECLARED_TABLE.layouts, discord: { like: "snowflake", epoch: "2015-01-01T00:00:00Z" } },
  routes: [
    ...DECLARED_TABLE.routes,
    { when: { layout: "snowflake" }, region: "eu" },
    { when: { layout: "discord" }, region: "us" },
  ],
});

const declared = declaredWith("proxy");
const FLAKE = "1541815603606036480";

describe("a pattern that names a layout", () => {
  it.each([
    [`/legacy/${FLAKE}`, {}, "snowflake", `http://eu.test/legacy/${FLAKE}`],
    [`/posts/${FLAKE}/likes?n=1`, {}, "discord", `http://us.test/base/posts/${FLAKE}/likes?n=1`],
    [`/posts/${FLAKE}`, { "id-layout": "discord" }, "discord", `http://us.test/base/posts/${FLAKE}`],
    [`/any/${FLAKE}/likes`, { "id-layout": "discord" }, "discord", `http://us.test/base/posts/${FLAKE}/likes`],
    [`/any/${FLAKE}`, { "id-layout": "snowflake" }, "snowflake", `http://eu.test/legacy/${FLAKE}`],
  ])("%s with %j is read as %s", async (path, headers, layout, url) => {
    const { request, seen } = setUp({ declared });
    const response = await request(path, { headers });
    expect(response.headers.get("waybill-layout")).toBe(layout);
    expect(seen.map((one) => one.url)).toEqual([url]);
  });

  it("is never at odds with the request", async () => {
    const { request, seen } = setUp({ declared });
    const response = await request(`/legacy/${FLAKE}`, { headers: { "id-layout": "discord" } });
    const problem = await problemOf(response);
    expect([response.status, slug(problem)]).toEqual([422, "layout-mismatch"]);
    expect(problem).toMatchObject({ id: FLAKE, entity: "post", layout: "snowflake", idLayout: "discord" });
    const other = await request(`/any/${FLAKE}`);
    expect(slug(await problemOf(other))).toBe("ambiguous-id");
    expect(seen).toEqual([]);
  });

  it("is where /any redirects IDs of its layout", async () => {
    const { request } = setUp({ declared: declaredWith("redirect") });
    const places = ["snowflake", "discord"].map(async (layout) => {
      const response = await request(`/any/${FLAKE}/likes`, { headers: { "id-layout": layout }, redirect: "manual" });
      return [response.status, response.headers.get("location")];
    });
    expect(await Promise.all(places)).toEqual([
      [307, `/legacy/${FLAKE}/likes`],
      [307, `/posts/${FLAKE}/likes`],
    ]);
  });

  it("is where minted IDs that /any does not tell apart are found", async () => {
    const { request } = setUp({ declared });
    const body = JSON.stringify({ layout: "discord", fields: { datacenter: 0, worker: 0 } });
    const minted = await (await request("/mint", { method: "POST", body })).json();
    expect(minted).toMatchObject({ region: "us", ambiguous: { count: 1, path: "/posts/:id", idLayout: "discord" } });
  });

  it("is described with its layout, which leaves nothing for a field to say", async () => {
    const response = await setUp({ declared }).request("/-/openapi.json");
    const { paths } = await response.json<{ paths: Record<string, Record<string, unknown>> }>();
    const legacy = paths["/legacy/{id}"];
    expect(legacy?.["get"]).toMatchObject({ summary: "The post that the ID names, read as snowflake alone" });
    expect(legacy?.["parameters"]).toMatchObject([{ name: "id" }]);
    expect(paths["/orders/{id}"]?.["parameters"]).toMatchObject([{ name: "id" }, { name: "id-layout" }]);
  });
});
