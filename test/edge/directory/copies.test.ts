import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { subtleSha256 } from "../../../src/edge/platform.ts";
import { type CopyFailure, copyStore, kvCopies } from "../../../src/features/directory/edge/copies.ts";
import { DIRECTORY_SHARDS, durableDirectory, objectName } from "../../../src/features/directory/edge/keys.ts";
import type { DirectoryFailure, DirectoryTruth } from "../../../src/features/directory/port.ts";
import { CopyBuilder, type EncodedCopy } from "../../../src/features/directory/table/copy-builder.ts";
import { copyKey, copyPageKey, copyPointerKey } from "../../../src/features/directory/table/copy-format.ts";
import { shardOf } from "../../../src/features/directory/table/shard.ts";
import { err } from "../../../src/ids/result.ts";
import { type FaultyKv, faultyKv, settled } from "../faulty-kv.ts";

const { TABLE_KV, DIRECTORY } = env as Env;
const BUILT_AT_MS = Date.parse("2026-11-23T09:00:00.000Z");

const build = async (count: number, region: string, directory = "slug"): Promise<EncodedCopy> => {
  const builder = new CopyBuilder(Uint8Array.from({ length: 16 }, (_, at) => at));
  for (let at = 0; at < count; at++) builder.add(`key-${at}`, region);
  const built = await builder.build({ directory, builtAtMs: BUILT_AT_MS, sha256: subtleSha256 });
  if (!built.ok) throw new Error(built.error.reason);
  return built.value;
};

const store = copyStore(TABLE_KV, () => undefined);

const publish = async ({ sha256, header, pages }: EncodedCopy, directory = "slug"): Promise<void> => {
  for (const [page, bytes] of pages.entries()) await store.write(directory, sha256, page, bytes);
  await store.write(directory, sha256, undefined, header);
  await store.point(directory, sha256);
};

/** An isolate in front of a KV that may fail. */
const isolate = (kv: FaultyKv = faultyKv(TABLE_KV, { revision: 1, digest: "" }, "{}"), chunkBytesMax = 2 ** 20) => {
  const time = { nowMs: BUILT_AT_MS };
  const failures: CopyFailure[] = [];
  const background: Promise<unknown>[] = [];
  const objects = durableDirectory(DIRECTORY);
  const objectsFail = { now: false };
  const truth: Pick<DirectoryTruth, "changesSince"> = {
    changesSince: async (...call) => (objectsFail.now ? FAILED : objects.changesSince(...call)),
  };
  const copies = kvCopies({
    truth,
    kv: kv.kv,
    cache: undefined,
    namespace: "one",
    clock: { nowMs: () => time.nowMs },
    entropy: { word: () => 2 ** 31 },
    waitUntil: (work) => background.push(work),
    retryMsMax: 30_000,
    chunkBytesMax,
    waitMs: 100,
    report: (failure) => failures.push(failure),
  });
  return { kv, time, failures, objects, objectsFail, copies, settle: () => settled(background) };
};

const EU = { state: "found", region: "eu", builtAtMs: BUILT_AT_MS, isConfirmed: true };
const AP = { state: "found", region: "ap", builtAtMs: BUILT_AT_MS, isConfirmed: true };
const FAILED = err<DirectoryFailure>({
  reason: "directory-unavailable",
  directory: "slug",
  retryAfterSeconds: 2,
  why: "failed",
});
const ABSENT = { state: "absent", builtAtMs: BUILT_AT_MS };

it("reads a pointer, a header and one page for the first key, and nothing for the next one of the page", async () => {
  await publish(await build(300, "eu"));
  const { copies, kv, time } = isolate();
  expect(copies.peek("slug", "key-7")).toBeUndefined();
  expect(await copies.find("slug", "key-7")).toEqual(EU);
  expect(kv.reads.length).toBe(3);
  expect(await copies.find("slug", "key-8")).toEqual(EU);
  expect(copies.peek("slug", "key-9")).toEqual(EU);
  expect(copies.peek("slug", "other")).toEqual(ABSENT);
  // Keys changed here are wrong here at once; a check that is due comes before the copy counts again.
  copies.forget("slug", "key-9");
  expect([copies.peek("slug", "key-9"), await copies.find("slug", "key-9")]).toEqual([undefined, undefined]);
  expect(await copies.find("slug", "other")).toEqual(ABSENT);
  expect(kv.reads.length).toBe(3);
  time.nowMs += 60_000;
  expect(copies.peek("slug", "key-7")).toBeUndefined();
});

