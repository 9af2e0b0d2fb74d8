import { describe, expect, it, test } from "vitest";
import { countedRateLimit } from "../../../src/edge/rate-limits.ts";
import { EXPOSED_HEADERS } from "../../../src/features/cors/serve.ts";
import { err } from "../../../src/ids/result.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

const APP = "https://app.example.com";
const CORS = { origins: [APP, "https://*.shop.example"], credentials: true, maxAgeSeconds: 60, headers: ["X-App"] };
const CREATE = { key: { country: { header: "x-country" } } };
const entities = { ...DECLARED_TABLE.entities, order: { ...DECLARED_TABLE.entities.order, create: CREATE } };
const AGES = { beforeSeconds: 60, afterSeconds: 60 };
const CLOCK = { header: "X-Now", skewSeconds: 60 };
const TOKEN = { jwtClaim: "home", header: "X-Token" };
const login = { path: "/login", methods: "POST", sources: [{ clientCountry: { DE: "eu" } }] };
const declared = { ...DECLARED_TABLE, entities, cors: CORS, withoutId: { login } };

/** Request headers that the gateway reads with every table. */
const READ = [
  "accept",
  "authorization",
  "cache-control",
  "content-digest",
  "content-encoding",
  "content-type",
  "id-layout",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "traceparent",
  "tracestate",
  "waybill-debug",
  "waybill-read",
];

/** An origin that knows nothing of CORS. */
const silent = (request: Request) => new Response(request.method === "OPTIONS" ? null : "{}", { status: 200 });

type Outcome = "network-error" | { readonly status: number; readonly headers: readonly string[] };

const SAFELISTED = new Set(["accept", "accept-language", "content-language", "range"]);
const SIMPLE_TYPES = /^(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)(?:;|$)/;
const ALWAYS_SHOWN = "cache-control content-language content-length content-type expires last-modified pragma".split(
  " ",
);

/** The response that a page's script gets with credentials, by the Fetch standard's CORS protocol. */
async function fetchAsPage(
  request: ReturnType<typeof setUp>["request"],
  origin: string,
  path: string,
  init: { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string } = {},
): Promise<Outcome> {
  const { method = "GET", headers = {}, body } = init;
  const unsafe = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name, value]) => !SAFELISTED.has(name) && !(name === "content-type" && SIMPLE_TYPES.test(value)))
    .map(([name]) => name)
    .toSorted();
  if (!["GET", "HEAD", "POST"].includes(method) || unsafe.length > 0) {
    const asked: Record<string, string> = { origin, "access-control-request-method": method };
    if (unsafe.length > 0) asked["access-control-request-headers"] = unsafe.join(",");
    const preflight = await request(path, { method: "OPTIONS", headers: asked });
    const list = (name: string) => (preflight.headers.get(name) ?? "").toLowerCase().split(/\s*,\s*/);
    const isGranted =
      preflight.ok &&
      mayRead(preflight, origin) &&
      (["get", "head", "post"].includes(method.toLowerCase()) ||
        list("access-control-allow-methods").includes(method.toLowerCase())) &&
      unsafe.every((name) => list("access-control-allow-headers").includes(name));
    if (!isGranted) return "network-error";
  }
  const sent: RequestInit = { method, headers: { ...headers, origin }, redirect: "manual" };
  const response = await request(path, body === undefined ? sent : { ...sent, body });
  if (!mayRead(response, origin)) return "network-error";
  const exposed = (response.headers.get("access-control-expose-headers") ?? "").split(", ");
  const shown = [...response.headers.keys()].filter((name) => exposed.includes(name) || ALWAYS_SHOWN.includes(name));
  return { status: response.status, headers: shown };
}

const mayRead = ({ headers }: Response, origin: string): boolean =>
  headers.get("access-control-allow-origin") === origin && headers.get("access-control-allow-credentials") === "true";

const MINT = { method: "POST", body: JSON.stringify({ entity: "order", country: "KZ" }) };
const JSON_TYPE = { "content-type": "application/json" };
const KEYED = { ...JSON_TYPE, authorization: "Bearer x", "idempotency-key": '"k1"', "x-app": "7" };

