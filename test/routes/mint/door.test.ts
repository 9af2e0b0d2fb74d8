import { describe, expect, it } from "vitest";
import { mintDoor } from "../../../src/edge/auth/access.ts";
import { authenticator } from "../../../src/edge/auth/authenticate.ts";
import { type MintDoor, parseMintDoor } from "../../../src/edge/auth/settings.ts";
import { countedRateLimit } from "../../../src/edge/rate-limits.ts";
import { keyedPublicIds } from "../../../src/features/public-ids/edge.ts";
import { makeKey, NO_AUTH, NOW_MS, NOW_SECONDS, signWith } from "../../edge/auth/access-world.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { problemOf, publicKeysOf, setUp, slug } from "../harness.ts";

const key = await makeKey("2026-06");
const ISSUER = "https://login.acme.test";
const JWT = JSON.stringify({ issuer: ISSUER, audience: "ids", keys: `${ISSUER}/jwks.json`, scope: "mint" });
const CLAIMS = { iss: ISSUER, aud: "ids", sub: "app", scope: "read mint", exp: NOW_SECONDS + 600 };

const token = (scope: string) => `a-token-that-may-do-what-a-${scope}-may-do-and-nothing-else`;
const digestOf = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
const SCOPES = ["viewer", "operator", "mint"] as const;
const tokens = await Promise.all(
  SCOPES.map(async (scope) => ({ name: scope, scope, sha256: await digestOf(token(scope)) })),
);

function gatewayWith(setting: string) {
  const door = parseMintDoor(setting);
  const options = {
    clock: { nowMs: () => NOW_MS },
    fetch: async (target: string | Request) =>
      target === `${ISSUER}/jwks.json` ? Response.json({ keys: [key.jwk] }) : new Response(null, { status: 404 }),
    subtle: crypto.subtle,
    reportKeyFailure: () => undefined,
  };
  const settings = { ...NO_AUTH, tokens };
  const authenticate = authenticator({ ...options, settings, reportRefused: () => undefined });
  const value: MintDoor = door.ok ? door.value : "faulty";
  const { request } = setUp({ gateway: { authenticate, mintDoor: mintDoor(value, authenticate, options) } });
  const mint = async (bearer?: string, body: unknown = { entity: "parcel", shardKey: 1 }) => {
    const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    return request("/mint", { method: "POST", body: JSON.stringify(body), headers: authorization });
  };
  return { mint, request };
}

it("is open to all by default", async () => {
  expect((await gatewayWith("open").mint()).status).toBe(201);
});

it("that is off is no page", async () => {
  const { mint } = gatewayWith("off");
  for (const bearer of [undefined, token("operator")])
    expect(slug(await problemOf(await mint(bearer)))).toBe("not-found");
});

it("by scope takes tokens of scope mint and operator, which may do no more with it", async () => {
  const { mint, request } = gatewayWith("token");
  expect([(await mint(token("mint"))).status, (await mint(token("operator"))).status]).toEqual([201, 201]);
  expect(await problemOf(await mint(token("viewer")))).toMatchObject({ type: "/-/problems/forbidden", needs: "mint" });
  for (const bearer of [undefined, token("other")]) expect((await mint(bearer)).status).toBe(401);
  const headers = { authorization: `Bearer ${token("mint")}` };
  for (const page of ["/-/metrics", "/-/table", "/-/ids/1"])
    expect((await request(page, { headers })).status).toBe(403);
  expect(await (await request("/-/ready", { headers })).json()).toEqual({ status: "ready" });
});

it("by a declared JWT takes the issuer's tokens for it with the scope", async () => {
  const { mint } = gatewayWith(JWT);
  expect((await mint(await signWith(key, CLAIMS))).status).toBe(201);
  const wrong = [
    { ...CLAIMS, scope: "read minting" },
    { ...CLAIMS, aud: "other" },
    { ...CLAIMS, iss: "https://evil.test" },
    { ...CLAIMS, exp: NOW_SECONDS - 600 },
  ];
  for (const claims of wrong) expect((await mint(await signWith(key, claims))).status).toBe(401);
  const forged = await signWith(await makeKey("2026-06"), CLAIMS);
  for (const bearer of [undefined, "x.y.z", forged, token("operator")]) expect((await mint(bearer)).status).toBe(401);
});

