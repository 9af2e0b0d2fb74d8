import { describe, expect, it } from "vitest";
import { type Layout, layoutNamed, textsOf } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, publicKeysOf, setUp } from "../harness.ts";

const key = (byte: string): string => btoa(byte.repeat(32));
const publicKeys = publicKeysOf(
  JSON.stringify({ sealed: [{ id: "s", key: key("s") }], compatible: [{ id: "c", key: key("c") }] }),
);

const json = (body: unknown) => new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });

/** A gateway with one public entity, and a public ID of it with the internal one. */
async function withTicket(ids: object, kind: unknown, changeRequest: object, origin: (internal: string) => Response) {
  const { request, seen } = setUp({
    declared: {
      regions: DECLARED_TABLE.regions,
      entities: { ticket: { path: "/tickets/:id", ids: [ids], public: kind, publicFields: ["/id", "/others/*"] } },
      routes: [{ when: { entity: "ticket" }, region: "eu" }],
    },
    publicKeys,
    origin: ({ url }) => origin(url.split("/")[4] ?? ""),
  });
  const minted = await request("/mint", {
    method: "POST",
    body: JSON.stringify({ entity: "ticket", ...changeRequest }),
  });
  const { ids: texts } = await minted.json<{ readonly ids: readonly [string] }>();
  return { request, seen, id: texts[0] };
}

const named = (name: string): Layout => {
  const layout = layoutNamed(name);
  if (layout === undefined) throw new Error(`no layout ${name}`);
  return layout;
};

describe("an internal ID in an answer", () => {
  it.each([
    ["distributed-id", { as: "uint128", form: "uuid" }, {}, 4],
    ["distributed-id", { as: "decimal", form: "base62" }, {}, 4],
    ["flake-id", { as: "ulong", form: "base62" }, { fields: { datacenter: 1, worker: 2 } }, 2],
  ] as const)("of layout %s as %j is made public in every text", async (layoutName, kind, changeRequest, count) => {
    const layout = named(layoutName);
    const { request, id } = await withTicket({ layout: layoutName }, kind, changeRequest, (internal) => {
      const words = layout.parse(internal);
      if (!words.ok) throw new Error(`${internal} is no ID`);
      return json({ id: internal, others: Object.values(textsOf(layout, words.value)) });
    });
    const body = await (await request(`/tickets/${id}`)).json<{ id: string; others: string[] }>();
    expect(body).toEqual({ id, others: Array<string>(count).fill(id) });
  });

  it("that is a primary key alone is not shown", async () => {
    const origin = (internal: string) =>
      json({ id: internal, others: ["23122e", "1", 7, 281474976710655, "none", ""] });
    const { request, id } = await withTicket({ layout: "luuid", class: "com.example.Person" }, true, {}, origin);
    expect(await (await request(`/tickets/${id}`)).json()).toEqual({
      id,
      others: [null, null, null, null, "none", ""],
    });
  });
});