describe("a page of an allowed origin", () => {
  test.each<[what: string, path: string, init: Parameters<typeof fetchAsPage>[3], status: number]>([
    ["mints without a preflight", "/mint", MINT, 201],
    ["mints with one", "/mint", { ...MINT, headers: KEYED }, 201],
    ["reads why it cannot mint", "/mint", { method: "POST", headers: JSON_TYPE, body: "{" }, 400],
    ["reads what a problem means", "/-/problems/malformed-id", {}, 200],
    ["reads that an ID is malformed", "/orders/17", {}, 400],
    ["reads it with its own headers", "/orders/17", { headers: { "x-app": "7" } }, 400],
    ["reads it for a write", "/orders/17", { method: "DELETE" }, 400],
    ["reads that a path is unrouted", "/nothing", { method: "PUT" }, 404],
    ["reads that an ID is of another entity", `/orders/${IDS.rideKz}`, { headers: { "x-app": "7" } }, 422],
    ["reads that no region is known", "/login", { method: "POST", headers: JSON_TYPE, body: "{}" }, 400],
    ["reads that a create has no country", "/orders", { method: "POST", headers: JSON_TYPE, body: "{}" }, 400],
    ["reads that no region takes an ID", `/any/${IDS.parcelUnassigned}`, { headers: { "x-app": "7" } }, 404],
    ["gets a redirect", "/any/00000023-122e-6d0b-a789-28ef27ab7c62", { headers: { "x-app": "7" } }, 307],
  ])("%s", async (_, path, init, status) => {
    const { request } = setUp({ declared, origin: silent });
    for (const origin of [APP, "https://one.shop.example"]) {
      const outcome = await fetchAsPage(request, origin, path, init);
      expect(outcome).toMatchObject({ status });
    }
    for (const other of ["null", "https://evil.test", "https://shop.example", `${APP}.evil.test`]) {
      expect(await fetchAsPage(request, other, path, init)).toBe("network-error");
    }
  });

  it("reads that an origin is down, and when to ask again", async () => {
    const origin = () => {
      throw new Error("Network connection lost.");
    };
    const { request } = setUp({ declared, origin });
    const outcome = await fetchAsPage(request, APP, `/orders/${IDS.orderKz}`);
    expect(outcome).toMatchObject({ status: 502, headers: expect.arrayContaining(["waybill-table"]) });
  });

  it("sees every header that the gateway adds", async () => {
    const { request } = setUp({ declared, origin: silent });
    const outcome = await fetchAsPage(request, APP, "/mint", MINT);
    expect(outcome).toMatchObject({ headers: ["cache-control", "content-type", "date", ...MINTED] });
  });
  const MINTED = ["waybill-layout", "waybill-region", "waybill-table"];
});

it("a page reads a list of all regions, with or without a preflight", async () => {
  const list = { items: "/items", order: "none" };
  const rides = { ...declared, entities: { ...declared.entities, ride: { ...declared.entities.ride, list } } };
  const plain = await setUp({ declared: rides, origin: () => Response.json({ items: [] }) }).request("/rides");
  expect(plain.headers.get("vary")).toBe("accept, authorization, origin");
  const origin = () => Response.json({ items: [] });
  const { request } = setUp({ declared: rides, origin });
  for (const headers of [{}, { "x-app": "7" }]) {
    const got = await fetchAsPage(request, APP, "/rides", { headers });
    expect(got).toMatchObject({ status: 200, headers: expect.arrayContaining(["waybill-table"]) });
    expect(await fetchAsPage(request, "https://evil.test", "/rides", { headers })).toBe("network-error");
  }
});

describe("answers of origins", () => {
  it("stay their own, with or without CORS", async () => {
    const own = { "access-control-allow-origin": "https://other.test", vary: "accept" };
    for (const fields of [{}, own]) {
      const { request } = setUp({ declared, origin: () => new Response("x", { headers: fields }) });
      const path = `/orders/${IDS.orderKz}`;
      const init = { headers: { origin: APP } };
      for (const method of ["GET", "OPTIONS"]) {
        const answer = await request(path, { ...init, method });
        const added = [...answer.headers].filter(([name]) => /^access-|^vary$/.test(name));
        expect(Object.fromEntries(added)).toEqual(fields);
      }
    }
  });

  it("preflights on paths that can be routed are theirs to answer", async () => {
    const { request, seen } = setUp({ declared, origin: silent });
    const headers = { origin: APP, "access-control-request-method": "DELETE" };
    const answer = await request(`/orders/${IDS.orderKz}`, { method: "OPTIONS", headers });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, null]);
    expect(seen.map(({ method, headers: sent }) => [method, sent.get("origin")])).toEqual([["OPTIONS", APP]]);
  });

  it("a preflight that its origin failed to answer is not granted", async () => {
    const origin = () => {
      throw new Error("Network connection lost.");
    };
    const { request } = setUp({ declared, origin });
    const outcome = await fetchAsPage(request, APP, `/orders/${IDS.orderKz}`, { method: "DELETE" });
    expect(outcome).toBe("network-error");
  });
});

