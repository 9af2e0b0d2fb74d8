import { describe, expect, it } from "vitest";
import type { TableCanaryView } from "../../../src/formats/console-canary.ts";
import type { CanarySelector } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { servedBeside, tablesOf } from "../beside.ts";
import { IDS, publicKeysOf, setUp } from "../harness.ts";

/** Look-ups tell of a canary of the whole table, held against what the gateway does with the same IDs. */

const publicKeys = publicKeysOf(JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] }));

const ENTITIES = {
  order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] },
  parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
};
const tableOf = (region: string | undefined, more: object = {}) => ({
  ...DECLARED_TABLE,
  entities: { ...ENTITIES, ...more },
  routes: region === undefined ? [] : [{ when: {}, region }],
  withoutId: { rest: { path: "/**", sources: [{ region: "ap" }] } },
});

const beside = (audience: CanarySelector, stable: object = tableOf("eu"), canary: object = tableOf("us")) =>
  setUp({ publicKeys, gateway: { tables: tablesOf(servedBeside(stable, canary, audience)) } });

type Gateway = ReturnType<typeof setUp>;
interface Shown {
  readonly region?: string;
  readonly decision?: { readonly region: string };
  readonly tableCanary?: TableCanaryView;
}

const lookUp = async ({ request }: Gateway, id: string): Promise<Shown> => (await request(`/-/ids/${id}`)).json();
const explain = async ({ request }: Gateway, url: string): Promise<Shown> =>
  (await request("/-/explain", { method: "POST", body: JSON.stringify({ url }) })).json();

const ORDERS = Array.from({ length: 40 }, (_, at) => `${IDS.orderKz.slice(0, -2)}${String(at).padStart(2, "0")}`);

describe("a look-up beside a canary", () => {
  it("says which table decides as the gateway does, and where the other one would lead", async () => {
    const gateway = beside({ share: 40 });
    const seen = new Set<boolean>();
    for (const id of ORDERS) {
      const answer = await gateway.request(`/orders/${id}`, { headers: { "waybill-debug": "1" } });
      const decides = answer.headers.get("waybill-table") === "rev=2; canary";
      seen.add(decides);
      const region = decides ? "us" : "eu";
      const tableCanary = {
        decides,
        revision: 2,
        inForce: 1,
        audience: { share: 40 },
        otherwise: { region: decides ? "eu" : "us" },
      };
      expect(answer.headers.get("waybill-region")).toBe(region);
      expect(await lookUp(gateway, id)).toMatchObject({ decision: { region }, tableCanary });
      expect(await explain(gateway, `/orders/${id}`)).toMatchObject({ region, tableCanary });
    }
    expect(seen.size).toBe(2);
  });

  it("names the least share that the ID is in", async () => {
    for (const id of ORDERS.slice(0, 8)) {
      const least = (await lookUp(beside({ share: 1 }), id)).tableCanary?.takesFrom ?? 0;
      const below = Number((least - 1e-4).toFixed(4));
      expect((await lookUp(beside({ share: least }), id)).tableCanary?.decides).toBe(true);
      if (below > 0) expect((await lookUp(beside({ share: below }), id)).tableCanary?.decides).toBe(false);
    }
  });

  it.each<[string, CanarySelector, boolean]>([
    ["a country", { countries: ["KZ"] }, true],
    ["another country", { countries: ["BR"] }, false],
    ["an entity", { entities: ["order"] }, true],
  ])("by %s", async (_, audience, decides) => {
    const { tableCanary } = await lookUp(beside(audience), IDS.orderKz);
    expect(tableCanary).toMatchObject({ decides, audience });
    expect(tableCanary).not.toHaveProperty("takesFrom");
  });

  it("says nothing of another region where both lead to one, and which problem there would be", async () => {
    const same = await lookUp(beside({ share: 100 }, tableOf("eu"), tableOf("eu")), IDS.orderKz);
    expect(same.tableCanary).not.toHaveProperty("otherwise");
    const refusing = beside({ share: 100 }, tableOf("eu"), tableOf(undefined));
    expect((await lookUp(refusing, IDS.orderKz)).tableCanary).toMatchObject({
      decides: true,
      otherwise: { region: "eu" },
    });
    expect((await lookUp(beside({ share: 1e-4 }, tableOf("eu"), tableOf(undefined)), IDS.orderKz)).tableCanary).toEqual(
      expect.objectContaining({ decides: false, otherwise: { problem: "unassigned-key" } }),
    );
  });

  it("of an ID that the table in force does not know, tells what the canary says", async () => {
    const gateway = beside({ share: 100 }, tableOf(undefined), tableOf("us"));
    const { decision, tableCanary } = await lookUp(gateway, IDS.orderKz);
    expect([decision, tableCanary]).toEqual([
      undefined,
      { decides: false, revision: 2, inForce: 1, audience: { share: 100 }, otherwise: { region: "us" } },
    ]);
    expect((await gateway.request(`/orders/${IDS.orderKz}`)).status).toBe(404);
  });

  it("says the same of a public ID to operators, and shows no part of it", async () => {
    const more = { ticket: { path: "/tickets/:id", ids: [{ layout: "iuid", service: 7 }], public: true } };
    const gateway = beside({ share: 50 }, tableOf("eu", more), tableOf("us", more));
    const minted = await gateway.request("/mint", {
      method: "POST",
      body: JSON.stringify({ entity: "ticket", count: 12, country: "KZ" }),
    });
    const { ids } = await minted.json<{ readonly ids: readonly string[] }>();
    for (const id of ids) {
      const table = (await gateway.request(`/tickets/${id}`, { headers: { "waybill-debug": "1" } })).headers.get(
        "waybill-table",
      );
      for (const { tableCanary } of [await lookUp(gateway, id), await explain(gateway, `/tickets/${id}`)]) {
        expect(tableCanary).toMatchObject({ decides: table === "rev=2; canary" });
        expect(tableCanary).not.toHaveProperty("takesFrom");
      }
    }
  });

  it("is named for each of many IDs by the canary's revision", async () => {
    const gateway = beside({ share: 40 });
    const located = await gateway.request("/any?locate=true", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ORDERS),
    });
    const { results } = await located.json<{ readonly results: readonly { id: string; canary?: number }[] }>();
    for (const { id, canary } of results) {
      expect([id, canary === 2]).toEqual([id, (await lookUp(gateway, id)).tableCanary?.decides]);
    }
  });

  it("without a canary there is no such member", async () => {
    expect(await lookUp(setUp(), IDS.orderKz)).not.toHaveProperty("tableCanary");
    expect(await explain(setUp(), `/orders/${IDS.orderKz}`)).not.toHaveProperty("tableCanary");
  });
});
