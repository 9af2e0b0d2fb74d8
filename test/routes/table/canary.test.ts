import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { sha256 } from "../../../src/edge/table/kv.ts";
import { POINTER_KEY } from "../../../src/formats/kv.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

const { TABLE_KV } = env as Env;

/** Everything to region `us`, and an entity that the table before does not know. */
const NEXT = {
  ...DECLARED_TABLE,
  entities: { ...DECLARED_TABLE.entities, invoice: { path: "/invoices/:id", ids: [{ layout: "iuid", service: 9 }] } },
  routes: [{ when: {}, region: "us" }],
};
const INVOICE = "01990f04-d900-8005-8240-000000000001";

/** Orders of Kazakhstan, which the stable table sends to `ap`. */
const orders = Array.from({ length: 400 }, (_, at) => `01990f04-d900-8005-8040-${at.toString(16).padStart(12, "0")}`);

const send = (method: string, path: string, revision: number, body: unknown = {}) =>
  setUp().request(path, {
    method,
    headers: { "if-match": `"${revision}"` },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** A new isolate, once KV has what the truth says. */
async function isolate(revision: number, canary?: number) {
  await vi.waitFor(
    async () => {
      const status = await (await setUp().request("/-/table/status")).json();
      expect(status).toMatchObject({
        pending: false,
        controlPlane: { revision },
        canary: canary ? { revision: canary } : null,
      });
    },
    { timeout: 20_000, interval: 50 },
  );
  const { request } = setUp();
  return async (path: string, init?: RequestInit) => {
    const headers = new Headers(init?.headers);
    headers.set("waybill-debug", "1");
    const answer = await request(path, { ...init, headers });
    const table = answer.headers.get("waybill-table") ?? "";
    return {
      status: answer.status,
      region: answer.headers.get("waybill-region"),
      table: table.replace(/; source.*/, ""),
    };
  };
}

const start = async (audience: object, expect = 1) =>
  send("POST", "/-/table/canary", expect, { table: NEXT, ...audience });

beforeEach(async () => {
  await reset();
  await send("PUT", "/-/table", 0, DECLARED_TABLE);
});

describe("a canary of the table", () => {
  it("that is nested beyond all measure is refused, and nothing fails", async () => {
    const deep = "[".repeat(50_000) + "]".repeat(50_000);
    const refused = await send("POST", "/-/table/canary", 1, `{"table": {"moved": ${deep}}, "share": 5}`);
    expect([400, 422]).toContain(refused.status);
  });

  it("is the text between the colon and what ends it, octet for octet, and checked as that", async () => {
    const text = ` ${JSON.stringify(NEXT, null, 2)}\n`;
    const bytes = new TextEncoder().encode(text);
    const started = await send("POST", "/-/table/canary", 1, `{"share": 5, "table":${text}, "note": "\\"table\\":"}`);
    expect([started.status, await started.json()]).toMatchObject([
      201,
      { digest: await sha256(bytes), bytes: bytes.length, note: '"table":' },
    ]);
    const faulty = JSON.stringify({ ...NEXT, routes: [{ when: {}, region: 7 }] }).replace("7", "1e400");
    const refused = await problemOf(await send("POST", "/-/table/canary", 2, `{"share":5,"table":${faulty}}`));
    expect(refused).toMatchObject({
      faults: (await problemOf(await send("POST", "/-/table/check", 2, faulty)))["faults"],
    });
    expect(await problemOf(await send("POST", "/-/table/canary", 2, { share: 5 }))).toMatchObject({
      status: 400,
      detail: expect.stringContaining("table"),
    });
  });

  it("has comments, as a published table, that become spaces: what is stored is JSON, and its digest that of the JSON", async () => {
    const text = JSON.stringify(NEXT, null, 2);
    const jsonc = text.replace("{", "{ // why {").replace(/\}$/, ", /* end */ }");
    const plain = text.replace("{", "{         ").replace(/\}$/, "            }");
    const bytes = new TextEncoder().encode(plain);
    const stored = { digest: await sha256(bytes), bytes: bytes.length };
    const started = await send("POST", "/-/table/canary", 1, `{"share": 5, "table":${jsonc}}`);
    expect([started.status, await started.json()]).toMatchObject([201, stored]);
    const published = await send("PUT", "/-/table", 2, jsonc);
    expect([published.status, await published.json()]).toMatchObject([201, { revision: 3, ...stored }]);
    const shown = await setUp().request("/-/table");
    expect([await shown.text(), shown.headers.get("waybill-digest")]).toEqual([plain, stored.digest]);
    const diff = await send("POST", "/-/table/diff", 3, jsonc);
    expect(await diff.json()).toMatchObject({ isEmpty: true });
    expect((await send("POST", "/-/table/check", 3, jsonc.replace("/* end */", "/* end"))).status).toBe(422);
  });

  it("has no note with half of a character, nor has anything else that takes one", async () => {
    const half = '"note": "a\\ud800b"';
    for (const [page, body] of [
      ["canary", `{"share": 5, "table": ${JSON.stringify(NEXT)}, ${half}}`],
      ["rollback", `{"to": 1, ${half}}`],
      ["promote", `{${half}}`],
      ["abort", `{${half}}`],
    ] as const) {
      const refused = await problemOf(await send("POST", `/-/table/${page}`, 1, body));
      expect([page, slug(refused), refused["detail"]]).toEqual([
        page,
        "malformed-request",
        expect.stringContaining("surrogates"),
      ]);
    }
  });

  it("takes its share of the entities, always the same ones, by every text and path of theirs", async () => {
    expect((await start({ share: 20 })).status).toBe(201);
    const ask = await isolate(1, 2);
    const taken = new Set<string>();
    for (const id of orders) {
      const first = await ask(`/orders/${id}`);
      for (const path of [`/orders/${id}`, `/orders/${id.toUpperCase()}/events`, `/any/${id}`])
        expect(await ask(path)).toEqual(first);
      if (first.table === "rev=2; canary") taken.add(id);
      expect(first).toEqual(
        taken.has(id)
          ? { status: 200, region: "us", table: "rev=2; canary" }
          : { status: 200, region: "ap", table: "rev=1" },
      );
    }
    expect(taken.size).toBeGreaterThan(50);
    expect(taken.size).toBeLessThan(115);
    // A canary that grows keeps whom it has, in another isolate too.
    expect((await send("POST", "/-/table/canary", 2, { table: NEXT, share: 60 })).status).toBe(201);
    const later = await isolate(1, 3);
    let more = 0;
    for (const id of orders) {
      const { table } = await later(`/orders/${id}`);
      if (table === "rev=3; canary") more++;
      if (taken.has(id)) expect(table).toBe("rev=3; canary");
    }
    expect(more).toBeGreaterThan(taken.size * 2);
  });

  it("is counted apart from the table beside it, and nothing is counted so without one", async () => {
    const counted = async (request: (path: string) => Promise<Response>) =>
      (await (await request("/-/metrics")).text()).match(/^waybill_canary_(?:requests|responses)_total\{.*$/gm) ?? [];
    const before = setUp();
    await before.request(`/orders/${orders[0]}`);
    expect(await counted(before.request)).toEqual([]);
    await start({ entities: ["invoice"] });
    await isolate(1, 2);
    const { request } = setUp();
    await request(`/invoices/${INVOICE}`);
    for (const id of orders.slice(0, 3)) await request(`/orders/${id}`);
    await request("/orders/no-id");
    // A problem of an own page is no client's.
    await request("/-/ids/no-id");
    expect((await counted(request)).sort()).toEqual([
      'waybill_canary_requests_total{table="canary",result="good"} 1',
      'waybill_canary_requests_total{table="stable",result="error"} 1',
      'waybill_canary_requests_total{table="stable",result="good"} 3',
      'waybill_canary_responses_total{table="canary",class="2xx"} 1',
      'waybill_canary_responses_total{table="stable",class="2xx"} 3',
      'waybill_canary_responses_total{table="stable",class="4xx"} 1',
    ]);
  });

  it("takes the IDs of its countries, and no others", async () => {
    await start({ countries: ["KZ", "DE"] });
    const ask = await isolate(1, 2);
    const regions = async (...paths: string[]) => Promise.all(paths.map(async (path) => (await ask(path)).table));
    expect(await regions(`/orders/${IDS.orderKz}`, `/rides/${IDS.rideKz}`, `/orders/${IDS.orderDe}`)).toEqual(
      Array.from({ length: 3 }, () => "rev=2; canary"),
    );
    expect(await regions(`/orders/${IDS.orderBr}`, `/parcels/${IDS.parcelEu}`)).toEqual(["rev=1", "rev=1"]);
  });

  it("never takes an ID that the table beside it does not know", async () => {
    await start({ share: 100 });
    const ask = await isolate(1, 2);
    expect(await ask(`/orders/${IDS.orderKz}`)).toMatchObject({ region: "us", table: "rev=2; canary" });
    expect(await ask(`/orders/${IDS.orderAq}`)).toMatchObject({ status: 404, table: "rev=1" });
    expect(await ask(`/invoices/${INVOICE}`)).toMatchObject({ status: 404, table: "rev=1" });
  });

  it("takes all of its entities, those that are new with it too", async () => {
    await start({ entities: ["invoice", "order"] });
    const ask = await isolate(1, 2);
    const canary = { status: 200, region: "us", table: "rev=2; canary" };
    for (const path of [`/invoices/${INVOICE}`, `/any/${INVOICE}`, `/orders/${IDS.orderAq}`, `/any/${IDS.orderKz}`]) {
      expect([path, await ask(path)]).toEqual([path, canary]);
    }
    expect(await ask(`/rides/${IDS.rideKz}`)).toMatchObject({ region: "ap", table: "rev=1" });
  });

  it.each([{ share: 100 }, { countries: ["KZ"] }, { entities: ["order"] }])(
    "for %j leaves requests without an ID to the table beside it, wherever they come from",
    async (audience) => {
      const lists = (region: string) => ({ lists: { path: "/orders", sources: [{ region }] } });
      await send("PUT", "/-/table", 1, { ...DECLARED_TABLE, withoutId: lists("eu") });
      await send("POST", "/-/table/canary", 2, { table: { ...NEXT, withoutId: lists("us") }, ...audience });
      const ask = await isolate(2, 3);
      const fromKz = { cf: { country: "KZ" } } as RequestInit;
      expect(await ask("/orders", fromKz)).toEqual({ status: 200, region: "eu", table: "rev=2" });
      expect(await ask(`/orders/${orders[0]}`, fromKz)).toMatchObject({ region: "us", table: "rev=3; canary" });
    },
  );

  it("is shown by the isolate that has it, by KV and by the truth, each as it has it", async () => {
    await isolate(1);
    const before = setUp();
    await before.request("/-/ready");
    await start({ share: 20 });
    await isolate(1, 2);
    const canary = { revision: 2, digest: expect.stringMatching(/^[0-9a-f]{64}$/), share: 20 };
    const late = await (await before.request("/-/table/status")).json();
    expect(late).toMatchObject({ canary, kv: { revision: 1, canary }, isolate: { revision: 1, canary: null } });
    const { request } = setUp();
    expect(await (await request("/-/table/status")).json()).toMatchObject({ isolate: { revision: 1, canary } });
    expect(await (await request("/-/ready")).json()).toMatchObject({ revision: 1, canary });
    await send("POST", "/-/table/abort", 2);
    await isolate(1);
    const after = await (await request("/-/table/status")).json();
    expect(after).toMatchObject({ canary: null, kv: { canary: null }, isolate: { canary } });
  });

  it("becomes the table when it is promoted, and nothing when it is dropped", async () => {
    await start({ share: 50 });
    const published = await send("PUT", "/-/table", 1, DECLARED_TABLE);
    expect([published.status, await problemOf(published)]).toMatchObject([409, { canary: 2 }]);
    for (const [path, revision, reason] of [
      ["/-/table/promote", 1, "canary-running"],
      ["/-/table/abort", 7, "stale-revision"],
    ] as const) {
      expect(slug(await problemOf(await send("POST", path, revision)))).toBe(reason);
    }
    const dropped = await send("POST", "/-/table/abort", 2);
    expect([dropped.status, await dropped.json()]).toMatchObject([200, { revision: 1 }]);
    expect(await (await isolate(1))(`/orders/${orders[0]}`)).toMatchObject({ region: "ap", table: "rev=1" });
    expect(slug(await problemOf(await send("POST", "/-/table/promote", 1)))).toBe("no-canary");

    await start({ share: 50 });
    const promoted = await send("POST", "/-/table/promote", 3, { note: "well" });
    expect([promoted.status, await promoted.json()]).toMatchObject([
      201,
      { revision: 4, kind: "promote", basedOn: 3, note: "well" },
    ]);
    expect(await (await isolate(4))(`/orders/${orders[0]}`)).toMatchObject({ region: "us", table: "rev=4" });
    expect(await TABLE_KV.get(POINTER_KEY, "json")).not.toHaveProperty("canary");
  });

  it("ends with a publish that names it", async () => {
    await start({ share: 50 });
    const made = await send("PUT", "/-/table", 2, NEXT);
    expect(await made.json()).toMatchObject({ revision: 3, kind: "publish" });
    await isolate(3);
  });

  it.each([
    ["nobody", {}],
    ["two audiences", { share: 5, countries: ["KZ"] }],
    ["nothing", { share: 0 }],
    ["more than all", { share: 101 }],
    ["five decimals", { share: 0.00001 }],
    ["no codes", { countries: ["kz"] }],
    ["none", { entities: [] }],
  ])("is not started for %s", async (_, audience) => {
    expect(slug(await problemOf(await start(audience)))).toBe("malformed-request");
  });

  it.each([
    ["a country that the table does not number", { countries: ["FR"] }],
    ["an entity that neither table has", { entities: ["parrot"] }],
  ])("is not started for %s", async (_, audience) => {
    expect(slug(await problemOf(await start(audience)))).toBe("invalid-table");
  });
});
