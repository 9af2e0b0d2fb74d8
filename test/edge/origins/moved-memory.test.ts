import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { type EdgeCache, edgeMovedMemory, movedMemory } from "../../../src/edge/origins/moved-memory.ts";

/** A cache that no other test has entries in, and counts how often it is asked. */
function countedCache() {
  const asked: string[] = [];
  const own = caches.open(crypto.randomUUID());
  const counted = (name: keyof EdgeCache) => {
    return async (...parameters: [string, Response]) => {
      asked.push(name);
      return (await own)[name](...parameters);
    };
  };
  const cache = { match: counted("match"), put: counted("put"), delete: counted("delete") } as EdgeCache;
  return { cache, asked };
}

/** Memories of isolates at one location, on one clock. */
function location(cache: EdgeCache | undefined) {
  const time = { nowMs: 1_000_000 };
  const context = createExecutionContext();
  const isolate = (namespace = "one") =>
    movedMemory({ clock: { nowMs: () => time.nowMs }, cache, namespace, waitUntil: (work) => context.waitUntil(work) });
  return { time, isolate, settle: () => waitOnExecutionContext(context) };
}

const ID = "iuid:1.2.3.4";

const order = (id: string, decided = "eu") => ({ entity: "order", id, decided });
const ride = (id: string) => ({ entity: "ride", id, decided: "eu" });

