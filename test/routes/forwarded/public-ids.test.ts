import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, publicKeysOf, setUp, slug } from "../harness.ts";

const KEYS = JSON.stringify({
  sealed: [
    { id: "2026", key: btoa("sealed IDs need 32 octets of key") },
    { id: "2025", key: btoa("an older key, which is still read") },
  ].map(({ id, key }) => ({ id, key: btoa(atob(key).slice(0, 32)) })),
});

const publicKeys = publicKeysOf(KEYS);

const declared = {
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    order: {
      path: "/orders/:id",
      ids: [{ layout: "iuid", service: 1 }],
      public: true,
      publicFields: ["/id", "/related/*", { path: "/ride/id", entity: "ride" }],
      otherBodies: "refuse",
    },
    ride: { path: "/rides/:id", ids: [{ layout: "iuid", service: 2 }], public: { as: "guid", form: "uuid" } },
    person: { ...DECLARED_TABLE.entities.person, public: true, any: "redirect" },
  },
};

const onlyOrders = {
  ...declared,
  entities: {
    ...declared.entities,
    order: { ...declared.entities.order, publicFields: ["/id", "/related/*"] },
    ride: DECLARED_TABLE.entities.ride,
  },
};

const json = (body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { headers: { "content-type": "application/json", ...headers } });

async function mint(request: ReturnType<typeof setUp>["request"], changeRequest: object): Promise<string> {
  const response = await request("/mint", { method: "POST", body: JSON.stringify(changeRequest) });
  const { ids } = await response.json<{ readonly ids: readonly [string] }>();
  return ids[0];
}

