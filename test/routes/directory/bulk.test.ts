import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { subtleSha256 } from "../../../src/edge/platform.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { CopyBuilder, type EncodedCopy } from "../../../src/features/directory/table/copy-builder.ts";
import { err, ok } from "../../../src/ids/result.ts";
import { problemOf, setUp, slug } from "../harness.ts";

const { DIRECTORY, TABLE_KV } = env as Env;

const TABLE = {
  regions: { eu: { origins: [{ url: "http://eu.test" }] }, us: { origins: [{ url: "http://us.test" }] } },
  entities: {
    shop: { path: "/shops/:id", directory: "slug" },
    order: { path: "/orders/:id", ids: [{ layout: "uuid-v4" }] },
  },
  directory: { slug: { key: { text: "lower" } }, old: { key: { layout: "uuid-v4" } } },
  routes: [{ when: { layout: "uuid-v4" }, directory: "old" }],
};

const UUID = "919108f7-52d1-4320-9bac-f847db4148a8";
const SLUG = "/-/directory/slug/-";

const ndjson = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const linesOf = async (response: Response): Promise<Record<string, unknown>[]> =>
  (await response.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

type World = ReturnType<typeof setUp>;

const post = async ({ request }: World, path: string, rows: readonly object[]) =>
  linesOf(await request(path, { method: "POST", body: ndjson(rows) }));

const buildOf = async (
  rows: readonly { key: string; region: string }[],
  directory = "slug",
  builtAtMs = Date.now(),
): Promise<EncodedCopy> => {
  const builder = new CopyBuilder(crypto.getRandomValues(new Uint8Array(16)));
  for (const { key, region } of rows) builder.add(key, region);
  const built = await builder.build({ directory, builtAtMs, sha256: subtleSha256 });
  if (!built.ok) throw new Error(built.error.reason);
  return built.value;
};

const publish = async ({ request }: World, { sha256, header, pages }: EncodedCopy): Promise<number[]> => {
  const statuses: number[] = [];
  for (const [path, body] of [...pages.entries(), ["", header] as const]) {
    const at = `${SLUG}/copies/${sha256}${path === "" ? "" : `/${path}`}`;
    statuses.push((await request(at, { method: "PUT", body })).status);
  }
  return statuses;
};

describe("rows of a directory", () => {
  it("are counted by state over all objects", async () => {
    const world = setUp({ declared: TABLE });
    const rows = Array.from({ length: 300 }, (_, at) => ({ key: `shop-${at}`, region: "eu" }));
    await post(world, `${SLUG}/import`, rows);
    const claim = { owner: "42", operation: "1", region: "eu" };
    await world.request("/-/directory/slug/ada", { method: "PUT", body: JSON.stringify(claim) });
    const counted = await world.request(`${SLUG}/counts`);
    expect([counted.status, await counted.json()]).toEqual([
      200,
      {
        directory: "slug",
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        shards: 256,
        answered: 256,
        total: { confirmed: 300, reserved: 1, expired: 0, missing: 0 },
      },
    ]);
    expect(await (await world.request("/-/directory/old/-/counts")).json()).toMatchObject({ total: { confirmed: 0 } });
  });

  it("are at least so many where an object does not answer", async () => {
    // A slow machine answers for all others in time.
    const directoryTruth = durableDirectory(DIRECTORY, () => undefined, 60_000);
    const failure = { directory: "slug", retryAfterSeconds: 2, why: "failed" } as const;
    const failed = err({ reason: "directory-unavailable", ...failure } as const);
    const count = async (name: string, shard: number) => (shard === 9 ? failed : directoryTruth.count(name, shard));
    const world = setUp({ declared: TABLE, gateway: { directoryTruth: { ...directoryTruth, count } } });
    const counted = (await (await world.request(`${SLUG}/counts`)).json()) as object;
    expect(counted).toMatchObject({ shards: 256, answered: 255, atLeast: { confirmed: 0 } });
    expect(counted).not.toHaveProperty("total");
  });

  it("are imported, decide requests, and are exported", async () => {
    const world = setUp({ declared: TABLE });
    const rows = Array.from({ length: 300 }, (_, at) => ({ key: `Shop-${at}`, region: at % 2 === 0 ? "eu" : "us" }));
    expect((await post(world, `${SLUG}/import`, rows)).at(-1)).toEqual({
      lines: 300,
      added: 300,
      unchanged: 0,
      replaced: 0,
      conflicts: 0,
      faults: 0,
      done: true,
    });
    expect((await world.request("/shops/shop-7")).headers.get("waybill-region")).toBe("us");
    const exported = await linesOf(await world.request(`${SLUG}/export`));
    expect(exported.at(-1)).toEqual({ done: true, rows: 300 });
    const sorted = (some: readonly object[]) => some.map((row) => JSON.stringify(row)).sort();
    expect(sorted(exported.slice(0, -1))).toEqual(
      sorted(rows.map(({ key, region }) => ({ key: key.toLowerCase(), region }))),
    );
    expect((await post(world, `${SLUG}/import`, rows)).at(-1)).toMatchObject({ added: 0, unchanged: 300 });
    const moved = [{ key: "shop-7", region: "eu" }];
    expect(await post(world, `${SLUG}/import`, moved)).toMatchObject([
      { conflict: { line: 1, key: "shop-7" } },
      { conflicts: 1 },
      { conflicts: 1, done: true },
    ]);
    expect((await post(world, `${SLUG}/import?replace=true`, moved)).at(-1)).toMatchObject({ replaced: 1 });
  });

  it("of IDs are their canonical text", async () => {
    const world = setUp({ declared: TABLE });
    const lines = await post(world, "/-/directory/old/-/import", [
      { key: UUID.toUpperCase(), region: "us" },
      { key: "0192f0c1-7a30-7005-8040-8f3b2a1c9d77", region: "us" },
      { key: "ada", region: "us" },
      { key: UUID, region: "mars" },
    ]);
    expect(lines.slice(0, 3).map(({ fault }) => (fault as { line: number }).line)).toEqual([2, 3, 4]);
    expect(lines.at(-1)).toMatchObject({ added: 1, faults: 3, done: true });
    expect((await world.request(`/orders/${UUID}`)).headers.get("waybill-region")).toBe("us");
  });

  it("are checked and not written in a dry run", async () => {
    const world = setUp({ declared: TABLE });
    const row = { key: "ada", region: "eu" };
    expect((await post(world, `${SLUG}/import?dry-run=true`, [row])).at(-1)).toMatchObject({ lines: 1, done: true });
    expect(await linesOf(await world.request(`${SLUG}/export`))).toEqual([{ done: true, rows: 0 }]);
  });

  it("belong to a directory of the table, and cursors to an export", async () => {
    const { request } = setUp({ declared: TABLE });
    for (const [method, path] of [
      ["POST", "/-/directory/none/-/import"],
      ["GET", "/-/directory/none/-/export"],
      ["GET", "/-/directory/none/-/counts"],
      ["GET", "/-/directory/none/-/copy"],
      ["DELETE", "/-/directory/none/-/copy"],
      ["GET", `${SLUG}/copies/${"0".repeat(64)}`],
      ["GET", `${SLUG}/copies/x`],
      ["PUT", `${SLUG}/copies/${"0".repeat(64)}/01`],
    ] as const) {
      const expected = path.includes("none") ? "unknown-name" : "not-found";
      expect(slug(await problemOf(await request(path, { method }))), path).toBe(expected);
    }
    const { status } = await request(`${SLUG}/export?cursor=x`);
    expect(status).toBe(400);
    expect((await request(`${SLUG}/import`)).headers.get("allow")).toBe("POST");
  });

  it("are for operators", async () => {
    const denied = setUp({
      declared: TABLE,
      gateway: { authenticate: async () => ok({ name: "vic", scope: "viewer", by: "token" }) },
    });
    const none = setUp({
      declared: TABLE,
      gateway: { authenticate: async () => err({ reason: "unauthenticated", why: "missing" }) },
    });
    for (const [method, path] of [
      ["POST", "/import"],
      ["GET", "/export"],
      ["DELETE", "/copy"],
      ["GET", `/copies/${"0".repeat(64)}`],
      ["PUT", `/copies/${"0".repeat(64)}`],
      ["PUT", `/copies/${"0".repeat(64)}/0`],
    ] as const) {
      expect((await denied.request(`${SLUG}${path}`, { method })).status, path).toBe(403);
      expect((await none.request(`${SLUG}${path}`, { method })).status, path).toBe(401);
    }
    expect((await denied.request(`${SLUG}/copy`)).status).toBe(200);
  });
});

describe("a published copy", () => {
  const rows = Array.from({ length: 6_000 }, (_, at) => ({ key: `shop-${at}`, region: at % 2 === 0 ? "eu" : "us" }));

  it("decides requests while no object answers, for the keys that it has", async () => {
    const copy = await buildOf(rows);
    expect(await publish(setUp({ declared: TABLE }), copy)).toEqual([204, 204, 204]);
    const failing = err({
      reason: "directory-unavailable",
      directory: "slug",
      retryAfterSeconds: 2,
      why: "failed",
    } as const);
    const { directoryTruth } = setUp().gateway;
    const world = setUp({
      declared: TABLE,
      gateway: { directoryTruth: { ...directoryTruth, get: async () => failing } },
    });
    for (const at of [0, 1, 17, 4_444]) {
      expect((await world.request(`/shops/Shop-${at}`)).headers.get("waybill-region")).toBe(rows[at]?.region);
    }
    // The copy is so young that what it lacks counts as absent.
    expect(slug(await problemOf(await world.request("/shops/none")))).toBe("unknown-key");
    const status = await (await world.request(`${SLUG}/copy`)).json();
    expect(status).toMatchObject({
      directory: "slug",
      copy: { sha256: copy.sha256, keys: 6_000, pages: 2, bytes: copy.bytes, regions: ["eu", "us"] },
    });
    const header = await world.request(`${SLUG}/copies/${copy.sha256}`);
    expect(new Uint8Array(await header.arrayBuffer())).toEqual(copy.header);
    const page = await world.request(`${SLUG}/copies/${copy.sha256}/1`);
    expect(new Uint8Array(await page.arrayBuffer())).toEqual(copy.pages[1]);
    expect((await world.request(`${SLUG}/copy`, { method: "DELETE" })).status).toBe(204);
    expect(await (await world.request(`${SLUG}/copy`)).json()).toEqual({ directory: "slug", copy: null });
    const after = setUp({
      declared: TABLE,
      gateway: world.gateway.directoryTruth === undefined ? {} : { directoryTruth: world.gateway.directoryTruth },
    });
    expect((await after.request("/shops/shop-0")).status).toBe(503);
  });

  it("that is not of this directory, of this table or of its digest is refused", async () => {
    const world = setUp({ declared: TABLE });
    const statusOf = async (copy: EncodedCopy, body: Uint8Array = copy.header): Promise<string> => {
      const answer = await world.request(`${SLUG}/copies/${copy.sha256}`, { method: "PUT", body });
      return String((await problemOf(answer))["detail"]);
    };
    expect(await statusOf(await buildOf(rows.slice(0, 9), "old"))).toBe("It is a copy of old, not of slug.");
    const elsewhere = await buildOf([{ key: "a", region: "mars" }]);
    expect(await statusOf(elsewhere)).toBe("It names the region mars, which the table does not have.");
    const early = await buildOf(rows.slice(0, 9), "slug", Date.now() + 400_000);
    expect(await statusOf(early)).toMatch(/^It was made at .*, which is yet to come\.$/);
    const good = await buildOf(rows.slice(0, 9));
    expect(await statusOf(good, good.header.slice(1))).toMatch(/^In the copy, its header has the SHA-256 /);
    const large = { method: "PUT", body: new Uint8Array(65_537) };
    expect((await world.request(`${SLUG}/copies/${good.sha256}/0`, large)).status).toBe(413);
    expect((await TABLE_KV.list({ prefix: "directory" })).keys).toEqual([]);
  });
});