describe("what an isolate remembers of moved entities", () => {
  it("is known at once, by entity and ID, without the cache", () => {
    const { cache, asked } = countedCache();
    const memory = location(cache).isolate();
    expect(memory.recall(order(ID))).toBeUndefined();
    memory.remember(order(ID), "us", 60);
    expect(memory.recall(order(ID))).toBe("us");
    expect(memory.recall(ride(ID))).toBeUndefined();
    memory.remember(order(ID), "ap", 60);
    expect(memory.recall(order(ID))).toBe("ap");
    expect(asked).not.toContain("match");
  });

  it("ends with its time", () => {
    const { time, isolate } = location(undefined);
    const memory = isolate();
    memory.remember(order(ID), "us", 60);
    time.nowMs += 59_999;
    expect(memory.recall(order(ID))).toBe("us");
    time.nowMs += 1;
    expect(memory.recall(order(ID))).toBeUndefined();
  });

  it.each(["breaks off", "never comes"])("is nothing where what the cache has %s", async (how) => {
    const broken = new ReadableStream({ start: (controller) => controller.error(new Error("broken")) });
    const match = () => (how === "breaks off" ? Promise.resolve(new Response(broken)) : new Promise(() => undefined));
    const { isolate } = location({ ...countedCache().cache, match } as unknown as EdgeCache);
    const memory = isolate();
    memory.remember(order("iuid:9.9.9.9"), "us", 60);
    expect(await memory.recall(order(ID))).toBeUndefined();
  });

  it("is not begun for 0 seconds", () => {
    const { cache, asked } = countedCache();
    const memory = location(cache).isolate();
    memory.remember(order(ID), "us", 0);
    expect(memory.recall(order(ID))).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it("is gone when it is forgotten", async () => {
    const { cache } = countedCache();
    const { isolate, settle } = location(cache);
    const memory = isolate();
    memory.remember(order(ID), "us", 60);
    await settle();
    memory.forget(order(ID));
    await settle();
    expect(await memory.recall(order(ID))).toBeUndefined();
    expect(await restless(isolate()).recall(order(ID))).toBeUndefined();
  });

  it("has at most 10,000 entries, and loses those that were not used for longest", () => {
    const memory = location(undefined).isolate();
    for (let at = 0; at < 10_000; at++) memory.remember(order(`${at}`), "us", 60);
    expect(memory.recall(order("0"))).toBe("us");
    memory.remember(order("one more"), "us", 60);
    expect(memory.recall(order("1"))).toBeUndefined();
    expect([0, 2, 9_999, "one more"].map((id) => memory.recall(order(`${id}`)))).toEqual(["us", "us", "us", "us"]);
  });
});

/** An isolate that has seen some order moved. */
const restless = (memory: ReturnType<typeof movedMemory>) => {
  memory.remember(order("some other"), "ap", 60);
  return memory;
};

describe("what isolates share", () => {
  it("is what one of them learnt, for those that have seen an entity of the kind moved", async () => {
    const { cache, asked } = countedCache();
    const { isolate, settle } = location(cache);
    isolate().remember(order(ID), "us", 60);
    await settle();
    const calm = isolate();
    expect(calm.recall(order(ID))).toBeUndefined();
    expect(asked).not.toContain("match");
    const other = restless(isolate());
    expect(other.recall(ride(ID))).toBeUndefined();
    const recalled = other.recall(order(ID));
    expect(recalled).toBeInstanceOf(Promise);
    expect(await recalled).toBe("us");
    // From now on it knows by itself.
    expect(other.recall(order(ID))).toBe("us");
    expect(await other.recall(order("unknown"))).toBeUndefined();
  });

  it("is asked for during five minutes after the last one moved", async () => {
    const { cache } = countedCache();
    const { time, isolate } = location(cache);
    const memory = restless(isolate());
    time.nowMs += 5 * 60_000 - 1;
    expect(await memory.recall(order(ID))).toBeUndefined();
    expect(memory.recall(order(ID))).toBeInstanceOf(Promise);
    time.nowMs += 1;
    expect(memory.recall(order(ID))).toBeUndefined();
  });

  it("ends with its time, whatever the cache still holds", async () => {
    const { cache } = countedCache();
    const { time, isolate, settle } = location(cache);
    isolate().remember(order(ID), "us", 60);
    await settle();
    time.nowMs += 60_000;
    expect(await restless(isolate()).recall(order(ID))).toBeUndefined();
  });

  it("is kept apart by entity and ID, whatever characters they have", async () => {
    const { cache } = countedCache();
    const { isolate, settle } = location(cache);
    const first = isolate();
    first.remember(order("a/b?c#d"), "us", 60);
    first.remember(order("a"), "ap", 60);
    await settle();
    const other = restless(isolate());
    expect(await other.recall(order("a/b?c#d"))).toBe("us");
    expect(await other.recall(order("a/b"))).toBeUndefined();
    expect(await other.recall(order("a"))).toBe("ap");
  });

  it("is kept apart by the region that the table decided on", async () => {
    const { cache } = countedCache();
    const { isolate, settle } = location(cache);
    const first = isolate();
    first.remember(order(ID), "us", 60);
    expect(first.recall(order(ID, "eu"))).toBe("us");
    expect(await first.recall(order(ID, "ap"))).toBeUndefined();
    await settle();
    const other = restless(isolate());
    expect(await other.recall(order(ID, "ap"))).toBeUndefined();
    expect(await other.recall(order(ID, "eu"))).toBe("us");
  });

  it("is not taken from entries that do not say for which region they were written", async () => {
    const { cache } = countedCache();
    const { isolate } = location(cache);
    const fields = { "cache-control": "max-age=60", "waybill-until": String(Number.MAX_SAFE_INTEGER) };
    await cache.put(
      `https://moved.waybill.invalid/one/order/${encodeURIComponent(ID)}`,
      new Response("us", { headers: fields }),
    );
    expect(await restless(isolate()).recall(order(ID))).toBeUndefined();
  });

  it("is written to the platform's own cache", async () => {
    const { isolate, settle } = location(caches.default);
    const id = crypto.randomUUID();
    isolate().remember(order(id), "us", 60);
    await settle();
    expect(await restless(isolate()).recall(order(id))).toBe("us");
  });
});

it("a platform without a cache is asked once, and everything else goes on in the isolate", async () => {
  let calls = 0;
  const fail = () => {
    calls += 1;
    return Promise.reject(new Error("No Cache was configured"));
  };
  const { isolate, settle } = location({ match: fail, put: fail, delete: fail });
  const memory = isolate();
  memory.remember(order(ID), "us", 60);
  await settle();
  expect(calls).toBe(1);
  memory.remember(order("second"), "us", 60);
  memory.forget(order(ID));
  expect(memory.recall(order(ID))).toBeUndefined();
  expect(memory.recall(order("second"))).toBe("us");
  expect(calls).toBe(1);
});

it("the memory of a deployed isolate is that of the platform's cache", () => {
  const memory = edgeMovedMemory({ nowMs: Date.now }, "one");
  const id = crypto.randomUUID();
  memory.remember(order(id), "us", 60);
  expect(memory.recall(order(id))).toBe("us");
  memory.forget(order(id));
  expect(memory.recall(order(id))).toBeInstanceOf(Promise);
});

it("deployments that have one cache keep apart what they remember", async () => {
  const { isolate, settle } = location(countedCache().cache);
  isolate("one").remember(order(ID), "us", 60);
  isolate("two").remember(order(ID), "ap", 60);
  await settle();
  const recalled = async (namespace: string) => {
    const memory = isolate(namespace);
    memory.remember(order("restless"), "us", 60);
    return memory.recall(order(ID));
  };
  expect(await recalled("one")).toBe("us");
  expect(await recalled("two")).toBe("ap");
  expect(await recalled("three")).toBeUndefined();
});