it.each(["yes", " ", "{}", JWT.replace("https://login.acme.test/jwks", "http://login.acme.test/jwks"), `${JWT},`])(
  "that is set to %s is closed, and says so",
  async (setting) => {
    const { mint } = gatewayWith(setting);
    for (const bearer of [undefined, token("operator")]) expect((await mint(bearer)).status).toBe(503);
  },
);

it("has a price: each ID counts as a request", async () => {
  const limit = countedRateLimit({ by: "counter", requests: 100, periodSeconds: 60 }, { nowMs: () => 18_500 });
  const { request } = setUp({ gateway: { rateLimits: { client: limit, entity: undefined, lookup: undefined } } });
  const mint = (count: number) =>
    request("/mint", { method: "POST", body: JSON.stringify({ entity: "parcel", shardKey: 1, count }) });
  expect((await mint(60)).status).toBe(201);
  const refused = await mint(60);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "42"]);
  // The refused request itself was counted.
  expect([(await mint(39)).status, (await mint(1)).status]).toEqual([201, 429]);
});

it("refuses a count above the limit once and for all", async () => {
  const limit = countedRateLimit({ by: "counter", requests: 100, periodSeconds: 60 }, { nowMs: () => 18_500 });
  const { request } = setUp({ gateway: { rateLimits: { client: limit, entity: undefined, lookup: undefined } } });
  const body = JSON.stringify({ entity: "parcel", shardKey: 1, count: 101 });
  const problem = await problemOf(await request("/mint", { method: "POST", body }));
  expect([problem["status"], problem["field"], problem["max"]]).toEqual([422, "count", "100"]);
});

/** Far from the clocks of other tests. */
const BESIDE_AT_MS = Date.now() + 180 * 86_400_000;

describe("a large request", () => {
  const mintLarge = async (request: ReturnType<typeof setUp>["request"]) => {
    const body = JSON.stringify({ entity: "order", country: "KZ", count: 1000 });
    const minted = await request("/mint", { method: "POST", body });
    return (await minted.json<{ readonly ids: readonly string[] }>()).ids;
  };

  it("lets others work between IDs that are read again", async () => {
    const order = { ...DECLARED_TABLE.entities.order, public: true };
    const declared = { ...DECLARED_TABLE, entities: { ...DECLARED_TABLE.entities, order } };
    const keys = publicKeysOf(JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] }));
    const publicIds = keyedPublicIds(keys);
    const runs = [0];
    const show: typeof publicIds.show = (...id) => {
      runs.push((runs.pop() ?? 0) + 1);
      return publicIds.show(...id);
    };
    const pause = async () => void runs.push(0);
    const { request } = setUp({ declared, gateway: { pause, publicIds: { ...publicIds, show } } });
    expect(new Set(await mintLarge(request)).size).toBe(1000);
    expect([runs.reduce((sum, run) => sum + run), Math.max(...runs) <= 40]).toEqual([1000, true]);
  });

  it("rests once beside proxied requests, by its count, until the last was a second ago", async () => {
    const pauses: number[] = [];
    let nowMs = BESIDE_AT_MS;
    const clock = { nowMs: () => nowMs };
    const { request } = setUp({ gateway: { clock, pause: async (ms) => void pauses.push(ms) } });
    const [id] = await mintLarge(request);
    expect(pauses).toEqual([]);
    expect((await request(`/orders/${id}`)).status).toBe(200);
    const body = JSON.stringify({ entity: "order", country: "KZ", count: 99 });
    expect([(await request("/mint", { method: "POST", body })).status, pauses.length]).toEqual([201, 0]);
    nowMs += 999;
    expect([new Set(await mintLarge(request)).size, pauses.length]).toEqual([1000, 1]);
    expect(pauses[0]).toBeGreaterThanOrEqual(32);
    expect(pauses[0]).toBeLessThan(96);
    nowMs += 1;
    await mintLarge(request);
    expect(pauses).toHaveLength(1);
  });
});
