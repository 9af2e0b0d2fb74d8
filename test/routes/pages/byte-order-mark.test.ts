import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { GRAPHQL, setUpGraphql } from "../graphql/world.ts";
import { IDS, setUp } from "../harness.ts";
import { type Listed, listTable, orderId } from "../lists/regions.ts";

/** A byte order mark before JSON is passed over once, by all who read it (RFC 8259 §8.1). */

const { orderBr, orderKz } = IDS;
const MARK = "\ufeff";

const checkout = {
  ...DECLARED_TABLE,
  withoutId: {
    checkout: { path: "/checkout", idIn: [{ json: "/id", entity: "order" }], sources: [{ header: "x-home" }] },
  },
};

type Asked = (mark: string) => Promise<number>;

const json = (body: string, headers: HeadersInit = {}): RequestInit => ({
  method: "POST",
  body,
  headers: { "content-type": "application/json", ...headers },
});

const by =
  (declared: unknown, path: string, body: string, headers: HeadersInit = {}): Asked =>
  async (mark) =>
    (await setUp({ declared }).request(path, json(mark + body, headers))).status;

const LINES = { "content-type": "application/x-ndjson" };
const QUERY = JSON.stringify({ query: `{ order(id: "${orderBr}") { id } }` });

describe("a request", () => {
  it.each<[string, Asked, number]>([
    ["to mint", by(undefined, "/mint", '{"entity":"order","country":"DE"}'), 201],
    ["for many", by(undefined, "/any", JSON.stringify([orderBr])), 200],
    ["for many by lines", by(undefined, "/any?locate=true", `"${orderBr}"\n${orderKz}\n`, LINES), 200],
    ["with an ID in its body", by(checkout, "/checkout", JSON.stringify({ id: orderBr })), 200],
    ["to explain", by(undefined, "/-/explain", JSON.stringify({ url: `/orders/${orderBr}` })), 200],
    ["to check a table", by(undefined, "/-/table/check", JSON.stringify(DECLARED_TABLE)), 200],
    ["of GraphQL", async (mark) => (await setUpGraphql().request("/graphql", json(mark + QUERY))).status, 200],
    [
      "of GraphQL by GET",
      async (mark) => {
        const query = "query($a: ID!) { order(id: $a) { id } }";
        const target = `?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(`${mark}{"a":"${orderBr}"}`)}`;
        return (await setUpGraphql({ origin: () => Response.json({}) }).request(`/graphql${target}`)).status;
      },
      200,
    ],
  ])("%s may begin with one", async (_, ask, status) => {
    expect([await ask(""), await ask(MARK)]).toEqual([status, status]);
    const twice = await ask(MARK + MARK);
    expect([200, 201].includes(twice)).toBe(_ === "for many by lines");
  });
});

it("a table is published without it, and replayed", async () => {
  const { request } = setUp();
  const text = JSON.stringify(DECLARED_TABLE);
  const put = (body: string) => {
    const headers = { "content-type": "application/json", "if-match": '"0"' };
    return request("/-/table", { method: "PUT", body, headers });
  };
  expect((await put(MARK + MARK + text)).status).toBe(422);
  expect((await put(MARK + text)).status).toBe(201);
  expect(await (await request("/-/table")).text()).toBe(text);
  const log = `${MARK}${JSON.stringify({ table: DECLARED_TABLE })}\n${JSON.stringify({ method: "GET", path: `/orders/${orderBr}` })}`;
  const replayed = await request("/-/table/replay?new=body", json(log, LINES));
  expect(JSON.parse(await replayed.text())).toMatchObject({ summary: { same: 1, unreadable: 0 } });
  const lines = `${MARK}${JSON.stringify({ method: "GET", path: `/orders/${orderBr}` })}`;
  expect(JSON.parse(await (await request("/-/table/replay?new=1", json(lines, LINES))).text())).toMatchObject({
    summary: { same: 1, unreadable: 0 },
  });
});

describe("an origin's answer", () => {
  const origin =
    (body: string): ((request: Request) => Response) =>
    () =>
      new Response(MARK + body, { headers: { "content-type": "application/json" } });

  it("may begin with one in a list", async () => {
    const item = { id: orderId("eu", 1_767_225_600_000, 1), at: 1 };
    const { request } = setUp({ declared: listTable(), origin: origin(JSON.stringify({ items: [item] })) });
    const { items, summary } = await (await request("/orders")).json<Listed>();
    expect([items, summary.partial]).toEqual([[item], []]);
  });

  it("may begin with one among many", async () => {
    const { request } = setUp({ origin: origin('{"a":1}') });
    const { results } = await (await request("/any", json(JSON.stringify([orderBr])))).json<{ results: unknown[] }>();
    expect(results).toMatchObject([{ status: 200, body: { a: 1 } }]);
  });

  it("may begin with one in GraphQL", async () => {
    const { post } = setUpGraphql({ graphql: GRAPHQL, origin: origin('{"data":{"a":1,"b":2}}') });
    const response = await post(`{ a: order(id: "${orderBr}") { id } b: order(id: "${orderKz}") { id } }`);
    expect(await response.json()).toEqual({ data: { a: 1, b: 2 } });
  });
});
