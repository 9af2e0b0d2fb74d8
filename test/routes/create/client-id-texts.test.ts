import { describe, expect, it } from "vitest";
import { distributedId } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { setUp } from "../harness.ts";

/** Texts of one ID that a client brings: hexadecimal has no case (RFC 9562 §4), and some layouts have several forms. */

const NOW_MS = 1_756_893_600_000;
const KEPT = { byClientId: true, keepAnswer: {} };

function world(idempotency: object = {}, nowMs = NOW_MS) {
  const { order } = DECLARED_TABLE.entities;
  const clientId = { header: "x-id", member: "/id", beforeSeconds: 300, afterSeconds: 60 };
  const entities = {
    ...DECLARED_TABLE.entities,
    order: { ...order, create: { key: { country: { value: "DE" } }, idempotency, clientId } },
    event: { path: "/events/:id", ids: [{ layout: "distributed-id" }], create: { idempotency, clientId } },
  };
  return setUp({
    declared: {
      ...DECLARED_TABLE,
      entities,
      routes: [...DECLARED_TABLE.routes, { when: { entity: "event" }, region: "eu" }],
    },
    nowMs,
    origin: () => new Response("made", { status: 201 }),
  });
}

let minted = 0;
/** Another order each time, of now. */
const orderId = (): string => {
  const hex = NOW_MS.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-8009-8040-abcdef${(minted++).toString(16).padStart(6, "0")}`;
};

const inHeader = (id: string, more: object = {}): RequestInit => ({ method: "POST", headers: { "x-id": id, ...more } });
const inBody = (id: string): RequestInit => ({
  method: "POST",
  body: JSON.stringify({ id }),
  headers: { "content-type": "application/json" },
});

describe.each([
  ["a header", inHeader],
  ["the body", inBody],
])("an ID in capitals in %s", (_, post) => {
  it("is canonical in the answer and for the origin", async () => {
    const { request, seen } = world();
    const id = orderId();
    const { status, headers } = await request("/orders", post(id.toUpperCase()));
    expect([status, headers.get("waybill-entity-id"), headers.get("location")]).toEqual([201, id, `/orders/${id}`]);
    expect(seen[0]?.headers.get("waybill-entity-id")).toBe(id);
  });
});

it("an ID as the key is one key in both cases, and after its time too", async () => {
  const id = orderId();
  for (const [text, nowMs] of [
    [id.toUpperCase(), NOW_MS],
    [id, NOW_MS],
    [id.toUpperCase(), NOW_MS + 3_600_000],
  ] as const) {
    const { request, seen } = world(KEPT, nowMs);
    const { status, headers } = await request("/orders", inHeader(text));
    const isFirst = seen.length === 1;
    expect([status, headers.get("idempotent-replayed") === null]).toEqual([201, isFirst]);
    expect([headers.get("waybill-entity-id"), isFirst]).toEqual([id, text !== id && nowMs === NOW_MS]);
  }
});

it("another body with the ID in the other case is refused", async () => {
  const { request, seen } = world(KEPT);
  const id = orderId();
  await request("/orders", inBody(id));
  expect((await request("/orders", inBody(id.toUpperCase()))).status).toBe(422);
  expect(seen).toHaveLength(1);
});

it("a request with a key is the same in both cases", async () => {
  const { request, seen } = world(KEPT);
  const id = orderId();
  const key = { "idempotency-key": crypto.randomUUID() };
  await request("/orders", inHeader(id, key));
  const again = await request("/orders", inHeader(id.toUpperCase(), key));
  expect([again.status, again.headers.get("idempotent-replayed"), seen.length]).toEqual([201, "true", 1]);
});

it("all texts of a layout are one key", async () => {
  const { request, seen } = world(KEPT);
  const mint = await request("/mint", { method: "POST", body: '{"entity":"event"}' });
  const id = (await mint.json<{ ids: string[] }>()).ids[0] ?? "";
  const words = distributedId.parse(id);
  if (!words.ok) throw new Error(id);
  const texts = distributedId.texts.map(({ format }) => format(words.value));
  expect(new Set(texts).size).toBe(4);
  const answers = [];
  for (const text of texts) answers.push(await request("/events", inHeader(text)));
  expect(answers.map(({ status, headers }) => [status, headers.get("idempotent-replayed")])).toEqual(
    texts.map((_, at) => [201, at === 0 ? null : "true"]),
  );
  expect(new Set(answers.map(({ headers }) => headers.get("waybill-entity-id")))).toEqual(new Set([id]));
  expect(seen).toHaveLength(1);
});
