import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { hmacSigner } from "../../../src/edge/origins/signer.ts";
import { formatHop, type Hop } from "../../../src/features/mesh/serve/hop.ts";
import { bodyKey, formatPointer, POINTER_KEY, type Pointer } from "../../../src/formats/kv.ts";
import { verifyRequest } from "../../../src/origin/index.ts";
import { hexOf } from "../../../src/routing/bytes.ts";
import { IDS, problemOf, setUp } from "../harness.ts";
import { MESH_TABLE, type MeshOptions, type Name, PEER_KEYS, setUpMesh } from "./mesh.ts";

/** Hops that are believed, and those that are not. */

const NOW_MS = Date.UTC(2026, 10, 27, 12);
const PATH = `/orders/${IDS.orderBr}`;

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));
const [{ id, key }] = JSON.parse(PEER_KEYS) as [{ id: string; key: string }];
const OWN_KEY = { id, key: bytesOf(key) };

const HOP: Hop = {
  names: ["eu-gw"],
  region: "us",
  revision: 0,
  epoch: 0,
  entity: "order",
  identity: [1, 2, 3, 4],
  fields: { "x-forwarded-for": "203.0.113.9", "waybill-region": "us" },
  shown: "standard",
  replayBytesMax: 0,
  firstByteMs: 0,
  totalMs: 0,
};

/** A request with a hop, as its sender or somebody between made it. */
async function hopRequest(
  change: {
    readonly hop?: Partial<Hop>;
    readonly key?: typeof OWN_KEY;
    readonly atMs?: number;
    readonly signed?: { method: string; target: string };
    readonly alter?: (value: string) => string;
    readonly method?: string;
    readonly path?: string;
  } = {},
): Promise<Request> {
  const { method = "GET", path = PATH, alter = (value) => value } = change;
  const signed = change.signed ?? { method, target: path };
  const value = await formatHop({ ...HOP, ...change.hop }, signed, change.key ?? OWN_KEY, change.atMs ?? NOW_MS);
  return new Request(`http://us-gw.internal${path}`, {
    method,
    headers: { "waybill-hop": alter(value), "waybill-debug": "waybill-hop" },
  });
}

const us = (options: MeshOptions = {}) => {
  const world = setUpMesh({ nowMs: NOW_MS, ...options });
  return { ...world.gateways.us, origins: world.seen };
};

const flip = (text: string, at: number) => text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);

