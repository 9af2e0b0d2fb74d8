import { reset } from "cloudflare:test";
import { beforeEach, expect, it, vi } from "vitest";
import { declaredOf, makePack, RANGES } from "../../edge/pages/files.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, setUp } from "../../routes/harness.ts";
import { sections, shapeOf } from "../shape.ts";

const MOVED = "01990f04-d900-8005-8040-000000000002";
const MOVING = "01990f04-d900-8005-8040-000000000003";
const GONE = "01990f04-d900-8005-8040-000000000004";

const TABLE = {
  ...DECLARED_TABLE,
  moved: { [MOVED]: { region: "us", epoch: 3 } },
  moves: { [MOVING]: { from: "ap", to: "us", state: "fenced", epoch: 2 } },
  gone: { [GONE]: { epoch: 4 } },
  withoutId: { list: { path: "/orders", sources: [{ header: "x-home" }] } },
};
const NEXT = { ...TABLE, routes: [{ when: { layout: "iuid" }, canary: { region: "eu", percent: 50 }, region: "us" }] };

/** Entities that are created by POST: one where GET needs no ID, one below another. */
const CREATING = {
  ...TABLE,
  entities: {
    ...TABLE.entities,
    parcel: {
      ...TABLE.entities.parcel,
      create: {
        key: { shardKey: { header: "x-tenant", values: { acme: 7, bolt: 1500 } } },
        idempotency: { required: true },
        bulk: { array: "/parcels", max: 20 },
      },
    },
    order: {
      ...TABLE.entities.order,
      create: {
        collection: "/parcels/:id/orders",
        key: { country: [{ header: "x-country" }, { clientCountry: true }] },
        clientId: {
          header: "x-order-id",
          beforeSeconds: 300,
          afterSeconds: 60,
          clock: { header: "x-time", skewSeconds: 60 },
        },
      },
    },
  },
  withoutId: { ...TABLE.withoutId, parcels: { path: "/parcels", methods: ["GET"], sources: [{ header: "x-home" }] } },
};

const jsonOf = (value: unknown): string => JSON.stringify(value);
const LOG = [`GET /orders/${IDS.orderKz}`, "/nothing", "/orders", "no request"].join("\n");

beforeEach(() => reset());

it("keeps the OpenAPI document", async () => {
  const answer = await setUp({ declared: CREATING }).request("/-/openapi.json");
  const document = await answer.json();
  expect(answer.status, JSON.stringify(document)).toBe(200);
  await expect(`${JSON.stringify(document, null, 1)}\n`).toMatchFileSnapshot("../snapshots/openapi.json");
});

type Asked = readonly [line: string, revision?: number | undefined, body?: string | Uint8Array<ArrayBuffer>];

