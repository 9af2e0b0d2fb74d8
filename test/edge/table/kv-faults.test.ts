import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { IsolateTable } from "../../../src/edge/table/isolate-table.ts";
import { bodyKey, POINTER_KEY } from "../../../src/formats/kv.ts";
import { type CompiledTable, resolveAny } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS } from "../../routes/harness.ts";
import { faultyKv, putTable, READ_FAULTS, settled } from "../faulty-kv.ts";

const { TABLE_KV } = env as Env;

const INTERVAL_MS = 30_000;

/** The table of the build sends every order elsewhere, so that nobody can take it for the published one. */
const BUNDLED = { ...DECLARED_TABLE, routes: [{ when: {}, region: "us" }] };
const NEXT = { ...DECLARED_TABLE, routes: [{ when: {}, region: "ap" }] };

/** Where a table leads each ID of the fixtures. */
const targets = (table: CompiledTable) =>
  Object.values(IDS).map((id) => {
    const decision = resolveAny(table, id, Date.UTC(2026, 0, 1));
    return decision.ok ? decision.value.target.region.name : decision.error.reason;
  });

/** Isolates of one location on one clock, in front of one KV. */
async function location() {
  await putTable(TABLE_KV, 4, JSON.stringify(NEXT));
  const older = { revision: 4, digest: await putTable(TABLE_KV, 4, JSON.stringify(NEXT)) };
  const body = bodyKey(await putTable(TABLE_KV, 5, JSON.stringify(DECLARED_TABLE)));
  const store = faultyKv(TABLE_KV, older, JSON.stringify(NEXT));
  const time = { nowMs: 1_000_000 };
  const cache = await caches.open(crypto.randomUUID());
  const isolate = ({ namespace = "one", isShared = true } = {}) => {
    const background: Promise<unknown>[] = [];
    const tables = new IsolateTable({
      kv: store.kv,
      cache: isShared ? cache : undefined,
      namespace,
      bundled: BUNDLED,
      clock: { nowMs: () => time.nowMs },
      entropy: { word: () => 2 ** 31 },
      refreshMs: INTERVAL_MS,
      report: () => undefined,
      waitUntil: (work) => background.push(work),
    });
    const loaded = async () => {
      const served = await tables.load();
      if (!served.ok) throw new Error(served.error.why);
      return served.value;
    };
    const peek = () => tables.peek((work) => background.push(work));
    /** Work that can end has ended; work that hangs stays. */
    const settle = () => settled(background);
    return { loaded, peek, settle };
  };
  return { store, time, isolate, body };
}

const GOOD = targets(await table(DECLARED_TABLE));

async function table(declared: object): Promise<CompiledTable> {
  const { loadTable } = await import("../../../src/routing/index.ts");
  const loaded = loadTable(declared, 1);
  if (!loaded.ok) throw new Error("the fixture has faults");
  return loaded.value;
}

beforeEach(() => reset());

