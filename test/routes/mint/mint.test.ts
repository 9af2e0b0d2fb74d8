import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { groupOfClass } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { problemOf, setUp, slug } from "../harness.ts";

interface Minted {
  readonly entity: string;
  readonly layout: string;
  readonly region: string;
  readonly ids: readonly string[];
}

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

describe("POST /mint", () => {
  it.each([
    [{ entity: "order", country: "KZ", count: 3 }, "iuid", "ap", 3],
    [{ entity: "ride", country: "BR" }, "iuid", "us", 1],
    [{ layout: "iuid", service: 1, country: "DE" }, "iuid", "eu", 1],
    [{ layout: "hotguid", shardKey: 840, count: 1000 }, "hotguid", "eu", 1000],
    [{ entity: "parcel", shardKey: 1999 }, "hotguid", "us", 1],
    [{ entity: "parcel", slices: { partition: 1500, m49: 0 } }, "hotguid", "us", 1],
    [{ entity: "person", count: 70 }, "luuid", "eu", 70],
  ])("%j gives IDs that the gateway itself routes to the region it names", async (body, layout, region, count) => {
    const { request } = setUp();
    const response = await request("/mint", post(body));
    expect(response.status).toBe(201);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const minted = await response.json<Minted>();
    expect([minted.layout, minted.region, minted.ids.length]).toEqual([layout, region, count]);
    expect(new Set(minted.ids).size).toBe(count);
    expect(minted.ids).toEqual([...minted.ids].sort());
    for (const id of [minted.ids[0], minted.ids.at(-1)]) {
      const found = await request(`/any/${id}`, { redirect: "manual" });
      expect([200, 307]).toContain(found.status);
      expect(found.headers.get("waybill-region")).toBe(region);
    }
  });

  it("writes JSON as any other page, however many IDs and regions there are", async () => {
    const routes = [{ when: { layout: "iuid" }, region: "eu", canary: { region: "us", percent: 50 } }];
    const declared = { ...DECLARED_TABLE, routes, default: "ap" };
    const { request } = setUp({ declared });
    for (const count of [1, 2, 32, 33, 1000]) {
      for (const body of [
        { entity: "order", country: "KZ", count },
        { entity: "parcel", shardKey: 1, count },
      ]) {
        const text = await (await request("/mint", post(body))).text();
        const minted = JSON.parse(text) as Minted & { readonly regions?: readonly string[] };
        expect(text).toBe(`${JSON.stringify(minted, null, 2)}\n`);
        const { ids, regions = ids.map(() => minted.region) } = minted;
        const found = await Promise.all(ids.map((id) => request(`/any/${id}`)));
        expect([ids.length, found.map(({ headers }) => headers.get("waybill-region"))]).toEqual([count, regions]);
      }
    }
  });

  it("gives one ID a line, however many", async () => {
    const body = post({ entity: "order", country: "KZ", count: 1000 }, { accept: "text/plain" });
    const lines = (await (await setUp().request("/mint", body)).text()).split("\n");
    expect([new Set(lines).size, lines.every((line) => line === "" || /^[0-9a-f-]{36}$/.test(line))]).toEqual([
      1001,
      true,
    ]);
    expect([lines.at(-1), lines.toSorted().slice(1)]).toEqual(["", lines.slice(0, -1)]);
  });

  it("gives one ID a line to a client that wants text", async () => {
    const { request } = setUp();
    const response = await request(
      "/mint",
      post({ entity: "order", country: "KZ", count: 2 }, { accept: "text/plain" }),
    );
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toMatch(/^[0-9a-f-]{36}\n[0-9a-f-]{36}\n$/);
  });

  it("goes on rising from request to request", async () => {
    const { request } = setUp({ nowMs: 1_800_000_000_000 });
    const ids: string[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const response = await request("/mint", post({ entity: "order", country: "KZ", count: 5 }));
      ids.push(...(await response.json<Minted>()).ids);
    }
    expect(ids).toEqual([...new Set(ids)].sort());
  });

  it.each([
    ["", "malformed-request", 400],
    ["{", "malformed-request", 400],
    ['{"entity":"order","country":"KZ","entity":"ride"}', "malformed-request", 400],
    ["null", "malformed-request", 400],
    ["[]", "malformed-request", 400],
    ['"order"', "malformed-request", 400],
    ['{"entity":"order","country":"KZ","fields":[]}', "malformed-request", 400],
    ['{"entity":"order","country":"KZ","fields":{"__proto__":1}}', "malformed-request", 400],
    ['{"entity":"order","country":"KZ","fields":{"constructor":1}}', "malformed-request", 400],
    ['{"entity":"parcel","shardKey":1,"slices":[]}', "malformed-request", 400],
    [{}, "malformed-request", 400],
    [{ entity: 1 }, "malformed-request", 400],
    [{ entity: "" }, "malformed-request", 400],
    [{ entity: "order", country: "KZ", count: 0 }, "malformed-request", 400],
    [{ entity: "order", country: "KZ", count: -1 }, "malformed-request", 400],
    [{ entity: "order", country: "KZ", count: 1.5 }, "malformed-request", 400],
    [{ entity: "order", country: "KZ", count: "3" }, "malformed-request", 400],
    [{ entity: "order", country: "KZ", count: 1001 }, "malformed-request", 400],
    ['{"entity":"order","country":"KZ","count":1e400}', "malformed-request", 400],
    [{ entity: "order", country: "KZ", colour: "red" }, "malformed-request", 400],
    [{ entity: "order" }, "malformed-request", 400],
    [{ entity: "parcel" }, "malformed-request", 400],
    [{ entity: "parcel", country: "KZ" }, "malformed-request", 400],
    [{ entity: "order", country: "KZ", shardKey: 1 }, "malformed-request", 400],
    [{ entity: "order", layout: "hotguid", shardKey: 1 }, "malformed-request", 400],
    [{ layout: "iuid", country: "KZ" }, "malformed-request", 400],
    [{ entity: "parcel", shardKey: 1, slices: { m49: 0 } }, "malformed-request", 400],
    [{ entity: "parcel", slices: { m49: 0 } }, "malformed-request", 400],
    [{ entity: "orders", country: "KZ" }, "unknown-name", 422],
    [{ entity: "__proto__", country: "KZ" }, "unknown-name", 422],
    [{ entity: "constructor" }, "unknown-name", 422],
    [{ layout: "snowflake" }, "unknown-name", 422],
    [{ entity: "order", country: "kz" }, "unknown-name", 422],
    [{ entity: "order", country: "FR" }, "unknown-name", 422],
    [{ entity: "parcel", slices: { continent: 1 } }, "unknown-name", 422],
    [{ entity: "parcel", slices: { m49: 1024, partition: 0 } }, "key-out-of-range", 422],
    [{ entity: "parcel", shardKey: -1 }, "key-out-of-range", 422],
    [{ entity: "parcel", shardKey: 0.5 }, "key-out-of-range", 422],
    [{ entity: "parcel", shardKey: 4294967296 }, "key-out-of-range", 422],
    [{ entity: "order", country: "AQ" }, "unassigned-key", 404],
    [{ entity: "parcel", shardKey: 2000 }, "unassigned-key", 404],
  ])("%j is %s", async (body, expected, status) => {
    const { request, defects } = setUp();
    const response = await request("/mint", post(body));
    expect(slug(await problemOf(response))).toBe(expected);
    expect(response.status).toBe(status);
    expect(defects).toEqual([]);
  });

  it("a list is no wish, whatever could be read in it", async () => {
    const problem = await problemOf(await setUp().request("/mint", post("[]")));
    expect(problem["detail"]).toBe("The body: Expected an object, found a list; correct it.");
  });

  it("an ID that leads nowhere is not shown, since it is given to nobody; its key is", async () => {
    const problem = await problemOf(await setUp().request("/mint", post({ entity: "order", country: "AQ" })));
    expect(problem).not.toHaveProperty("id");
    expect(problem["key"]).toEqual({ country: "200", service: "1" });
  });

  it("a body over the cap is refused without reading it all", async () => {
    const response = await setUp().request("/mint", post(`{"entity":"${"x".repeat(5000)}"}`));
    expect(slug(await problemOf(response))).toBe("body-too-large");
  });

  it.each([
    [{ entity: "order", colour: "red" }, "/colour", '"colour" is not allowed here; remove it or correct its spelling.'],
    [{ entity: 7 }, "/entity", "Expected string, found 7; correct the value."],
    [{ entity: "order", country: "KZ", count: 0 }, "/count", "must be at least 1"],
  ])("%j is told what is wrong in a sentence, with its place", async (body, pointer, sentence) => {
    const problem = await problemOf(await setUp().request("/mint", post(body)));
    expect([problem["pointer"], problem["detail"]]).toEqual([pointer, `${pointer}: ${sentence}`]);
  });

  it("is at its own path only, not at an encoded one", async () => {
    const response = await setUp().request("/%6dint", post({ entity: "order", country: "KZ" }));
    expect(slug(await problemOf(response))).toBe("unrouted-path");
  });

  it.each(["GET", "PUT", "DELETE"])("%s is not taken", async (method) => {
    const response = await setUp().request("/mint", { method });
    expect(slug(await problemOf(response))).toBe("method-not-allowed");
    expect(response.headers.get("allow")).toBe("POST");
  });

  it("a clock far behind the last ID is a 503 that may be tried again, not an old ID", async () => {
    let nowMs = 1_800_000_000_000;
    const options = {
      get nowMs() {
        return nowMs;
      },
    };
    const { request } = setUp(options);
    await request("/mint", post({ entity: "order", country: "KZ" }));
    nowMs -= 3_600_000;
    const response = await request("/mint", post({ entity: "order", country: "KZ" }));
    expect(slug(await problemOf(response))).toBe("clock-behind");
    expect(response.headers.get("retry-after")).toBe("2");
  });

  it("uses no number up for what is refused", async () => {
    const entities = {
      ...DECLARED_TABLE.entities,
      client: { path: "/clients/:id", ids: [{ layout: "luuid", class: "com.example.Client" }] },
      tweet: { path: "/tweets/:id", ids: [{ layout: "snowflake" }] },
    };
    const routes = [
      ...DECLARED_TABLE.routes,
      { when: { layout: "snowflake", fields: { worker: "0-3" } }, region: "eu" },
      { when: { entity: "client", fields: { primaryKey: "1000-2000" } }, region: "eu" },
    ];
    const { request } = setUp({ declared: { ...DECLARED_TABLE, entities, routes } });
    const refused = [
      { entity: "client", count: 1000 },
      { entity: "tweet", fields: { datacenter: 1, worker: 7 }, count: 1000 },
    ];
    for (let turn = 0; turn < 5; turn++) {
      for (const body of refused) {
        expect(slug(await problemOf(await request("/mint", post(body))))).toBe("unassigned-key");
      }
    }
    const { SEQUENCES } = env as Env;
    for (const name of [`luuid-${groupOfClass("com.example.Client")}`, "mint-snowflake/1/7"]) {
      expect(await SEQUENCES.get(SEQUENCES.idFromName(name)).reserve(0, 1e15)).toMatchObject({ first: 1 });
    }
    expect((await request("/mint", post({ entity: "person", count: 3 }))).status).toBe(201);
  });

  it("asks which one is meant where an entity's IDs have two layouts", async () => {
    const entities = { ...DECLARED_TABLE.entities, parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } };
    const shared = { ...entities, bag: { path: "/bags/:id", ids: [{ layout: "hotguid" }] } };
    const { request } = setUp({ declared: { ...DECLARED_TABLE, entities: shared } });
    const problem = await problemOf(await request("/mint", post({ layout: "hotguid", shardKey: 1 })));
    expect(problem["detail"]).toContain("parcel (hotguid), bag (hotguid)");
  });
});

