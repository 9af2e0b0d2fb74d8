import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { publicKeysOf, setUp } from "../harness.ts";

const LAYOUTS = {
  hotguid: { slices: { m49: [0, 10], partition: { offset: 10, bits: 22, header: "waybill-partition" } } },
  luuid: { slices: { files: { offset: 32, bits: 16, header: "waybill-shelf" } } },
};

const declared = { ...DECLARED_TABLE, layouts: LAYOUTS, routes: [{ when: {}, region: "us" }] };

/** IDs of the shard keys 5500, 398 * 2^22 + 7 = 1669332999 and 2^32 - 1: the last bytes are the key's, the least first. */
const KEYS: readonly (readonly [id: string, partition: string])[] = [
  ["6347eb00-bbaa-01cc-0201-02037c150000", "5500"],
  ["6347eb00-bbaa-01cc-0201-020307008063", "7"],
  ["6347eb00-bbaa-01cc-0201-0203ffffffff", "4194303"],
];

describe("a slice that the table wants told", () => {
  it.each(KEYS)("goes to the origin with %s, as its own bits alone: %s", async (id, partition) => {
    for (const path of [`/parcels/${id}`, `/any/${id}`, `/any/${id.toUpperCase()}/events?limit=2`]) {
      const { request, seen } = setUp({ declared });
      expect((await request(path)).status, path).toBe(200);
      expect(seen[0]?.headers.get("waybill-partition"), path).toBe(partition);
      expect(seen[0]?.headers.get("waybill-shelf"), path).toBeNull();
    }
  });

  it.each(["23122e", "00000023-122e-6d0b-a789-28ef27ab7c62"])(
    "is that of an LUUID by its short key too: %s",
    async (id) => {
      const { request, seen } = setUp({ declared });
      expect((await request(`/person/${id}`)).status).toBe(200);
      expect(seen[0]?.headers.get("waybill-shelf")).toBe("4654");
      expect(seen[0]?.headers.get("waybill-partition")).toBeNull();
    },
  );

  it("is the gateway's to say: what a client says under any of its names is removed", async () => {
    const { request, seen } = setUp({ declared });
    const headers = { "waybill-partition": "9", "waybill-shelf": "9", "waybill-area": "9" };
    expect((await request(`/parcels/${KEYS[1]?.[0]}`, { headers })).status).toBe(200);
    expect((await request("/orders/01990f04-d900-8005-8040-000000000001", { headers })).status).toBe(200);
    const reported = seen.map((one) => Object.keys(headers).map((name) => one.headers.get(name)));
    expect(reported).toEqual([
      ["7", null, null],
      [null, null, null],
    ]);
  });
});

describe("a split", () => {
  const regions = ["eu", "us", "ap", "eu"];
  const routes = [
    { when: { entity: "order" }, split: { by: "hash", parts: 4, regions } },
    { when: {}, region: "us" },
  ];
  const plain = { ...DECLARED_TABLE, routes };
  const order = { ...DECLARED_TABLE.entities.order, public: true, publicFields: ["/id"], otherBodies: "refuse" };
  const secret = { sealed: [{ id: "2026", key: btoa("sealed IDs need 32 octets of key") }] };

  it("has an entity in the part of its own ID, by its public ID too", async () => {
    const entities = { ...plain.entities, order };
    const shown = setUp({ declared: { ...plain, entities }, publicKeys: publicKeysOf(JSON.stringify(secret)) });
    const request = { entity: "order", country: "BR", count: 24 };
    const minted = await shown.request("/mint", { method: "POST", body: JSON.stringify(request) });
    const { ids } = await minted.json<{ readonly ids: readonly string[] }>();
    const inner = setUp({ declared: plain });
    const regionAt = async (gateway: typeof inner, path: string) => {
      await gateway.request(path);
      return gateway.seen.at(-1)?.headers.get("waybill-region");
    };
    const found = new Set<string | null | undefined>();
    for (const id of ids) {
      const region = await regionAt(shown, `/orders/${id}`);
      const internal = shown.seen.at(-1)?.headers.get("waybill-entity-id");
      expect(region).toMatch(/^(?:eu|us|ap)$/);
      expect(await regionAt(shown, `/any/${id}`), id).toBe(region);
      for (const path of [`/orders/${internal}`, `/any/${internal}`])
        expect(await regionAt(inner, path), path).toBe(region);
      found.add(region);
    }
    expect([shown.seen.length, inner.seen.length]).toEqual([48, 48]);
    expect(found.size).toBeGreaterThan(1);
  });
});
