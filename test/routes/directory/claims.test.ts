import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { shardOf } from "../../../src/features/directory/table/shard.ts";
import { ok } from "../../../src/ids/result.ts";
import type { Scope } from "../../../src/ports/admin.ts";
import { problemOf, setUp } from "../harness.ts";
import { TABLE, UUID } from "./table.ts";

const ANN = { owner: "shop-1", operation: "op-1", region: "eu" };
const BOB = { owner: "shop-2", operation: "op-2", region: "us" };

const truth = durableDirectory((env as Env).DIRECTORY);

/** To begin the 256 objects takes seconds: those without these keys have no orphans. */
const SHARDS = new Set(["a", "b", "c"].map((key) => shardOf({ directory: "slug", key })));
const orphans: typeof truth.orphans = async (name, shard, after, limit) =>
  SHARDS.has(shard) ? truth.orphans(name, shard, after, limit) : ok({ rows: [], next: undefined });

const world = (scope: Scope = "directory") => {
  const authenticate = async () => ok({ name: "origin", scope, by: "token" } as const);
  const set = setUp({ declared: TABLE, gateway: { authenticate, directoryTruth: { ...truth, orphans } } });
  const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    set.request(`/-/directory${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { ...set, send };
};

beforeEach(() => reset());

describe("a claim", () => {
  it("is reserved, then confirmed, and only then routes", async () => {
    const { send, request } = world();
    const reserved = await send("PUT", "/slug/My-Shop", ANN);
    expect(reserved.status).toBe(200);
    expect(await reserved.json()).toMatchObject({
      directory: "slug",
      key: "my-shop",
      state: "reserved",
      owner: "shop-1",
    });
    expect((await request("/shops/my-shop")).status).toBe(404);
    const confirmed = await send("POST", "/slug/my-shop", { action: "confirm", owner: "shop-1", operation: "op-1" });
    expect(await confirmed.json()).toMatchObject({ state: "confirmed", region: "eu" });
    expect((await request("/shops/MY-SHOP")).headers.get("waybill-region")).toBe("eu");
    const entry = await send("GET", "/slug/my-shop");
    expect(entry.headers.get("etag")).toMatch(/^"\d+"$/);
    expect(await entry.json()).toMatchObject({ key: "my-shop", state: "confirmed" });
  });

  it("may be repeated by its owner, also with another operation", async () => {
    const { send } = world();
    for (const operation of ["op-1", "op-1", "op-9"]) {
      expect((await send("PUT", "/slug/a", { ...ANN, operation })).status).toBe(200);
    }
    const late = await send("POST", "/slug/a", { action: "confirm", owner: "shop-1", operation: "op-1" });
    expect(await problemOf(late)).toMatchObject({ status: 409, type: "/-/problems/key-reserved" });
    const confirm = { action: "confirm", owner: "shop-1", operation: "op-9" };
    expect((await send("POST", "/slug/a", confirm)).status).toBe(200);
    expect((await send("POST", "/slug/a", confirm)).status).toBe(200);
    expect((await send("PUT", "/slug/a", ANN)).status).toBe(200);
    expect(await problemOf(await send("PUT", "/slug/a", { ...ANN, region: "us" }))).toMatchObject({ status: 412 });
  });

  it("of another's key is 409 with retry-after while it is reserved, and 412 for good", async () => {
    const { send } = world();
    await send("PUT", "/slug/a", { ...ANN, leaseSeconds: 20 });
    const held = await send("PUT", "/slug/a", BOB);
    expect(Number(held.headers.get("retry-after"))).toBeLessThanOrEqual(20);
    expect(await problemOf(held)).toMatchObject({ status: 409, type: "/-/problems/key-reserved", key: "a" });
    await send("POST", "/slug/a", { action: "confirm", owner: "shop-1", operation: "op-1" });
    expect(await problemOf(await send("PUT", "/slug/a", BOB))).toMatchObject({
      status: 412,
      type: "/-/problems/key-taken",
    });
  });

  it("that was released is anybody's", async () => {
    const { send } = world();
    await send("PUT", "/slug/a", ANN);
    const release = { action: "release", owner: "shop-1", operation: "op-1" };
    expect([(await send("POST", "/slug/a", release)).status, (await send("POST", "/slug/a", release)).status]).toEqual([
      204, 204,
    ]);
    expect((await send("PUT", "/slug/a", BOB)).status).toBe(200);
    const lost = await send("POST", "/slug/b", { action: "confirm", owner: "shop-1", operation: "op-1" });
    expect(await problemOf(lost)).toMatchObject({ status: 409, type: "/-/problems/claim-lost" });
  });

  it("takes several keys of an entity, or none", async () => {
    const { send } = world();
    const keys = [
      { directory: "slug", key: "a" },
      { directory: "email", key: "Ann@Example.com" },
    ];
    const all = await send("POST", "", { action: "reserve", ...ANN, keys });
    expect(await all.json()).toMatchObject({ keys: [{ key: "ann@example.com" }, { key: "a" }] });
    expect((await send("POST", "", { action: "confirm", owner: "shop-1", operation: "op-1", keys })).status).toBe(200);
    const others = [{ directory: "slug", key: "b" }, keys[1], { directory: "slug", key: "0" }];
    const taken = await send("POST", "", { action: "reserve", ...BOB, keys: others });
    expect(await problemOf(taken)).toMatchObject({ status: 412, directory: "email", key: "ann@example.com" });
    for (const key of ["0", "b"]) expect((await send("GET", `/slug/${key}`)).status).toBe(404);
    const twice = [keys[0], { directory: "slug", key: "A" }];
    expect((await problemOf(await send("POST", "", { action: "reserve", ...BOB, keys: twice })))["status"]).toBe(400);
  });
});

describe("a key", () => {
  const confirmed = async (send: ReturnType<typeof world>["send"]) => {
    await send("PUT", "/slug/a", ANN);
    const answer = await send("POST", "/slug/a", { action: "confirm", owner: "shop-1", operation: "op-1" });
    return answer.headers.get("etag") ?? "";
  };

  it("moves by its version, and goes by it", async () => {
    const { send, request } = world();
    const etag = await confirmed(send);
    expect((await request("/shops/a")).headers.get("waybill-region")).toBe("eu");
    const moved = await send("PUT", "/slug/a", { region: "us" }, { "if-match": etag });
    expect(moved.status).toBe(200);
    expect((await request("/shops/a")).headers.get("waybill-region")).toBe("us");
    expect(await problemOf(await send("PUT", "/slug/a", { region: "eu" }, { "if-match": etag }))).toMatchObject({
      status: 412,
      type: "/-/problems/stale-key",
    });
    expect((await problemOf(await send("DELETE", "/slug/a")))["status"]).toBe(428);
    expect((await problemOf(await send("PUT", "/slug/a", { region: "eu" })))["status"]).toBe(428);
    expect((await problemOf(await send("DELETE", "/slug/a", undefined, { "if-match": etag })))["status"]).toBe(412);
    const current = moved.headers.get("etag") ?? "";
    expect((await send("DELETE", "/slug/a", undefined, { "if-match": current })).status).toBe(204);
    expect((await request("/shops/a")).status).toBe(404);
    expect((await problemOf(await send("DELETE", "/slug/a", undefined, { "if-match": current })))["status"]).toBe(404);
  });

  it("is reported with those that nothing confirmed", async () => {
    const { send } = world();
    const etag = await confirmed(send);
    expect(await (await send("GET", "/slug?only=orphans")).json()).toEqual({ keys: [] });
    expect((await send("POST", "/slug/a", { action: "missing" }, { "if-match": etag })).status).toBe(200);
    await send("PUT", "/slug/b", { ...BOB, leaseSeconds: 1 });
    await send("PUT", "/slug/c", { ...BOB, leaseSeconds: 600 });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const page: { keys: { key: string }[]; next: string } = await (
      await send("GET", "/slug?only=orphans&limit=1")
    ).json();
    const rest: { keys: { key: string }[] } = await (
      await send("GET", `/slug?only=orphans&limit=5&after=${encodeURIComponent(page.next)}`)
    ).json();
    expect([...page.keys, ...rest.keys].map(({ key }) => key).toSorted()).toEqual(["a", "b"]);
  });

  it("of a directory of IDs is an ID in its canonical text", async () => {
    const { send } = world();
    const put = await send("PUT", `/old/${UUID.toUpperCase()}`, ANN);
    expect(await put.json()).toMatchObject({ key: UUID });
    expect(await problemOf(await send("PUT", "/old/0192f0c1-7a30-7005-8040-8f3b2a1c9d78", ANN))).toMatchObject({
      status: 400,
      type: "/-/problems/malformed-key",
    });
  });
});

it.each([
  ["PUT", "/slug/a", { ...ANN, region: "mars" }, 422],
  ["PUT", "/nope/a", ANN, 422],
  ["PUT", "/slug/a", { ...ANN, more: 1 }, 400],
  ["PUT", "/slug/a", { ...ANN, owner: "" }, 400],
  ["PUT", "/slug/a", { ...ANN, operation: "a b" }, 400],
  ["PUT", "/slug/a", { ...ANN, leaseSeconds: 3_601 }, 400],
  ["PUT", "/slug/a%2fb", ANN, 400],
  ["PUT", `/slug/${"a".repeat(513)}`, ANN, 400],
  ["PUT", "/email/ann", ANN, 400],
  ["POST", "/slug/a", { action: "steal", ...ANN }, 400],
  ["POST", "", { action: "reserve", ...ANN, keys: [] }, 400],
  ["GET", "/slug?only=orphans&limit=0", undefined, 400],
  ["GET", "/slug?only=orphans&after=300:", undefined, 400],
  ["GET", "/slug/none", undefined, 404],
  ["PATCH", "/slug/a", {}, 405],
])("%s %s is refused: %o", async (method, path, body, status) => {
  const { send } = world();
  expect((await problemOf(await send(method, path, body)))["status"]).toBe(status);
});

describe("a key that no path has", () => {
  const KEYS = ["a/b", "a\\b", ".", ".."];
  const ODD = ["\ud800", "a\u0000", "a\u0007", "", "x".repeat(513)];

  it.each([...KEYS, ...ODD])("%j is refused at every entrance", async (key) => {
    const { send, request } = world("operator");
    for (const action of [
      { action: "reserve", ...ANN },
      { action: "confirm", owner: "1", operation: "1" },
    ]) {
      const claimed = await send("POST", "", { ...action, keys: [{ directory: "slug", key }] });
      expect(await problemOf(claimed)).toMatchObject({ status: 400, type: "/-/problems/malformed-key" });
    }
    const body = `${JSON.stringify({ key, region: "eu" })}\n`;
    const imported = await request("/-/directory/slug/-/import", { method: "POST", body });
    expect(await imported.text()).toMatch(/^\{"fault":\{"line":1,.*\n.*"faults":1/);
    if (key === "." || key === ".." || key === "" || key === "\ud800") return;
    const put = await send("PUT", `/slug/${encodeURIComponent(key)}`, ANN);
    expect(await problemOf(put)).toMatchObject({ status: 400, type: "/-/problems/malformed-key" });
  });

  it.each(KEYS)("%j that is there already is exported, shown and removed", async (key) => {
    await truth.register({ directory: "slug", key, owner: "1", operation: "1", region: "eu" });
    const { send } = world();
    const at = `/slug?key=${encodeURIComponent(key)}`;
    const shown = await send("GET", at);
    expect(await shown.json()).toMatchObject({ key, region: "eu", state: "confirmed" });
    expect(await problemOf(await send("DELETE", at))).toMatchObject({ status: 428 });
    const removed = await send("DELETE", at, undefined, { "if-match": shown.headers.get("etag") ?? "" });
    expect(removed.status).toBe(204);
    expect((await send("GET", at)).status).toBe(404);
  });

  it("is one key in percent-encoded UTF-8, for those who may see keys", async () => {
    const { send } = world();
    for (const query of ["?key=%E9", "?key=a&key=b", "?key=%", "?key"]) {
      expect((await send("GET", `/slug${query}`)).status).toBe(400);
      expect((await send("DELETE", `/slug${query}`, undefined, { "if-match": '"1"' })).status).toBe(400);
    }
    for (const scope of ["viewer", "support"] as const) {
      expect((await world(scope).send("GET", "/slug?key=a")).status).toBe(404);
    }
    expect((await world("mint").send("GET", "/slug?key=a")).status).toBe(403);
    expect((await world("viewer").send("DELETE", "/slug?key=a")).status).toBe(403);
  });

  it.each([
    ["", "It is empty"],
    ["\ud800", "half a surrogate"],
    ["\u0007", "control character"],
    ["x".repeat(513), "512"],
  ])("has no owner %j", async (owner) => {
    const { send } = world();
    expect((await send("PUT", "/slug/a", { ...ANN, owner })).status).toBe(400);
    expect(
      (await send("POST", "", { action: "reserve", ...ANN, owner, keys: [{ directory: "slug", key: "a" }] })).status,
    ).toBe(400);
  });
});

it("is for the scope directory and operators; viewers read", async () => {
  expect((await world("viewer").send("PUT", "/slug/a", ANN)).status).toBe(403);
  expect((await world("mint").send("GET", "/slug/a")).status).toBe(403);
  expect((await world("operator").send("PUT", "/slug/a", ANN)).status).toBe(200);
  const read = await world("viewer").send("GET", "/slug/a");
  expect(await read.json()).toMatchObject({ key: "a" });
  expect((await world("directory").request("/-/ready")).status).toBe(200);
  expect((await world("directory").request("/-/regions")).status).toBe(403);
  const listed = await world("directory").send("GET", "");
  expect(await listed.json()).toMatchObject({
    directories: [
      { name: "slug", key: { text: "lower" }, mode: "serve", onFailure: "refuse" },
      {},
      { key: { layout: "uuid-v4" } },
    ],
  });
});
