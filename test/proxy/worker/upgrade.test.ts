import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { GRAPHQL, graphqlOrigin } from "../../routes/graphql/world.ts";
import { IDS, setUp } from "../../routes/harness.ts";
import { BY_AT, NEXT } from "../../routes/lists/regions.ts";

/** A server may ignore an `upgrade` (RFC 9110 §7.8), and then the request is as without it. */
const IGNORED: readonly (readonly [what: string, fields: Readonly<Record<string, string>>])[] = [
  [
    "h2c, as Java and curl send it",
    { upgrade: "h2c", connection: "Upgrade, HTTP2-Settings", "http2-settings": "AAMA" },
  ],
  ["h2c alone", { upgrade: "h2c" }],
  ["h2c in capitals", { upgrade: "H2C", connection: "UPGRADE" }],
  ["TLS", { upgrade: "TLS/1.0, HTTP/1.1", connection: "upgrade" }],
  ["HTTP/2.0", { upgrade: "HTTP/2.0", connection: "upgrade" }],
  ["an unknown protocol", { upgrade: "foo", connection: "upgrade" }],
  ["a version of WebSocket", { upgrade: "websocket/13", connection: "upgrade" }],
  ["a list with WebSocket", { upgrade: "h2c, websocket", connection: "upgrade" }],
  ["a list that begins with WebSocket", { upgrade: "websocket, h2c", connection: "upgrade" }],
  ["an empty value", { upgrade: "", connection: "upgrade" }],
  ["WebSocket that `connection` does not name", { upgrade: "websocket", connection: "keep-alive" }],
  ["WebSocket that `connection` names only in part", { upgrade: "websocket", connection: "x-upgrade" }],
];

const shadow = { region: "shade", percent: 100 };
const { entities, regions, routes } = DECLARED_TABLE;

const DECLARED = {
  ...DECLARED_TABLE,
  regions: { ...regions, shade: { origins: [{ url: "http://shade.test" }] } },
  routes: routes.map((route) => ({ ...route, shadow })),
  moves: { [IDS.orderBr]: { from: "us", to: "ap", state: "fenced", epoch: 2 } },
  graphql: GRAPHQL,
  entities: {
    ...entities,
    order: {
      ...entities.order,
      replayBytesMax: 100,
      create: { key: { country: [{ header: "x-country" }] } },
      list: { items: "/items", order: BY_AT, next: NEXT },
    },
    ride: {
      ...entities.ride,
      readCopies: { clientContinent: { NA: "us" }, lagSeconds: 30, afterWriteCookie: "wrote" },
    },
  },
};

const QUERY = `{ order(id: "${IDS.orderDe}") { id region } }`;
const TWO = `{ a: order(id: "${IDS.orderDe}") { id } b: order(id: "${IDS.orderKz}") { id } }`;
const JSON_TYPE = { "content-type": "application/json" };
const post = (query: string) => ({ method: "POST", headers: JSON_TYPE, body: JSON.stringify({ query }) });

/** Requests that `upgrade` has changed: retries, fences, copies, shadows, GraphQL, lists, creations. */
const REQUESTS: readonly { readonly what: string; readonly path: string; readonly init?: RequestInit }[] = (
  [
    ["a read that is tried again", `/orders/${IDS.orderDe}`],
    ["a read with an ID alone", `/any/${IDS.orderDe}`],
    ["a HEAD", `/orders/${IDS.orderDe}`, { method: "HEAD" }],
    [
      "a write that is tried again",
      `/orders/${IDS.orderDe}`,
      { method: "PUT", headers: { "content-length": "2" }, body: "{}" },
    ],
    ["a write that is not", `/orders/${IDS.orderDe}`, { method: "POST", body: "{}" }],
    ["a read of a fenced entity", `/orders/${IDS.orderBr}`],
    ["a read of a copy", `/rides/${IDS.rideKz}`, { cf: { continent: "NA" } as never }],
    ["a list", "/orders?limit=2"],
    ["a creation", "/orders", { method: "POST", headers: { "x-country": "DE" }, body: "{}" }],
    [
      "a keyed creation",
      "/orders",
      { method: "POST", headers: { "x-country": "DE", "idempotency-key": "KEY" }, body: "{}" },
    ],
    ["GraphQL", "/graphql", post(QUERY)],
    ["GraphQL over two regions", "/graphql", post(TWO)],
    ["GraphQL by GET", `/graphql?query=${encodeURIComponent(QUERY)}`],
  ] as const satisfies readonly (readonly [what: string, path: string, init?: RequestInit])[]
).map(([what, path, init]) => ({ what, path, ...(init && { init }) }));

/** The outcome of a request: the answer, whom the gateway asked, and how often. The first try of each is lost. */
async function outcomeOf(path: string, init: RequestInit = {}, fields: Readonly<Record<string, string>> = {}) {
  let isFirst = true;
  const { request, seen, mirrored, defects } = setUp({
    declared: DECLARED,
    nowMs: 1_800_000_000_000,
    async origin(asked) {
      const { host, pathname } = new URL(asked.url);
      if (isFirst && asked.method !== "POST" && host === "eu.test" && pathname.startsWith("/orders/")) {
        isFirst = false;
        throw new Error("Network connection lost.");
      }
      if (pathname.endsWith("/graphql")) return graphqlOrigin(asked);
      return pathname.endsWith("/orders") && asked.method === "GET"
        ? Response.json({ items: [], next: null })
        : new Response(`from ${host}`);
    },
  });
  const headers = new Headers({ ...Object.fromEntries(new Headers(init.headers)), ...fields });
  if (headers.has("idempotency-key")) headers.set("idempotency-key", crypto.randomUUID());
  const answer = await request(path, { ...init, headers });
  const text = await answer.text();
  const own = /^(?:waybill-(?!entity|key-until)|content-type|allow)/;
  const shown = [...answer.headers].filter(([name]) => own.test(name));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const asked = seen.map(({ url, method }) => `${method} ${new URL(url).host.slice(0, 2)}`);
  const sent = seen.flatMap(({ headers: got }) => [...got.keys()].filter((name) => /upgrade|http2/.test(name)));
  return { status: answer.status, text, shown, asked: asked.toSorted(), mirrored, sent, defects };
}

describe.each(IGNORED)("an upgrade to %s", (_, fields) => {
  it.each(REQUESTS)("changes nothing of $what", async ({ path, init }) => {
    const plain = await outcomeOf(path, init);
    expect([plain.status, plain.defects]).toEqual([200, []]);
    expect(await outcomeOf(path, init, fields)).toEqual(plain);
  });
});

describe("an upgrade to a WebSocket", () => {
  it.each([
    ["as browsers send it", "websocket", "Upgrade"],
    ["in other letters", "WebSocket", "keep-alive, UPGRADE"],
  ])("is one: %s", async (_, upgrade, connection) => {
    const fields = { upgrade, connection };
    expect(await outcomeOf(`/orders/${IDS.orderDe}`, {}, fields)).toMatchObject({ status: 502, mirrored: [] });
    expect((await outcomeOf(`/orders/${IDS.orderBr}`, {}, fields)).status).toBe(503);
  });

  it.each(["HEAD", "POST", "PUT"])("is none of another method (RFC 6455 §4.1): %s", async (method) => {
    const init = { method, ...(method === "HEAD" ? {} : { body: "{}" }) };
    const fields = { upgrade: "websocket", connection: "upgrade" };
    const path = `/orders/${IDS.orderDe}`;
    expect(await outcomeOf(path, init, fields)).toEqual(await outcomeOf(path, init));
  });
});