it("reads one value of KV for a cold page, which those who ask at once share", async () => {
  await publish(await build(12_000, "eu"));
  const { copies, kv } = isolate();
  await copies.find("slug", "key-0");
  kv.reads.length = 0;
  const found = await Promise.all(Array.from({ length: 500 }, (_, at) => copies.find("slug", `key-${at}`)));
  expect(new Set(found.map((each) => JSON.stringify(each)))).toEqual(new Set([JSON.stringify(EU)]));
  expect(kv.reads.length).toBe(3);
});

it("has no more pages in memory than its bound", async () => {
  await publish(await build(12_000, "eu"));
  const { copies, kv } = isolate(undefined, 40_000);
  for (let at = 0; at < 40; at++) expect(await copies.find("slug", `key-${at}`)).toEqual(EU);
  expect(kv.reads.length).toBeGreaterThan(10);
});

it("has nothing to say without a copy, and asks KV once a minute for it", async () => {
  const { copies, kv, time, settle } = isolate();
  for (let at = 0; at < 10; at++) expect(await copies.find("slug", "key-1")).toBeUndefined();
  expect(kv.reads).toEqual([copyPointerKey("slug")]);
  await publish(await build(10, "eu"));
  time.nowMs += 60_000;
  expect(await copies.find("slug", "key-1")).toEqual(EU);
  await settle();
});

it("takes a renewed copy, and a removed one no longer", async () => {
  await publish(await build(10, "eu"));
  const { copies, time, settle } = isolate();
  const next = async () => {
    time.nowMs += 60_000;
    await copies.find("slug", "key-1");
    await settle();
    return copies.find("slug", "key-1");
  };
  expect(await copies.find("slug", "key-1")).toEqual(EU);
  await publish(await build(10, "ap"));
  expect(await next()).toEqual(AP);
  await store.point("slug", undefined);
  expect(await next()).toBeUndefined();
});

it("takes a copy that is renewed or removed here at once, also over a read that began before", async () => {
  await publish(await build(10, "eu"));
  const { copies, kv, time, objects, settle } = isolate();
  await objects.changesSince("slug", BUILT_AT_MS);
  await copies.renew("slug");
  expect(kv.reads).toEqual([]);
  expect(await copies.find("slug", "key-1")).toMatchObject({ region: "eu" });
  time.nowMs += 60_000;
  kv.delayMs = 30;
  const reading = copies.find("slug", "key-1");
  await publish(await build(10, "ap"));
  await copies.renew("slug");
  expect(await copies.find("slug", "key-1")).toMatchObject({ region: "ap" });
  await reading;
  await store.point("slug", undefined);
  await copies.renew("slug");
  expect(await copies.find("slug", "key-1")).toBeUndefined();
  await settle();
});

it("keeps its copy if KV cannot be read when another is put in force, and takes that one soon after", async () => {
  await publish(await build(10, "eu"));
  const { copies, kv, time, failures, objects, settle } = isolate();
  await objects.changesSince("slug", BUILT_AT_MS);
  await copies.find("slug", "key-1");
  await publish(await build(10, "ap"));
  kv.fault = "throws";
  await copies.renew("slug");
  expect(await copies.find("slug", "key-1")).toMatchObject({ region: "eu" });
  expect(failures).toMatchObject([{ directory: "slug", part: "pointer" }]);
  kv.fault = undefined;
  time.nowMs += 5_000;
  await copies.find("slug", "key-1");
  await settle();
  expect(await copies.find("slug", "key-1")).toMatchObject({ region: "ap" });
});

it("says nothing of keys that were moved, removed or replaced since, within a minute", async () => {
  await publish(await build(100, "eu"));
  const { copies, objects, time, settle } = isolate();
  time.nowMs = Date.now();
  const row = (key: string) => ({ directory: "slug", key });
  const find = async () => {
    time.nowMs += 60_000;
    await copies.find("slug", "key-0");
    await settle();
    return Promise.all([1, 2, 3, 4].map(async (at) => (await copies.find("slug", `key-${at}`))?.state));
  };
  expect(await find()).toEqual(["found", "found", "found", "found"]);
  await objects.move(row("key-1"), "ap", 1);
  await objects.remove(row("key-2"), 1);
  await objects.learn(row("key-3"), "eu", "ap");
  expect(await find()).toEqual([undefined, undefined, undefined, "found"]);
  // Rows of another directory, and rows that replace nothing.
  await objects.remove({ directory: "email", key: "key-4" }, 1);
  await objects.putMany("slug", shardOf(row("key-4")), [["key-4", "eu", null]], false);
  expect(await find()).toEqual([undefined, undefined, undefined, "found"]);
  await objects.putMany("slug", shardOf(row("key-4")), [["key-4", "ap", null]], true);
  expect(await find()).toEqual([undefined, undefined, undefined, undefined]);
  // A copy that is made after that has all of it.
  const builder = new CopyBuilder(new Uint8Array(16));
  builder.add("key-1", "ap");
  const builtAtMs = Date.now() + 3_600_000;
  const next = await builder.build({ directory: "slug", builtAtMs, sha256: subtleSha256 });
  if (!next.ok) throw new Error(next.error.reason);
  await publish(next.value);
  expect((await find())[0]).toBe("found");
});

