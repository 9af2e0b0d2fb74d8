import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { DIRECTORY_SHARDS, durableDirectory, objectName, shardOf } from "../../../src/features/directory/edge/keys.ts";
import type { BulkRow } from "../../../src/features/directory/port.ts";

const { DIRECTORY } = env as Env;
const truth = durableDirectory(DIRECTORY);

beforeEach(() => reset());

/** Keys that one shard has. */
const keysOf = (shard: number, count: number): string[] => {
  const keys: string[] = [];
  for (let at = 0; keys.length < count; at++) {
    if (shardOf({ directory: "slug", key: `k${at}` }) === shard) keys.push(`k${at}`);
  }
  return keys.toSorted();
};

it("puts rows at once, and gives them in the order of their bytes", async () => {
  const keys = keysOf(7, 5);
  const rows = keys.map((key): BulkRow => [key, "eu", null]);
  const tried = [await truth.tryMany("slug", 7, rows, false), await truth.tryMany("slug", 7, rows, false)];
  const put = await truth.putMany("slug", 7, rows, false);
  expect(tried).toEqual([put, put]);
  expect(put).toEqual({
    ok: true,
    value: { added: 5, unchanged: 0, replaced: 0, conflicts: 0, conflictKeys: [], conflictRows: [], isFull: false },
  });
  const first = await truth.scan("slug", 7, "", 3);
  expect(first).toMatchObject({
    value: { rows: keys.slice(0, 3).map((key) => ({ key, region: "eu" })), next: keys[2] },
  });
  const second = await truth.scan("slug", 7, keys[2] as string, 3);
  expect(second).toMatchObject({ value: { rows: keys.slice(3).map((key) => ({ key })), next: undefined } });
});

it("tells what was there from what differs", async () => {
  const [a, b, c, d] = keysOf(7, 4) as [string, string, string, string];
  await truth.putMany(
    "slug",
    7,
    [
      [a, "eu", null],
      [b, "eu", "b1"],
      [c, "eu", "c1"],
    ],
    false,
  );
  await truth.reserve({ directory: "slug", key: d, owner: "d1", operation: "1", region: "eu", leaseMs: 60_000 });
  const rows: BulkRow[] = [
    [a, "eu", null],
    [b, "us", null],
    [c, "eu", "other"],
    [d, "eu", "d1"],
  ];
  expect(await truth.putMany("slug", 7, rows, false)).toMatchObject({
    value: { added: 0, unchanged: 1, replaced: 0, conflicts: 3, conflictKeys: [b, c, d] },
  });
  expect(await truth.putMany("slug", 7, rows, true)).toMatchObject({
    value: { added: 0, unchanged: 1, replaced: 2, conflicts: 1, conflictKeys: [d] },
  });
  expect(await truth.get({ directory: "slug", key: b })).toMatchObject({ value: { region: "us", owner: "b1" } });
  expect(await truth.putMany("slug", 7, rows, true)).toMatchObject({ value: { unchanged: 3, conflicts: 1 } });
});

it("puts the rows of one key one after the other", async () => {
  const [a, b] = keysOf(7, 2) as [string, string];
  const rows: BulkRow[] = [
    [a, "eu", null],
    [b, "eu", null],
    [a, "us", null],
    [a, "eu", null],
  ];
  const put = await truth.putMany("slug", 7, rows, false);
  expect(put).toMatchObject({
    value: { added: 2, unchanged: 1, replaced: 0, conflicts: 1, conflictKeys: [a], conflictRows: [2] },
  });
  expect(await truth.putMany("slug", 7, rows.slice(0, 3), true)).toMatchObject({
    value: { added: 0, unchanged: 2, replaced: 1, conflicts: 0 },
  });
  expect(await truth.get({ directory: "slug", key: a })).toMatchObject({ value: { region: "us" } });
  expect(await truth.putMany("slug", 7, rows, true)).toMatchObject({ value: { unchanged: 1, replaced: 3 } });
  expect(await truth.get({ directory: "slug", key: a })).toMatchObject({ value: { region: "eu" } });
});

it("puts a whole call of one key", async () => {
  const [a] = keysOf(7, 1) as [string];
  const rows = Array.from({ length: 2_000 }, (_, at): BulkRow => [a, at % 2 === 0 ? "eu" : "us", null]);
  expect(await truth.putMany("slug", 7, rows, true)).toMatchObject({ value: { added: 1, replaced: 1_999 } });
  expect(await truth.get({ directory: "slug", key: a })).toMatchObject({ value: { region: "us" } });
});

it("refuses a call for another shard, and is then unavailable", async () => {
  await truth.scan("slug", 7, "", 1);
  const errors: unknown[] = [];
  // As a gateway that counts its shards differently.
  const elsewhere = { idFromName: () => DIRECTORY.idFromName(objectName(7)), get: DIRECTORY.get.bind(DIRECTORY) };
  const other = durableDirectory(elsewhere as unknown as typeof DIRECTORY, (error) => errors.push(error));
  expect(await other.scan("slug", 8, "", 1)).toMatchObject({ ok: false, error: { reason: "directory-unavailable" } });
  expect(String(errors[0])).toContain("shard 7 of 256, not shard 8 of 256");
});

it("spreads keys that look alike, and never chooses another shard", () => {
  const counts = new Array<number>(DIRECTORY_SHARDS).fill(0);
  for (let at = 0; at < 25_600; at++) {
    const shard = shardOf({ directory: "slug", key: `shop-${at}` });
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(50);
  expect(Math.max(...counts)).toBeLessThan(160);
  const shards = ["", "a", "ann@example.com", "münchen", "919108f7-52d1-4320-9bac-f847db4148a8"].map((key) =>
    shardOf({ directory: "slug", key }),
  );
  expect(shards).toMatchInlineSnapshot(`
    [
      213,
      88,
      8,
      169,
      134,
    ]
  `);
});
