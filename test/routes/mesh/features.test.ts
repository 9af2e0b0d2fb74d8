import { expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { GRAPHQL, graphqlOrigin } from "../graphql/world.ts";
import { IDS, publicKeysOf, setUp } from "../harness.ts";
import { BY_AT, type Listed, NEXT, orderId, pagingOrigin } from "../lists/regions.ts";
import { MESH_TABLE, type MeshOptions, NAMES, setUpMesh } from "./mesh.ts";
import { type Asked, observeAll } from "./same.ts";

/** Steps that the first gateway makes are made once, whichever it is. */

const { order } = DECLARED_TABLE.entities;
const withOrder = (more: object, table: object = {}) => ({
  ...MESH_TABLE,
  ...table,
  entities: { ...MESH_TABLE.entities, order: { ...order, ...more } },
});

const CREATE = { key: { country: [{ header: "x-country" }] } };
const json = (body: unknown, headers: Record<string, string> = {}, method = "POST"): RequestInit => ({
  method,
  body: JSON.stringify(body),
  headers: { "content-type": "application/json", ...headers },
});
const created = (request: Request): Response =>
  request.method === "GET" ? new Response("read") : Response.json({}, { status: 201 });

const publicKeys = publicKeysOf(
  JSON.stringify({ sealed: [{ id: "2026", key: btoa("sealed IDs need 32 octets of key") }] }),
);
const internal = (request: Request): Response => {
  const [, , , , id = ""] = request.url.replace("/base", "").split("/");
  return Response.json({ id, at: request.url }, { headers: { location: `/orders/${id}/done`, etag: '"1"' } });
};

const MS = Date.UTC(2026, 0, 1);

const LISTED = Object.fromEntries(
  ["eu", "us", "ap"].map((region, at) => [
    region,
    Array.from({ length: 7 }, (_, index) => ({
      id: orderId(region, MS + 1_000 * index + at, index),
      at: 10 * index + at,
    })),
  ]),
);

const KEYED = { "x-country": "BR", "idempotency-key": "k1" };

const CASES: readonly (readonly [what: string, options: MeshOptions, all: readonly Asked[]])[] = [
  [
    "a create in each region, and a read of what was created",
    { declared: withOrder({ create: CREATE }), origin: created },
    ["BR", "DE", "KZ"].flatMap((country): Asked[] => [
      ["/orders?notify=1", json({ a: 1 }, { "x-country": country })],
      ["/orders/{before}"],
    ]),
  ],
  [
    "a create without its key",
    { declared: withOrder({ create: CREATE }), origin: created },
    [["/orders", json({}, { "x-country": "XX" })]],
  ],
  [
    "a keyed create, its repetition, and another body under its key",
    { declared: withOrder({ create: CREATE }), origin: created },
    [
      ["/orders", json({ a: 1 }, KEYED)],
      ["/orders", json({ a: 1 }, KEYED)],
      ["/orders", json({ a: 2 }, KEYED)],
    ],
  ],
  [
    "a merged list, page by page",
    {
      declared: withOrder({ list: { items: "/items", order: BY_AT, next: NEXT } }),
      origin: pagingOrigin(LISTED, 3),
    },
    [["/orders?limit=5"], ["/orders?limit=21"]],
  ],
  [
    "a list of which a region fails",
    {
      declared: withOrder({ list: { items: "/items", order: BY_AT, next: NEXT } }),
      origin: (request) =>
        request.url.includes("//us.") ? new Response("no", { status: 503 }) : pagingOrigin(LISTED, 3)(request),
    },
    [["/orders?limit=5"]],
  ],
  ["many at once", { origin: internal }, [["/any", json([IDS.orderKz, IDS.orderBr, IDS.orderDe, "nothing"])]]],
  [
    "GraphQL over regions",
    { declared: { ...MESH_TABLE, graphql: GRAPHQL }, origin: graphqlOrigin },
    [
      [
        "/graphql",
        json({ query: `{ a: order(id: "${IDS.orderBr}") { region } b: order(id: "${IDS.orderKz}") { region } }` }),
      ],
      ["/graphql", json({ query: "{ viewer { name } }" }, { "x-home": "us" })],
      ["/graphql", json({ query: `mutation { cancel(id: "${IDS.orderDe}") { id region } }` })],
    ],
  ],
  [
    "requests without an ID",
    {
      declared: {
        ...MESH_TABLE,
        withoutId: { login: { path: "/login", sources: [{ header: "x-home" }, { region: "us" }] } },
      },
    },
    [["/login", json({}, { "x-home": "ap" })], ["/login"], ["/login", json({}, { "x-home": "mars" })]],
  ],
  [
    "fields of each set",
    {
      declared: {
        ...MESH_TABLE,
        entities: {
          ...MESH_TABLE.entities,
          order: { ...order, fields: "full" },
          parcel: { ...MESH_TABLE.entities.parcel, fields: "minimal" },
        },
        layouts: { hotguid: { slices: { partition: { offset: 10, bits: 22, header: "waybill-partition" } } } },
      },
    },
    [[`/orders/${IDS.orderBr}`], [`/parcels/${IDS.parcelUs}`], [`/parcels/${IDS.parcelEu}`]],
  ],
  [
    "forwarding fields of a proxy before the gateway",
    { gateway: { trustsForwarded: true } },
    [
      [
        `/orders/${IDS.orderBr}`,
        {
          headers: {
            "cf-connecting-ip": "203.0.113.9",
            "x-forwarded-for": "192.0.2.1",
            forwarded: "for=192.0.2.1",
            "x-forwarded-host": "shop.example.com",
            "x-forwarded-proto": "https",
            "x-forwarded-port": "443",
          },
        },
      ],
    ],
  ],
  [
    "fields that stop here, and the session of a console",
    {},
    [
      [
        `/orders/${IDS.orderBr}`,
        {
          headers: {
            "waybill-entity-id": "forged",
            "waybill-epoch": "9",
            "x-forwarded-for": "forged",
            "x-real-ip": "forged",
            cookie: "a=b; __Host-waybill-session=secret; c=d",
            authorization: "Bearer app",
            "accept-encoding": "br",
          },
        },
      ],
    ],
  ],
  [
    "answers of each kind",
    {
      origin: (request) => {
        const status = Number(new URL(request.url).searchParams.get("s"));
        const headers = {
          "waybill-region": "forged",
          "set-cookie": "a=b",
          "x-powered-by": "x",
          etag: '"e"',
          connection: "x-hop",
          "x-hop": "1",
        };
        return new Response(status === 204 || status === 304 ? null : "body", { status, headers });
      },
    },
    [200, 201, 204, 206, 301, 304, 400, 404, 409, 429, 500, 503].map(
      (status): Asked => [`/orders/${IDS.orderBr}?s=${status}`],
    ),
  ],
  [
    "a prefix that origins do not get",
    { declared: withOrder({ path: "/api/orders/:id", removePrefix: "/api" }) },
    [[`/api/orders/${IDS.orderBr}?x=/api`]],
  ],
  [
    "a read copy, and a write",
    { declared: withOrder({ readCopies: { clientContinent: { NA: "us", AS: "ap" }, lagSeconds: 30 } }) },
    [
      [`/orders/${IDS.orderDe}`, { cf: { continent: "NA" } as never }],
      [`/orders/${IDS.orderDe}`, { cf: { continent: "AS" } as never }],
      [`/orders/${IDS.orderDe}`, { cf: { continent: "NA" } as never, method: "DELETE" }],
    ],
  ],
  [
    "a move that an origin tells of, and its repetition",
    {
      origin: (request) =>
        request.url.includes("//us.")
          ? new Response("gone", { status: 421, headers: { "waybill-region": "eu" } })
          : new Response("here"),
    },
    [[`/orders/${IDS.orderBr}`], [`/orders/${IDS.orderBr}`]],
  ],
  [
    "origins that disagree",
    {
      origin: (request) =>
        new Response("gone", {
          status: 421,
          headers: { "waybill-region": request.url.includes("//us.") ? "eu" : "us" },
        }),
    },
    [[`/orders/${IDS.orderBr}`]],
  ],
  [
    "moves of the table",
    {
      declared: {
        ...MESH_TABLE,
        moved: { [IDS.orderDe]: { region: "us", epoch: 3 } },
        moves: { [IDS.orderBr]: { from: "us", to: "ap", state: "fenced", epoch: 5 } },
        gone: { [IDS.orderKz]: { epoch: 7 } },
      },
    },
    [
      [`/orders/${IDS.orderDe}`],
      [`/orders/${IDS.orderBr}`],
      [`/orders/${IDS.orderBr}`, { method: "DELETE" }],
      [`/orders/${IDS.orderKz}`],
    ],
  ],
];

it.each(CASES)("%s: one answer", async (_, options, all) => {
  const [alone, ...mesh] = await observeAll(options, all);
  for (const each of mesh) expect(each).toEqual(alone);
});

const PUBLIC = withOrder({ public: true, publicFields: ["/id"], otherBodies: "refuse", create: CREATE });

it("public IDs: one answer, and no entrance shows an internal one", async () => {
  const alone = setUp({ declared: PUBLIC, publicKeys, origin: internal });
  const minted = await alone.request("/mint", json({ entity: "order", country: "BR" }));
  if (minted.status !== 201) throw new Error(await minted.text());
  const { ids } = await minted.json<{ readonly ids: readonly [string] }>();
  const [id] = ids;
  const all: readonly Asked[] = [[`/orders/${id}`], [`/orders/${id}`, { method: "HEAD" }], [`/any/${id}`]];
  const [first, ...mesh] = await observeAll({ declared: PUBLIC, publicKeys, origin: internal }, all);
  expect(first).toMatchObject([
    { status: 200, text: expect.stringContaining(`"id":"${id}"`) },
    { status: 200 },
    { status: 200 },
  ]);
  for (const each of mesh) expect(each).toEqual(first);
});

it.each([
  [
    "none of the region's origins is there",
    () => {
      throw new Error("Network connection lost.");
    },
    502,
  ],
  [
    "its answer is none",
    () => new Response(null, { status: 204, headers: { "content-length": "9", "transfer-encoding": "gzip" } }),
    502,
  ],
] as const)("problems of another gateway show no internal ID: %s", async (_, origin, status) => {
  const alone = setUp({ declared: PUBLIC, publicKeys, origin: internal });
  const minted = await alone.request("/mint", json({ entity: "order", country: "BR" }));
  if (minted.status !== 201) throw new Error(await minted.text());
  const { ids } = await minted.json<{ readonly ids: readonly [string] }>();
  const [first, ...mesh] = await observeAll({ declared: PUBLIC, publicKeys, origin }, [[`/orders/${ids[0]}`]]);
  expect(first).toMatchObject([{ status }]);
  for (const each of mesh as { status: number; text: string; headers: string }[][]) {
    expect(each[0]?.text).toBe((first as { text: string }[])[0]?.text);
    expect(each[0]?.headers).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
  }
});

it("a list that begins at one entrance goes on at another", async () => {
  const declared = withOrder({ list: { items: "/items", order: BY_AT, next: NEXT } });
  const { gateways } = setUpMesh({ declared, origin: pagingOrigin(LISTED, 3) });
  const items: string[] = [];
  let after: string | null = "";
  for (let page = 0; after !== null && page < 30; page++) {
    const { request } = gateways[NAMES[page % NAMES.length] ?? "eu"];
    const response = await request(`/orders?limit=4${after === "" ? "" : `&cursor=${after}`}`);
    const listed: Listed = await response.json();
    items.push(...listed.items.map(({ id }) => id));
    after = listed.next;
  }
  expect(items).toEqual(
    Object.values(LISTED)
      .flat()
      .toSorted((a, b) => a.at - b.at)
      .map(({ id }) => id),
  );
});
