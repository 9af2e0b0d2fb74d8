import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { awaitedHere } from "../../../src/edge/table/awaited-tables.ts";
import { IsolateTable } from "../../../src/edge/table/isolate-table.ts";
import type { LoadFailure } from "../../../src/edge/table/kv.ts";
import type { TableOpener } from "../../../src/edge/table/table-gate.ts";
import { teller, tellFromNowOn } from "../../../src/edge/table/told-tables.ts";
import type { Pointer } from "../../../src/formats/kv.ts";
import { ok } from "../../../src/ids/result.ts";
import type { ControlPlaneApi, ServedTable } from "../../../src/ports/admin.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { faultyKv, putTable, settled } from "../faulty-kv.ts";

/** The object of an isolate tells its tables of a change: they need no clock and no look at the pointer. */

const { TABLE_KV } = env as Env;
const textOf = (number: number) =>
  JSON.stringify({ ...DECLARED_TABLE, countries: { ...DECLARED_TABLE.countries, FR: number } });

const publish = async (revision: number): Promise<Pointer> => ({
  revision,
  digest: await putTable(TABLE_KV, revision, textOf(revision)),
  change: 0,
});

beforeEach(() => reset());

async function setUp(openers: readonly TableOpener[] = []) {
  const first = await publish(1);
  const store = faultyKv(TABLE_KV, first, textOf(99));
  const state = { nowMs: 1_000_000 };
  const failures: LoadFailure[] = [];
  const background: Promise<unknown>[] = [];
  const tables = new IsolateTable({
    kv: store.kv,
    cache: undefined,
    namespace: "one",
    bundled: DECLARED_TABLE,
    built: undefined,
    clock: { nowMs: () => state.nowMs },
    entropy: { word: () => 2 ** 31 },
    refreshMs: 86_400_000,
    report: (failure) => failures.push(failure),
    waitUntil: (work) => background.push(work),
    openers,
  });
  const revision = () => tables.peek((work) => background.push(work))?.table.revision;
  return { first, store, state, failures, tables, revision, settle: () => settled(background) };
}

/** The object of the log, which hears that there are news. */
const toldLog = (onNews: () => unknown) =>
  ({
    TRAFFIC: { idFromName: () => "", get: () => ({ noteNews: async () => void onNews() }) },
  }) as unknown as Pick<Env, "TRAFFIC">;

describe("tables that are told of a pointer", () => {
  it("have its table at once, without a read of the pointer", async () => {
    const { store, tables, revision } = await setUp();
    await tables.load();
    store.reads.splice(0);
    const second = await publish(2);
    expect(revision()).toBe(1);
    await tables.tell(second);
    expect(revision()).toBe(2);
    expect(store.reads).toEqual([`table.${second.digest}`]);
  });

  it("read nothing before their first request, which reads KV anyway", async () => {
    const { store, tables, revision } = await setUp();
    await tables.tell(await publish(2));
    expect([store.reads, revision()]).toEqual([[], undefined]);
    await tables.load();
    expect(revision()).toBe(2);
  });

  it("have the newer one, if they read the older one at that moment for the first time", async () => {
    const { store, tables, revision, settle } = await setUp();
    store.fault = "old pointer";
    store.delayMs = 30;
    const loading = tables.load();
    await tables.tell(await publish(2));
    await loading;
    await settle();
    expect(revision()).toBe(2);
  });

  it("never go back", async () => {
    const { first, tables, revision } = await setUp();
    await publish(2);
    await tables.load();
    await tables.tell(first);
    expect(revision()).toBe(2);
  });

  it.each(["throws", "body throws", "no body", "corrupt body"] as const)(
    "keep theirs when KV %s, say so, and take the other at their next look",
    async (fault) => {
      const { store, state, failures, tables, revision, settle } = await setUp();
      await tables.load();
      const second = await publish(2);
      store.fault = fault;
      await tables.tell(second);
      expect([revision(), failures.length]).toEqual([1, 1]);
      store.fault = undefined;
      state.nowMs += 100_000_000;
      revision();
      await settle();
      expect(revision()).toBe(2);
    },
  );

  it("load what the table has outside of its text, before a request asks for it", async () => {
    const opened: number[] = [];
    const open = async ({ revision }: { readonly revision: number }) => {
      opened.push(revision);
      return ok(undefined);
    };
    const { tables, revision, settle } = await setUp([{ needs: () => true, open }]);
    await tables.load();
    await tables.tell(await publish(2));
    await settle();
    expect(opened).toEqual([1, 2]);
    expect(revision()).toBe(2);
  });
});

describe("a change of the table, where the object is in the isolate", () => {
  const canary = (revision: number) => ({ table: { revision } }) as ServedTable["canary"];
  const served = (revision: number, beside?: number): ServedTable =>
    ({ table: { revision }, canary: beside === undefined ? undefined : canary(beside) }) as ServedTable;

  /** Another table is served after so many looks, on a clock that only pauses move. */
  const stage = (before: ServedTable, after: ServedTable, looksBefore: number) => {
    const state = { nowMs: 0, looks: 0, told: 0 };
    const made = async () => ok({ revision: 2 });
    const api = { publish: made, rollback: made, promote: made, abort: made, startCanary: made };
    const awaited = awaitedHere(api as unknown as ControlPlaneApi, {
      tables: { peek: () => (++state.looks > looksBefore ? after : before), load: async () => ok(after) },
      clock: { nowMs: () => state.nowMs },
      pause: async (ms) => {
        state.nowMs += ms;
      },
      env: toldLog(() => state.told++),
    });
    return { state, awaited: awaited as unknown as Record<keyof typeof api, () => Promise<unknown>> };
  };

  beforeEach(() => teller());

  it.each([
    ["publish", served(1), served(2)],
    ["publish", served(1, 7), served(2)],
    ["rollback", served(1), served(2)],
    ["promote", served(1, 7), served(2)],
    ["abort", served(2, 7), served(2)],
    ["startCanary", served(1), served(1, 2)],
    ["startCanary", served(1, 7), served(1, 2)],
  ] as const)("%s ends when it is served, and not before", async (change, before, after) => {
    const { state, awaited } = stage(before, after, 5);
    expect(await awaited[change]()).toMatchObject({ ok: true, value: { revision: 2 } });
    expect([state.looks, state.told]).toEqual([6, 1]);
  });

  it("ends after two seconds with what is stored, served or not", async () => {
    const { state, awaited } = stage(served(1), served(1), 0);
    expect(await awaited.publish()).toMatchObject({ ok: true, value: { revision: 2 } });
    expect(state.nowMs).toBe(2_000);
  });

  it("is not awaited if it is refused", async () => {
    const api = { publish: async () => ({ ok: false, error: { reason: "no-canary" } }) };
    const tables = { peek: () => expect.unreachable(), load: () => expect.unreachable() };
    const clock = { nowMs: () => 0 };
    const options = { tables, clock, pause: async () => undefined, env: toldLog(() => expect.unreachable()) };
    const { publish: awaited } = awaitedHere(api as unknown as ControlPlaneApi, options);
    expect(await (awaited as () => Promise<unknown>)()).toMatchObject({ ok: false });
  });
});

it("the object tells the isolate's last tables", async () => {
  const pointer: Pointer = { revision: 2, digest: "0".repeat(64), change: 3 };
  const seen: Pointer[] = [];
  const tell = teller();
  tellFromNowOn({
    tell: async (told) => {
      seen.push(told);
    },
  });
  tell(pointer);
  expect(seen).toEqual([pointer]);
});
