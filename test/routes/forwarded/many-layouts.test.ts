import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { TICKET_LAYOUT } from "../../fixtures/ticket-layout.ts";
import { problemOf, setUp, slug } from "../harness.ts";

const declared = {
  ...DECLARED_TABLE,
  fields: "full",
  entities: {
    ...DECLARED_TABLE.entities,
    tweet: { path: "/tweets/:id", ids: [{ layout: "snowflake" }] },
    message: { path: "/messages/:id", ids: [{ layout: "discord" }, { layout: "ulid" }] },
    ticket: { path: "/tickets/:id", ids: [{ layout: "ticket", service: 3 }] },
    note: { path: "/notes/:id", ids: [{ layout: "lexical-uuid" }] },
    name: { path: "/names/:id", ids: [{ layout: "uuid-v5" }] },
    shard: { path: "/shards/:id", ids: [{ layout: "sharding-id" }] },
  },
  layouts: {
    ...DECLARED_TABLE.layouts,
    discord: { like: "snowflake", epoch: "2015-01-01T00:00:00Z" },
    ticket: TICKET_LAYOUT,
    "sharding-id": { slices: { cell: [0, 5], box: [5, 8] } },
  },
  routes: [
    ...DECLARED_TABLE.routes,
    { when: { entity: "tweet" }, region: "eu" },
    { when: { entity: "message" }, region: "us" },
    { when: { layout: "ticket", country: "KZ", fields: { machine: "0-9" } }, region: "ap" },
    { when: { entity: ["note", "name"] }, region: "eu" },
    { when: { layout: "sharding-id", slices: { cell: 1 } }, region: "eu" },
    { when: { layout: "sharding-id", fields: { shard: 600 } }, region: "us" },
  ],
};

const SNOWFLAKE = "1541815603606036480";