describe("preflights", () => {
  const preflight = (path: string, origin = APP) => ({
    path,
    init: { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } },
  });

  test.each([
    ["/mint", "60"],
    ["/any", "60"],
    ["/orders", "60"],
    ["/orders/17", "0"],
    ["/nothing", "0"],
  ])("that of %s may be kept for %s s", async (path, maxAge) => {
    const { request, seen, lines } = setUp({ declared });
    const answer = await request(path, preflight(path).init);
    expect(Object.fromEntries(answer.headers)).toEqual({
      "access-control-allow-origin": APP,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": [...READ, "x-country", "x-app"].join(", "),
      "access-control-max-age": maxAge,
      vary: "origin",
      date: expect.stringMatching(/ GMT$/),
    });
    expect([answer.status, await answer.text(), seen]).toEqual([204, "", []]);
    expect(lines.map(({ status, outcome }) => [status, outcome])).toEqual([[204, "own"]]);
  });

  it("of other origins get what they got before", async () => {
    const { request } = setUp({ declared });
    const { path, init } = preflight("/mint", "https://evil.test");
    const answer = await request(path, init);
    expect([answer.status, answer.headers.get("vary")]).toEqual([405, "origin"]);
    const detail = "OPTIONS is not allowed here. As a preflight it is not answered: `cors.origins` lacks its origin.";
    expect(await answer.json()).toMatchObject({ status: 405, detail });
  });

  it("OPTIONS that is none stays what it was", async () => {
    const { request } = setUp({ declared });
    expect((await request("/mint", { method: "OPTIONS", headers: { origin: APP } })).status).toBe(405);
  });

  it("one that a rate limit refuses is not granted", async () => {
    const client = countedRateLimit({ by: "counter", requests: 1, periodSeconds: 60 }, { nowMs: () => 18_500 });
    const { request } = setUp({ declared, gateway: { rateLimits: { client, entity: undefined, lookup: undefined } } });
    const statuses = [];
    for (const _ of [1, 2]) statuses.push((await request("/orders/17", preflight("/orders/17").init)).status);
    expect(statuses).toEqual([204, 429]);
  });

  it("one that comes before there is a table gets no header", async () => {
    const { request } = setUp({ declared: {} });
    for (const path of ["/mint", "/orders/17"]) {
      const answer = await request(path, preflight(path).init);
      expect([...answer.headers.keys()].filter((name) => /^access-|^vary$/.test(name))).toEqual([]);
    }
  });
});

describe("operators' pages", () => {
  const PAGES = [
    "/-/health",
    "/-/ready",
    "/-/ids/17",
    "/-/table",
    "/-/openapi.json",
    "/-/metrics",
    "/-",
    "/-/",
    "/-/no",
  ];

  test.each(PAGES)("%s is for no page of another origin", async (path) => {
    const { request } = setUp({ declared });
    for (const method of ["GET", "POST", "PUT", "OPTIONS"]) {
      const headers = { origin: APP, "access-control-request-method": "PUT" };
      const answer = await request(path, { method, headers });
      expect([...answer.headers.keys()].filter((name) => /^access-/.test(name))).toEqual([]);
      expect(answer.status).not.toBe(204);
    }
  });

  it("minting by a browser's own credential stays same-site", async () => {
    const caller = { name: "a@example.com", scope: "operator", by: "access" } as const;
    const { request } = setUp({ declared, gateway: { mintDoor: async () => ({ ok: true, value: caller }) } });
    const headers = { origin: APP, "sec-fetch-site": "cross-site" };
    const answer = await request("/mint", { ...MINT, headers });
    expect(slug(await problemOf(answer))).toBe("forbidden");
  });

  it("minting by a token is open to pages", async () => {
    const gateway = { mintDoor: async () => err({ reason: "unauthenticated", why: "missing" } as const) };
    const { request } = setUp({ declared, gateway });
    expect(await fetchAsPage(request, APP, "/mint", { ...MINT, headers: KEYED })).toMatchObject({ status: 401 });
  });
});

