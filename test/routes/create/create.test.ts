import { describe, expect, it } from "vitest";
import { iuid } from "../../../src/ids/index.ts";
import { ok } from "../../../src/ids/result.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, publicKeysOf, setUp, slug } from "../harness.ts";

const COUNTRY = [{ header: "x-country" }, { jwtClaim: "country" }, { clientCountry: true }] as const;

const table = (entities: object, more: object = {}) => ({
  ...DECLARED_TABLE,
  entities: { ...DECLARED_TABLE.entities, ...entities },
  ...more,
});

const order = (create: object = {}, more: object = {}) => ({
  order: { ...DECLARED_TABLE.entities.order, create: { key: { country: COUNTRY }, ...create }, ...more },
});

const created = () => new Response("{}", { status: 201, headers: { "content-type": "application/json" } });
const json = (body: unknown, headers: HeadersInit = {}): RequestInit => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json", ...headers },
});

describe("POST to a collection", () => {
  it("mints an ID for the key and goes to its region", async () => {
    const { request, seen, lines } = setUp({ declared: table(order()), origin: created });
    const response = await request("/orders?notify=1", json({ a: 1 }, { "x-country": "KZ" }));
    const id = response.headers.get("waybill-entity-id") ?? "";
    expect(response.status).toBe(201);
    expect(response.headers.get("location")).toBe(`/orders/${id}`);
    expect(iuid.parse(id)).toMatchObject({ ok: true });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.url).toMatch(/^http:\/\/ap-[12]\.test\/orders\?notify=1$/);
    expect(seen[0]?.method).toBe("POST");
    expect(seen[0]?.body).toBe('{"a":1}');
    expect(seen[0]?.headers.get("waybill-entity-id")).toBe(id);
    expect(lines[0]).toMatchObject({ entity: "order", layout: "iuid", region: "ap", status: 201, outcome: "answered" });
    // The new entity is found from now on, in the same region.
    const read = await request(`/orders/${id}`);
    expect(read.headers.get("waybill-region")).toBe("ap");
  });

  it.each([
    ["the first source that says something", { "x-country": "BR", "cf-ipcountry": "DE" }, "us"],
    ["a later one", {}, "eu"],
  ])("takes the key from %s", async (_, headers, region) => {
    const { request } = setUp({
      declared: table(order()),
      origin: created,
      gateway: { clientOf: () => ({ address: undefined, country: "DE", continent: undefined }) },
    });
    const response = await request("/orders", json({}, headers));
    expect(response.headers.get("waybill-region")).toBe(region);
  });

  it("takes a claim of a verified token only", async () => {
    const verified = setUp({
      declared: table(order()),
      origin: created,
      gateway: { clientClaims: async () => ok({ country: "BR" }) },
    });
    expect((await verified.request("/orders", json({}))).headers.get("waybill-region")).toBe("us");
    const wrong = setUp({
      declared: table(order()),
      gateway: { clientClaims: async () => ({ ok: false, error: { reason: "unauthenticated", why: "wrong" } }) },
    });
    const response = await wrong.request("/orders", json({}, { "x-country": "BR" }));
    expect([response.status, wrong.seen.length]).toEqual([401, 0]);
  });

  it.each([
    ["nothing says the key", {}, "create-key-missing", { field: "country" }],
    ["the country is unknown", { "x-country": "XX" }, "create-key-invalid", { source: "header x-country" }],
    ["the country is written otherwise", { "x-country": "kz" }, "create-key-invalid", {}],
  ])("refuses where %s", async (_, headers, reason, members) => {
    const { request, seen } = setUp({ declared: table(order()) });
    const problem = await problemOf(await request("/orders", json({}, headers)));
    expect(slug(problem)).toBe(reason);
    expect(problem).toMatchObject(members);
    expect(seen).toEqual([]);
  });

  it("takes a shard key by what a header means, and by a member of the body", async () => {
    const tenants = { header: "x-tenant", values: { acme: 7, bolt: 1500 } };
    const parcel = (source: object) => ({
      parcel: { ...DECLARED_TABLE.entities.parcel, create: { key: { shardKey: source } } },
    });
    const byHeader = setUp({ declared: table(parcel(tenants)), origin: created });
    expect((await byHeader.request("/parcels", json({}, { "x-tenant": "bolt" }))).headers.get("waybill-region")).toBe(
      "us",
    );
    for (const tenant of ["other", "7"]) {
      const refused = await byHeader.request("/parcels", json({}, { "x-tenant": tenant }));
      expect(slug(await problemOf(refused))).toBe("create-key-invalid");
    }
    const byMember = setUp({ declared: table(parcel({ member: "/customer/shard" })), origin: created });
    const response = await byMember.request("/parcels", json({ customer: { shard: 12 } }));
    expect(response.headers.get("waybill-region")).toBe("eu");
    expect(byMember.seen[0]?.body).toBe('{"customer":{"shard":12}}');
    for (const [body, reason] of [
      ["{", "malformed-request"],
      ['{"customer":{"shard":1,"shard":2}}', "malformed-request"],
      ['{"customer":{}}', "create-key-missing"],
      ['{"customer":{"shard":1.5}}', "create-key-invalid"],
      ['{"customer":{"shard":[1]}}', "create-key-invalid"],
      ['{"customer":{"shard":9007199254740993}}', "create-key-invalid"],
      ['{"customer":{"shard":4294967296}}', "key-out-of-range"],
    ]) {
      const refused = await byMember.request("/parcels", { ...json({}), body: body as string });
      expect([body, slug(await problemOf(refused))]).toEqual([body, reason]);
    }
    expect(byMember.seen).toHaveLength(1);
  });

  it("keeps what the origin says of the place, and gives none for other statuses", async () => {
    const origin = () => new Response(null, { status: 201, headers: { location: "/elsewhere/1" } });
    const { request } = setUp({ declared: table(order()), origin });
    expect((await request("/orders", json({}, { "x-country": "DE" }))).headers.get("location")).toBe("/elsewhere/1");
    const refusing = setUp({ declared: table(order()), origin: () => new Response("no", { status: 400 }) });
    const refused = await refusing.request("/orders", json({}, { "x-country": "DE" }));
    expect([refused.status, refused.headers.get("location")]).toEqual([400, null]);
  });

  it("streams a body that nothing reads", async () => {
    const { request, seen } = setUp({ declared: table(order()), origin: created });
    const response = await request("/orders", { method: "POST", body: "a=1", headers: { "x-country": "DE" } });
    expect([response.status, seen[0]?.body]).toEqual([201, "a=1"]);
  });

  it("leaves other methods and paths alone", async () => {
    const { request, seen } = setUp({ declared: table(order()) });
    for (const [method, path] of [
      ["GET", "/orders"],
      ["PUT", "/orders"],
      ["POST", "/orders/"],
      ["POST", "/Orders"],
      ["POST", "/%6frders"],
    ] as const) {
      expect((await request(path, { method, headers: { "x-country": "DE" } })).status).not.toBe(201);
    }
    expect(seen).toEqual([]);
    const onId = await request(`/orders/${IDS.orderDe}`, { method: "POST", body: "x" });
    expect(onId.headers.has("waybill-entity-id")).toBe(false);
  });

  it("shows public IDs only", async () => {
    const { request, seen } = setUp({
      declared: table(order({}, { public: true })),
      origin: created,
      publicKeys: publicKeysOf(JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] })),
    });
    const response = await request("/orders", json({}, { "x-country": "KZ" }));
    const shown = response.headers.get("waybill-entity-id") ?? "";
    expect(seen[0]?.headers.get("waybill-entity-id")).not.toBe(shown);
    expect(response.headers.get("location")).toBe(`/orders/${shown}`);
    expect((await request(`/orders/${shown}`)).status).toBe(201);
    expect(seen[1]?.headers.get("waybill-entity-id")).toBe(seen[0]?.headers.get("waybill-entity-id"));
  });
});

