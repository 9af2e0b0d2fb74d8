import { describe, expect, it } from "vitest";
import { destinationOf } from "../../../src/features/replay/serve.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];

const create = { key: { country: [{ header: "x-country" }] } };
const list = { items: "/items", order: "none" };
const { order } = DECLARED_TABLE.entities;

/** Collections, and the methods that each takes. */
const COLLECTIONS: readonly (readonly [what: string, order: object, allow: string])[] = [
  ["creates", { ...order, create }, "POST"],
  ["lists", { ...order, list }, "GET, HEAD"],
  ["lists and creates", { ...order, create, list }, "GET, HEAD, POST"],
];

// RFC 9110 §15.5.6: 405 with `allow`, where the target is known and the method is not one of its own.
describe.each(COLLECTIONS)("a collection that %s", (_, declaredOrder, allow) => {
  const declared = { ...DECLARED_TABLE, entities: { ...DECLARED_TABLE.entities, order: declaredOrder } };
  const others = METHODS.filter((method) => !allow.split(", ").includes(method));

  it.each(others)("is 405 for %s", async (method) => {
    const { request, seen } = setUp({ declared });
    const init = { method, ...(method === "PUT" && { body: "{}" }) };
    const answer = await request("/orders", init);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, allow]);
    const expected = { type: "/-/problems/method-not-allowed", allow: allow.split(", ") };
    if (method !== "HEAD") expect(await problemOf(answer)).toMatchObject(expected);
    expect(seen).toEqual([]);
    // The same says replay, and the page that explains requests.
    const table = loadTable(declared, 1);
    if (!table.ok) throw new Error("the table has faults");
    expect(destinationOf(table.value, { method, path: "/orders" }, 0)).toMatchObject({ reason: "method-not-allowed" });
    const explained = await request("/-/explain", { method: "POST", body: JSON.stringify({ method, url: "/orders" }) });
    expect(await explained.json()).toMatchObject({ problem: expected });
  });

  it("is unknown elsewhere", async () => {
    const { request } = setUp({ declared });
    for (const path of ["/orders/", "/Orders", "/rides"])
      expect(slug(await problemOf(await request(path, { method: "DELETE" })))).toBe("unrouted-path");
  });
});

it("what the table sends elsewhere stays so", async () => {
  const entities = { ...DECLARED_TABLE.entities, order: { ...order, create } };
  const withoutId = { rest: { path: "/orders", methods: ["PUT"], sources: [{ region: "eu" }] } };
  const { request, seen } = setUp({ declared: { ...DECLARED_TABLE, entities, withoutId } });
  expect((await request("/orders", { method: "PUT", body: "x" })).status).toBe(200);
  expect(seen).toHaveLength(1);
});

it("every page of the gateway says which methods it takes", async () => {
  const { app, request } = setUp();
  const allowed = new Map<string, Set<string>>();
  for (const { method, path } of app.routes) {
    if (method === "ALL") continue;
    const methods = allowed.get(path) ?? new Set();
    allowed.set(path, methods.add(method));
    if (method === "GET") methods.add("HEAD");
  }
  const at = (path: string) => path.replaceAll(/:\w+(?:\{[^}]*\})?|\*/g, "1");
  for (const [path, methods] of allowed) {
    // More than one pattern may match.
    const all = new Set([...allowed].filter(([other]) => at(other) === at(path)).flatMap(([, own]) => [...own]));
    if (path.startsWith("/-/console") || path === "/") continue;
    for (const method of METHODS) {
      if (all.has(method)) continue;
      const answer = await request(at(path), { method });
      expect([path, method, answer.status]).toEqual([path, method, 405]);
      expect(new Set(answer.headers.get("allow")?.split(", "))).toEqual(new Set([...methods]));
    }
  }
});

it("the start page takes reads", async () => {
  const { request } = setUp();
  for (const method of METHODS.slice(2)) {
    const answer = await request("/", { method });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  }
  expect((await request(`/orders/${IDS.orderDe}`, { method: "PROPFIND" })).status).toBe(200);
});
