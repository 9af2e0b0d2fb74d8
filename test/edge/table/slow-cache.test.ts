import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import type { EdgeCache } from "../../../src/edge/origins/moved-memory.ts";
import { edgeTableCache } from "../../../src/edge/table/edge-cache.ts";
import { packKey, pageKey } from "../../../src/features/packs/table/pack.ts";
import { bodyKey, POINTER_KEY } from "../../../src/formats/kv.ts";
import { ok } from "../../../src/ids/result.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { putTable } from "../faulty-kv.ts";
import { EU, withPacks } from "../pages/isolate.ts";

const { TABLE_KV } = env as Env;

const NEVER = new Promise<never>(() => undefined);

/** A location's cache in which what is named never ends. */
function hanging(real: Cache, ...names: readonly ("match" | "put" | "body")[]) {
  const calls = { match: [] as string[], put: [] as string[] };
  const stuck = new Set(names);
  const keyOf = (url: unknown) => String(url).split("/").at(-1) ?? "";
  const cache: EdgeCache = {
    match: (url) => {
      calls.match.push(keyOf(url));
      const isBody = stuck.has("body") && keyOf(url) !== "current";
      return stuck.has("match") || isBody ? NEVER : real.match(url);
    },
    put: (url, response) => {
      calls.put.push(keyOf(url));
      return stuck.has("put") ? NEVER : real.put(url, response);
    },
    delete: (url) => real.delete(url),
  };
  return { cache, calls, stuck };
}

beforeEach(() => reset());

describe("while the edge's cache never answers", () => {
  it.each([[["match", "put"]], [["match"]], [["put"]]] as const)(
    "(%s) 40 first requests get the table of KV, which is read once",
    async (names) => {
      const { store, isolate, cache, pack } = await withPacks(TABLE_KV);
      const edge = hanging(cache, ...names);
      const { loaded, targetOf } = isolate({ edge: edge.cache });
      const served = await Promise.all(Array.from({ length: 40 }, loaded));
      expect(new Set(served.map(({ label }) => label))).toEqual(new Set(["rev=5; source=kv; age=0"]));
      expect(store.reads).toEqual([POINTER_KEY, expect.stringMatching(/^table\.[0-9a-f]{64}$/), packKey(pack.sha256)]);
      const [first] = served;
      expect(first && (await targetOf(first.table, EU))).toBe("eu");
      expect(store.reads.slice(3)).toEqual([pageKey(pack.sha256, 0)]);
    },
  );

  it("it is left alone for half a minute, and asked again then", async () => {
    const { cache: real, time } = await withPacks(TABLE_KV);
    const { cache, calls, stuck } = hanging(real, "match");
    const edge = edgeTableCache(cache, "one", { nowMs: () => time.nowMs });
    const part = () => edge.part("part", async (bytes) => ok(bytes.byteLength));
    await edge.putPart("part", new ArrayBuffer(7));
    expect(await part()).toBeUndefined();
    stuck.clear();
    time.nowMs += 29_999;
    expect([await part(), await edge.pointer(), calls.match.length]).toEqual([undefined, undefined, 1]);
    time.nowMs += 1;
    expect([await part(), calls.match.length]).toEqual([ok(7), 2]);
  });

  it("what KV gave is put all the same, for others of the location", async () => {
    const { store, isolate, cache } = await withPacks(TABLE_KV);
    const first = isolate({ edge: hanging(cache, "match").cache });
    await first.loaded();
    await first.settle();
    store.fault = "throws";
    expect((await isolate().loaded()).label).toBe("rev=5; source=edge; age=0");
  });
});

it("an isolate for which KV shows an older pointer has that table, where the newer one is only named", async () => {
  const { store, isolate, cache } = await withPacks(TABLE_KV);
  const first = isolate();
  await first.loaded();
  await first.settle();
  const newer = (await TABLE_KV.get<{ digest: string }>(POINTER_KEY, "json"))?.digest ?? "";
  store.fault = "old pointer";
  store.hangsAt = bodyKey(newer);
  const { loaded } = isolate({ edge: hanging(cache, "body").cache });
  expect((await loaded()).label).toBe("rev=4; source=kv; age=0");
});

it("a pointer that KV gives late is taken, whatever became of the table that others had", async () => {
  const { store, isolate, cache, pack } = await withPacks(TABLE_KV);
  const first = isolate();
  await first.loaded();
  await first.settle();
  const before = (await TABLE_KV.get<{ digest: string }>(POINTER_KEY, "json"))?.digest ?? "";
  await putTable(TABLE_KV, 6, JSON.stringify(DECLARED_TABLE));
  store.hangsAt = bodyKey(before);
  store.delayMs = 600;
  const { loaded, peek } = isolate({ edge: hanging(cache, "body").cache });
  await loaded();
  await vi.waitFor(() => expect(peek()?.label).toBe("rev=6; source=memory; age=0"), { timeout: 5_000 });
  expect(store.reads).not.toContain(pageKey(pack.sha256, 0));
});
