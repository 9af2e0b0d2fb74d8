import { describe, expect, it } from "vitest";
import { err, ok } from "../../../src/ids/result.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { servedBeside, tablesOf } from "../beside.ts";
import { IDS, problemOf, publicKeysOf, setUp, slug } from "../harness.ts";

const PLACES = [
  { query: "order_id" },
  { header: "X-Order-Id", list: true },
  { cookie: "order" },
  { json: "/order/id" },
  { json: "/others", list: true },
  { form: "order" },
  { jwtClaim: "/order" },
] as const;

const withEntity = (idIn: readonly object[], more: object = {}) => ({
  ...DECLARED_TABLE,
  entities: { ...DECLARED_TABLE.entities, order: { ...DECLARED_TABLE.entities.order, idIn, ...more } },
});

const withPath = (idIn: readonly object[] = PLACES, more: object = {}, entities: object = {}) => ({
  ...DECLARED_TABLE,
  entities: { ...DECLARED_TABLE.entities, ...entities },
  withoutId: {
    checkout: {
      path: "/checkout",
      idIn: idIn.map((place) => ({ entity: "order", ...place })),
      sources: [{ header: "x-home" }],
      ...more,
    },
  },
});

const json = (body: unknown, headers: HeadersInit = {}): RequestInit => ({
  method: "POST",
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: { "content-type": "application/json", ...headers },
});

const form = (body: string): RequestInit => ({
  method: "POST",
  body,
  headers: { "content-type": "application/x-www-form-urlencoded" },
});

const { orderKz, orderBr, orderDe, rideKz } = IDS;
/** In the region of `orderBr`. */
const orderUs = orderBr.replace(/1$/, "2");
const claims = (value: object) => ({ gateway: { clientClaims: async () => ok(value as Record<string, unknown>) } });

describe("a name that differs in its case alone is refused, for many servers read it", () => {
  const twoCharsets = { "content-type": "application/json; charset=utf-8; charset=utf-7" };
  it.each([
    ["a query parameter", `/checkout?order_id=${orderBr}&Order_ID=${orderKz}`, {}, "id-unreadable"],
    ["an escaped one", `/checkout?%4Frder_id=${orderKz}`, { headers: { "x-home": "us" } }, "id-unreadable"],
    ["a form field", "/checkout", form(`order=${orderBr}&a=b&ORDER=${orderKz}`), "id-unreadable"],
    ["a member", "/checkout", json({ order: { id: orderBr, Id: orderKz } }), "malformed-request"],
    ["an object with it", "/checkout", json({ Order: { id: orderKz } }, { "x-home": "us" }), "malformed-request"],
    ["one of two charsets", "/checkout", json({ order: { id: orderBr } }, twoCharsets), "id-unreadable"],
  ])("%s", async (_, path, init, problem) => {
    const { request, seen } = setUp({ declared: withPath() });
    expect(slug(await problemOf(await request(path, init)))).toBe(problem);
    expect(seen).toEqual([]);
  });

  it.each([
    ["in a member", "/checkout", json({ "bas\u212aet": orderKz }), "malformed-request"],
    ["escaped in a query", `/checkout?bas%E2%84%AAet=${orderKz}`, {}, "id-unreadable"],
  ])("and so is the Kelvin sign for a k, %s", async (_, path, init, problem) => {
    const { request, seen } = setUp({ declared: withPath([{ query: "basket" }, { json: "/basket" }]) });
    expect(slug(await problemOf(await request(path, { ...init, headers: { "x-home": "us", ...init.headers } })))).toBe(
      problem,
    );
    expect(seen).toEqual([]);
  });

  it("elsewhere it is another name", async () => {
    const { request } = setUp({ declared: withPath() });
    const answer = await request(
      "/checkout?a=ORDER_ID",
      json({ order: { id: orderBr }, a: { Order: 1, ID: 2 }, oder: 1 }),
    );
    expect(answer.headers.get("waybill-region")).toBe("us");
  });
});

