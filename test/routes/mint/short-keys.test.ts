import { describe, expect, it } from "vitest";
import { luuid } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { publicKeysOf, setUp } from "../harness.ts";

interface Minted {
  readonly ids: readonly string[];
  readonly region?: string;
  readonly shortKeys?: readonly string[];
  readonly links?: readonly string[];
}

const { person } = DECLARED_TABLE.entities;
const table = (entity: object, more: object = {}) => ({
  ...DECLARED_TABLE,
  entities: { ...DECLARED_TABLE.entities, person: { ...person, ...entity } },
  ...more,
});

const mint = async (declared: object, count: number, entity = "person") => {
  const { request } = setUp({ declared: declared as typeof DECLARED_TABLE });
  const response = await request("/mint", { method: "POST", body: JSON.stringify({ entity, count }) });
  expect(response.status).toBe(201);
  return { request, minted: await response.json<Minted>() };
};

/** The primary key in the ID's own text. */
const keyIn = (id: string) => BigInt(`0x${id.slice(0, 8)}${id.slice(9, 13)}`).toString(16);

describe("short keys of minted LUUIDs", () => {
  it.each([1, 70])("stand beside %i IDs, with paths that lead where the IDs do", async (count) => {
    const { request, minted } = await mint(DECLARED_TABLE, count);
    const { ids, region, shortKeys = [], links = [] } = minted;
    expect(shortKeys).toEqual(ids.map(keyIn));
    expect(links).toEqual(shortKeys.map((key) => `/person/${key}`));
    for (const link of [links[0] ?? "", links.at(-1) ?? ""]) {
      expect((await request(link)).headers.get("waybill-region")).toBe(region);
    }
  });

  it("come without paths where no path takes them, or they are read as something else", async () => {
    const named = await mint(table({ path: [{ path: "/person/:id", layout: "luuid" }] }), 2);
    expect(named.minted.shortKeys).toHaveLength(2);
    expect(named.minted.links).toBeUndefined();
  });

  it("are not shown of public entities, neither minted nor created", async () => {
    const publicKeys = publicKeysOf(JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] }));
    const declared = table({ public: true, create: {} }) as unknown as typeof DECLARED_TABLE;
    const { request } = setUp({ declared, publicKeys, origin: () => new Response("{}", { status: 201 }) });
    const body = JSON.stringify({ entity: "person" });
    const minted = await (await request("/mint", { method: "POST", body })).json<Minted>();
    expect(Object.keys(minted)).toEqual(["entity", "layout", "region", "ids"]);
    const response = await request("/person", { method: "POST", body: "{}" });
    expect(response.status).toBe(201);
    expect(response.headers.has("waybill-short-key")).toBe(false);
  });

  it("take the path of short keys where the entity has one", async () => {
    const path = ["/person/:id", { path: "/clients/:id", layout: "luuid-short" }];
    const { minted } = await mint(table({ path }), 1);
    expect(minted.links?.[0]).toMatch(/^\/(?:person|clients)\//);
  });

  it("are none of other layouts", async () => {
    const { request } = setUp();
    const body = JSON.stringify({ entity: "order", country: "KZ" });
    const minted = await (await request("/mint", { method: "POST", body })).json<Minted>();
    expect(Object.keys(minted)).toEqual(["entity", "layout", "region", "ids"]);
  });
});

describe("the short key of a created LUUID", () => {
  it("is a part of the kept answer", async () => {
    const declared = table({ create: { idempotency: { keepAnswer: {} } } }) as unknown as typeof DECLARED_TABLE;
    const { request, seen } = setUp({ declared, origin: () => new Response("{}", { status: 201 }) });
    const headers = { "idempotency-key": `short-${Date.now()}` };
    const answers = [];
    for (let turn = 0; turn < 2; turn++)
      answers.push(await request("/person", { method: "POST", body: "{}", headers }));
    const [first, second] = answers.map((answer) => answer.headers.get("waybill-short-key"));
    expect(first).toMatch(/^[1-9a-f][0-9a-f]*$/);
    expect([second, seen.length]).toEqual([first, 1]);
  });

  it("is in the answer's header", async () => {
    const declared = table({ create: {} }) as typeof DECLARED_TABLE;
    const { request } = setUp({ declared, origin: () => new Response("{}", { status: 201 }) });
    const response = await request("/person", { method: "POST", body: "{}" });
    expect(response.status, await response.clone().text()).toBe(201);
    const id = response.headers.get("waybill-entity-id") ?? "";
    expect(luuid.parse(id).ok).toBe(true);
    expect(response.headers.get("waybill-short-key")).toBe(keyIn(id));
  });
});