describe("a hop is refused", () => {
  it.each<readonly [what: string, request: () => Promise<Request>, why: string]>([
    ["without anything in it", () => hopRequest({ alter: () => "" }), "form"],
    ["of another form", () => hopRequest({ alter: (value) => value.replace("v1", "v2") }), "form"],
    ["with a part more", () => hopRequest({ alter: (value) => `${value};x=1` }), "form"],
    ["twice in one field", () => hopRequest({ alter: (value) => `${value}, ${value}` }), "form"],
    ["of an unknown key", () => hopRequest({ key: { ...OWN_KEY, id: "2020" } }), "unknown-key"],
    ["of a forged key under a known ID", () => hopRequest({ key: { id, key: new Uint8Array(32) } }), "changed"],
    [
      "with a changed content",
      () => hopRequest({ alter: (value) => flip(value, value.indexOf(";h=") + 9) }),
      "changed",
    ],
    [
      "with a changed signature",
      () => hopRequest({ alter: (value) => flip(value, value.indexOf(";s=") + 9) }),
      "changed",
    ],
    [
      "with a changed time",
      () => hopRequest({ alter: (value) => value.replace(/t=\d+/, `t=${NOW_MS / 1000 + 1}`) }),
      "changed",
    ],
    ["for another method", () => hopRequest({ method: "DELETE", signed: { method: "GET", target: PATH } }), "changed"],
    [
      "for another path",
      () => hopRequest({ path: `/orders/${IDS.orderDe}`, signed: { method: "GET", target: PATH } }),
      "changed",
    ],
    [
      "for another query",
      () => hopRequest({ path: `${PATH}?a=2`, signed: { method: "GET", target: `${PATH}?a=1` } }),
      "changed",
    ],
    ["61 s old", () => hopRequest({ atMs: NOW_MS - 61_000 }), "late"],
    ["61 s too early", () => hopRequest({ atMs: NOW_MS + 61_000 }), "late"],
  ])("%s", async (_, request, why) => {
    const { take, origins } = us();
    const response = await take(await request());
    expect(response.status).toBe(403);
    expect(await problemOf(response)).toMatchObject({ type: "/-/problems/hop-refused", why });
    expect(origins).toEqual([]);
  });

  it("on every path, the gateway's own pages among them", async () => {
    for (const path of ["/mint", "/any", "/-/table", "/-/health", `/any/${IDS.orderBr}`, "/nothing"]) {
      const { take } = us();
      const response = await take(
        new Request(`http://us-gw.internal${path}`, { headers: { "waybill-hop": "forged" } }),
      );
      expect([path, response.status]).toEqual([path, 403]);
    }
  });

  it.each([
    ["a read", PATH, { "waybill-debug": "waybill-hop" }],
    ["a list", "/orders", { "waybill-debug": "waybill-hop" }],
    ["the mint", "/mint", {}],
  ])("by a gateway that is in no mesh: %s", async (_, path, more) => {
    const { request, seen } = setUp({ declared: MESH_TABLE });
    const response = await request(path, {
      method: path === "/mint" ? "POST" : "GET",
      headers: { "waybill-hop": "v1;k=a", ...more },
    });
    expect(await problemOf(response)).toMatchObject({ status: 403, why: "no-keys" });
    expect(seen).toEqual([]);
  });

  it.each([
    ["PEER_KEYS is that of origins", { ORIGIN_SIGNING_KEYS: PEER_KEYS }],
    ["PEER_KEYS is invalid", { PEER_KEYS: "[]" }],
    ["SELF_REGIONS is invalid", { SELF_REGIONS: "us,us" }],
    ["GATEWAY_NAME is the default", { GATEWAY_NAME: "waybill" }],
  ])("where %s", async (_, settings) => {
    const { take, origins } = us({ own: { us: { settings } } });
    const response = await take(await hopRequest());
    expect(await problemOf(response)).toMatchObject({ status: 403, why: "no-keys" });
    expect(origins).toEqual([]);
  });
});