/** Requests in their order, the revision that a change is made for, and the body. */
const requests = (sha256: string): readonly Asked[] => [
  ["PUT /-/table", 0, jsonOf({ ...TABLE, default: "mars" })],
  ["PUT /-/table", 7, jsonOf(TABLE)],
  ["PUT /-/table", undefined, jsonOf(TABLE)],
  ["PUT /-/table", 0, jsonOf(TABLE)],
  ["POST /-/table/check", undefined, jsonOf({ ...TABLE, default: "mars" })],
  ["POST /-/table/check", undefined, jsonOf(TABLE)],
  ["POST /-/table/canary", 1, jsonOf({ table: NEXT, share: 5, note: "why" })],
  ["POST /-/table/promote", 2, "{}"],
  ["POST /-/table/canary", 3, jsonOf({ table: TABLE, countries: ["KZ"] })],
  ["POST /-/table/canary", 3, jsonOf({ table: TABLE, entities: ["orders"] })],
  ["PUT /-/table", 3, jsonOf(TABLE)],
  ["GET /-/table/revisions"],
  ["GET /-/table/status"],
  ["GET /-/ready"],
  [`GET /-/ids/${IDS.orderBr}`],
  ["POST /-/table/abort", 4, "{}"],
  ["POST /-/table/rollback", 3, jsonOf({ to: 1 })],
  ["POST /-/table/rollback", 5, jsonOf({ to: 77 })],
  ["GET /-/table/audit"],
  ["GET /-/table/revisions/77"],
  ["GET /-/table/capacity"],
  ["POST /-/table/replay?old=1&new=3", undefined, LOG],
  [`GET /-/table/packs/${sha256}`],
  [`PUT /-/table/packs/${sha256}/0`, undefined, "no page"],
  [`PUT /-/table/packs/${sha256}`, undefined, "no pack"],
  ["GET /-/ready"],
  ["GET /-/health"],
  ["GET /-/regions"],
  ...Object.values(IDS).map((id) => [`GET /-/ids/${id}`] as const),
  ...[MOVED, MOVING, GONE, "x", "01ARZ3NDEKTSV4RRFFQ69G5FAV"].map((id) => [`GET /-/ids/${id}`] as const),
  ["POST /mint", undefined, jsonOf({ entity: "order", country: "KZ", count: 2 })],
  ["POST /mint", undefined, jsonOf({ entity: "order", country: "XX" })],
  ["POST /mint", undefined, jsonOf({ entity: "parcel", shardKey: 4294967296 })],
  ["POST /mint", undefined, "["],
  ["GET /-/idempotency/kept"],
  ["GET /-/idempotency/two%20words"],
  ["GET /orders/x"],
  ["GET /orders"],
  ["GET /nothing"],
  ["GET /-/nothing"],
  ["DELETE /-/ready"],
  ["GET /any/x"],
  [`GET /orders/${IDS.rideKz}`],
  [`GET /orders/${IDS.orderAq}`],
  [`GET /orders/${GONE}`],
  [`POST /orders/${MOVING}`],
];

/** KV has the last change. Each request then finds an isolate of its own, which reads it. */
const untilPublished = () =>
  vi.waitFor(async () => {
    const status = await (await setUp().request("/-/table/status")).json();
    expect(status).toMatchObject({ pending: false });
  }, 20_000);

/** A page's name: what its path holds of one request is left out. */
const pageOf = (line: string): string =>
  line
    .replace(/\?.*/, "")
    .replace(/[0-9a-f]{64}/, "{sha256}")
    .replace(/\/ids\/.*/, "/ids/{id}")
    .replace(/\/idempotency\/.*/, "/idempotency/{key}");

const problemOf = ([problem]: readonly unknown[]): string => String((problem as { readonly type: unknown }).type);

it("keeps the members of JSON answers, problems included", async () => {
  const pack = await makePack(RANGES);
  const answered: Record<string, unknown[]> = {};
  const ask = async (line: string, revision?: number, body?: string | Uint8Array<ArrayBuffer>): Promise<void> => {
    const [method = "", path = ""] = line.split(" ");
    if (!/^(PUT|POST) .-.table/.test(line)) await untilPublished();
    const headers = revision === undefined ? {} : { "if-match": `"${revision}"` };
    const answer = await setUp({ declared: TABLE }).request(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    const isLines = answer.headers.get("content-type") === "application/x-ndjson";
    const values = (isLines ? text.trimEnd().split("\n") : [text]).map((each): unknown => JSON.parse(each));
    const name = answer.status < 400 ? pageOf(line) : problemOf(values);
    answered[name] = [...(answered[name] ?? []), ...values];
  };
  await setUp({ declared: TABLE }).request("/mint", {
    method: "POST",
    headers: { "idempotency-key": "kept" },
    body: jsonOf({ entity: "order", country: "KZ" }),
  });
  for (const [line, revision, body] of requests("0".repeat(64))) await ask(line, revision, body);
  await ask(`PUT /-/table/packs/${pack.sha256}`, undefined, pack.header);
  const shards = declaredOf(pack);
  await ask(
    "POST /-/table/check",
    undefined,
    jsonOf({ ...TABLE, packs: { shards }, routes: [{ when: { layout: "hotguid" }, pack: "shards" }] }),
  );
  await ask("GET /-/table/status");
  const shapes = Object.entries(answered).map(([name, values]) => [name, shapeOf(values)] as const);
  const sorted = shapes.toSorted(([left], [right]) => (left < right ? -1 : 1));
  await expect(sections(Object.fromEntries(sorted))).toMatchFileSnapshot("../snapshots/http-json.txt");
});