describe("a path without an ID goes where the ID of the request belongs", () => {
  it.each([
    ["a query parameter", `/checkout?a=1&order_id=${orderBr}`, {}],
    ["an encoded one", `/checkout?%6frder_id=${orderBr.replace("-", "%2D")}`, {}],
    ["a header", "/checkout", { headers: { "x-order-id": orderBr } }],
    ["a list in a header", "/checkout", { headers: { "x-order-id": `${orderBr}, ${orderBr.toUpperCase()}` } }],
    ["a cookie", "/checkout", { headers: { cookie: `a=b; order=${orderBr}` } }],
    [
      "a cookie of two lines",
      "/checkout",
      {
        headers: [
          ["cookie", "a=b"],
          ["cookie", `order=${orderBr}`],
        ],
      },
    ],
    ["a cookie with another's commas", "/checkout", { headers: { cookie: `a=b,order=${orderDe}; order=${orderBr}` } }],
    ["a member", "/checkout", json({ order: { id: orderBr } })],
    [
      "a member in JSON of another name",
      "/checkout",
      json({ order: { id: orderBr } }, { "content-type": "application/x+json; charset=UTF-8" }),
    ],
    ["an array", "/checkout", json({ others: [orderBr, orderBr] })],
    ["a form field", "/checkout", form(`a=b+c&order=${orderBr}`)],
    [
      "several of them",
      `/checkout?order_id=${orderBr}`,
      json({ order: { id: orderBr } }, { cookie: `order=${orderBr}` }),
    ],
  ])("%s", async (_, path, init) => {
    const { request, seen, lines } = setUp({ declared: withPath() });
    const response = await request(path, init);
    expect([response.status, response.headers.get("waybill-region")]).toEqual([200, "us"]);
    expect(seen[0]?.url).toBe(`http://us.test/base${path}`);
    expect(seen[0]?.headers.get("waybill-entity-id")).toBe(orderBr);
    expect(seen[0]?.body).toBe("body" in init ? init.body : "");
    expect(lines[0]).toMatchObject({ entity: "order", layout: "iuid", region: "us", outcome: "answered" });
  });

  it("a claim of a verified token", async () => {
    const { request } = setUp({ declared: withPath(), ...claims({ order: orderBr }) });
    expect((await request("/checkout")).headers.get("waybill-region")).toBe("us");
  });

  it("and without an ID by its sources", async () => {
    const { request, seen } = setUp({ declared: withPath() });
    const response = await request("/checkout", json({ order: null }, { "x-home": "eu" }));
    expect(response.headers.get("waybill-region")).toBe("eu");
    expect(seen[0]?.headers.get("waybill-entity-id")).toBe(null);
    expect(seen[0]?.body).toBe('{"order":null}');
    const problem = await problemOf(await request("/checkout"));
    expect(slug(problem)).toBe("region-unknown");
    expect(problem["sources"]).toEqual([
      "order in query parameter order_id",
      "order in header x-order-id",
      "order in cookie order",
      "order in member /order/id of the body",
      "order in member /others of the body",
      "order in form field order",
      "order in claim /order of the bearer token",
      "header x-home",
    ]);
  });

  it("or nowhere, where an ID is all that decides", async () => {
    const { request } = setUp({ declared: withPath(PLACES, { sources: [] }) });
    expect(slug(await problemOf(await request("/checkout", { headers: { "x-home": "eu" } })))).toBe("region-unknown");
  });

  it("only by the methods that it declares", async () => {
    const { request, seen } = setUp({ declared: withPath(PLACES, { methods: "POST" }) });
    expect((await request(`/checkout?order_id=${orderBr}`)).status).toBe(405);
    expect(seen).toEqual([]);
  });

  it("is sent on with the deadlines and fields of the path", async () => {
    const declared = withPath(
      PLACES,
      { fields: "full" },
      { order: { ...DECLARED_TABLE.entities.order, fields: "minimal" } },
    );
    const { request, seen } = setUp({ declared });
    await request(`/checkout?order_id=${orderBr}`);
    expect(seen[0]?.headers.get("waybill-layout")).toBe("iuid");
  });
});

