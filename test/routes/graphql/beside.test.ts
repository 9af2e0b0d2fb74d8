import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { servedBeside, tablesOf } from "../beside.ts";
import { TABLE, UUID } from "../directory/table.ts";
import { IDS, setUp } from "../harness.ts";
import { hostsOf, setUpGraphql, tableWith } from "./world.ts";

/** GraphQL beside what else decides where an entity is: moves, canaries of a table, directories. */

const { orderKz, orderBr, orderDe } = IDS;

beforeEach(() => reset());

const answering = (text: string) => new Response(text, { headers: { "content-type": "application/json" } });

describe("moves", () => {
  const moves = { [orderBr]: { from: "us", to: "eu", state: "fenced", epoch: 3 } };

  it("a moved entity is asked where it is", async () => {
    const { post, seen } = setUpGraphql({ table: { moved: { [orderBr]: "eu" } } });
    await post(`{ a: order(id: "${orderBr}") { id } b: order(id: "${orderDe}") { id } }`);
    expect(hostsOf(seen)).toEqual(["eu"]);
    expect(seen).toHaveLength(1);
  });

  it("a fence stops mutations, and lets queries pass", async () => {
    const { post, seen } = setUpGraphql({ table: { moves } });
    const one = await post(`mutation { cancel(id: "${orderBr}") { id } }`);
    expect(await one.json()).toMatchObject({ errors: [{ extensions: { code: "entity-moving" } }] });
    const [first, second] = [orderBr, orderBr.replace(/1$/, "2")];
    const several = await post(`mutation { a: cancel(id: "${second}") { id } b: cancel(id: "${first}") { id } }`);
    expect(await several.json()).toMatchObject({ errors: [{ extensions: { code: "entity-moving" } }] });
    expect(seen).toEqual([]);
    expect((await post(`{ order(id: "${orderBr}") { id } }`)).status).toBe(200);
    expect(seen[0]?.headers.get("waybill-epoch")).toBe("3");
  });

  it("a removed entity is null with an error", async () => {
    const { post } = setUpGraphql({ table: { gone: { [orderBr]: { epoch: 1 } } } });
    const response = await post(`{ a: order(id: "${orderBr}") { id } b: order(id: "${orderDe}") { id } }`);
    expect(await response.json()).toMatchObject({
      data: { a: null, b: { id: orderDe } },
      errors: [{ path: ["a"], extensions: { code: "entity-gone" } }],
    });
  });

  it("what an origin said on the entity's own path counts, and 421 is followed for one ID alone", async () => {
    const { post, request, seen } = setUpGraphql({
      origin: (asked) => {
        const isUs = new URL(asked.url).host === "us.test";
        if (isUs) return new Response(null, { status: 421, headers: { "waybill-region": "eu" } });
        return answering('{"data":{"order":{"id":1}}}');
      },
    });
    const query = `{ order(id: "${orderBr}") { id } }`;
    expect(await (await post(query)).json()).toEqual({ data: { order: { id: 1 } } });
    expect(hostsOf(seen)).toEqual(["eu", "us"]);
    const two = await post(
      `{ a: order(id: "${orderBr}") { id } b: order(id: "${orderBr.replace(/1$/, "2")}") { id } }`,
    );
    expect(await two.json()).toMatchObject({ errors: [{ extensions: { code: "origins-disagree" } }] });
    seen.length = 0;
    await request(`/orders/${orderBr}`);
    seen.length = 0;
    await post(query);
    expect(hostsOf(seen)).toEqual(["eu"]);
  });
});

describe("a canary of the table", () => {
  // With `waybill-revision`.
  const full = { fields: "full" };
  const canary = tableWith(full, {
    routes: [{ when: { layout: "iuid", country: "KZ" }, region: "eu" }, ...DECLARED_TABLE.routes.slice(1)],
  });

  it("decides about its IDs", async () => {
    const served = servedBeside(tableWith(full), canary, { countries: ["KZ"] });
    const { post, seen } = setUpGraphql({ gateway: { tables: tablesOf(served) } });
    const one = await post(`{ order(id: "${orderKz}") { id } }`);
    expect([one.headers.get("waybill-region"), one.headers.get("waybill-table")]).toEqual(["eu", "rev=2; canary"]);
    seen.length = 0;
    await post(`{ a: order(id: "${orderKz}") { id } b: order(id: "${orderBr}") { id } }`);
    expect(hostsOf(seen)).toEqual(["eu", "us"]);
    const byHost = new Map(seen.map(({ url, headers }) => [new URL(url).host, headers.get("waybill-revision")]));
    expect([byHost.get("eu.test"), byHost.get("us.test")]).toEqual(["2", "1"]);
  });
});

it("keys of a directory lead as they do on a path, whatever characters they have", async () => {
  const truth = durableDirectory((env as Env).DIRECTORY);
  const put = (directory: string, key: string, region: string) =>
    truth.register({ directory, key, owner: "1", operation: "test", region });
  await put("slug", "a b%41ü", "us");
  await put("old", UUID, "eu");
  const graphql = {
    path: "/graphql",
    ids: [
      { argument: "slug", entity: "shop" },
      { argument: "id", field: "order", entity: "order" },
    ],
  };
  const { request, seen } = setUp({
    declared: { ...TABLE, graphql },
    origin: (asked) => answering(asked.url.includes("us.test") ? '{"data":{"s":1}}' : '{"data":{"o":2}}'),
  });
  const query = `query($s: String!) { s: shop(slug: $s) { id } o: order(id: "${UUID}") { id } n: shop(slug: "none") { id } }`;
  const response = await request("/graphql", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables: { s: "A b%41Ü" } }),
  });
  expect(await response.json()).toMatchObject({
    data: { s: 1, o: 2, n: null },
    errors: [{ path: ["n"], extensions: { code: "unknown-key" } }],
  });
  expect(hostsOf(seen)).toEqual(["eu", "us"]);
});