it("names so many changed keys, and more make the copy void", async () => {
  const { objects } = isolate();
  expect(await objects.remove({ directory: "slug", key: "first" }, 1)).toMatchObject({ ok: true });
  // The others as rows: 4,000 calls take 13 s.
  await runInDurableObject(DIRECTORY.get(DIRECTORY.idFromName(objectName(DIRECTORY_SHARDS))), (_, { storage }) => {
    storage.sql.exec(`
      WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 3999)
      INSERT INTO changes SELECT directory, 'k' || at, noted_ms - at FROM changes, n`);
  });
  expect(await objects.changesSince("slug", 0)).toMatchObject({ ok: true, value: { length: 4_000 } });
  const beforeMs = Date.now();
  await objects.remove({ directory: "slug", key: "more" }, 1);
  expect(await objects.changesSince("slug", 0)).toEqual({ ok: true, value: undefined });
  const later = await objects.changesSince("slug", beforeMs);
  expect(later).toMatchObject({ ok: true, value: ["more"] });
});

it("is not confirmed while the object of changes does not answer", async () => {
  await publish(await build(10, "eu"));
  const { copies, objectsFail, time, settle } = isolate();
  objectsFail.now = true;
  expect(await copies.find("slug", "key-1")).toEqual({ ...EU, isConfirmed: false });
  objectsFail.now = false;
  time.nowMs += 5_000;
  await copies.find("slug", "key-1");
  await settle();
  expect(await copies.find("slug", "key-1")).toEqual(EU);
  objectsFail.now = true;
  time.nowMs += 120_000;
  await copies.find("slug", "key-1");
  await settle();
  expect(await copies.find("slug", "key-1")).toEqual(EU);
  time.nowMs += 60_000;
  expect(await copies.find("slug", "key-1")).toEqual({ ...EU, isConfirmed: false });
});

it.for(["throws", "hangs", "nonsense", "corrupt body"] as const)(
  "says nothing while KV %s, and keeps what it has",
  async (fault) => {
    await publish(await build(12_000, "eu"));
    const { copies, kv, time, failures, settle } = isolate();
    kv.fault = fault;
    expect(await copies.find("slug", "key-0")).toBeUndefined();
    kv.fault = undefined;
    time.nowMs += 10_000;
    await settle();
    await copies.find("slug", "key-0");
    await settle();
    expect(await copies.find("slug", "key-0")).toEqual(EU);
    kv.fault = fault;
    time.nowMs += 120_000;
    const found = await Promise.all(Array.from({ length: 50 }, (_, at) => copies.find("slug", `key-${at}`)));
    for (const each of found) expect([undefined, JSON.stringify(EU)]).toContain(each && JSON.stringify(each));
    expect(found[0]).toEqual(EU);
    expect(found).toContain(undefined);
    await settle();
    if (fault !== "hangs") expect(failures.length).toBeGreaterThan(0);
  },
);

it("says nothing of a copy of another directory, or with a page that differs or is not there", async () => {
  const other = await build(10, "ap", "email");
  await publish(other, "slug");
  const one = isolate();
  expect(await one.copies.find("slug", "key-1")).toBeUndefined();
  expect(one.failures).toEqual([{ directory: "slug", part: "header", why: "it is a copy of email" }]);

  const own = await build(10, "eu");
  await publish(own);
  await TABLE_KV.put(copyPageKey(own.sha256, 0), own.pages[0]?.slice(8) as Uint8Array);
  const two = isolate();
  expect(await two.copies.find("slug", "key-1")).toBeUndefined();
  expect(two.failures[0]).toMatchObject({ directory: "slug", part: 0 });
  await TABLE_KV.delete(copyPageKey(own.sha256, 0));
  expect(await isolate().copies.find("slug", "key-1")).toBeUndefined();
  await TABLE_KV.put(copyKey(own.sha256), "{}");
  expect(await isolate().copies.find("slug", "key-1")).toBeUndefined();
});
