import { describe, expect, it } from "vitest";
import { parseAdminTokens } from "../../src/edge/auth/settings.ts";
import { hexOf } from "../../src/routing/bytes.ts";
import { accessWorld, NO_AUTH } from "../edge/auth/access-world.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "./harness.ts";
import { listTable, pagingOrigin } from "./lists/regions.ts";

const PATH = `/orders/${IDS.orderDe}`;

const SCOPES = ["operator", "viewer", "support", "mint", "directory"] as const;
const tokenOf = (scope: string): string => `${scope}-`.padEnd(40, "x");
const digestOf = async (token: string) =>
  hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))));
const entries = await Promise.all(
  SCOPES.map(async (scope) => ({ name: scope, scope, sha256: await digestOf(tokenOf(scope)) })),
);
const tokens = parseAdminTokens(JSON.stringify(entries)) ?? [];

const VIEWER = `Bearer ${tokenOf("viewer")}`;
const APP = "Bearer of-the-application.not-one-of-the-gateway";

/** Fields that only an answer shows that was asked to. */
const DEBUG = ["server-timing", "via", "waybill-layout", "waybill-table"];

type Options = Parameters<typeof setUp>[0] & { readonly settings?: object };

function world({ settings = { tokens }, ...options }: Options = {}) {
  const { check } = accessWorld([], { settings: { ...NO_AUTH, ...settings } });
  return setUp({ ...options, gateway: { authenticate: check, ...options.gateway } });
}

const shown = ({ headers }: Response) => DEBUG.filter((name) => headers.has(name));
const withFields = (fields: string) => ({ ...DECLARED_TABLE, fields });

describe("an answer that was asked how its request was decided", () => {
  it.each(["standard", "minimal", "full"])("shows what full fields show: %s", async (fields) => {
    const { request } = world({ declared: withFields(fields) });
    const { headers } = await request(PATH, { headers: { "waybill-debug": "1", authorization: VIEWER } });
    expect(Object.fromEntries(headers)).toEqual({
      "cache-control": "no-store",
      "content-type": "text/plain;charset=UTF-8",
      "server-timing": expect.stringMatching(/^origin;dur=\d+$/),
      via: "1.1 waybill",
      "waybill-layout": "iuid",
      "waybill-region": "eu",
      "waybill-table": expect.stringMatching(/^rev=0; /),
    });
  });

  it.each([
    ["an entity", PATH, "GET"],
    ["/any", `/any/${IDS.orderDe}`, "GET"],
    ["HEAD", PATH, "HEAD"],
    ["a write", PATH, "PUT"],
  ])("by every way to an origin: %s", async (_, path, method) => {
    const { request, seen } = world();
    const response = await request(path, { method, headers: { "waybill-debug": "1", authorization: VIEWER } });
    expect([response.status, shown(response)]).toEqual([200, DEBUG]);
    expect(seen[0]?.headers.get("authorization")).toBe(null);
  });

  it.each([
    ["operator", true],
    ["viewer", true],
    ["support", false],
    ["mint", false],
    ["directory", false],
  ] as const)("only for viewers: %s", async (scope, isShown) => {
    const authorization = `Bearer ${tokenOf(scope)}`;
    const { request } = world();
    const response = await request(PATH, { headers: { "waybill-debug": "1", authorization } });
    expect([response.status, shown(response)]).toEqual([200, isShown ? DEBUG : []]);
    const { request: ask, seen } = world();
    const own = await ask(PATH, { headers: { "waybill-debug": authorization } });
    if (isShown) expect(shown(own)).toEqual(DEBUG);
    else expect([slug(await problemOf(own)), own.status, seen]).toEqual(["forbidden", 403, []]);
  });

  it("by open pages, at the own machine's name alone, with the application's own credential", async () => {
    const { request, seen } = world({ settings: { openPages: true } });
    const headers = { "waybill-debug": "1", authorization: APP };
    expect(shown(await request(PATH, { headers: { ...headers, host: "127.0.0.1:8787" } }))).toEqual(DEBUG);
    expect(shown(await request(PATH, { headers: { ...headers, host: "shop.test" } }))).toEqual([]);
    expect(seen.map(({ headers: sent }) => sent.get("authorization"))).toEqual([APP, APP]);
  });
});

describe("an ask that is none", () => {
  it.each([
    ["no credential", { "waybill-debug": "1" }],
    ["the application's credential", { "waybill-debug": "1", authorization: APP }],
    ["basic", { "waybill-debug": "1", authorization: "Basic eDp5" }],
    ["no ask", { authorization: VIEWER }],
    ["another value", { "waybill-debug": "0", authorization: VIEWER }],
    ["an empty one", { "waybill-debug": "", authorization: VIEWER }],
    ["a word", { "waybill-debug": "true", authorization: VIEWER }],
    ["two", { "waybill-debug": "1, 1", authorization: VIEWER }],
  ])("changes nothing: %s", async (_, headers: Record<string, string>) => {
    const { request, seen } = world();
    const response = await request(PATH, { headers });
    expect([response.status, shown(response), response.headers.get("cache-control")]).toEqual([200, [], null]);
    expect(seen[0]?.headers.get("authorization")).toBe(headers["authorization"] ?? null);
  });

  it.each([
    ["an unknown token", `Bearer ${"y".repeat(40)}`],
    ["a malformed one", "Bearer x"],
    ["two", `${VIEWER}, ${VIEWER}`],
  ])("but a token of the gateway's that is wrong is refused: %s", async (_, asked) => {
    const counted: string[] = [];
    const counters = { count: (...labels: readonly unknown[]) => void counted.push(labels.join(" ")) };
    const { request, seen } = world({ gateway: { counters: counters as never } });
    const response = await request(PATH, { headers: { "waybill-debug": asked, authorization: APP } });
    expect([response.status, slug(await problemOf(response)), seen]).toEqual([401, "unauthenticated", []]);
    expect(counted).toContain("refused_callers wrong");
  });
});

