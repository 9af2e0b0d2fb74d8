import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { IsolateTable } from "../../../src/edge/table/isolate-table.ts";
import type { LoadFailure } from "../../../src/edge/table/kv.ts";
import { bodyKey, POINTER_KEY } from "../../../src/formats/kv.ts";
import { TABLE_BYTES_MAX } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const { TABLE_KV } = env as Env;

const BUNDLED = { ...DECLARED_TABLE, countries: { KZ: 5, BR: 7, DE: 9 } };

/** Publishes the way the CLI does: body first, then the pointer. */
async function publish(revision: number, declared: unknown = DECLARED_TABLE): Promise<string> {
  const text = typeof declared === "string" ? declared : JSON.stringify(declared);
  const digest = await sha256(text);
  await TABLE_KV.put(bodyKey(digest), text);
  await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision, digest, publishedAt: "2026-11-21T00:00:00.000Z" }));
  return digest;
}

async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

type Fault = "none" | "throws" | "hangs";

/** The real KV behind a switch, and a clock that only the test moves. */
function setUp(bundled: unknown = BUNDLED, checkedDigest?: string) {
  const state = { fault: "none" as Fault, nowMs: 1_000_000, reads: 0 };
  const kv = new Proxy(TABLE_KV, {
    get(target, name) {
      if (name !== "get") return Reflect.get(target, name);
      return (...parameters: Parameters<KVNamespace["get"]>) => {
        state.reads++;
        if (state.fault === "throws") return Promise.reject(new Error("KV GET failed: 500"));
        if (state.fault === "hangs") return new Promise(() => undefined);
        return Reflect.apply(target.get, target, parameters);
      };
    },
  });
  const failures: LoadFailure[] = [];
  const background: Promise<unknown>[] = [];
  const tables = new IsolateTable({
    kv,
    cache: undefined,
    namespace: "one",
    bundled,
    built: checkedDigest === undefined ? undefined : { digest: checkedDigest, form: undefined },
    clock: { nowMs: () => state.nowMs },
    entropy: { word: () => 2 ** 31 },
    refreshMs: 30_000,
    report: (failure) => failures.push(failure),
    waitUntil: (work) => background.push(work),
  });
  const peek = () => tables.peek((work) => background.push(work));
  const settle = () => Promise.all(background.splice(0));
  return { state, tables, failures, peek, settle };
}

async function loaded(tables: IsolateTable) {
  const served = await tables.load();
  if (!served.ok) throw new Error(served.error.why);
  return served.value;
}

beforeEach(() => reset());

const DEEP = "[".repeat(50_000) + "]".repeat(50_000);

describe("a bundled table that its build has checked", () => {
  const INVALID = { ...DECLARED_TABLE, routes: [{ when: {}, region: "mars" }] };
  const digestOf = (declared: unknown) => sha256(JSON.stringify(declared));

  it("is put in force under the published revision, without a read of the published text", async () => {
    const digest = await publish(41, BUNDLED);
    await TABLE_KV.put(bodyKey(digest), JSON.stringify(INVALID));
    const { tables, state, failures } = setUp(BUNDLED, digest);
    const served = await loaded(tables);
    expect(served.label).toBe("rev=41; source=memory; age=0");
    expect(served.digest).toBe(digest);
    expect(served.table.countries).toEqual(new Map(Object.entries(BUNDLED.countries)));
    expect({ reads: state.reads, failures }).toEqual({ reads: 1, failures: [] });
  });

  it("is the last resort without another check", async () => {
    const { tables } = setUp(BUNDLED, await digestOf(BUNDLED));
    expect((await loaded(tables)).label).toBe("rev=0; source=bundled; age=0");
  });

  it("vouches for no other table", async () => {
    await publish(41, INVALID);
    const { tables, failures } = setUp(BUNDLED, await digestOf(BUNDLED));
    expect((await loaded(tables)).source).toBe("bundled");
    expect(failures).toMatchObject([{ reason: "table-invalid" }]);
  });

  it("is checked again where no build says that it was", async () => {
    const { tables } = setUp(INVALID);
    expect(await tables.load()).toMatchObject({ ok: false, error: { reason: "table-unavailable" } });
  });
});

