import { describe, expect, it } from "vitest";
import { IDS } from "../harness.ts";
import { MESH_TABLE, NAMES, type Name, setUpMesh } from "./mesh.ts";

/** Every entrance gives the same answer, and every origin gets the same request. */

const BORDER: Readonly<Record<string, string>> = { eu: "eu.test", us: "us.test/base", ap: "ap-" };

const CASES: readonly (readonly [what: string, path: string, init: RequestInit | undefined])[] = [
  ["a read in eu", `/orders/${IDS.orderDe}`, undefined],
  ["a read in us", `/orders/${IDS.orderBr}?a=b&c=%20d`, undefined],
  ["a read in ap", `/orders/${IDS.orderKz}/items/7`, undefined],
  ["a read by the ID alone", `/any/${IDS.parcelUs}`, undefined],
  ["a write", `/orders/${IDS.orderBr}`, { method: "PUT", body: "text", headers: { "content-type": "text/plain" } }],
  ["a path with characters that are encoded on the way", `/orders/${IDS.orderBr}/"{x}^|?q='<>'`, undefined],
  ["a HEAD", `/orders/${IDS.orderBr}`, { method: "HEAD" }],
  ["an unassigned key", `/parcels/${IDS.parcelUnassigned}`, undefined],
  ["an unknown path", "/nothing", undefined],
];

/** Fields that name the gateways on the way. */
const ON_THE_WAY = ["cdn-loop", "via"];

describe("every entrance", () => {
  it.each(CASES)("gives one answer: %s", async (_, path, init = {}) => {
    const found = await Promise.all(
      NAMES.map(async (name) => {
        const { gateways, seen } = setUpMesh({ nowMs: 1_764_000_000_000 });
        const response = await gateways[name].request(path, init);
        const [sent] = seen;
        const fields = sent && [...sent.headers].filter(([field]) => !ON_THE_WAY.includes(field));
        return {
          status: response.status,
          headers: [...response.headers],
          body: await response.text(),
          sent: sent && { url: sent.url, method: sent.method, body: sent.body, fields },
        };
      }),
    );
    expect(found[0]?.status).toBeGreaterThanOrEqual(200);
    expect(found[1]).toEqual(found[0]);
    expect(found[2]).toEqual(found[0]);
  });

  it("only the gateway of a region asks its origins", async () => {
    for (const entry of NAMES) {
      const { gateways, seen } = setUpMesh();
      for (const id of [IDS.orderDe, IDS.orderBr, IDS.orderKz]) await gateways[entry].request(`/orders/${id}`);
      expect(seen.map(({ by, url }) => url.startsWith(`http://${BORDER[by]}`))).toEqual([true, true, true]);
      expect(seen.map(({ by }) => by)).toEqual(["eu", "us", "ap"]);
    }
  });
});

describe("a hop", () => {
  it("names both gateways in cdn-loop and via", async () => {
    const { gateways, seen } = setUpMesh();
    await gateways.eu.request(`/orders/${IDS.orderBr}`, { headers: { "cdn-loop": "cdn", via: "1.1 cdn" } });
    expect(seen[0]?.headers.get("cdn-loop")).toBe("cdn, eu-gw;mesh=1, us-gw;mesh=1");
    expect(seen[0]?.headers.get("via")).toBe("1.1 cdn, 1.1 eu-gw, 1.1 us-gw");
  });

  it("leaves nothing of itself to origins and clients", async () => {
    const { gateways, seen, hops } = setUpMesh();
    const response = await gateways.eu.request(`/orders/${IDS.orderBr}`);
    expect(hops[0]?.request.headers.get("waybill-hop")).toMatch(/^v1;k=2026a;t=\d+;h=[\w-]+;s=[\w-]{43}$/);
    expect([...(seen[0]?.headers.keys() ?? [])].filter((name) => /hop|debug/.test(name))).toEqual([]);
    expect([...response.headers.keys()].filter((name) => /hop|debug/.test(name))).toEqual([]);
    expect(response.headers.get("waybill-region")).toBe("us");
  });

  it("is logged by the gateway that delivers it, with the name of the one that was asked", async () => {
    const { gateways } = setUpMesh();
    await gateways.eu.request(`/orders/${IDS.orderBr}`);
    const of = (name: Name) =>
      gateways[name].lines.map(({ entity, region, status, outcome, ...line }) => ({
        entity,
        region,
        status,
        outcome,
        entry: "entry" in line ? line.entry : undefined,
        hop: "hop" in line ? line.hop : undefined,
      }));
    const line = { entity: "order", region: "us", status: 200, outcome: "answered" };
    expect([of("eu"), of("us"), of("ap")]).toEqual([
      [{ ...line, entry: undefined, hop: "us-gw.internal" }],
      [{ ...line, entry: "eu-gw", hop: undefined }],
      [],
    ]);
  });

  it("is not made where the region is the gateway's own, or has no gateway", async () => {
    const { gateway: _, ...us } = MESH_TABLE.regions.us;
    const { gateways, hops, seen } = setUpMesh({ declared: { ...MESH_TABLE, regions: { ...MESH_TABLE.regions, us } } });
    await gateways.eu.request(`/orders/${IDS.orderDe}`);
    await gateways.eu.request(`/orders/${IDS.orderBr}`);
    expect([hops.length, seen.map(({ by }) => by)]).toEqual([0, ["eu", "eu"]]);
  });
});