describe("a body that is a list", () => {
  it("is refused where one entity is created", async () => {
    const { request, seen } = setUp({ declared: table(order()) });
    const refused = await request("/orders", json([{}, {}], { "x-country": "DE" }));
    expect(slug(await problemOf(refused))).toBe("create-count");
    const lines = json({}, { "x-country": "DE", "content-type": "application/x-ndjson" });
    expect(slug(await problemOf(await request("/orders", lines)))).toBe("create-count");
    expect(seen).toEqual([]);
  });

  it.each([
    ["application/json, application/json"],
    ["text/plain, application/json"],
    ["application/json\t; charset=utf-8"],
    ["text/json"],
    ["application/vnd.a!b+json"],
    ["text/plain, application/x-ndjson"],
    ["application/geo+json-seq"],
  ])("is refused as %j", async (type) => {
    const { request, seen } = setUp({ declared: table(order()) });
    const refused = await request("/orders", json([{}, {}], { "x-country": "DE", "content-type": type }));
    expect([slug(await problemOf(refused)), seen]).toEqual(["create-count", []]);
  });

  it.each([
    ["not UTF-8", new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d])],
    ["UTF-16", new Uint8Array([0x5b, 0, 0x31, 0, 0x5d, 0])],
    ["no JSON", new TextEncoder().encode("[1,2,]")],
  ])("is never taken for one entity where it is %s", async (_, body) => {
    const { request, seen } = setUp({ declared: table(order()), origin: created });
    const refused = await request("/orders", { ...json({}, { "x-country": "DE" }), body });
    expect([slug(await problemOf(refused)), seen]).toEqual(["malformed-request", []]);
    const empty = await request("/orders", { ...json({}, { "x-country": "DE" }), body: new Uint8Array() });
    expect(empty.status).toBe(201);
  });

  it("is given as many IDs as it has items where the table declares it", async () => {
    const { request, seen } = setUp({
      declared: table(order({ bulk: { array: "/orders", max: 3 } })),
      origin: created,
    });
    const response = await request("/orders", json({ orders: [{}, {}, {}] }, { "x-country": "DE" }));
    const ids = response.headers.get("waybill-entity-id")?.split(", ") ?? [];
    expect(new Set(ids).size).toBe(3);
    expect(ids).toEqual(ids.toSorted());
    expect(seen[0]?.headers.get("waybill-entity-ids")).toBe(ids.join(", "));
    expect(response.headers.has("location")).toBe(false);
    for (const body of [{ orders: [] }, { orders: [1, 2, 3, 4] }, { orders: {} }, {}, []]) {
      const refused = await request("/orders", json(body, { "x-country": "DE" }));
      expect(slug(await problemOf(refused))).toBe("create-count");
    }
    const text = json({ orders: [{}] }, { "x-country": "DE", "content-type": "text/plain" });
    expect(slug(await problemOf(await request("/orders", text)))).toBe("create-count");
    expect(seen).toHaveLength(1);
  });
});