describe.each(READ_FAULTS)("while KV fails: %s", (fault) => {
  it("an isolate that runs routes every ID as before, says how old its table is, and asks once an interval", async () => {
    const { store, time, isolate } = await location();
    const { loaded, peek, settle } = isolate();
    await loaded();
    store.fault = fault;
    store.reads.length = 0;
    for (let second = 1; second <= 90; second++) {
      time.nowMs += 1_000;
      for (let request = 0; request < 5; request++) peek();
      if (second === 31 || second === 61) await settle();
      expect(peek()?.table.revision).toBe(5);
    }
    await settle();
    expect(store.reads).toEqual([POINTER_KEY, POINTER_KEY, POINTER_KEY]);
    const served = peek();
    expect(served && targets(served.table)).toEqual(GOOD);
    // Where the pointer is right the body is not asked for: nothing fails.
    const isUnharmed = ["body throws", "no body", "corrupt body", "another body", "too large", "nonsense"].includes(
      fault,
    );
    expect(served?.label).toMatch(isUnharmed ? /^rev=5; source=memory; age=\d$/ : /^rev=5; source=memory; age=90$/);
  });

  it("a new isolate has what its location had last, and says so", async () => {
    const { store, time, isolate } = await location();
    const first = isolate();
    await first.loaded();
    await first.settle();
    store.fault = fault;
    store.reads.length = 0;
    time.nowMs += 45_000;
    const { loaded, peek, settle } = isolate();
    const served = await loaded();
    await settle();
    expect(targets(served.table)).toEqual(GOOD);
    expect(served.label).toMatch(/^rev=5; source=edge; age=(?:0|45)$/);
    expect(peek()?.label).toMatch(/^rev=5; source=(?:edge; age=45|memory; age=0)$/);
    expect(store.reads).toEqual([POINTER_KEY]);
  });

  it("100 first requests at a location without a cache ask once, get the table of the build, and recover with one read", async () => {
    const { store, time, isolate, body } = await location();
    store.fault = fault;
    const { loaded, peek, settle } = isolate({ isShared: false });
    const served = await Promise.all(Array.from({ length: 100 }, loaded));
    // Where the pointer can be had the body is asked for, too: once.
    const asked = store.reads.length;
    expect(store.reads.map((key) => key === POINTER_KEY)).toEqual([true, false].slice(0, asked));
    if (fault !== "old pointer") expect(new Set(served.map(({ source }) => source))).toEqual(new Set(["bundled"]));
    for (let request = 0; request < 100; request++) peek();
    await settle();
    expect(store.reads.length).toBe(asked);
    store.fault = undefined;
    time.nowMs += INTERVAL_MS;
    for (let request = 0; request < 100; request++) peek();
    await settle();
    expect(store.reads.slice(asked)).toEqual([POINTER_KEY, body]);
    const recovered = peek();
    expect(recovered?.label).toBe("rev=5; source=memory; age=0");
    expect(recovered && targets(recovered.table)).toEqual(GOOD);
  });
});

it("a cold start takes KV's answer when it comes late, without asking again", async () => {
  const { store, isolate, body } = await location();
  const slow = new Proxy(store.kv, {
    get: (target, name) =>
      name === "get"
        ? async (...parameters: Parameters<KVNamespace["get"]>) => {
            await new Promise((end) => setTimeout(end, 1_200));
            return Reflect.apply(target.get, target, parameters);
          }
        : Reflect.get(target, name),
  });
  Object.assign(store, { kv: slow });
  const { loaded, peek } = isolate({ isShared: false });
  expect((await loaded()).source).toBe("bundled");
  await new Promise((end) => setTimeout(end, 2_000));
  expect(peek()?.label).toBe("rev=5; source=memory; age=0");
  expect(store.reads).toEqual([POINTER_KEY, body]);
});

it.each(["body throws", "no body", "corrupt body", "too large", "nonsense"] as const)(
  "a new table whose body cannot be had (%s) costs the pointer and the body once an interval, and comes as soon as it can",
  async (fault) => {
    const { store, time, isolate } = await location();
    const { loaded, peek, settle } = isolate();
    await loaded();
    const next = bodyKey(await putTable(TABLE_KV, 6, JSON.stringify(NEXT)));
    store.fault = fault;
    store.reads.length = 0;
    for (let interval = 0; interval < 4; interval++) {
      time.nowMs += INTERVAL_MS;
      for (let request = 0; request < 20; request++) expect(peek()?.table.revision).toBe(5);
      await settle();
    }
    expect(store.reads).toEqual([1, 2, 3, 4].flatMap(() => [POINTER_KEY, next]));
    store.fault = undefined;
    time.nowMs += INTERVAL_MS;
    peek();
    await settle();
    expect(peek()?.label).toBe("rev=6; source=memory; age=0");
    expect(store.reads.length).toBe(10);
  },
);