describe("a hop is believed", () => {
  it.each([0, -60_000, 60_000])("%i ms from the gateway's clock, as often as it comes", async (byMs) => {
    const { take, origins } = us();
    const request = await hopRequest({ atMs: NOW_MS + byMs });
    for (let time = 0; time < 3; time++) expect((await take(request.clone() as Request)).status).toBe(200);
    expect(origins).toHaveLength(3);
  });

  it("by either key while keys are changed, and made by the first", async () => {
    const next = { id: "2026b", key: btoa("another secret of 32 octets, new") };
    const both = JSON.stringify([next, { id, key }]);
    const turned = JSON.stringify([{ id, key }, next]);
    const { gateways, hops } = setUpMesh({
      own: { eu: { settings: { PEER_KEYS: turned } }, us: { settings: { PEER_KEYS: both } } },
    });
    expect((await gateways.eu.request(PATH)).status).toBe(200);
    expect((await gateways.us.request(`/orders/${IDS.orderDe}`)).status).toBe(200);
    expect(hops.map(({ request }) => request.headers.get("waybill-hop")?.split(";")[1])).toEqual([
      "k=2026a",
      "k=2026b",
    ]);
  });

  it("and passes no limit, no canary and no CORS of the second gateway", async () => {
    const limits: string[] = [];
    const refuse = (name: string) => ({
      max: 1,
      waitSeconds: async () => {
        limits.push(name);
        return 1;
      },
    });
    const rateLimits = { client: refuse("client"), entity: refuse("entity"), lookup: refuse("lookup") };
    const declared = { ...MESH_TABLE, cors: { origins: ["https://app.example.com"] } };
    const { take } = us({ declared, own: { us: { gateway: { rateLimits } } } });
    const request = await hopRequest();
    request.headers.set("origin", "https://app.example.com");
    const response = await take(request);
    expect([response.status, limits]).toEqual([200, []]);
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
  });

  describe("for the table by which the first gateway decided, while the second one has a canary", () => {
    const NEXT = { ...MESH_TABLE.regions.us, origins: [{ url: "https://next.us.internal" }] };
    const texts = [MESH_TABLE, { ...MESH_TABLE, regions: { ...MESH_TABLE.regions, us: NEXT } }].map((table) =>
      JSON.stringify(table),
    );

    afterEach(() => reset());

    /** Revision 1, and a canary that is revision 2. Gives their digests. */
    async function publishWithCanary(): Promise<[string, string]> {
      await reset();
      const { TABLE_KV } = env as Env;
      const digests: string[] = [];
      for (const text of texts) {
        const digest = hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
        digests.push(digest);
        await TABLE_KV.put(bodyKey(digest), text);
      }
      const [digest, next] = digests as [string, string];
      const canary = { revision: 2, digest: next, audience: { share: 5 } };
      await TABLE_KV.put(POINTER_KEY, formatPointer({ revision: 1, digest, change: 2, canary } as unknown as Pointer));
      return [digest, next];
    }

    it.each<readonly [what: string, hop: (own: string) => Partial<Hop>, isCanary: boolean]>([
      ["the canary's own", (own) => ({ revision: 9, table: own }), true],
      ["another, under the canary's number", () => ({ revision: 2, table: "0".repeat(64) }), false],
      ["one that is not published, under its number", () => ({ revision: 2, table: null }), false],
      ["of an earlier version, by its number", () => ({ revision: 2 }), true],
      ["of an earlier version, by another number", () => ({ revision: 1 }), false],
    ])("%s", async (_, hop, isCanary) => {
      const [, own] = await publishWithCanary();
      const { take, origins } = us();
      expect((await take(await hopRequest({ hop: hop(own) }))).status).toBe(200);
      expect(new URL(origins[0]?.url ?? "").host === "next.us.internal").toBe(isCanary);
    });

    it("which it says itself", async () => {
      const published = await publishWithCanary();
      const { gateways, hops } = setUpMesh({ nowMs: NOW_MS });
      expect((await gateways.eu.request(PATH)).status).toBe(200);
      const [, content = ""] = /;h=([^;]+);/.exec(hops[0]?.request.headers.get("waybill-hop") ?? "") ?? [];
      const { table } = JSON.parse(atob(content.replaceAll("-", "+").replaceAll("_", "/")));
      expect(published).toContain(table);
    });
  });

  it("and its origin's request is signed by the gateway that sends it, with its own key", async () => {
    const own = [{ id: "us", key: bytesOf(btoa("32 octets of a key for us alone.")) }];
    const clock = { nowMs: () => NOW_MS };
    const eu = { gateway: { sign: async () => "of eu", mustSign: true } };
    const { gateways, seen } = setUpMesh({
      nowMs: NOW_MS,
      own: { eu, us: { gateway: { sign: hmacSigner(own, crypto.subtle, clock), mustSign: true } } },
    });
    await gateways.eu.request(`${PATH}?a=1`, { headers: { "cf-connecting-ip": "203.0.113.9" } });
    const [sent] = seen;
    const { url = "", headers = new Headers(), method = "" } = sent ?? {};
    const verified = await verifyRequest({ url, headers, method }, { keys: own, now: () => NOW_MS });
    expect(verified).toMatchObject({ ok: true, value: { region: "us", clientAddress: "203.0.113.9" } });
  });
});