describe("a collection below an entity", () => {
  const item = (key: object = { country: { parent: "country" } }) => ({
    item: {
      path: "/items/:id",
      ids: [{ layout: "iuid", service: 9 }],
      create: { collection: "/orders/:id/items", key },
    },
  });

  it("creates in the parent's region", async () => {
    const { request, seen } = setUp({ declared: table(item()), origin: created });
    const response = await request(`/orders/${IDS.orderKz}/items`, json({}));
    const id = response.headers.get("waybill-entity-id") ?? "";
    expect(response.headers.get("waybill-region")).toBe("ap");
    expect(response.headers.get("location")).toBe(`/items/${id}`);
    expect(new URL(seen[0]?.url ?? "").pathname).toBe(`/orders/${IDS.orderKz}/items`);
    expect(iuid.parse(id)).toMatchObject({ ok: true });
    const below = await request(`/orders/${IDS.orderKz}/items/1`, { method: "POST", body: "x" });
    expect(below.headers.has("waybill-entity-id")).toBe(false);
  });

  it("refuses where the parent is elsewhere, or is none", async () => {
    const moved = setUp({ declared: table(item(), { moved: { [IDS.orderKz]: "eu" } }) });
    const problem = await problemOf(await moved.request(`/orders/${IDS.orderKz}/items`, json({})));
    expect([slug(problem), problem["regions"]]).toEqual(["create-regions", ["ap", "eu"]]);
    const { request } = setUp({ declared: table(item()) });
    expect(slug(await problemOf(await request("/orders/nothing/items", json({}))))).toBe("malformed-id");
    expect(moved.seen).toEqual([]);
  });
});

