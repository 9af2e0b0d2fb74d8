import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, publicKeysOf, setUp, slug } from "../harness.ts";

const gone = { [IDS.orderKz]: { epoch: 4 }, "00000023-122e-6d0b-a789-28ef27ab7c62": { epoch: 1 } };
const publicKeys = publicKeysOf(JSON.stringify({ sealed: [{ id: "a", key: btoa("7".repeat(32)) }] }));

describe("an entity that is gone", () => {
  it.each([`/orders/${IDS.orderKz}`, `/orders/${IDS.orderKz}/events?x=1`, `/any/${IDS.orderKz}`, "/person/23122e"])(
    "is answered with 410 at %s, and no origin is asked",
    async (path) => {
      const { request, seen, lines } = setUp({ declared: { ...DECLARED_TABLE, gone } });
      for (const method of ["GET", "DELETE"]) {
        const response = await request(path, { method });
        expect(response.status).toBe(410);
        expect(slug(await problemOf(response))).toBe("entity-gone");
        expect(response.headers.get("cache-control")).toBe("no-store");
      }
      expect(seen).toEqual([]);
      expect(lines).toMatchObject([{ outcome: "entity-gone" }, { outcome: "entity-gone" }]);
    },
  );

  it("is explained under /-/ids", async () => {
    const { request } = setUp({ declared: { ...DECLARED_TABLE, gone } });
    expect(await (await request(`/-/ids/${IDS.orderKz}`)).json()).toMatchObject({
      error: { reason: "entity-gone", id: IDS.orderKz, entity: "order" },
      candidates: [{ entity: "order", rule: { kind: "gone" } }, {}, {}],
    });
  });

  it("is gone under its public ID, which is the only one that is named", async () => {
    const order = { ...DECLARED_TABLE.entities.order, public: true };
    const declared = { ...DECLARED_TABLE, entities: { ...DECLARED_TABLE.entities, order } };
    const living = setUp({ declared, publicKeys });
    const minted = await living.request("/mint", { method: "POST", body: '{"entity":"order","country":"KZ"}' });
    const { ids } = await minted.json<{ ids: [string] }>();
    await living.request(`/orders/${ids[0]}`);
    const internal = living.seen[0]?.headers.get("waybill-entity-id") ?? "";
    expect(internal).not.toBe("");

    const { request, seen } = setUp({ declared: { ...declared, gone: { [internal]: { epoch: 1 } } }, publicKeys });
    for (const path of [`/orders/${ids[0]}`, `/any/${ids[0]}`]) {
      const response = await request(path);
      const text = await response.clone().text();
      expect(response.status).toBe(410);
      expect(await problemOf(response)).toMatchObject({ id: ids[0], entity: "order" });
      expect(text).not.toContain(internal);
    }
    // A client that sends the internal ID learns nothing, not even that there was one.
    expect(slug(await problemOf(await request(`/any/${internal}`)))).toBe("unknown-id");
    expect(slug(await problemOf(await request(`/orders/${internal}`)))).toBe("unknown-id");
    expect(seen).toEqual([]);
  });
});