describe("IDs beside the path", () => {
  it("of one region go there, and the one in the path counts", async () => {
    const { request, seen } = setUp({ declared: withEntity(PLACES) });
    const other = orderKz.replace(/1$/, "2");
    const response = await request(`/orders/${orderKz}/merge?order_id=${other}`, json({ others: [other] }));
    expect(response.headers.get("waybill-region")).toBe("ap");
    expect(seen[0]?.headers.get("waybill-entity-id")).toBe(orderKz);
    expect(seen[0]?.body).toBe(JSON.stringify({ others: [other] }));
  });

  it("may be of another entity", async () => {
    const declared = withEntity([{ json: "/ride", entity: "ride" }]);
    const { request, seen } = setUp({ declared });
    expect((await request(`/orders/${orderKz}`, json({ ride: rideKz }))).status).toBe(200);
    const problem = await problemOf(await request(`/orders/${orderBr}`, json({ ride: rideKz })));
    expect(slug(problem)).toBe("ids-disagree");
    expect(problem["ids"]).toEqual([
      { place: "path", entity: "order", id: orderBr, region: "us" },
      { place: "member /ride of the body", entity: "ride", id: rideKz, region: "ap" },
    ]);
    expect(seen).toHaveLength(1);
  });

  it("count by /any too", async () => {
    const { request } = setUp({ declared: withEntity(PLACES) });
    expect((await request(`/any/${orderKz}?order_id=${orderKz}`)).status).toBe(200);
    expect(slug(await problemOf(await request(`/any/${orderKz}?order_id=${orderBr}`)))).toBe("ids-disagree");
  });

  it.each([
    ["two places", `/checkout?order_id=${orderBr}`, { headers: { cookie: `order=${orderDe}` } }, "ids-disagree"],
    ["two in a list", "/checkout", { headers: { "x-order-id": `${orderBr},${orderDe}` } }, "ids-disagree"],
    ["two in an array", "/checkout", json({ others: [orderBr, orderDe] }), "ids-disagree"],
    ["a parameter twice", `/checkout?order_id=${orderBr}&order_id=${orderDe}`, {}, "id-unreadable"],
    ["a parameter twice, encoded", `/checkout?order_id=${orderBr}&order%5fid=${orderDe}`, {}, "id-unreadable"],
    ["a cookie twice", "/checkout", { headers: { cookie: `order=${orderBr}; order=${orderDe}` } }, "id-unreadable"],
    [
      "a cookie behind a comma",
      "/checkout",
      { headers: { cookie: `a=1, order=${orderBr}; order=${orderDe}` } },
      "id-unreadable",
    ],
    [
      "two cookie lines with two values",
      "/checkout",
      { headers: { cookie: `order=${orderBr}, order=${orderDe}` } },
      "id-unreadable",
    ],
    ["a field twice", "/checkout", form(`order=${orderBr}&order=${orderDe}`), "id-unreadable"],
    ["a member twice", "/checkout", json(`{"order":{"id":"${orderBr}","id":"${orderBr}"}}`), "malformed-request"],
    ["no ID", "/checkout?order_id=", {}, "malformed-id"],
    ["another text", "/checkout?order_id=17", {}, "malformed-id"],
    ["a broken escape", `/checkout?order_id=%${orderBr}`, {}, "malformed-id"],
    ["an ID of another entity", `/checkout?order_id=${rideKz}`, {}, "wrong-entity"],
    ["an ID and more", `/checkout?order_id=${orderBr}%2Fx`, {}, "malformed-id"],
    ["a good one and a bad one", `/checkout?order_id=${orderBr}`, { headers: { "x-order-id": "x" } }, "malformed-id"],
    ["an object", "/checkout", json({ order: { id: { id: orderBr } } }), "id-unreadable"],
    ["a fraction", "/checkout", json({ order: { id: 1.5 } }), "id-unreadable"],
    ["bad JSON", "/checkout", json(`{"order":{"id":"${orderBr}"}`), "malformed-request"],
    [
      "another type",
      "/checkout",
      { method: "POST", body: "x", headers: { "content-type": "text/plain" } },
      "id-unreadable",
    ],
    ["two types", "/checkout", json({}, { "content-type": "application/json, text/plain" }), "id-unreadable"],
    ["no type", "/checkout", { method: "POST", body: new Uint8Array([1]) }, "id-unreadable"],
    ["a coding", "/checkout", json({}, { "content-encoding": "gzip" }), "id-unreadable"],
    ["a charset", "/checkout", json({}, { "content-type": 'application/json; charset="utf-16"' }), "id-unreadable"],
    [
      "many",
      "/checkout",
      { headers: { "x-order-id": Array.from({ length: 101 }, (_, at) => at).join() } },
      "id-unreadable",
    ],
  ])("that are %s are a problem, and no origin is asked", async (_, path, init, reason) => {
    const { request, seen } = setUp({ declared: withPath() });
    const headers = { "x-home": "eu", ...(init as { headers?: Record<string, string> }).headers };
    const problem = await problemOf(await request(path, { ...init, headers }));
    expect(slug(problem)).toBe(reason);
    expect(seen).toEqual([]);
  });

  it("name the place in the problem", async () => {
    const { request } = setUp({ declared: withPath() });
    const problem = await problemOf(await request("/checkout", json({ order: { id: "x" } })));
    expect(problem).toMatchObject({
      place: "member /order/id of the body",
      detail: 'In the member /order/id of the body: "x" is not an ID of any layout allowed here.',
    });
  });

  it("in a wrong token, or in a claim that is no ID, are a problem", async () => {
    const reasonOf = async (gateway: object, headers: Record<string, string> = {}) => {
      const { request } = setUp({ declared: withPath(), gateway });
      return slug(await problemOf(await request("/checkout", { headers: { "x-home": "eu", ...headers } })));
    };
    const wrong = { clientClaims: async () => err({ reason: "unauthenticated", why: "wrong" }) };
    expect(await reasonOf(wrong)).toBe("unauthenticated");
    expect(await reasonOf({}, { authorization: "Bearer a b" })).toBe("unauthenticated");
    expect(await reasonOf(claims({ order: 1.5 }).gateway)).toBe("id-unreadable");
    expect(await reasonOf(claims({ order: [orderBr] }).gateway)).toBe("id-unreadable");
    expect(await reasonOf(claims({ order: 2 ** 53 }).gateway)).toBe("id-unreadable");
  });

  it("of bodies that no place reads may be passed on", async () => {
    const { request, seen } = setUp({ declared: withEntity([{ json: "/order", otherTypes: "pass" }]) });
    const init = { method: "POST", body: "picture", headers: { "content-type": "image/png" } };
    expect((await request(`/orders/${orderKz}/picture`, init)).status).toBe(200);
    expect(seen[0]?.body).toBe("picture");
  });

  it("that are public are opened, and hidden in problems", async () => {
    const declared = withPath(PLACES, {}, { order: { ...DECLARED_TABLE.entities.order, public: true } });
    const publicKeys = publicKeysOf(JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] }));
    const { gateway, request, seen } = setUp({ declared, publicKeys });
    const served = await gateway.tables.load();
    const entity = served.ok ? served.value.table.entities.get("order") : undefined;
    const shownOf = (id: string): string => {
      const text = gateway.publicIds.show(entity as NonNullable<typeof entity>, id);
      return (text.ok && text.value) || "";
    };
    const response = await request(`/checkout?order_id=${shownOf(orderBr)}`);
    expect(response.headers.get("waybill-region")).toBe("us");
    expect(seen[0]?.headers.get("waybill-entity-id")).toBe(orderBr);
    const problem = await problemOf(
      await request(`/checkout?order_id=${shownOf(orderBr)}`, json({ others: [shownOf(orderDe)] })),
    );
    expect(problem["ids"]).toEqual([
      { place: "query parameter order_id", entity: "order", region: "us" },
      { place: "member /others of the body", entity: "order", region: "eu" },
    ]);
    expect(slug(await problemOf(await request(`/checkout?order_id=${orderBr}`)))).toBe("unknown-id");
    for (const path of [`/orders/${shownOf(orderBr)}/lines`, `/any/${shownOf(orderBr)}`]) {
      const explained = await (
        await request("/-/explain", json({ url: `${path}?order_id=${shownOf(orderDe)}` }))
      ).text();
      expect(JSON.parse(explained).ids[0]).toEqual({
        place: "path",
        entity: "order",
        id: shownOf(orderBr),
        region: "us",
      });
      expect(explained).not.toContain(orderBr);
    }
  });

  it("of several entities follow no origin's word about one of them", async () => {
    const disowned = (request: Request) => {
      const isMoved = new URL(request.url).host.startsWith("us") && request.url.includes(orderBr);
      return isMoved ? new Response(null, { status: 421, headers: { "waybill-region": "eu" } }) : new Response("here");
    };
    const declared = withEntity([{ query: "merge", entity: "order" }]);
    const { request, seen } = setUp({ declared, origin: disowned });
    const regionOf = async (path: string) => {
      const answer = await request(path, { method: "PUT" });
      return answer.headers.get("waybill-region") ?? slug(await problemOf(answer));
    };
    expect(await regionOf(`/orders/${orderBr}?merge=${orderUs}`)).toBe("origins-disagree");
    expect(new URL(seen.at(-1)?.url ?? "").host).toMatch(/^us/);
    // On its own path it is followed, and what it said counts from then on.
    expect(await regionOf(`/orders/${orderBr}?merge=${orderBr}`)).toBe("eu");
    expect(await regionOf(`/orders/${orderBr}?merge=${orderUs}`)).toBe("ids-disagree");
    expect(await regionOf(`/orders/${orderBr}?merge=${orderDe}`)).toBe("eu");
  });

  it("are held to a move: a write is refused while any of them is fenced", async () => {
    const moves = { [orderKz]: { from: "us", to: "eu", state: "fenced", epoch: 1 } };
    const { request, seen } = setUp({ declared: { ...withEntity(PLACES), moves } });
    const path = `/orders/${orderBr}?order_id=${orderKz}`;
    expect(slug(await problemOf(await request(path, { method: "PUT" })))).toBe("entity-moving");
    expect(seen).toEqual([]);
    expect((await request(path)).headers.get("waybill-region")).toBe("us");
  });
});

