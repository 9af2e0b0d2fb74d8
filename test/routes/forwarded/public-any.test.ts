import { describe, expect, it } from "vitest";
import { ok } from "../../../src/ids/result.ts";
import { IDS, problemOf, publicKeysOf, setUp, slug } from "../harness.ts";

const key = (byte: string): string => btoa(byte.repeat(32));
const publicKeys = publicKeysOf(
  JSON.stringify({ sealed: [{ id: "s", key: key("s") }], compatible: [{ id: "c", key: key("c") }] }),
);

const regions = { eu: { origins: [{ url: "http://eu.test" }] }, us: { origins: [{ url: "http://us.test" }] } };
/** Every text that has the form of its public IDs opens to an ID of this layout. */
const layouts = { noise: { rows: [{ field: "random", bits: 128, role: "random" }], text: "uuid" } };
const noise = { path: "/noise/:id", ids: [{ layout: "noise" }], public: { as: "guid", form: "uuid" } };

async function mint(request: ReturnType<typeof setUp>["request"], changeRequest: object): Promise<readonly string[]> {
  const response = await request("/mint", { method: "POST", body: JSON.stringify(changeRequest) });
  expect(response.status).toBe(201);
  return (await response.json<{ readonly ids: readonly string[] }>()).ids;
}

describe("a text on /any that opens to a public ID without a proof", () => {
  const boxes = (names: readonly string[]) => ({
    regions,
    layouts,
    entities: {
      ...Object.fromEntries(names.map((name) => [name, { path: `/${name}/:id`, ids: [{ layout: "hotguid" }] }])),
      noise,
    },
    routes: [
      { when: { layout: "hotguid", shardKey: "0-99999999" }, region: "eu" },
      { when: { entity: "noise" }, region: "us" },
    ],
  });

  it.each([
    ["an ID that two entities may own", ["a", "b"], IDS.parcelEu],
    ["an ID of one entity", ["a"], IDS.parcelEu],
    ["an ID of one entity whose key is unassigned", ["a"], IDS.parcelUnassigned],
    ["an ID of two entities whose key is unassigned", ["a", "b"], IDS.parcelUnassigned],
  ])("is not guessed to be one where it is %s", async (_, names, id) => {
    const { request, seen } = setUp({ declared: boxes(names), publicKeys });
    for (const method of ["GET", "DELETE"]) {
      const problem = await problemOf(await request(`/any/${id}`, { method }));
      expect([problem["status"], slug(problem), problem["candidates"]]).toEqual([409, "ambiguous-id", []]);
    }
    expect(seen).toEqual([]);
  });

  it("nor where it opens for two entities", async () => {
    const twice = { ...boxes([]), entities: { noise, other: { ...noise, path: "/other/:id" } } };
    const declared = { ...twice, routes: [{ when: {}, region: "us" }] };
    const { request, seen } = setUp({ declared, publicKeys });
    expect(slug(await problemOf(await request(`/any/${IDS.parcelEu}`)))).toBe("ambiguous-id");
    expect(seen).toEqual([]);
  });

  it("is one where nothing else can be meant", async () => {
    const declared = { ...boxes([]), routes: [{ when: {}, region: "us" }] };
    const { request } = setUp({ declared, publicKeys });
    const [id] = await mint(request, { entity: "noise" });
    expect((await request(`/any/${id}`)).headers.get("waybill-region")).toBe("us");
  });

  it("is none where another entity's text proves itself", async () => {
    const ticket = { path: "/t/:id", ids: [{ layout: "snowflake" }], public: { as: "long", form: "uuid" } };
    const declared = { regions, layouts, entities: { noise, ticket }, routes: [{ when: {}, region: "us" }] };
    const { request, seen } = setUp({ declared, publicKeys });
    const [id] = await mint(request, { entity: "ticket", fields: { datacenter: 1, worker: 2 } });
    expect((await request(`/any/${id}`)).status).toBe(200);
    expect(seen[0]?.url).toMatch(/^http:\/\/us\.test\/t\/\d{19}$/);
  });
});