describe("an origin", () => {
  it("gets the application's credential, and neither the token nor the ask", async () => {
    const { request, seen } = world();
    const headers = { "waybill-debug": VIEWER, waybill_debug: VIEWER, authorization: APP };
    expect(shown(await request(PATH, { headers }))).toEqual(DEBUG);
    const sent = Object.fromEntries(seen[0]?.headers ?? []);
    expect(sent["authorization"]).toBe(APP);
    expect(Object.keys(sent).filter((name) => name.includes("debug"))).toEqual([]);
    expect(JSON.stringify(sent)).not.toContain(tokenOf("viewer"));
  });

  it("of a list, or of a shadow, gets no token either", async () => {
    const list = world({ declared: listTable(), origin: pagingOrigin({ eu: [], us: [], ap: [] }, 9) });
    const headers = { "waybill-debug": "1", authorization: VIEWER };
    expect((await list.request("/orders", { headers })).status).toBe(200);
    expect(list.seen.length).toBeGreaterThan(1);
    const routes = DECLARED_TABLE.routes.map((route) => ({ ...route, shadow: { region: "shade", percent: 100 } }));
    const regions = { ...DECLARED_TABLE.regions, shade: { origins: [{ url: "http://shade.test" }] } };
    const mirrored = world({ declared: { ...DECLARED_TABLE, regions, routes } });
    await mirrored.request(PATH, { headers });
    await expect.poll(() => mirrored.seen.length).toBe(2);
    for (const { headers: sent } of [...list.seen, ...mirrored.seen]) expect(sent.get("authorization")).toBe(null);
  });
});

describe("a cache", () => {
  it("stores no such answer, and its origin's own words are there to read", async () => {
    const own = {
      "cache-control": "public, max-age=60",
      "cdn-cache-control": "max-age=600",
      "cloudflare-cdn-cache-control": "max-age=601",
      "edge-control": "max-age=603",
      "surrogate-control": "max-age=602",
      "x-accel-expires": "604",
      "x-cache": "HIT",
    };
    const { request } = world({ origin: () => new Response("ok", { headers: own }) });
    const { headers } = await request(PATH, { headers: { "waybill-debug": VIEWER } });
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "public, max-age=60, no-store",
      "cdn-cache-control": "max-age=600, no-store",
      "cloudflare-cdn-cache-control": "max-age=601, no-store",
      "edge-control": "max-age=603, no-store",
      "surrogate-control": "max-age=602, no-store",
      "x-accel-expires": "0",
      "x-cache": "HIT",
    });
    expect(Object.fromEntries((await request(PATH)).headers)).toMatchObject(own);
  });

  it.each(["standard", "minimal"])("takes nothing over from a 304: %s", async (fields) => {
    const origin = () => new Response(null, { status: 304, headers: { etag: '"1"', "cache-control": "max-age=60" } });
    const { request } = world({ declared: withFields(fields), origin });
    const response = await request(PATH, { headers: { "waybill-debug": VIEWER } });
    expect([response.status, shown(response), response.headers.get("cache-control")]).toEqual([304, [], "max-age=60"]);
  });

  it("is told the same of a problem as without the ask", async () => {
    const { request } = world();
    const response = await request("/orders/17", { headers: { "waybill-debug": VIEWER } });
    expect([response.status, response.headers.get("cache-control")]).toEqual([400, "no-store"]);
  });

  it("of answers with a key keeps none of it", async () => {
    const order = {
      ...DECLARED_TABLE.entities.order,
      create: { key: { country: { header: "x-country" } }, idempotency: { keepAnswer: {} } },
    };
    const declared = { ...DECLARED_TABLE, entities: { ...DECLARED_TABLE.entities, order } };
    const origin = () => new Response("{}", { status: 201, headers: { "cache-control": "max-age=9" } });
    const { request } = world({ declared, origin });
    const headers = { "x-country": "KZ", "idempotency-key": `debug-${Date.now()}`, "content-type": "application/json" };
    const asked = (more: object) =>
      request("/orders", { method: "POST", body: "{}", headers: { ...headers, ...more } });
    const first = await asked({ "waybill-debug": VIEWER });
    expect([first.status, shown(first), first.headers.get("cache-control")]).toEqual([
      201,
      DEBUG,
      "max-age=9, no-store",
    ]);
    await first.text();
    const again = await asked({});
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect([shown(again), again.headers.get("cache-control")]).toEqual([[], "max-age=9"]);
  });
});