describe("POST /-/explain", () => {
  // RFC 8259 §4: readers do not agree which of two members counts.
  it.each(['{"url":"/a","url":"/b"}', '{"url":"/a","headers":{"x":"1","x":"2"}}'])("refuses %s", async (body) => {
    const { request } = setUp({ declared: withPath() });
    const answer = await request("/-/explain", { method: "POST", body });
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([
      400,
      expect.stringMatching(/^The body has the key "(url|x)" twice\.$/),
    ]);
  });

  const explain = async (request: object, gateway: object = {}) => {
    const gw = setUp({
      declared: withPath(PLACES, { sources: [{ header: "x-home" }, { host: { "gw.test": "eu" } }] }),
      gateway,
    });
    const response = await gw.request("/-/explain", json(request));
    expect(gw.seen).toEqual([]);
    return { status: response.status, shown: await response.json<Record<string, unknown>>() };
  };

  it("shows every place, its ID and the region, as the gateway decides", async () => {
    const { shown } = await explain({
      method: "POST",
      url: `/checkout?order_id=${orderBr}`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ others: [orderBr.toUpperCase()] }),
    });
    expect(shown).toMatchObject({
      owner: "checkout",
      region: "us",
      ids: [
        { place: "query parameter order_id", entity: "order", id: orderBr, region: "us", layout: "iuid" },
        { place: "member /others of the body", id: orderBr.toUpperCase(), region: "us" },
      ],
    });
    expect(shown["places"]).toHaveLength(7);
  });

  it("reads the token of the request, not of the caller", async () => {
    const clientClaims = async ({ headers }: Request) =>
      ok({ order: headers.get("authorization")?.slice("Bearer ".length) });
    const { shown } = await explain(
      { url: "/checkout", headers: { authorization: `Bearer ${orderKz}` } },
      { clientClaims },
    );
    expect(shown["region"]).toBe("ap");
  });

  it("says which source decides, and which problem there would be", async () => {
    expect((await explain({ url: "/checkout" })).shown).toMatchObject({ region: "eu", source: "the host" });
    const { shown } = await explain({
      url: `/checkout?order_id=${orderBr}`,
      headers: { cookie: [`order=${orderDe}`] },
    });
    expect(shown).toMatchObject({
      problem: { type: "/-/problems/ids-disagree" },
      ids: [{ region: "us" }, { region: "eu" }],
    });
  });

  it.each([[{}], [{ url: "x" }], [{ url: "/", headers: { "a b": "c" } }], [{ url: "/", more: 1 }], [[]]])(
    "refuses %j",
    async (request) => {
      expect((await explain(request)).status).toBe(400);
    },
  );
});