describe("/-/ids of a public ID", () => {
  const entities = { order: { path: "/orders/:id", ids: [{ layout: "ulid" }], public: true } };
  const DECLARED = { regions, entities, routes: [], default: "eu" };
  const as = (scope: "support" | "viewer" | "operator", declared: object = DECLARED) =>
    setUp({ declared, publicKeys, gateway: { authenticate: async () => ok({ name: "x", scope, by: "token" }) } })
      .request;
  const shownTo = async (scope: Parameters<typeof as>[0], id: string) =>
    (await as(scope)(`/-/ids/${id}`)).json<Record<string, unknown>>();

  it("shows operators region and rule, and nobody the internal ID", async () => {
    const [id = ""] = await mint(as("operator"), { entity: "order" });
    const shown = await shownTo("operator", id);
    expect(shown).toMatchObject({ publicOf: ["order"], candidates: [], forms: [] });
    const rule = { kind: "default" };
    expect(shown["decision"]).toEqual({ entity: "order", layout: "ulid", region: "eu", rule, path: `/orders/${id}` });
    expect(shown).not.toHaveProperty("error");
    expect((await as("operator")(`/any/${id}`)).headers.get("waybill-region")).toBe("eu");
  });

  it.each(["support", "viewer"] as const)("shows %s whose it may be, and nothing else", async (scope) => {
    const [id = ""] = await mint(as("operator"), { entity: "order" });
    const shown = await shownTo(scope, id);
    expect(shown).toMatchObject({ publicOf: ["order"], candidates: [], error: { reason: "malformed-id" } });
    expect(shown).not.toHaveProperty("decision");
    expect(await shownTo(scope, "x")).not.toHaveProperty("publicOf");
  });

  it("decides as /any does where a text is two things", async () => {
    const box = { path: "/boxes/:id", ids: [{ layout: "hotguid" }] };
    const declared = { regions, layouts, entities: { noise, box }, routes: [], default: "eu" };
    for (const scope of ["operator", "support"] as const) {
      const request = as(scope, declared);
      expect(slug(await problemOf(await request(`/any/${IDS.parcelEu}`)))).toBe("ambiguous-id");
      const shown = await (await request(`/-/ids/${IDS.parcelEu}`)).json<Record<string, unknown>>();
      expect(shown).toMatchObject({ publicOf: ["noise"], error: { reason: "ambiguous-id" } });
      expect(shown).not.toHaveProperty("decision");
    }
  });
});

it("a public entity without proofs leaves /any to the IDs of others, and others to it", async () => {
  const declared = {
    regions,
    entities: {
      parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }], public: { as: "guid", form: "uuid" } },
      box: { path: "/boxes/:id", ids: [{ layout: "uuid-v7" }] },
    },
    routes: [
      { when: { layout: "hotguid", shardKey: "0-999" }, region: "eu" },
      { when: { entity: "box" }, region: "us" },
    ],
  };
  const { request } = setUp({ declared, publicKeys });
  const regionOf = async (id: string) => (await request(`/any/${id}`)).headers.get("waybill-region");
  for (const id of await mint(request, { entity: "box", count: 100 })) expect(await regionOf(id)).toBe("us");
  for (const id of await mint(request, { entity: "parcel", shardKey: 5, count: 100 })) {
    expect(await regionOf(id)).toBe("eu");
  }
});

describe("the internal ID of a public entity", () => {
  const declared = {
    regions,
    countries: { KZ: 5 },
    entities: {
      order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }], public: true },
      ride: { path: "/rides/:id", ids: [{ layout: "iuid", service: 2 }] },
      flake: { path: "/flakes/:id", ids: [{ layout: "flake-id" }], public: { as: "ulong" } },
    },
    routes: [{ when: {}, region: "eu" }],
  };
  /** The same of a service that no entity has. */
  const nobodys = "01990f04-d900-8005-80c0-000000000001";

  it.each(["/rides/", "/any/", "/-/ids/"])("on %s has the answer that one of nobody has", async (prefix) => {
    const { request } = setUp({ declared, publicKeys });
    const answers = await Promise.all(
      [IDS.orderKz, nobodys].map(async (id) => {
        const response = await request(prefix + id);
        const text = (await response.text()).replaceAll(id, "ID").replaceAll(id.replaceAll("-", ""), "ID");
        return [response.status, text.replace(/service 3|service=3/g, "service 1").replaceAll('"3"', '"1"')];
      }),
    );
    expect(answers[0]).toEqual(answers[1]);
    expect(JSON.stringify(answers)).not.toMatch(/order|flake|"region": "/);
  });
});

describe("the list of layouts beside a wrong id-layout", () => {
  it("has none that public entities alone use", async () => {
    const box = { path: "/boxes/:id", ids: [{ layout: "hotguid" }] };
    const declared = { regions, layouts, entities: { noise, box }, routes: [{ when: {}, region: "eu" }] };
    const { request } = setUp({ declared, publicKeys });
    const wrong = { headers: { "id-layout": "nonsense" } };
    for (const path of [`/any/${IDS.parcelEu}`, `/boxes/${IDS.parcelEu}`]) {
      const body = JSON.stringify(await problemOf(await request(path, wrong)));
      expect(body).toContain("hotguid");
      expect(body).not.toContain("noise");
    }
  });
});