it.each(["body throws", "no body", "corrupt body", "too large", "nonsense", "hangs"] as const)(
  "a new isolate has what its location had last where KV names a newer table that cannot be had (%s), until it can",
  async (fault) => {
    const { store, time, isolate } = await location();
    const first = isolate();
    await first.loaded();
    await first.settle();
    const next = bodyKey(await putTable(TABLE_KV, 6, JSON.stringify(NEXT)));
    if (fault === "hangs") store.hangsAt = next;
    else store.fault = fault;
    const { loaded, peek, settle } = isolate();
    const served = await loaded();
    expect([served.label, targets(served.table)]).toEqual(["rev=5; source=edge; age=0", GOOD]);
    await settle();
    Object.assign(store, { fault: undefined, hangsAt: undefined });
    time.nowMs += INTERVAL_MS;
    peek();
    await settle();
    expect(peek()?.label).toBe("rev=6; source=memory; age=0");
  },
);

it("a location does not go back where KV shows one isolate what it had before", async () => {
  const { store, time, isolate } = await location();
  store.fault = "old pointer";
  const behind = isolate();
  expect((await behind.loaded()).table.revision).toBe(4);
  await behind.settle();
  store.fault = undefined;
  const ahead = isolate();
  expect((await ahead.loaded()).table.revision).toBe(5);
  await ahead.settle();
  store.fault = "old pointer";
  time.nowMs += INTERVAL_MS;
  behind.peek();
  await behind.settle();
  store.fault = "throws";
  expect((await isolate().loaded()).label).toBe("rev=5; source=edge; age=30");
});

describe("an isolate whose store breaks the rules of stores", () => {
  const isolateOn = (kv: object, bundled: unknown = BUNDLED) => {
    const time = { nowMs: 1_000_000 };
    const background: Promise<unknown>[] = [];
    const failures: string[] = [];
    const tables = new IsolateTable({
      kv: kv as KVNamespace,
      cache: undefined,
      namespace: "one",
      bundled,
      clock: { nowMs: () => time.nowMs },
      entropy: { word: () => 2 ** 31 },
      refreshMs: INTERVAL_MS,
      report: ({ reason }) => failures.push(reason),
      waitUntil: (work) => background.push(work),
    });
    return { tables, time, background, failures };
  };

  it.each([
    ["throws at once", () => JSON.parse("{")],
    ["gives a number", async () => 7],
    ["gives a pointer whose members throw", async () => ({ toString: () => JSON.parse("{") })],
  ])("that %s: load and refresh end, and no rejection is left over", async (_, get) => {
    const { tables, time, background, failures } = isolateOn({ get });
    const served = await tables.load();
    expect(served.ok && served.value.source).toBe("bundled");
    time.nowMs += INTERVAL_MS;
    expect(tables.peek((work) => background.push(work))?.source).toBe("bundled");
    // The two reads, and the table of the build.
    const ends = await Promise.allSettled(background);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
    expect(failures.length).toBe(2);
  });

  it("begins again after an interval, where a first look died with its request and there is no table of the build", async () => {
    const reads: string[] = [];
    const { tables, time } = isolateOn(
      {
        get: (key: string) => {
          reads.push(key);
          return reads.length === 1 ? new Promise(() => undefined) : TABLE_KV.get(key, "text");
        },
      },
      {},
    );
    expect(await tables.load()).toMatchObject({ ok: false });
    expect(await tables.load()).toMatchObject({ ok: false });
    expect(reads).toEqual(["table.current"]);
    time.nowMs += INTERVAL_MS;
    await tables.load();
    expect(reads.length).toBe(2);
  });
});

it("a new isolate takes nothing from another deployment on the same cache, however high its number", async () => {
  const { isolate } = await location();
  await isolate().loaded();
  await putTable(TABLE_KV, 2, JSON.stringify(NEXT));
  expect((await isolate().loaded()).label).toBe("rev=5; source=edge; age=0");
  const { loaded, settle } = isolate({ namespace: "two" });
  expect((await loaded()).label).toBe("rev=2; source=kv; age=0");
  await settle();
  expect((await isolate().loaded()).table.revision).toBe(5);
});
