import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { type Chunk, chunkStore } from "../../../src/edge/chunks/store.ts";
import type { Env } from "../../../src/edge/env.ts";
import { err, ok } from "../../../src/ids/result.ts";

const { TABLE_KV } = env as Env;

beforeEach(() => reset());

/** A store of texts: a page is good if it says its own key. */
function setUp({ chunkBytesMax = 100, cache }: { chunkBytesMax?: number; cache?: Cache } = {}) {
  const state = { nowMs: 1_000_000, reads: [] as string[], opened: [] as string[], hangs: false, deadlineMs: 2_000 };
  const background: Promise<unknown>[] = [];
  const kv = new Proxy(TABLE_KV, {
    get(target, name) {
      if (name !== "get") return Reflect.get(target, name);
      return (...parameters: [string, ...unknown[]]) => {
        state.reads.push(parameters[0]);
        return state.hangs ? new Promise(() => undefined) : Reflect.apply(target.get, target, parameters);
      };
    },
  });
  const store = chunkStore({
    kv,
    cache,
    namespace: "one",
    chunkBytesMax,
    retryMsMax: 30_000,
    clock: { nowMs: () => state.nowMs },
    entropy: { word: () => 2 ** 31 },
    waitUntil: (work) => background.push(work),
  });
  const load = (key: string, waitMs?: number) => {
    const open = async (bytes: ArrayBuffer) => {
      const text = new TextDecoder().decode(bytes);
      state.opened.push(text);
      return text.startsWith(key) ? ok(text) : err("it is another page");
    };
    return store.load({ key, open, deadlineMs: state.deadlineMs }, waitMs);
  };
  return { state, store, load, background };
}

it("a page that many ask for at once is read once, and again by the next", async () => {
  const { state, load } = setUp();
  await TABLE_KV.put("a", "a 1");
  expect(await Promise.all(Array.from({ length: 50 }, () => load("a")))).toEqual(new Array(50).fill(ok("a 1")));
  expect([state.reads, state.opened]).toEqual([["a"], ["a 1"]]);
  expect([await load("a"), state.reads]).toEqual([ok("a 1"), ["a", "a"]]);
});

it("a page that is absent or wrong is an error, is logged once, and is not read before its time", async () => {
  const { state, load } = setUp();
  await TABLE_KV.put("a", "b");
  expect(await load("a")).toEqual(err({ why: "it is another page", retryAfterMs: 1_000, isNew: true }));
  expect(await load("none")).toEqual(err({ why: "KV has no none", retryAfterMs: 1_000, isNew: true }));
  state.nowMs += 999;
  expect(await load("a")).toEqual(err({ why: "it is another page", retryAfterMs: 1, isNew: false }));
  expect(state.reads).toEqual(["a", "none"]);
  state.nowMs += 1;
  expect(await load("a")).toMatchObject({ error: { retryAfterMs: 2_000, isNew: true } });
});

it("a page comes from the edge's cache, unless what is there is wrong", async () => {
  const cache = await caches.open(crypto.randomUUID());
  const first = setUp({ cache });
  await TABLE_KV.put("a", "a 1");
  await first.load("a");
  await Promise.all(first.background);
  const second = setUp({ cache });
  expect([await second.load("a"), second.state.reads]).toEqual([ok("a 1"), []]);
  const wrong = new Response("b", { headers: { "cache-control": "max-age=60" } });
  await cache.put("https://table.waybill.invalid/one/a", wrong);
  const third = setUp({ cache });
  expect([await third.load("a"), third.state.reads, third.state.opened]).toEqual([ok("a 1"), ["a"], ["b", "a 1"]]);
});

it("a request with little time left goes without the page, which arrives for the others", async () => {
  const { state, load } = setUp();
  state.hangs = true;
  state.deadlineMs = 500;
  const patient = load("a");
  expect(await load("a", 20)).toMatchObject({ error: { why: "it did not arrive in time", isNew: true } });
  expect(await patient).toMatchObject({ error: { why: "KV did not answer within 500 ms" } });
  expect(state.reads).toEqual(["a"]);
  state.hangs = false;
  state.nowMs += 1_000;
  await TABLE_KV.put("a", "a 1");
  expect(await load("a")).toEqual(ok("a 1"));
});

it("pages are kept within the bound: the oldest goes first, unless it was used since it was last passed over", () => {
  const { store } = setUp({ chunkBytesMax: 100 });
  const dropped: string[] = [];
  const keep = (name: string, bytes: number): Chunk => {
    const page = { bytes, isUsed: true };
    store.keep(page, () => dropped.push(name));
    return page;
  };
  const a = keep("a", 40);
  keep("b", 40);
  a.isUsed = true;
  keep("c", 40);
  expect(dropped).toEqual(["b"]);
  keep("d", 60);
  expect(dropped).toEqual(["b", "a"]);
  keep("e", 500);
  expect(dropped).toEqual(["b", "a", "c", "d"]);
  keep("f", 100);
  expect(dropped).toEqual(["b", "a", "c", "d", "e"]);
});