describe("what a gateway does not serve", () => {
  const misdirected = async (hop: Partial<Hop>, options: MeshOptions = {}) => {
    const { take, origins } = us(options);
    const response = await take(await hopRequest({ hop }));
    expect(origins).toEqual([]);
    return { response, problem: await problemOf(response) };
  };

  it.each([
    ["a region that is another's", { region: "eu" }],
    ["a region that its table does not have", { region: "mars" }],
  ])("%s is a 421", async (_, hop) => {
    const { problem } = await misdirected(hop);
    expect(problem).toMatchObject({ type: "/-/problems/hop-misdirected", status: 421, region: hop.region });
  });

  it("an entity of which it knows a newer move is a 421", async () => {
    const declared = { ...MESH_TABLE, moved: { [IDS.orderBr]: { region: "ap", epoch: 2 } } };
    const words = [0x01990f04, 0xd9008007, 0x80400000, 1];
    const { problem } = await misdirected({ id: { layout: "iuid", text: IDS.orderBr, words }, epoch: 1 }, { declared });
    expect(problem).toMatchObject({ type: "/-/problems/hop-misdirected", status: 421 });
  });

  it.each([
    ["the name of its own", ["us-gw"]],
    ["its own name before others", ["us-gw", "eu-gw"]],
    ["three gateways before it", ["a", "b", "eu-gw"]],
  ])("%s is a 508", async (_, names) => {
    const { problem } = await misdirected({ names });
    expect(problem).toMatchObject({ type: "/-/problems/loop-detected", status: 508 });
  });
});

describe("what clients see of gateways that disagree", () => {
  const asked = async (options: MeshOptions, by: Name = "eu") => {
    const world = setUpMesh(options);
    const response = await world.gateways[by].request(PATH);
    return { ...world, response, problem: await problemOf(response) };
  };

  it.each<readonly [what: string, options: MeshOptions, detail: RegExp]>([
    [
      "other keys",
      { own: { us: { settings: { PEER_KEYS: JSON.stringify([{ id: "other", key }]) } } } },
      /does not have this one's key/,
    ],
    [
      "another key of the same ID",
      { own: { us: { settings: { PEER_KEYS: JSON.stringify([{ id, key: btoa("x".repeat(32)) }]) } } } },
      /did not get the request as it was sent/,
    ],
    ["no keys", { own: { us: { settings: { PEER_KEYS: "[]" } } } }, /no valid PEER_KEYS/],
    ["clocks", { nowMs: NOW_MS, own: { us: { nowMs: NOW_MS + 90_000 } } }, /clock/],
    ["SELF_REGIONS", { own: { us: { settings: { SELF_REGIONS: "eu" } } } }, /SELF_REGIONS/],
    [
      "a path that a proxy changes",
      { between: (request) => new Request(`${request.url}/`, request) },
      /proxy between them/,
    ],
    ["no settings of this one", { own: { eu: { settings: { PEER_KEYS: "[]" } } } }, /of this one is invalid/],
  ])("%s: 503, and why", async (_, options, detail) => {
    const { problem, response, seen } = await asked(options);
    expect(problem).toMatchObject({ type: "/-/problems/peers-disagree", status: 503, region: "us" });
    expect(problem["detail"]).toMatch(detail);
    expect(response.headers.get("retry-after")).toBe("2");
    expect(seen).toEqual([]);
  });

  it("one name at two gateways: 508, and the setting's name", async () => {
    const { problem } = await asked({ own: { us: { settings: { GATEWAY_NAME: "eu-gw" } } } });
    expect(problem).toMatchObject({ type: "/-/problems/loop-detected", status: 508 });
    expect(problem["detail"]).toMatch(/already names this gateway.*GATEWAY_NAME/);
  });

  it("a path through four gateways: 508", async () => {
    const { gateways, seen } = setUpMesh();
    const headers = { "cdn-loop": "cdn, a;mesh=1, b;mesh=1" };
    expect((await gateways.eu.request(PATH, { headers })).status).toBe(508);
    expect((await gateways.eu.request(PATH, { headers: { "cdn-loop": "cdn, fast, a;mesh=1" } })).status).toBe(200);
    expect(seen).toHaveLength(1);
  });

  it("a region whose gateway is this one, though it is not its own: 508", async () => {
    const regions = { ...MESH_TABLE.regions, us: { ...MESH_TABLE.regions.us, gateway: MESH_TABLE.regions.eu.gateway } };
    const { problem } = await asked({ declared: { ...MESH_TABLE, regions } });
    expect(problem).toMatchObject({ type: "/-/problems/loop-detected", status: 508 });
  });
});