describe("under a split or a canary, new IDs are drawn until they are together", () => {
  const { orderDe, orderBr } = IDS;
  const regions = ["eu", "us", "ap"];
  const item = {
    path: "/items/:id",
    ids: [{ layout: "iuid", service: 9 }],
    create: { collection: "/orders/:id/items", key: { country: { parent: "country" } } },
  };
  const routes = (rest: object) => [
    { when: { entity: "item" }, region: "eu", ...rest },
    { when: { entity: "order", country: "BR" }, region: "us" },
    ...DECLARED_TABLE.routes,
  ];
  const split = { region: undefined, split: { by: "hash", parts: 3, regions } };
  const canary = { canary: { region: "us", percent: 10 } };

  it.each([
    ["a split", split],
    ["a canary", canary],
  ])("with the parent: %s", async (_, rest) => {
    const declared = table({ item }, { routes: routes(rest).map((route) => JSON.parse(JSON.stringify(route))) });
    const { request } = setUp({ declared, origin: created });
    for (const [parent, region] of [
      [orderDe, "eu"],
      [orderBr, "us"],
    ] as const) {
      for (let count = 0; count < 12; count++) {
        const answer = await request(`/orders/${parent}/items`, json({}));
        expect([answer.status, answer.headers.get("waybill-region")]).toEqual([201, region]);
        const id = answer.headers.get("waybill-entity-id");
        expect((await request(`/items/${id}`)).headers.get("waybill-region")).toBe(region);
      }
    }
  });

  it("with each other, where several are created", async () => {
    const bulk = { ...order({ bulk: { array: "/orders", max: 20 } }) };
    const own = [{ when: { entity: "order" }, split: split.split }];
    const { request } = setUp({
      declared: table(bulk, { routes: [...own, ...DECLARED_TABLE.routes.slice(1)] }),
      origin: created,
    });
    for (let count = 0; count < 5; count++) {
      const body = { orders: Array.from({ length: 20 }, () => ({})) };
      const answer = await request("/orders", json(body, { "x-country": "KZ" }));
      expect(answer.status).toBe(201);
      const ids = answer.headers.get("waybill-entity-id")?.split(", ");
      expect([ids?.length, ids]).toEqual([20, ids?.toSorted()]);
    }
  });
});

it("below a parent whose move is fenced, nothing is created", async () => {
  const create = { collection: "/orders/:id/items", key: { shardKey: { value: 7 } } };
  const moves = { [IDS.orderDe]: { from: "eu", to: "us", state: "fenced", epoch: 1 } };
  const declared = table({ parcel: { ...DECLARED_TABLE.entities.parcel, create } }, { moves });
  const { request, seen } = setUp({ declared, origin: created });
  expect(slug(await problemOf(await request(`/orders/${IDS.orderDe}/items`, json({}))))).toBe("entity-moving");
  expect(seen).toEqual([]);
});

describe("a path that an origin may read as a collection", () => {
  const parcel = { collection: "/orders/:id/items", key: { shardKey: { value: 7 } } };
  const declared = table(
    { ...order(), parcel: { ...DECLARED_TABLE.entities.parcel, create: parcel } },
    { withoutId: { rest: { path: "/**", sources: [{ region: "eu" }] } } },
  );

  it.each([
    `/any/${IDS.orderDe}/items`,
    `/orders/${IDS.orderDe}/items/`,
    `/orders/${IDS.orderDe}//items`,
    `/orders/${IDS.orderDe}/%69tems`,
    `/orders/${IDS.orderDe}/items%2f`,
    `/orders/${IDS.orderDe}/items;v=1`,
    `/orders/${IDS.orderDe}/Items`,
    "/orders/",
    "/%6frders",
    "/Orders",
  ])("gets no POST without an ID: %s", async (path) => {
    const { request, seen } = setUp({ declared, origin: created });
    expect(slug(await problemOf(await request(path, json({}))))).toBe("unrouted-path");
    expect(seen).toEqual([]);
    expect((await request(path)).status).toBe(201);
  });
});
