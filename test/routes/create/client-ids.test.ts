import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { servedBeside, tablesOf } from "../beside.ts";
import { problemOf, publicKeysOf, setUp, slug } from "../harness.ts";

const NOW_MS = 1_756_893_600_000;
const HOUR_MS = 3_600_000;

/** An iUID of an order in DE, minted at a time. */
const idAt = (ms: number): string => {
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-8009-8040-000000000001`;
};

const declared = (clientId: object = {}, idempotency: object = {}) => ({
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    order: {
      ...DECLARED_TABLE.entities.order,
      create: {
        key: { country: { header: "x-country" } },
        idempotency,
        clientId: { header: "x-order-id", beforeSeconds: 300, afterSeconds: 60, ...clientId },
      },
    },
  },
});

const setUpAt = (clientId: object = {}, idempotency: object = {}, nowMs = NOW_MS) =>
  setUp({ declared: declared(clientId, idempotency), nowMs, origin: () => new Response("", { status: 201 }) });

const ways = {
  "PUT, if-none-match": (id: string, more: object = {}) => [
    `/orders/${id}`,
    { method: "PUT", headers: { "if-none-match": "*", ...more } },
  ],
  "PUT to /any": (id: string, more: object = {}) => [
    `/any/${id}`,
    { method: "PUT", headers: { "if-none-match": "*", ...more } },
  ],
  "POST, header": (id: string, more: object = {}) => [
    "/orders",
    { method: "POST", headers: { "x-order-id": id, ...more } },
  ],
} as const;

it("an old ID is refused by PUT where only the canary's table creates", async () => {
  const served = servedBeside(DECLARED_TABLE, declared(), { entities: ["order"] });
  const { request, seen } = setUp({ gateway: { tables: tablesOf(served) }, nowMs: NOW_MS });
  const [path, init] = ways["PUT, if-none-match"](idAt(NOW_MS - HOUR_MS));
  expect((await problemOf(await request(path as string, init as RequestInit)))["status"]).toBe(422);
  expect(seen).toEqual([]);
});

describe.each(Object.entries(ways))("an ID that a client brings by %s", (_, way) => {
  const send = (world: ReturnType<typeof setUpAt>, id: string, more?: object) => {
    const [path, init] = way(id, more) as [string, RequestInit];
    return world.request(path, init);
  };

  it.each([0, -300_000, 60_000])("is taken %i ms from now", async (ms) => {
    const world = setUpAt();
    const id = idAt(NOW_MS + ms);
    const response = await send(world, id);
    expect([response.status, response.headers.get("waybill-region")]).toEqual([201, "eu"]);
    expect(world.seen[0]?.headers.get("waybill-entity-id")).toBe(id);
  });

  it.each([
    ["too old", -300_001],
    ["of years ago", -15 * 365 * 24 * HOUR_MS],
    ["too new", 60_001],
    ["of a clock that is 25 hours fast", 25 * HOUR_MS],
    ["of next year", 366 * 24 * HOUR_MS],
  ])("is refused where it is %s", async (_name, ms) => {
    const world = setUpAt();
    const response = await send(world, idAt(NOW_MS + ms));
    const problem = await problemOf(response);
    expect([slug(problem), problem["status"]]).toEqual(["stale-client-id", 422]);
    expect(JSON.stringify(problem)).toContain(new Date(NOW_MS).toISOString());
    expect(world.seen).toEqual([]);
  });

  it("is measured by the client's own clock, within the cap", async () => {
    const clock = { clock: { header: "x-time", skewSeconds: 7200 } };
    const sentAt = NOW_MS - HOUR_MS;
    const world = setUpAt(clock);
    expect((await send(world, idAt(sentAt), { "x-time": String(sentAt) })).status).toBe(201);
    expect(slug(await problemOf(await send(world, idAt(sentAt))))).toBe("stale-client-id");
    expect(slug(await problemOf(await send(world, idAt(NOW_MS), { "x-time": String(sentAt) })))).toBe(
      "stale-client-id",
    );
    const far = NOW_MS - 3 * HOUR_MS;
    expect(slug(await problemOf(await send(world, idAt(far), { "x-time": String(far) })))).toBe("stale-client-id");
    for (const time of ["", "soon", "-1", "1e12", "1.5"]) {
      expect(slug(await problemOf(await send(world, idAt(NOW_MS), { "x-time": time })))).toBe("malformed-request");
    }
    expect(world.seen).toHaveLength(1);
  });
});

it("never holds entities that exist to the clock", async () => {
  const old = idAt(NOW_MS - 1000 * HOUR_MS);
  const { request, seen } = setUpAt({ createFlag: "x-create" });
  for (const [method, headers] of [
    ["GET", {}],
    ["PUT", {}],
    ["PUT", { "if-none-match": '"1"' }],
    ["PATCH", { "if-none-match": "*" }],
    ["POST", { "x-create": "1" }],
  ] as const) {
    expect((await request(`/orders/${old}`, { method, headers })).status).toBe(201);
  }
  const flagged = await request(`/orders/${old}`, { method: "PUT", headers: { "x-create": "1" } });
  expect([flagged.status, seen.length]).toEqual([422, 5]);
});

it("never holds an entity to the clock for what is created below it", async () => {
  const old = idAt(NOW_MS - 1000 * HOUR_MS);
  const { request, seen } = setUpAt();
  const headers = { "if-none-match": "*" };
  for (const path of [`/orders/${old}/notes/1`, `/any/${old}/notes/1`]) {
    expect((await request(path, { method: "PUT", headers })).status).toBe(201);
  }
  for (const path of [`/orders/${old}`, `/orders/${old}/`, `/any/${old}`, `/any/${old}/`]) {
    expect((await request(path, { method: "PUT", headers })).status).toBe(422);
  }
  expect(seen).toHaveLength(2);
});

it("reads the ID from the body, and refuses two that differ", async () => {
  const { request, seen } = setUpAt({ member: "/id" });
  const id = idAt(NOW_MS);
  const post = (body: object, headers: object = {}) =>
    request("/orders", {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  const response = await post({ id });
  expect([response.headers.get("waybill-entity-id"), response.headers.get("location")]).toEqual([id, `/orders/${id}`]);
  expect((await post({ id }, { "x-order-id": id })).status).toBe(201);
  expect(slug(await problemOf(await post({ id }, { "x-order-id": idAt(NOW_MS + 1) })))).toBe("malformed-request");
  for (const wrong of ["", "x", 7, {}, idAt(NOW_MS).replace("-8040-", "-8080-")]) {
    const problem = await problemOf(await post({ id: wrong }));
    expect([wrong, slug(problem)]).toEqual([
      wrong,
      expect.stringMatching(/^(?:malformed-id|unrouted-path|wrong-entity|unknown-id)$/),
    ]);
  }
  expect(seen).toHaveLength(2);
});

it("is not judged again where a key knows it", async () => {
  const clock = { nowMs: NOW_MS };
  const { request, seen } = setUp({
    declared: declared({}, { keepAnswer: {} }),
    origin: () => new Response("", { status: 201 }),
    gateway: { clock: { nowMs: () => clock.nowMs } },
  });
  const post = (id: string, key: string) =>
    request("/orders", { method: "POST", headers: { "x-order-id": id, "idempotency-key": key } });
  const known = `late-${Date.now()}`;
  const unknown = `never-${Date.now()}`;
  expect((await post(idAt(NOW_MS), known)).status).toBe(201);
  clock.nowMs = NOW_MS + HOUR_MS;
  const late = await post(idAt(NOW_MS), known);
  expect([late.status, late.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  for (let at = 0; at < 2; at++) expect((await post(idAt(NOW_MS), unknown)).status).toBe(422);
  expect(seen).toHaveLength(1);
});

it("stands for the key where the table says so", async () => {
  const { request, seen } = setUpAt({}, { byClientId: true, keepAnswer: {} });
  const id = idAt(NOW_MS + (Date.now() % 50_000));
  const post = () => request("/orders", { method: "POST", headers: { "x-order-id": id } });
  const answers = [await post(), await post()];
  expect(answers.map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
  expect(seen).toHaveLength(1);
});

describe("a retry", () => {
  const id = idAt(NOW_MS);
  const post = (key: string | undefined, own = id): RequestInit => ({
    method: "POST",
    headers: { "x-order-id": own, ...(key !== undefined && { "idempotency-key": key }) },
  });

  it("by the ID alone gets its answer when the ID is not of now any more", async () => {
    const kept = { keepAnswer: {}, byClientId: true };
    const first = await setUpAt({}, kept).request("/orders", post(undefined));
    const later = setUpAt({}, kept, NOW_MS + HOUR_MS);
    const second = await later.request("/orders", post(undefined));
    expect([first.status, second.status, second.headers.get("idempotent-replayed")]).toEqual([201, 201, "true"]);
    const fresh = await later.request("/orders", post(undefined, idAt(NOW_MS + 1)));
    expect([slug(await problemOf(fresh)), later.seen]).toEqual(["stale-client-id", []]);
  });

  it("has the same ID that is not of now any more where nothing was kept", async () => {
    await setUpAt().request("/orders", post("k-1"));
    const later = setUpAt({}, {}, NOW_MS + HOUR_MS);
    const second = await later.request("/orders", post("k-1"));
    expect([second.status, later.seen[0]?.headers.get("waybill-entity-id")]).toEqual([201, id]);
  });

  it("with the same key and another ID is another request", async () => {
    const { request, seen } = setUpAt({}, { keepAnswer: {} });
    await request("/orders", post("k-1"));
    const other = await request("/orders", post("k-1", idAt(NOW_MS + 1)));
    expect([slug(await problemOf(other)), seen.length]).toEqual(["idempotency-key-mismatch", 1]);
  });
});

describe("what a POST brings as its ID", () => {
  const US = idAt(NOW_MS).replace("8009", "8007");

  it.each(["/items", "/", `/,${US}`, "/\r\nx: y", "/../../rides"])("is refused with %j behind it", async (more) => {
    for (const headers of [{}, { "idempotency-key": `behind-${more.length}` }]) {
      const { request, seen } = setUpAt({ member: "/id" });
      const body = JSON.stringify({ id: idAt(NOW_MS) + more });
      const init = { method: "POST", body, headers: { "content-type": "application/json", ...headers } };
      expect([slug(await problemOf(await request("/orders", init))), seen]).toEqual(["malformed-id", []]);
    }
  });

  it("is shown as the client wrote it where the entity has public IDs", async () => {
    const keys = JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] });
    const world = (nowMs: number) => {
      const { entities, ...table } = declared();
      const order = { ...entities.order, public: true };
      const publicKeys = publicKeysOf(keys);
      return setUp({ declared: { ...table, entities: { ...entities, order } }, nowMs, publicKeys });
    };
    const minted = await world(NOW_MS).request("/orders", { method: "POST", headers: { "x-country": "DE" } });
    const id = minted.headers.get("waybill-entity-id") ?? "";
    const later = world(NOW_MS + HOUR_MS);
    for (const way of Object.values(ways)) {
      const [path, init] = way(id) as [string, RequestInit];
      const refused = await later.request(path, init);
      expect(await problemOf(refused.clone())).toMatchObject({ id });
      expect(await refused.text()).not.toMatch(/8009-8|idTime|made at/);
    }
  });
});