describe("an entity whose IDs are public", () => {
  it("is minted, found and answered by public IDs only; the origin sees internal ones only", async () => {
    const { request, seen } = setUp({
      declared: onlyOrders,
      publicKeys,
      origin: ({ url }) => {
        const internal = url.split("/")[4] ?? "";
        return json(
          { id: internal, related: [internal, IDS.orderBr], note: internal, total: 3 },
          { location: `/orders/${internal}/done?x=1`, "content-location": `http://eu.test/orders/${internal}` },
        );
      },
    });
    const id = await mint(request, { entity: "order", country: "DE" });
    expect(id).toMatch(/^[0-9A-Za-z]{44}$/);
    for (const path of [`/orders/${id}/events?limit=2`, `/any/${id}/events?limit=2`]) {
      const response = await request(path, { redirect: "manual" });
      expect(response.status).toBe(200);
      expect(response.headers.get("waybill-region")).toBe("eu");
      expect(response.headers.get("location")).toBe(`/orders/${id}/done?x=1`);
      expect(response.headers.get("content-location")).toBe(`http://eu.test/orders/${id}`);
      const body = await response.json<{ id: string; related: string[]; note: string; total: number }>();
      expect(body.id).toBe(id);
      expect(body.related[0]).toBe(id);
      expect(body.related[1]).toMatch(/^[0-9A-Za-z]{44}$/);
      expect(body.total).toBe(3);
    }
    for (const one of seen) {
      expect(one.url).toMatch(/^http:\/\/eu\.test\/orders\/[0-9a-f-]{36}\/events\?limit=2$/);
      expect(one.headers.get("waybill-entity-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(one.headers.get("accept-encoding")).toBe("identity");
    }
  });

  it.each([
    ["an internal ID", `/orders/${IDS.orderDe}`],
    ["an internal ID through /any", `/any/${IDS.orderDe}`],
    ["an internal ID of an unassigned country through /any", `/any/${IDS.orderAq}`],
    ["a text that no key made", `/orders/${"A".repeat(43)}0`],
    ["half a public ID", "/orders/0123456789abcdef"],
    ["a person's short key", "/person/23122e"],
    ["a short key through /any", "/any/23122e"],
    ["half a public ID through /any", "/any/0123456789abcdef"],
    ["a text that no key made through /any", `/any/${"A".repeat(43)}0`],
    ["a text that is much too long through /any", `/any/${"A".repeat(600)}`],
    ["an iUID of nobody through /any", "/any/01990f04-d900-8005-803f-c00000000001"],
  ])("%s is unknown, with nothing that tells why", async (_, path) => {
    const { request, seen } = setUp({ declared: onlyOrders, publicKeys });
    const response = await request(path);
    const problem = await problemOf(response);
    expect([response.status, slug(problem), problem["candidates"]]).toEqual([404, "unknown-id", []]);
    // One sentence for all of them, and nothing more.
    expect(problem["detail"]).toBe(`"${problem["id"]}" matches no entity in the routing table.`);
    expect(Object.keys(problem).toSorted()).toEqual(["candidates", "detail", "id", "status", "title", "type"]);
    expect(seen).toEqual([]);
  });

  it("an ID sealed for one entity is unknown to another", async () => {
    const { request } = setUp({ declared: onlyOrders, publicKeys });
    const id = await mint(request, { entity: "order", country: "DE" });
    expect(slug(await problemOf(await request(`/person/${id}`)))).toBe("unknown-id");
  });

  it("a key that goes nowhere is unknown too", async () => {
    const open = { ...onlyOrders, default: "us" };
    const { request } = setUp({ declared: open, publicKeys });
    const id = await mint(request, { entity: "order", country: "AQ" });
    const closed = setUp({ declared: onlyOrders, publicKeys });
    expect(slug(await problemOf(await closed.request(`/orders/${id}`)))).toBe("unknown-id");
  });

  it("neither an ID that cannot be minted is shown, nor what it would carry", async () => {
    const { request } = setUp({ declared: onlyOrders, publicKeys });
    const changeRequest = { method: "POST", body: JSON.stringify({ entity: "order", country: "AQ" }) };
    const problem = await problemOf(await request("/mint", changeRequest));
    expect(slug(problem)).toBe("unassigned-key");
    expect(problem).not.toHaveProperty("id");
    expect(problem).not.toHaveProperty("key");
  });

  it("an older key still reads, and a removed one does not", async () => {
    const [newest, older] = publicKeys.sealed;
    if (newest === undefined || older === undefined) throw new Error("two keys");
    const before = setUp({ declared: onlyOrders, publicKeys: { ...publicKeys, sealed: [older] } });
    const id = await mint(before.request, { entity: "order", country: "DE" });
    const origin = () => json({});
    const rotated = setUp({ declared: onlyOrders, publicKeys, origin });
    expect((await rotated.request(`/orders/${id}`)).status).toBe(200);
    const removed = setUp({ declared: onlyOrders, publicKeys: { ...publicKeys, sealed: [newest] }, origin });
    expect(slug(await problemOf(await removed.request(`/orders/${id}`)))).toBe("unknown-id");
  });

  it("is redirected by its public ID where the entity says so", async () => {
    const { request } = setUp({ declared: onlyOrders, publicKeys });
    const id = await mint(request, { entity: "person" });
    const response = await request(`/any/${id}/photo?s=1`, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([307, `/person/${id}/photo?s=1`]);
  });
});

describe("a compatible kind whose numbers hold a layout that fixed bits keep small", () => {
  const keys = publicKeysOf(JSON.stringify({ compatible: [{ id: "2026", key: btoa("k".repeat(32)) }] }));
  it.each([
    ["distributed-id", { as: "decimal", form: "uuid" }, /^\d{28}$/, {}],
    ["snowflake", { as: "long", form: "base62" }, /^\d{19}$/, { fields: { datacenter: 1, worker: 2 } }],
    ["sonyflake", { as: "long", form: "hex" }, /^\d{18}$/, { fields: { machine: 7 } }],
  ] as const)("%s as %j goes there and back", async (layout, kind, internal, changeRequest) => {
    const { request, seen } = setUp({
      declared: {
        regions: DECLARED_TABLE.regions,
        entities: { ticket: { path: "/tickets/:id", ids: [{ layout }], public: kind, publicFields: ["/id"] } },
        routes: [{ when: { entity: "ticket" }, region: "eu" }],
      },
      publicKeys: keys,
      origin: ({ url }) => json({ id: url.split("/")[4] }),
    });
    const id = await mint(request, { entity: "ticket", ...changeRequest });
    for (const path of [`/tickets/${id}`, `/any/${id}`]) {
      const response = await request(path);
      expect([response.status, await response.json()]).toEqual([200, { id }]);
    }
    for (const { url } of seen) expect(url.split("/")[4]).toMatch(internal);
  });
});

describe("an answer that cannot be turned", () => {
  const answers: [string, () => Response][] = [
    ["no JSON", () => new Response("<p>id</p>", { headers: { "content-type": "text/html" } })],
    ["no-transform", () => json({ id: IDS.orderDe }, { "cache-control": "no-transform" })],
    ["a part", () => new Response("{}", { status: 206, headers: { "content-type": "application/json" } })],
  ];

  it.each(answers)("is withheld: %s", async (_, origin) => {
    const { request } = setUp({ declared: onlyOrders, publicKeys, origin });
    const id = await mint(request, { entity: "order", country: "DE" });
    const response = await request(`/orders/${id}`);
    expect([response.status, slug(await problemOf(response))]).toEqual([502, "answer-withheld"]);
  });

  it("is broken off where its JSON breaks, and the operator is told", async () => {
    const { request, broken } = setUp({
      declared: onlyOrders,
      publicKeys,
      origin: () => new Response('{"total": nonsense', { headers: { "content-type": "application/json" } }),
    });
    const id = await mint(request, { entity: "order", country: "DE" });
    const response = await request(`/orders/${id}`);
    await expect(response.text()).rejects.toThrow();
    expect(broken).toHaveLength(1);
  });
});

describe("a deployment without keys", () => {
  it("shows and takes nothing of a public entity, and the rest works", async () => {
    const { request, seen } = setUp({ declared: onlyOrders });
    for (const path of [`/orders/${"0".repeat(44)}`, `/any/${"0".repeat(44)}`]) {
      const problem = await problemOf(await request(path));
      expect([slug(problem), problem["entity"]]).toEqual(["public-ids-unavailable", "order"]);
      expect(problem["detail"]).toContain('"order"');
    }
    const minted = await request("/mint", { method: "POST", body: JSON.stringify({ entity: "order", country: "DE" }) });
    expect(slug(await problemOf(minted))).toBe("public-ids-unavailable");
    expect((await request(`/rides/${IDS.rideKz}`)).status).toBe(200);
    expect(seen).toHaveLength(1);
  });

  it("keeps /any open for what no key can have made", async () => {
    const { request } = setUp({ declared: onlyOrders });
    expect((await request(`/any/${IDS.rideKz}`)).status).toBe(200);
    for (const id of [IDS.orderDe, "zzz", `${"0".repeat(43)}-`, "z".repeat(44)]) {
      expect(slug(await problemOf(await request(`/any/${id}`)))).toBe("unknown-id");
    }
  });

  it("an answer that names entities without keys is not asked for", async () => {
    const { request, seen } = setUp({ declared, publicKeys });
    const { request: mintAt } = setUp({ declared: onlyOrders, publicKeys });
    const id = await mint(mintAt, { entity: "order", country: "DE" });
    expect(slug(await problemOf(await request(`/orders/${id}`)))).toBe("public-ids-unavailable");
    expect(seen).toEqual([]);
  });
});