describe("IDs that another layout can read", () => {
  const bothForms = {
    ...DECLARED_TABLE,
    entities: {
      parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
      row: { path: "/rows/:id", ids: [{ layout: "hotguid-sql" }] },
      post: { path: "/posts/:id", ids: [{ layout: "uuid-v4" }] },
    },
    layouts: {},
    routes: [
      { when: { entity: "parcel" }, region: "eu" },
      { when: { entity: ["row", "post"] }, region: "us" },
    ],
    moved: {},
  };

  it.each([
    { entity: "parcel", shardKey: 840, count: 300 },
    { entity: "row", shardKey: 840, count: 300 },
    { entity: "post", count: 300 },
  ])("%j: are drawn anew, in order", async (changeRequest) => {
    const { request } = setUp({ declared: bothForms });
    const response = await request("/mint", post(changeRequest));
    const minted = await response.json<Minted & { readonly ambiguous?: object }>();
    expect([response.status, minted.ids.length, minted.ambiguous]).toEqual([201, 300, undefined]);
    expect(new Set(minted.ids).size).toBe(300);
    if (changeRequest.entity === "parcel") expect(minted.ids).toEqual([...minted.ids].sort());
    for (const id of minted.ids) expect((await request(`/any/${id}`)).status).toBe(200);
  });

  it("are given with how to ask for them, where none of the layout is any better", async () => {
    const declared = {
      regions: DECLARED_TABLE.regions,
      entities: {
        tweet: { path: "/tweets/:id", ids: [{ layout: "snowflake" }] },
        picture: { path: "/pictures/:id", ids: [{ layout: "sharding-id" }] },
        song: { path: "/songs/:id", ids: [{ layout: "ulid" }] },
        tune: { path: "/tunes/:id", ids: [{ layout: "ulid" }] },
      },
      routes: [],
      default: "eu",
    };
    const { request } = setUp({ declared });
    const changeRequest = { entity: "tweet", fields: { datacenter: 1, worker: 1 }, count: 2 };
    const json = await request("/mint", post(changeRequest));
    const { ids, ambiguous } = await json.json<Minted & { readonly ambiguous: object }>();
    expect(ambiguous).toEqual({ count: 2, path: "/tweets/:id", idLayout: "snowflake" });
    expect((await request(`/any/${ids[0]}`)).status).toBe(409);
    expect((await request(`/any/${ids[0]}`, { headers: { "id-layout": "snowflake" } })).status).toBe(200);
    const text = await request("/mint", post(changeRequest, { accept: "text/plain" }));
    expect(text.headers.get("waybill-ambiguous")).toBe('count=2; path="/tweets/:id"; id-layout=snowflake');
    const song = await request("/mint", post({ entity: "song" }));
    expect(song.headers.get("waybill-ambiguous")).toBe('count=1; path="/songs/:id"');
  });
});
