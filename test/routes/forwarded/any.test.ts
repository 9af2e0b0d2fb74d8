import { describe, expect, it } from "vitest";
import { groupOfClass, luuid, mintLuuid } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

function personId(): string {
  const group = groupOfClass("com.example.Person");
  const words = mintLuuid({ group, primaryKey: 0x23122e }, { word: () => 7 });
  if (!words.ok) throw new Error(words.error.reason);
  return luuid.format(words.value);
}

describe("/any/:id", () => {
  it.each([
    [`/any/${IDS.orderDe}`, `http://eu.test/orders/${IDS.orderDe}`, "eu"],
    [`/any/${IDS.orderBr}/events?limit=20`, `http://us.test/base/orders/${IDS.orderBr}/events?limit=20`, "us"],
    [`/any/${IDS.parcelUs}//x%2Fy`, `http://us.test/base/parcels/${IDS.parcelUs}//x%2Fy`, "us"],
    [`/any/${IDS.orderDe}/`, `http://eu.test/orders/${IDS.orderDe}/`, "eu"],
  ])("%s is proxied to the entity's own path", async (path, url, region) => {
    const { request, seen } = setUp();
    const response = await request(path, { method: "PATCH", body: "b" });
    expect(response.headers.get("waybill-region")).toBe(region);
    expect(seen.map((one) => [one.url, one.method, one.body])).toEqual([[url, "PATCH", "b"]]);
  });

  it("goes to the first path pattern of an entity with several", async () => {
    const { request, seen } = setUp();
    await request(`/any/${IDS.rideKz}`);
    expect(seen[0]?.url).toMatch(/\/rides\/[^/]+$/);
    expect(seen[0]?.url).not.toContain("/v2/");
  });

  it("is redirected where the entity says so, with everything below and the query", async () => {
    const { request, seen } = setUp();
    const id = personId();
    const response = await request(`/any/${id}/photo//a?size=2`, { redirect: "manual" });
    expect(response.status).toBe(307);
    expect(response.headers.get("location")).toBe(`/person/${id}/photo//a?size=2`);
    expect(response.headers.get("waybill-region")).toBe("eu");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(seen).toEqual([]);
  });

  it.each([
    ["/any/", "malformed-id"],
    ["/any/17", "malformed-id"],
    ["/any/23122e", "malformed-id"],
    ["/any/%30192f0c1", "malformed-id"],
    ["/any/919108f7-52d1-4320-9bac-f847db4148a8", "unknown-id"],
    ["/any/ffffffff-ffff-ffff-ffff-ffffffffffff", "unknown-id"],
    [`/any/${IDS.parcelUnassigned}`, "unassigned-key"],
    [`/any/${IDS.orderAq}`, "unassigned-key"],
    [`/%61ny/${IDS.orderDe}`, "unrouted-path"],
    ["/any", "method-not-allowed"],
  ])("%s is %s", async (path, expected) => {
    const { request, seen, defects } = setUp();
    expect(slug(await problemOf(await request(path)))).toBe(expected);
    expect([...seen, ...defects]).toEqual([]);
  });

  it("an ID that two entities take is never given to one of them", async () => {
    const declared = {
      ...DECLARED_TABLE,
      entities: { ...DECLARED_TABLE.entities, bag: { path: "/bags/:id", ids: [{ layout: "hotguid" }] } },
    };
    const { request, seen } = setUp({ declared });
    const response = await request(`/any/${IDS.parcelEu}`);
    const problem = await problemOf(response);
    expect(slug(problem)).toBe("ambiguous-id");
    expect(problem["candidates"]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ entity: "parcel", region: "eu" }),
        expect.objectContaining({ entity: "bag" }),
      ]),
    );
    expect(seen).toEqual([]);
    expect((await request(`/parcels/${IDS.parcelEu}`)).status).toBe(200);
  });
});