describe("a reference in an answer", () => {
  const declared = {
    regions: { eu: { origins: [{ url: "http://eu.test/base/v2" }] } },
    countries: { KZ: 5 },
    entities: {
      order: { path: ["/orders/:id", "/t/*/orders/:id"], ids: [{ layout: "iuid", service: 1 }], public: true },
      ride: { path: "/rides/:id", ids: [{ layout: "iuid", service: 2 }] },
      person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }], public: true },
      box: { path: "/boxes/:id", ids: [{ layout: "hotguid" }], public: true },
      crate: { path: "/crates/:id", ids: [{ layout: "hotguid" }] },
    },
    routes: [{ when: {}, region: "eu" }],
  };

  it("of an entity that is not public names a public one as clients know it", async () => {
    const headers = { location: `/orders/${IDS.orderKz}/notes/1`, "content-location": "/rides/1", etag: '"1"' };
    const { request } = setUp({ declared, publicKeys, origin: () => new Response("made", { status: 201, headers }) });
    const answer = await request(`/rides/${IDS.rideKz}`, { method: "POST" });
    const location = answer.headers.get("location") ?? "";
    expect([await answer.text(), answer.status, answer.headers.get("etag")]).toEqual(["made", 201, '"1"']);
    expect([location.includes(IDS.orderKz), location]).toEqual([
      false,
      expect.stringMatching(/^\/orders\/.+\/notes\/1$/),
    ]);
    expect((await request(location)).status).toBe(201);
    expect(answer.headers.get("content-location")).toBe("/rides/1");
  });

  /** The rewritten `location`, in which `I` stands for the internal and `P` for the public ID of the order. */
  async function locationOf(reference: string, prefix: string): Promise<string | null> {
    let internal = "";
    const { request } = setUp({
      declared,
      publicKeys,
      origin: ({ url }) => {
        internal = url.split("/")[6] ?? "";
        const headers = { location: reference.replaceAll("$I", internal), "content-location": "/no/id" };
        return new Response(null, { status: 201, headers });
      },
    });
    const changeRequest = { method: "POST", body: JSON.stringify({ entity: "order", country: "KZ" }) };
    const { ids } = await (await request("/mint", changeRequest)).json<{ readonly ids: readonly [string] }>();
    const { headers, status } = await request(`${prefix}${ids[0]}/x`, { redirect: "manual" });
    expect([status, headers.get("content-location")]).toEqual([201, "/no/id"]);
    expect(internal).toMatch(/^[0-9a-f-]{36}$/);
    return headers.get("location")?.replaceAll(ids[0], "$P").replaceAll(internal, "$I") ?? null;
  }

  const parcel = IDS.parcelEu;
  it.each([
    ["/orders/$I", "/orders/$P"],
    ["/orders/$I/events/$I?after=$I#$I", "/orders/$P/events/$P?after=$P#$P"],
    ["/base/v2/orders/$I/x", "/base/v2/orders/$P/x"],
    ["http://eu.test/base/v2/orders/$I/x", "http://eu.test/base/v2/orders/$P/x"],
    ["//gw.test/orders/$I", "//gw.test/orders/$P"],
    ["http://user:word@gw.test/orders/$I", "http://user:word@gw.test/orders/$P"],
    ["myapp://open/orders/$I", "myapp://open/orders/$P"],
    ["/x/../orders/./$I", "/x/../orders/./$P"],
    ["../$I", "../$P"],
    ["$I/next", "$P/next"],
    ["/any/$I", "/any/$P"],
    ["/elsewhere/$I.json", "/elsewhere/$P.json"],
    ["/t/$I/orders/$I", "/t/$P/orders/$P"],
    ["/orders/$I, /orders/$I", "/orders/$P, /orders/$P"],
    ["?page=2", "?page=2"],
    ["/other/%7Bid-1}", "/other/%7Bid-1}"],
    [`/rides/${IDS.rideKz}?from=$I`, `/rides/${IDS.rideKz}?from=$P`],
    [`/crates/${parcel}`, `/crates/${parcel}`],
    ["http://[", "http://["],
  ])("%s becomes %s", async (reference, expected) => {
    expect(await locationOf(reference, "/orders/")).toBe(expected);
    expect(await locationOf(reference, "/any/")).toBe(expected);
  });

  it.each([
    ["an internal ID that is written with escapes", `/orders/%30${IDS.orderKz.slice(1)}`],
    ["one that may be of several entities", `/elsewhere/${parcel}`],
    ["a primary key", "/person/23122e"],
    ["a primary key through a base path", "/base/v2/person/1"],
  ])("is not shown with %s", async (_, reference) => expect(await locationOf(reference, "/orders/")).toBeNull());

  it("is made public for the entity that its path names, where several might have the ID", async () => {
    expect(await locationOf(`/boxes/${parcel}`, "/orders/")).toMatch(/^\/boxes\/[0-9A-Za-z]{44}$/);
  });
});
