import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { ok } from "../../../src/ids/result.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { TABLE } from "../directory/table.ts";
import { IDS, setUp } from "../harness.ts";
import { listTable, pagingOrigin } from "../lists/regions.ts";

const NOW_MS = Date.UTC(2026, 10, 8, 8, 49, 37);
const DATE = "Sun, 08 Nov 2026 08:49:37 GMT";
const SAFE_FOR_SHARED = /^(?:no-store|no-cache|public, max-age=31536000, immutable)$/;

describe("answers of the gateway's own", () => {
  it("may pass a shared cache, and have a date: every page", async () => {
    const { app, request } = setUp({ nowMs: NOW_MS });
    const pages = app.routes.filter(({ method }) => method !== "ALL");
    expect(pages.length).toBeGreaterThan(40);
    for (const { method, path } of pages) {
      const answer = await request(path.replaceAll(/:\w+(?:\{[^}]*\})?|\*/g, "1"), { method });
      const { headers } = answer;
      const fields = { path, method, cache: headers.get("cache-control"), date: headers.get("date") };
      // RFC 9111 §3, RFC 9110 §6.6.1.
      expect(fields).toEqual({ path, method, cache: expect.stringMatching(SAFE_FOR_SHARED), date: DATE });
      await answer.body?.cancel();
    }
  });

  it.each<[what: string, path: string, init: RequestInit, status: number]>([
    ["the start page", "/", {}, 200],
    ["an unrouted path", "/nothing", {}, 404],
    ["a malformed ID", "/orders/17", {}, 400],
    ["no such page", "/-/nothing", {}, 404],
    ["a wrong method", "/-/health", { method: "PUT" }, 405],
    ["a redirect", "/any/00000023-122e-6d0b-a789-28ef27ab7c62", {}, 307],
    ["a redirect of HEAD", "/any/00000023-122e-6d0b-a789-28ef27ab7c62", { method: "HEAD" }, 307],
    ["a failed origin", `/orders/${IDS.orderKz}`, {}, 502],
    ["a traced request", `/orders/${IDS.orderKz}`, { method: "OPTIONS", headers: { "max-forwards": "0" } }, 204],
  ])("have a date: %s", async (_, path, init, status) => {
    const origin = () => {
      throw new Error("Network connection lost.");
    };
    const answer = await setUp({ nowMs: NOW_MS, origin }).request(path, init);
    expect([answer.status, answer.headers.get("date")]).toEqual([status, DATE]);
    if (status !== 204) expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  it("have a date where origins answered parts", async () => {
    const { request } = setUp({
      nowMs: NOW_MS,
      declared: listTable(),
      origin: pagingOrigin({ eu: [], us: [], ap: [] }, 9),
    });
    const answer = await request("/orders");
    expect([answer.headers.get("date"), answer.headers.get("vary")]).toEqual([DATE, "accept, authorization"]);
  });

  it("leave an origin's date as it is, and add none", async () => {
    const date = "Mon, 09 Nov 2026 08:49:37 GMT";
    const withDate = setUp({ origin: () => new Response("x", { headers: { date } }) });
    expect((await withDate.request(`/orders/${IDS.orderKz}`)).headers.get("date")).toBe(date);
    expect((await setUp().request(`/orders/${IDS.orderKz}`)).headers.get("date")).toBe(null);
  });
});

/** Fields `if-none-match` (RFC 9110 §13.1.2, §8.8.3.2), and whether they name the tag. */
const FIELDS: readonly (readonly [of: (tag: string) => string, isKnown: boolean])[] = [
  [(tag) => tag, true],
  [(tag) => `W/${tag}`, true],
  [(tag) => `"x", ${tag}`, true],
  [(tag) => `"x,y" , W/${tag},`, true],
  [() => "*", true],
  [() => " * ", true],
  [() => '"x"', false],
  [() => 'W/"x"', false],
  [() => "", false],
  [(tag) => tag.replaceAll('"', ""), false],
  [(tag) => `"x${tag.slice(1)}`, false],
  [(tag) => `"\\${tag}`, false],
];

async function expectConditions(path: string, request: ReturnType<typeof setUp>["request"]): Promise<void> {
  const whole = await request(path);
  const text = await whole.text();
  const tag = whole.headers.get("etag") ?? "";
  expect([whole.status, tag]).toEqual([200, expect.stringMatching(/^"[^"]+"$/)]);
  for (const [of, isKnown] of FIELDS) {
    for (const method of ["GET", "HEAD"]) {
      const field = of(tag);
      const answer = await request(path, { method, headers: { "if-none-match": field } });
      expect([field, answer.status]).toEqual([field, isKnown ? 304 : 200]);
      expect(await answer.text()).toBe(isKnown || method === "HEAD" ? "" : text);
      // RFC 9110 §15.4.5.
      for (const name of ["etag", "cache-control", "vary", "waybill-revision"])
        expect(answer.headers.get(name)).toBe(whole.headers.get(name));
      if (isKnown) expect(answer.headers.get("content-type")).toBe(null);
      expect(answer.headers.get("date")).toMatch(/ GMT$/);
    }
  }
}

describe("if-none-match", () => {
  it("of the table and of its revisions", async () => {
    const { request } = setUp();
    const body = JSON.stringify(DECLARED_TABLE);
    const published = await request("/-/table", { method: "PUT", headers: { "if-match": '"0"' }, body });
    expect(published.status).toBe(201);
    await expectConditions("/-/table", request);
    await expectConditions("/-/table/revisions/1", request);
  });

  it("of a directory's key", async () => {
    const { request } = setUp({ declared: TABLE });
    const path = "/-/directory/slug/conditions";
    const owned = { owner: "shop-1", operation: "op-1" };
    await request(path, { method: "PUT", body: JSON.stringify({ ...owned, region: "eu" }) });
    await request(path, { method: "POST", body: JSON.stringify({ ...owned, action: "confirm" }) });
    await expectConditions(path, request);
  });

  it("is of reads alone, and of pages that are there", async () => {
    const { request } = setUp({ declared: TABLE });
    const headers = { "if-none-match": "*" };
    expect((await request("/-/table/check", { method: "POST", body: "{}", headers })).status).toBe(422);
    expect((await request("/-/nothing", { headers })).status).toBe(404);
    expect((await request("/-/directory/slug/absent", { headers })).status).toBe(404);
  });

  it("of a file of the console: each coding has its own", async () => {
    const file = async (name: string) => ({ ok: true, body: new Blob([name]).stream() });
    const { app } = setUp({
      gateway: {
        console: { host: "console.test", isAt: (host: string) => host === "console.test", file } as never,
        authenticate: async () => ok({ name: "anybody", scope: "operator", by: "token" }),
      },
    });
    const get = (fields: Readonly<Record<string, string>>) =>
      app.fetch(
        new Request("http://console.test/-/console/assets/main.ABCDEFG1.js", {
          headers: { host: "console.test", ...fields },
        }),
        env,
        createExecutionContext(),
      );
    const plain = await get({});
    const coded = await get({ "accept-encoding": "gzip" });
    expect([plain, coded].map(({ headers }) => [headers.get("etag"), headers.get("content-encoding")])).toEqual([
      ['"ABCDEFG1"', null],
      ['"ABCDEFG1.gz"', "gzip"],
    ]);
    for (const { headers } of [plain, coded]) expect(headers.get("vary")).toBe("accept-encoding");
    for (const [tag, accept, status] of [
      ['"ABCDEFG1"', "identity", 304],
      ['W/"ABCDEFG1.gz"', "gzip", 304],
      ['"ABCDEFG1"', "gzip;q=0", 304],
      ['"ABCDEFG1"', "gzip", 200],
    ] as const) {
      const answer = await get({ "if-none-match": tag, "accept-encoding": accept });
      expect([tag, accept, answer.status]).toEqual([tag, accept, status]);
      await answer.body?.cancel();
    }
    await plain.body?.cancel();
    await coded.body?.cancel();
  });
});