describe("the first table of an isolate", () => {
  it("is the published one, labelled with its layer", async () => {
    await publish(41);
    const { tables, peek } = setUp();
    expect(peek()).toBeUndefined();
    const served = await loaded(tables);
    expect(served.table.revision).toBe(41);
    expect(served.label).toBe("rev=41; source=kv; age=0");
    expect(peek()?.label).toBe("rev=41; source=memory; age=0");
  });

  it("may have as many octets as the cap says, and is then the published one", async () => {
    const text = JSON.stringify(DECLARED_TABLE);
    await publish(41, `${text}${" ".repeat(TABLE_BYTES_MAX - text.length)}`);
    expect((await loaded(setUp().tables)).label).toBe("rev=41; source=kv; age=0");
  });

  it("is the bundled one when nothing was published", async () => {
    const { tables, failures, peek } = setUp();
    expect((await loaded(tables)).label).toBe("rev=0; source=bundled; age=0");
    expect(peek()?.source).toBe("bundled");
    expect(failures).toEqual([{ reason: "not-published" }]);
  });

  it.each(["throws", "hangs"] as const)("is the bundled one when KV %s, which nobody waits for", async (fault) => {
    await publish(41);
    const { tables, state, failures } = setUp();
    state.fault = fault;
    const startedAtMs = Date.now();
    expect((await loaded(tables)).source).toBe("bundled");
    expect(Date.now() - startedAtMs).toBeLessThan(5_000);
    expect(failures[0]?.reason).toBe(fault === "throws" ? "store-failed" : "store-timeout");
  });

  it("is an error when there is none at all, and not a guess", async () => {
    const { tables } = setUp({ regions: {} });
    const served = await tables.load();
    expect(served).toMatchObject({ ok: false, error: { reason: "table-unavailable" } });
  });
});

describe("what KV may hold and is never served", () => {
  const cases: [string, () => Promise<unknown>, LoadFailure["reason"]][] = [
    ["a pointer that is not JSON", () => TABLE_KV.put(POINTER_KEY, "{"), "pointer-malformed"],
    ["an empty pointer", () => TABLE_KV.put(POINTER_KEY, ""), "pointer-malformed"],
    ["a pointer without digest", () => TABLE_KV.put(POINTER_KEY, '{"revision":2}'), "pointer-malformed"],
    [
      "a pointer to a key that is no digest",
      () => TABLE_KV.put(POINTER_KEY, '{"revision":2,"digest":"current"}'),
      "pointer-malformed",
    ],
    [
      "a revision that is no number",
      async () => TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: "2", digest: "0".repeat(64) })),
      "pointer-malformed",
    ],
    [
      "a revision of more than 15 digits",
      async () => {
        const digest = await publish(2);
        await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: 1e15, digest }));
      },
      "pointer-malformed",
    ],
    [
      "a pointer to a body that is not there",
      () => TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: 2, digest: "0".repeat(64) })),
      "body-missing",
    ],
    [
      "a body with one octet changed",
      async () => {
        const digest = await publish(2);
        await TABLE_KV.put(bodyKey(digest), JSON.stringify(DECLARED_TABLE).replace("eu.test", "ev.test"));
      },
      "digest-mismatch",
    ],
    [
      "half a body",
      async () => {
        const digest = await publish(2);
        await TABLE_KV.put(bodyKey(digest), JSON.stringify(DECLARED_TABLE).slice(0, 100));
      },
      "digest-mismatch",
    ],
    ["a body that is not JSON", () => publish(2, "not a table"), "table-invalid"],
    [
      "a faulty table",
      () => publish(2, { ...DECLARED_TABLE, routes: [{ when: {}, region: "mars" }] }),
      "table-invalid",
    ],
    ["a table of another shape", () => publish(2, { regions: null }), "table-invalid"],
    ["an empty table", () => publish(2, {}), "table-invalid"],
    [
      "a table that says one thing twice",
      () => publish(2, JSON.stringify(DECLARED_TABLE).replace('"regions":', '"routes":[],"regions":')),
      "table-invalid",
    ],
    [
      "a table that is nested too deep",
      () => publish(2, JSON.stringify(DECLARED_TABLE).replace(/\}$/, `,"moved":${DEEP}}`)),
      "table-invalid",
    ],
    [
      "a table of more octets than it may have, under its own digest",
      () => publish(2, `${JSON.stringify(DECLARED_TABLE)}${" ".repeat(TABLE_BYTES_MAX)}`),
      "body-too-large",
    ],
    ["a byte order mark", () => publish(2, `\ufeff${JSON.stringify(DECLARED_TABLE)}`), "table-invalid"],
  ];

  it.each(cases)("%s: cold, the bundled table answers", async (_, spoil, reason) => {
    await spoil();
    const { tables, failures } = setUp();
    expect((await loaded(tables)).source).toBe("bundled");
    expect(failures.map((failure) => failure.reason)).toEqual([reason]);
  });

  it.each(cases)("%s: warm, the table before stays", async (_, spoil, reason) => {
    await publish(1, BUNDLED);
    const { tables, failures, state, peek, settle } = setUp();
    await loaded(tables);
    await spoil();
    state.nowMs += 31_000;
    peek();
    await settle();
    expect(peek()?.label).toBe("rev=1; source=memory; age=31");
    expect(failures.map((failure) => failure.reason)).toEqual([reason]);
  });
});

