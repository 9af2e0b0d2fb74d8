import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { ControlPlane } from "../../../src/control-plane/object.ts";
import type { Env } from "../../../src/edge/env.ts";
import { sha256 } from "../../../src/edge/table/kv.ts";
import { POINTER_KEY } from "../../../src/formats/kv.ts";
import { START_FILE, TABLE_FILE } from "../../../src/formats/start-table.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { type FaultyKv, faultyKv } from "../faulty-kv.ts";

const { TABLE_KV, TABLE_TRUTH } = env as Env;

const bytesOf = (number: number) =>
  new TextEncoder().encode(
    JSON.stringify({ ...DECLARED_TABLE, countries: { ...DECLARED_TABLE.countries, FR: 20 + number } }),
  );

interface Deployment {
  readonly store: FaultyKv;
  readonly time: { nowMs: number };
  /** A new process on the same state; `table`: what its start hands over. */
  readonly start: (table?: { id: string; isFirst: boolean; number: number }) => Promise<ControlPlane>;
}

async function withDeployment(test: (deployment: Deployment) => Promise<void>): Promise<void> {
  const stub = TABLE_TRUTH.get(TABLE_TRUTH.idFromName(crypto.randomUUID()));
  await runInDurableObject(stub, async (_, context) => {
    const store = faultyKv(TABLE_KV, { revision: 1, digest: "" }, "");
    const time = { nowMs: Date.UTC(2026, 10, 21) };
    const deps = {
      bundled: DECLARED_TABLE,
      clock: { nowMs: () => time.nowMs },
      wakeAt: () => Promise.resolve(),
      pause: async (ms: number) => {
        time.nowMs += ms;
      },
    };
    await test({
      store,
      time,
      start: async (table) => {
        const files: Record<string, Uint8Array> = table
          ? { [START_FILE]: new TextEncoder().encode(JSON.stringify(table)), [TABLE_FILE]: bytesOf(table.number) }
          : {};
        const START_TABLE = {
          fetch: async (url: string) => {
            const file = files[new URL(url).pathname.slice(1)];
            return file === undefined ? new Response(null, { status: 404 }) : new Response(file);
          },
        } as unknown as Fetcher;
        const own = { ...(env as Env), TABLE_KV: store.kv, ...(table && { START_TABLE }) };
        const object = new ControlPlane(context, own, deps);
        await object.ready;
        return object;
      },
    });
  });
}

const inKv = () => TABLE_KV.get<{ revision: number; digest: string }>(POINTER_KEY, "json");
const done = { ok: true, value: undefined };

async function revisionsOf(object: ControlPlane): Promise<readonly string[]> {
  const listed = await object.revisions({ before: undefined, limit: 10 });
  return listed.ok ? listed.value.map(({ revision, kind, author }) => `${revision} ${kind} ${author}`) : [];
}

beforeEach(() => reset());

it("a table is in KV when its start has been answered, once, however many ask", () =>
  withDeployment(async ({ start }) => {
    const object = await start({ id: "a", isFirst: true, number: 1 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => object.begin()));
    expect(answers).toEqual(Array(10).fill(done));
    expect(await inKv()).toMatchObject({ revision: 1, digest: await sha256(bytesOf(1)) });
    expect(await revisionsOf(object)).toEqual(["1 publish start"]);
  }));

it("a first table is none for a state that has a history; any other is, if it differs", () =>
  withDeployment(async ({ start }) => {
    await (await start({ id: "a", isFirst: true, number: 1 })).begin();
    expect(await (await start({ id: "b", isFirst: true, number: 2 })).begin()).toEqual(done);
    expect(await inKv()).toMatchObject({ revision: 1 });
    expect(await (await start({ id: "c", isFirst: false, number: 1 })).begin()).toEqual(done);
    expect(await inKv()).toMatchObject({ revision: 1 });
    const object = await start({ id: "d", isFirst: false, number: 2 });
    expect(await object.begin()).toEqual(done);
    expect(await inKv()).toMatchObject({ revision: 2 });
    expect(await (await start()).begin()).toEqual(done);
  }));

it("a table that is published after the start stays in force, also for a new object of the same start", () =>
  withDeployment(async ({ start }) => {
    const handed = { id: "a", isFirst: false, number: 1 };
    const object = await start(handed);
    await object.begin();
    expect(await object.publish({ expectedRevision: 1, author: "ann", note: "" }, bytesOf(2))).toMatchObject({
      ok: true,
    });
    const again = await start(handed);
    expect(await again.begin()).toEqual(done);
    expect(await revisionsOf(again)).toEqual(["2 publish ann", "1 publish start"]);
    expect(await inKv()).toMatchObject({ revision: 2 });
  }));

it("a start fails while KV does, and the next one tries at once", () =>
  withDeployment(async ({ store, time, start }) => {
    const handed = { id: "a", isFirst: false, number: 1 };
    store.fault = "throws";
    expect(await (await start(handed)).begin()).toMatchObject({
      ok: false,
      error: { reason: "control-plane-unavailable" },
    });
    store.fault = "put throws";
    for (const id of ["b", "c", "d", "e", "f", "g"]) {
      const why = expect.stringContaining("put-body: store-failed");
      expect(await (await start({ ...handed, id })).begin()).toMatchObject({ ok: false, error: { why } });
    }
    store.fault = undefined;
    const beforeMs = time.nowMs;
    const object = await start({ ...handed, id: "h" });
    expect(await object.begin()).toEqual(done);
    expect(time.nowMs - beforeMs).toBeLessThan(2_000);
    expect(await revisionsOf(object)).toEqual(["1 publish start"]);
  }));

it("a table that the object does not take is an error with its faults, and changes nothing", () =>
  withDeployment(async ({ start }) => {
    const object = await start({ id: "a", isFirst: false, number: Number.NaN });
    expect(await object.begin()).toMatchObject({ ok: false, error: { reason: "invalid-table" } });
    expect(await inKv()).toBeNull();
    expect(await revisionsOf(object)).toEqual([]);
  }));
