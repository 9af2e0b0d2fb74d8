import { describe, expect, it } from "vitest";
import { problemOf, setUp } from "../harness.ts";
import { listTable, orderId, pagingOrigin } from "./regions.ts";

/** A list refuses and drops no more than other paths do. */

const world = (list: object = {}) =>
  setUp({ declared: listTable(list), origin: pagingOrigin({ eu: [], us: [], ap: [] }, 9) });

const queriesOf = (seen: readonly { readonly url: string }[]) => [
  ...new Set(seen.map(({ url }) => url.slice(url.indexOf("/orders") + "/orders".length))),
];

// RFC 3986 §2.1, §3.4: a query is bytes; only the list's own parameters are read.
describe("a query that a list sends on", () => {
  it.each([
    "?q=caf%E9",
    "?q=caf%C3%A9",
    "?q=%zz",
    "?q=%",
    "?q=100%25",
    "?q=%00",
    "?%E9=1",
    "?%zz",
    "?%zz=%zz",
    "?a=1&a=2&a=",
    "?a",
    "?a=b=c",
    "?q=a+b%20c",
    "?filter[a]=1",
    "?q={%22a%22:1}",
    "?q=%ud800",
    "?a;b",
    "?q=%2526",
    "?limi%74%E9=x",
    "?q=/any/x?y",
  ])("has the bytes that it came with: %s", async (query) => {
    const { request, seen, defects } = world();
    const answer = await request(`/orders${query}`);
    expect([answer.status, defects]).toEqual([200, []]);
    await answer.text();
    const sent = new URL(`http://gw.test/orders${query}`).search;
    expect(seen.length).toBeGreaterThan(1);
    expect(queriesOf(seen)).toEqual([sent]);
  });

  it.each([
    ["?limit=%E9", "limit is not percent-encoded UTF-8."],
    ["?cursor=%zz", "cursor is not percent-encoded UTF-8."],
    ["?where=%E9", "where is not percent-encoded UTF-8."],
    ["?limit=1&limit=1", "limit comes twice."],
    ["?after=1", "The parameter after is of one region; use cursor."],
    ["?after=%E9", "after is not percent-encoded UTF-8."],
  ])("has no parameter of the list itself: %s", async (query, detail) => {
    const { request, seen } = world({ filters: { region: "where" } });
    expect(await problemOf(await request(`/orders${query}`))).toMatchObject({ status: 400, detail });
    expect(seen).toEqual([]);
  });

  it("binds the cursor by its bytes", async () => {
    const eu = [1, 2, 3].map((at) => ({ id: orderId("eu", Date.UTC(2026, 0, 1) + at, at), at }));
    const { request } = setUp({ declared: listTable(), origin: pagingOrigin({ eu, us: [], ap: [] }, 9) });
    const first = await (await request("/orders?q=caf%E9&limit=1")).json<{ next: string }>();
    const go = async (query: string) => (await request(`/orders${query}&limit=1&cursor=${first.next}`)).status;
    expect([await go("?q=caf%E9"), await go("?q=caf%E8")]).toEqual([200, 400]);
  });
});

describe("a request field that a list sends on", () => {
  const FIELDS: Readonly<Record<string, string>> = {
    "accept-language": "de, en;q=0.5",
    "accept-datetime": "Thu, 31 May 2007 20:35:00 GMT",
    "accept-version": "2",
    authorization: "Bearer x",
    cookie: "a=b",
    prefer: "handling=strict",
    "x-api-version": "7",
    "user-agent": "test",
  };

  it("is what it was", async () => {
    const { request, seen } = world();
    await (await request("/orders", { headers: FIELDS })).text();
    expect(seen.length).toBeGreaterThan(1);
    for (const { headers } of seen) {
      for (const [name, value] of Object.entries(FIELDS)) expect([name, headers.get(name)]).toEqual([name, value]);
      expect([headers.get("accept"), headers.get("accept-encoding")]).toEqual(["application/json", "identity"]);
    }
  });

  it("is none of the merged answer's: conditions, parts, keys", async () => {
    const { request, seen } = world();
    const own = { "if-none-match": '"a"', "if-modified-since": "x", range: "bytes=0-1", "idempotency-key": '"k"' };
    await (await request("/orders", { headers: own })).text();
    for (const { headers } of seen)
      for (const name of Object.keys(own)) expect([name, headers.get(name)]).toEqual([name, null]);
  });
});