describe("refreshing beside the requests", () => {
  it("takes a newer revision without a request waiting for it", async () => {
    await publish(1);
    const { tables, state, peek, settle } = setUp();
    await loaded(tables);
    await publish(2);
    expect(peek()?.table.revision).toBe(1);
    state.nowMs += 30_000;
    expect(peek()?.table.revision).toBe(1);
    await settle();
    expect(peek()?.table.revision).toBe(2);
  });

  it("confirms an unchanged table by its pointer alone", async () => {
    await publish(1);
    const { tables, state, peek, settle } = setUp();
    const { table } = await loaded(tables);
    const reads = state.reads;
    state.nowMs += 30_000;
    peek();
    await settle();
    expect(state.reads - reads).toBe(1);
    expect(peek()?.table).toBe(table);
    expect(peek()?.label).toBe("rev=1; source=memory; age=0");
  });

  it("compiles a text once, whatever number it has next: a canary that is promoted, a table that comes back", async () => {
    const digest = await publish(41);
    const other = { ...DECLARED_TABLE, countries: { ...DECLARED_TABLE.countries, FR: 21 } };
    const digestOfCanary = await publish(42, other);
    const point = (pointer: object) => TABLE_KV.put(POINTER_KEY, JSON.stringify(pointer));
    await point({
      revision: 41,
      digest,
      change: 1,
      canary: { revision: 42, digest: digestOfCanary, audience: { share: 5 } },
    });
    const { tables, state, peek, settle } = setUp();
    const { canary } = await loaded(tables);
    await point({ revision: 43, digest: digestOfCanary, change: 2 });
    const readsBefore = state.reads;
    state.nowMs += 60_000;
    peek();
    await settle();
    expect(peek()?.table).toEqual({ ...canary?.table, revision: 43 });
    expect(peek()?.table.entities).toBe(canary?.table.entities);
    expect(peek()?.label).toBe("rev=43; source=memory; age=0");
    await publish(44, other);
    state.nowMs += 60_000;
    peek();
    await settle();
    expect(peek()?.label).toBe("rev=44; source=memory; age=0");
    expect(peek()?.table.entities).toBe(canary?.table.entities);
    expect(state.reads).toBe(readsBefore + 2);
  });

  it("never goes back to an older revision, which an edge cache may still hold", async () => {
    await publish(5);
    const { tables, state, peek, settle } = setUp();
    await loaded(tables);
    await publish(4);
    state.nowMs += 30_000;
    peek();
    await settle();
    expect(peek()?.table.revision).toBe(5);
  });

  it("asks a failing KV at a bounded rate, keeps routing, and recovers", async () => {
    await publish(1);
    const { tables, state, peek, settle, failures } = setUp();
    await loaded(tables);
    state.fault = "throws";
    state.nowMs += 30_000;
    const reads = state.reads;
    for (let second = 0; second < 60; second++) {
      expect(peek()?.table.revision).toBe(1);
      await settle();
      state.nowMs += 1000;
    }
    expect(state.reads - reads).toBe(2);
    expect(failures.every((failure) => failure.reason === "store-failed")).toBe(true);
    state.fault = "none";
    await publish(2, BUNDLED);
    const before = state.reads;
    for (let request = 0; request < 100; request++) peek();
    await settle();
    expect(peek()?.table.revision).toBe(2);
    // The pointer and the body.
    expect(state.reads - before).toBe(2);
  });

  it("does not read a faulty body again, however often its pointer is looked up", async () => {
    await publish(1);
    const { tables, state, peek, settle, failures } = setUp();
    await loaded(tables);
    await publish(2, {});
    const reads = state.reads;
    for (let turn = 0; turn < 5; turn++) {
      state.nowMs += 31_000;
      peek();
      await settle();
    }
    expect(state.reads - reads).toBe(6);
    expect(failures).toHaveLength(5);
    await publish(3);
    state.nowMs += 31_000;
    peek();
    await settle();
    expect(peek()?.table.revision).toBe(3);
  });

  it("leaves the bundled table for a published one as soon as there is one", async () => {
    const { tables, state, peek, settle } = setUp();
    await loaded(tables);
    await publish(1);
    state.nowMs += 30_000;
    peek();
    await settle();
    expect(peek()?.label).toBe("rev=1; source=memory; age=0");
  });
});