describe("vary", () => {
  test.each([undefined, "null", "https://evil.test", APP])("is there for origin %s", async (origin) => {
    const { request } = setUp({ declared });
    for (const path of ["/mint", "/orders/17", "/-/problems", "/nothing"]) {
      const answer = await request(path, { headers: origin === undefined ? {} : { origin } });
      expect(answer.headers.get("vary")).toBe("origin");
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin === APP ? APP : null);
    }
  });

  it("is not needed where all may read", async () => {
    const { request } = setUp({ declared: { ...declared, cors: { origins: ["*"] } } });
    const answer = await request("/orders/17", { headers: { origin: "https://any.test" } });
    const fields = ["access-control-allow-origin", "access-control-allow-credentials", "vary"];
    expect(fields.map((name) => answer.headers.get(name))).toEqual(["*", null, null]);
    expect(answer.headers.get("access-control-expose-headers")).toBe(EXPOSED_HEADERS.join(", "));
  });
});

it("without cors in the table nothing is added", async () => {
  const { request } = setUp();
  for (const path of ["/mint", "/orders/17", "/nothing", "/-/problems"]) {
    const headers = { origin: APP, "access-control-request-method": "PUT" };
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const answer = await request(path, { method, headers });
      expect([...answer.headers.keys()].filter((name) => /^access-|^vary$/.test(name))).toEqual([]);
    }
  }
});

/** Parts of a table, and the request header that each makes the gateway read. */
const READERS: readonly (readonly [what: string, order: object, more: object, header: string])[] = [
  ["a source of a key", { create: { key: { country: [{ header: "X-Country" }] } } }, {}, "x-country"],
  ["a later source", { create: { key: { country: [{ clientCountry: true }, { header: "x-c2" }] } } }, {}, "x-c2"],
  ["a client's own ID", { create: { ...CREATE, clientId: { header: "X-Own-Id", ...AGES } } }, {}, "x-own-id"],
  ["a client's clock", { create: { ...CREATE, clientId: { header: "x-id", ...AGES, clock: CLOCK } } }, {}, "x-now"],
  ["a flag of PUT", { create: { ...CREATE, clientId: { ...AGES, createFlag: "X-Create" } } }, {}, "x-create"],
  ["an ID in a header", { idIn: [{ header: "X-Order", entity: "order" }] }, {}, "x-order"],
  ["a region in a header", {}, { withoutId: { a: { path: "/a", sources: [{ header: "X-Home" }] } } }, "x-home"],
  ["a token in a header", {}, { withoutId: { a: { path: "/a", sources: [TOKEN] } } }, "x-token"],
  [
    "an ID beside a path",
    {},
    { withoutId: { a: { path: "/a", idIn: [{ header: "x-id", entity: "order" }] } } },
    "x-id",
  ],
];

describe("a preflight allows what the table makes the gateway read", () => {
  it.each(READERS)("%s", async (_, order, more, header) => {
    const { cors: __, ...plain } = { ...DECLARED_TABLE, cors: CORS, ...more };
    const own = { ...DECLARED_TABLE.entities, order: { ...DECLARED_TABLE.entities.order, ...order } };
    const { request } = setUp({ declared: { ...plain, entities: own, cors: { origins: [APP] } } });
    const answer = await request("/mint", preflightOf(header));
    expect(answer.status).toBe(204);
    const allowed = answer.headers.get("access-control-allow-headers")?.split(", ") ?? [];
    expect(allowed).toEqual(expect.arrayContaining([...READ, header]));
    // `authorization` is no wildcard's, and each name stands once.
    expect(new Set(allowed).size).toBe(allowed.length);
  });
});

const preflightOf = (header: string): RequestInit => ({
  method: "OPTIONS",
  headers: { origin: APP, "access-control-request-method": "POST", "access-control-request-headers": header },
});

it("a page may send what only a header can route: its preflight has no such header", async () => {
  const lists = { path: "/lists", sources: [{ header: "x-home-region" }] };
  const cors = { ...CORS, headers: ["x-home-region"] };
  const own = { "access-control-allow-origin": APP, "access-control-allow-credentials": "true" };
  const origin = () => new Response("x", { headers: own });
  const { request, seen } = setUp({ declared: { ...DECLARED_TABLE, cors, withoutId: { lists } }, origin });
  const init = { method: "PUT", headers: { "x-home-region": "us" }, body: "{}" };
  expect(await fetchAsPage(request, APP, "/lists", init)).toMatchObject({ status: 200 });
  expect(seen.map(({ method }) => method)).toEqual(["PUT"]);
  expect(await fetchAsPage(request, "https://evil.test", "/lists", init)).toBe("network-error");
  expect(seen).toHaveLength(1);
});