describe("the id-layout field", () => {
  it.each([
    [`/any/${SNOWFLAKE}`, "snowflake", "http://eu.test/tweets/1541815603606036480"],
    [`/any/${SNOWFLAKE}/likes?n=1`, "discord", "http://us.test/base/messages/1541815603606036480/likes?n=1"],
    [`/tweets/${SNOWFLAKE}`, "snowflake", "http://eu.test/tweets/1541815603606036480"],
    ["/any/01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid", "http://us.test/base/messages/01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ])("%s as %s goes to its origin", async (path, layout, url) => {
    const { request, seen } = setUp({ declared });
    const response = await request(path, { headers: { "id-layout": layout } });
    expect(response.headers.get("waybill-layout")).toBe(layout);
    expect(seen.map((one) => one.url)).toEqual([url]);
  });

  it.each([
    [`/any/${SNOWFLAKE}`, {}, "ambiguous-id", 409],
    [`/any/${SNOWFLAKE}`, { "id-layout": "snowfluke" }, "unknown-name", 422],
    [`/tweets/${SNOWFLAKE}`, { "id-layout": "snowfluke" }, "unknown-name", 422],
    [`/tweets/${SNOWFLAKE}`, { "id-layout": "discord" }, "wrong-entity", 422],
    [`/tweets/${SNOWFLAKE}`, { "id-layout": "ulid" }, "malformed-id", 400],
    [`/any/${SNOWFLAKE}`, { "id-layout": "ulid" }, "malformed-id", 400],
  ])("%s with %j is %s", async (path, headers, expected, status) => {
    const { request, seen, defects } = setUp({ declared });
    const response = await request(path, { headers });
    expect([slug(await problemOf(response)), response.status]).toEqual([expected, status]);
    expect([...seen, ...defects]).toEqual([]);
  });
});

describe("the way out of an ambiguous ID", () => {
  it("stands in the problem, and explaining with it shows where it leads", async () => {
    const { request } = setUp({ declared });
    const problem = await problemOf(await request(`/any/${SNOWFLAKE}`));
    expect(problem["idLayouts"]).toEqual(["snowflake", "sharding-id", "discord"]);
    expect(problem["detail"]).toContain(
      "send the header id-layout: snowflake or sharding-id or discord, or use the path",
    );
    const explain = (layout: string) => request(`/-/ids/${SNOWFLAKE}`, { headers: { "id-layout": layout } });
    const explained = await (await explain("discord")).json();
    expect(explained).toMatchObject({
      candidates: [{ layout: "discord" }],
      unreadable: [],
      decision: { layout: "discord", entity: "message", region: "us" },
    });
    expect(slug(await problemOf(await explain("snowfluke")))).toBe("unknown-name");
  });
});

interface Minted {
  readonly layout: string;
  readonly region: string;
  readonly ids: readonly string[];
}

const post = (body: unknown): RequestInit => ({ method: "POST", body: JSON.stringify(body) });

describe("POST /mint", () => {
  it.each([
    [{ entity: "tweet", fields: { datacenter: 1, worker: 31 }, count: 5 }, "snowflake", "eu", /^\d{19}$/],
    [{ layout: "discord", fields: { datacenter: 0, worker: 0 } }, "discord", "us", /^\d{19}$/],
    [{ layout: "ulid", count: 3 }, "ulid", "us", /^[0-9A-Z]{26}$/],
    [{ entity: "ticket", country: "KZ", fields: { machine: 9 }, count: 1000 }, "ticket", "ap", /^tkt_[0-9A-Z]{26}$/],
    [{ entity: "ticket", fields: { country: 5, machine: "9" } }, "ticket", "ap", /^tkt_[0-9A-Z]{26}$/],
    [{ entity: "note", fields: { worker: "18446744073709551615" } }, "lexical-uuid", "eu", /-ffffffffffffffff$/],
    [{ entity: "shard", slices: { cell: 1, box: 7 } }, "sharding-id", "eu", /^\d{19}$/],
    [{ entity: "shard", fields: { shard: 600 } }, "sharding-id", "us", /^\d{19}$/],
  ])("%j gives IDs that go to the region that it names", async (body, layout, region, shape) => {
    const { request } = setUp({ declared });
    const response = await request("/mint", post(body));
    expect(response.status).toBe(201);
    const minted = await response.json<Minted>();
    expect([minted.layout, minted.region]).toEqual([layout, region]);
    expect(new Set(minted.ids).size).toBe((body as { count?: number }).count ?? 1);
    for (const id of [minted.ids[0] ?? "", minted.ids.at(-1) ?? ""]) {
      expect(id).toMatch(shape);
      const found = await request(`/any/${id}`, { headers: { "id-layout": layout } });
      expect([found.status, found.headers.get("waybill-region")]).toEqual([200, region]);
    }
  });

  it.each([
    [{ entity: "tweet" }, "malformed-request", "/fields/datacenter"],
    [{ entity: "tweet", fields: { datacenter: 1 } }, "malformed-request", "/fields/worker"],
    [{ entity: "tweet", fields: { datacenter: 1, worker: 1, machine: 1 } }, "malformed-request", "/fields/machine"],
    [{ entity: "tweet", fields: { datacenter: 1, worker: 1, "a/b~": 1 } }, "malformed-request", "/fields/a~1b~0"],
    [{ entity: "tweet", fields: { datacenter: 1, worker: 1, sequence: 1 } }, "malformed-request", "/fields/sequence"],
    [{ entity: "tweet", fields: { datacenter: 1, worker: 1 }, slices: { cell: 1 } }, "malformed-request", "/slices"],
    [{ entity: "tweet", fields: { datacenter: 1, worker: "one" } }, "malformed-request", "/fields/worker"],
    [{ entity: "tweet", fields: { datacenter: 1, worker: 32 } }, "key-out-of-range", undefined],
    [{ entity: "tweet", fields: { datacenter: 1, worker: -1 } }, "key-out-of-range", undefined],
    [{ entity: "tweet", fields: { datacenter: 1, worker: 0.5 } }, "key-out-of-range", undefined],
    [{ entity: "note", fields: { worker: "18446744073709551616" } }, "key-out-of-range", undefined],
    [{ entity: "note", fields: { worker: 2 ** 60 } }, "key-out-of-range", undefined],
    [{ entity: "ticket", country: "KZ", fields: { country: 5, machine: 1 } }, "malformed-request", "/fields/country"],
    [{ entity: "ticket", country: "KZ", fields: { service: 3, machine: 1 } }, "malformed-request", "/fields/service"],
    [{ entity: "ticket", fields: { machine: 1 } }, "malformed-request", "/country"],
    [{ entity: "name" }, "malformed-request", "/layout"],
    [{ entity: "message", fields: { datacenter: 0, worker: 0 } }, "malformed-request", "/entity"],
    [{ entity: "parcel", shardKey: 1, fields: { machine: 1 } }, "malformed-request", "/fields/machine"],
    [{ entity: "parcel", shardKey: 1, fields: { shardKey: 1 } }, "malformed-request", "/fields/shardKey"],
    [{ entity: "ticket", country: "BR", fields: { machine: 1 } }, "unassigned-key", undefined],
  ])("%j is %s", async (body, expected, pointer) => {
    const { request, defects } = setUp({ declared });
    const problem = await problemOf(await request("/mint", post(body)));
    expect([slug(problem), problem["pointer"]]).toEqual([expected, pointer]);
    expect(defects).toEqual([]);
  });
});