describe("beside a canary", () => {
  const stable = withPath();
  const canary = {
    ...stable,
    routes: DECLARED_TABLE.routes.map((route) =>
      "country" in route.when && route.when.country === "KZ" ? { ...route, region: "us" } : route,
    ),
  };
  const beside = (selector: Parameters<typeof servedBeside>[2]) =>
    setUp({ gateway: { tables: tablesOf(servedBeside(stable, canary, selector)) } });

  it("the table that an ID belongs to decides about it, and the response says so", async () => {
    const { request } = beside({ countries: ["KZ"] });
    const labelOf = async (id: string) => {
      const { headers } = await request(`/checkout?order_id=${id}`, { headers: { "waybill-debug": "1" } });
      return [headers.get("waybill-region"), headers.get("waybill-table")];
    };
    const own = async (id: string) => {
      const { headers } = await request(`/orders/${id}`, { headers: { "waybill-debug": "1" } });
      return [headers.get("waybill-region"), headers.get("waybill-table")];
    };
    for (const id of [orderKz, orderBr, orderDe]) expect(await labelOf(id)).toEqual(await own(id));
    expect(await labelOf(orderKz)).toEqual(["us", "rev=2; canary"]);
  });

  it("IDs of both tables agree by their regions", async () => {
    const { request } = beside({ countries: ["KZ"] });
    const agreeing = await request(`/checkout?order_id=${orderKz}`, json({ others: [orderBr] }));
    expect(agreeing.headers.get("waybill-region")).toBe("us");
    const apart = setUp({ declared: stable });
    const problem = await problemOf(await apart.request(`/checkout?order_id=${orderKz}`, json({ others: [orderBr] })));
    expect(slug(problem)).toBe("ids-disagree");
  });

  it("an entity that is all the canary's is decided there", async () => {
    const { request } = beside({ entities: ["order"] });
    expect((await request(`/checkout?order_id=${orderKz}`)).headers.get("waybill-region")).toBe("us");
  });
});
