import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { KvDeadlines } from "../../../src/control-plane/kv-sync.ts";
import { ControlPlane } from "../../../src/control-plane/object.ts";
import { POINTER_MS_MIN } from "../../../src/control-plane/publication.ts";
import type { Env } from "../../../src/edge/env.ts";
import { POINTER_KEY } from "../../../src/formats/kv.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { type FaultyKv, faultyKv, putTable } from "../faulty-kv.ts";

const { TABLE_KV, TABLE_TRUTH } = env as Env;

/** For a KV that hangs: one that answers must not be late. */
const SHORT = { readMs: 500, writeMs: 500 };

interface ControlPlaneObject {
  readonly keeper: ControlPlane;
  readonly store: FaultyKv;
  readonly time: { nowMs: number };
  /** When the alarm is to ring, Unix ms. */
  readonly alarm: { atMs: number | undefined };
  /** Revisions of which isolates are told. */
  readonly told: number[];
  /** The same rows under a new object, as after a crash. */
  readonly restart: () => Promise<void>;
  /** Rings the alarm whenever it is due, for so long. */
  readonly pass: (ms: number) => Promise<void>;
}

interface KvOptions extends KvDeadlines {
  readonly isKvLimited?: boolean;
}

/** The truth on rows of a real object, with a KV that can fail, a clock and an alarm that the test moves. */
async function withControlPlane(
  test: (controlPlane: ControlPlaneObject) => Promise<void>,
  { isKvLimited = true, ...kvDeadlines }: KvOptions = { readMs: 1_500, writeMs: 10_000 },
): Promise<void> {
  const stub = TABLE_TRUTH.get(TABLE_TRUTH.idFromName(crypto.randomUUID()));
  const digest = await putTable(TABLE_KV, 1, JSON.stringify(DECLARED_TABLE));
  await TABLE_KV.delete(POINTER_KEY);
  await runInDurableObject(stub, async (_, context) => {
    const store = faultyKv(TABLE_KV, { revision: 1, digest }, JSON.stringify(DECLARED_TABLE));
    const time = { nowMs: Date.UTC(2026, 10, 21) };
    const alarm: ControlPlaneObject["alarm"] = { atMs: undefined };
    const told: number[] = [];
    const wakeAt = async (atMs: number) => {
      alarm.atMs = atMs;
    };
    const clock = { nowMs: () => time.nowMs };
    const start = async () => {
      const keeper = new ControlPlane(
        context,
        { ...(env as Env), TABLE_KV: store.kv },
        {
          bundled: DECLARED_TABLE,
          clock,
          wakeAt,
          kvDeadlines,
          isKvLimited,
          onHeld: ({ revision }) => told.push(revision),
        },
      );
      await keeper.ready;
      return keeper;
    };
    const state = { keeper: await start() };
    const pass = async (ms: number) => {
      const endMs = time.nowMs + ms;
      while (alarm.atMs !== undefined && alarm.atMs <= endMs) {
        time.nowMs = Math.max(time.nowMs, alarm.atMs);
        alarm.atMs = undefined;
        await state.keeper.alarm();
      }
      time.nowMs = endMs;
    };
    await test({
      get keeper() {
        return state.keeper;
      },
      store,
      time,
      alarm,
      told,
      pass,
      restart: async () => {
        state.keeper = await start();
      },
    });
  });
}

const bytes = (number: number) =>
  new TextEncoder().encode(
    JSON.stringify({ ...DECLARED_TABLE, countries: { ...DECLARED_TABLE.countries, FR: 20 + number } }),
  );

const publish = async ({ keeper: controlPlane }: ControlPlaneObject, expected: number) => {
  const made = await controlPlane.publish({ expectedRevision: expected, author: "ann", note: "" }, bytes(expected + 1));
  expect(made).toMatchObject({ ok: true, value: { revision: expected + 1 } });
};

const held = () => TABLE_KV.get<{ revision: number }>(POINTER_KEY, "json");
const status = async ({ keeper: controlPlane }: ControlPlaneObject) => {
  const answer = await controlPlane.status();
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  return answer.value;
};

beforeEach(() => reset());

describe("bringing KV to the last revision", () => {
  it("writes the body, then the pointer, and is quiet when it has read it back", () =>
    withControlPlane(async (controlPlane) => {
      await publish(controlPlane, 0);
      await controlPlane.pass(0);
      expect(controlPlane.store.puts).toEqual([expect.stringMatching(/^table\.[0-9a-f]{64}$/), POINTER_KEY]);
      expect(controlPlane.alarm.atMs).toBeUndefined();
      expect(await status(controlPlane)).toMatchObject({ isPending: false, lastError: undefined, kv: { revision: 1 } });
    }));

  it("writes the pointer once in 1.1 s at most, however often somebody publishes", () =>
    withControlPlane(async (controlPlane) => {
      for (let revision = 0; revision < 20; revision++) {
        await publish(controlPlane, revision);
        await controlPlane.pass(100);
      }
      await controlPlane.pass(POINTER_MS_MIN);
      const pointers = controlPlane.store.puts.filter((key) => key === POINTER_KEY);
      expect(pointers.length).toBeLessThanOrEqual(1 + Math.ceil((20 * 100 + POINTER_MS_MIN) / POINTER_MS_MIN));
      expect(await held()).toMatchObject({ revision: 20 });
    }));

  it("writes it at once where KV has no such limit", () =>
    withControlPlane(
      async (controlPlane) => {
        for (let revision = 0; revision < 3; revision++) {
          await publish(controlPlane, revision);
          await controlPlane.pass(0);
        }
        expect(controlPlane.told).toEqual([1, 2, 3]);
        expect(await held()).toMatchObject({ revision: 3 });
      },
      { readMs: 1_500, writeMs: 10_000, isKvLimited: false },
    ));

  it("tells isolates of it when KV holds it, and not before", () =>
    withControlPlane(async (controlPlane) => {
      controlPlane.store.fault = "put is lost";
      await publish(controlPlane, 0);
      await controlPlane.pass(10_000);
      expect(controlPlane.told).toEqual([]);
      controlPlane.store.fault = undefined;
      await controlPlane.pass(600_000);
      expect(new Set(controlPlane.told)).toEqual(new Set([1]));
    }));

  it.each([
    "put throws",
    "put is lost",
    "put throws late",
    "throws",
    "empty",
    "old pointer",
    "corrupt pointer",
  ] as const)("goes on while KV fails (%s), less and less often, until it holds", (fault) =>
    withControlPlane(async (controlPlane) => {
      await publish(controlPlane, 0);
      await controlPlane.pass(5_000);
      await publish(controlPlane, 1);
      controlPlane.store.fault = fault;
      await controlPlane.pass(600_000);
      expect(controlPlane.store.puts.length + controlPlane.store.reads.length).toBeLessThan(100);
      expect(controlPlane.alarm.atMs).toBeGreaterThan(controlPlane.time.nowMs);
      controlPlane.store.fault = undefined;
      await controlPlane.pass(70_000);
      expect(await held()).toMatchObject({ revision: 2 });
      expect(controlPlane.alarm.atMs).toBeUndefined();
      expect(await status(controlPlane)).toMatchObject({ isPending: false, lastError: undefined });
    }),
  );

  it("looks once more when a pointer may have come late over a newer one", () =>
    withControlPlane(async (controlPlane) => {
      await publish(controlPlane, 0);
      await controlPlane.pass(0);
      const first = await TABLE_KV.get(POINTER_KEY);
      await publish(controlPlane, 1);
      controlPlane.store.fault = "put hangs";
      await controlPlane.pass(POINTER_MS_MIN);
      controlPlane.store.fault = undefined;
      await controlPlane.pass(30_000);
      expect(await held()).toMatchObject({ revision: 2 });
      await TABLE_KV.put(POINTER_KEY, first ?? "");
      await controlPlane.pass(120_000);
      expect(await held()).toMatchObject({ revision: 2 });
      expect(controlPlane.alarm.atMs).toBeUndefined();
    }, SHORT));

  it("looks once more after a pointer that lands when a new object has put the next one", () =>
    withControlPlane(async (controlPlane) => {
      await publish(controlPlane, 0);
      await controlPlane.pass(0);
      await publish(controlPlane, 1);
      controlPlane.store.fault = "put lands late";
      const underWay = controlPlane.pass(POINTER_MS_MIN);
      await vi.waitFor(() => expect(controlPlane.store.landings).toHaveLength(1));
      controlPlane.store.fault = undefined;
      await controlPlane.restart();
      await publish(controlPlane, 2);
      await controlPlane.pass(5_000);
      expect(await held()).toMatchObject({ revision: 3 });
      for (const land of controlPlane.store.landings) await land();
      expect(await held()).toMatchObject({ revision: 2 });
      await underWay;
      await controlPlane.pass(120_000);
      expect(await held()).toMatchObject({ revision: 3 });
      expect(controlPlane.alarm.atMs).toBeUndefined();
    }));

  it("goes on after a crash between any two steps", () =>
    withControlPlane(async (controlPlane) => {
      await publish(controlPlane, 0);
      controlPlane.store.fault = "put throws";
      await controlPlane.pass(0);
      await controlPlane.restart();
      expect(await status(controlPlane)).toMatchObject({ isPending: true });
      controlPlane.store.fault = undefined;
      await controlPlane.pass(5_000);
      expect(await held()).toMatchObject({ revision: 1 });
      await publish(controlPlane, 1);
      await controlPlane.restart();
      await status(controlPlane);
      await controlPlane.pass(200_000);
      expect(await held()).toMatchObject({ revision: 2 });
      expect(controlPlane.alarm.atMs).toBeUndefined();
    }));

  it("publishes nothing before it knows what is in force, and then while KV fails too", () =>
    withControlPlane(async (controlPlane) => {
      await putTable(TABLE_KV, 41, JSON.stringify(DECLARED_TABLE));
      for (const fault of ["throws", "hangs", "corrupt pointer"] as const) {
        controlPlane.store.fault = fault;
        const refused = await controlPlane.keeper.publish({ expectedRevision: 0, author: "ann", note: "" }, bytes(1));
        const error = { reason: "control-plane-unavailable", outcome: "none" };
        expect([fault, refused]).toMatchObject([fault, { error }]);
      }
      controlPlane.store.fault = undefined;
      await status(controlPlane);
      controlPlane.store.fault = "throws";
      await publish(controlPlane, 41);
      expect(await status(controlPlane)).toMatchObject({
        truth: { revision: 42 },
        isPending: true,
        kv: undefined,
      });
      controlPlane.store.fault = undefined;
      await controlPlane.pass(120_000);
      expect(await held()).toMatchObject({ revision: 42 });
    }, SHORT));

  it("does not publish over the table of a former version that it cannot read just now", () =>
    withControlPlane(async (controlPlane) => {
      await putTable(TABLE_KV, 7, JSON.stringify({ ...DECLARED_TABLE, default: "us" }));
      controlPlane.store.fault = "body throws";
      const refused = await controlPlane.keeper.publish({ expectedRevision: 0, author: "ann", note: "" }, bytes(1));
      expect(refused).toMatchObject({ error: { reason: "control-plane-unavailable" } });
      controlPlane.store.fault = undefined;
      await publish(controlPlane, 7);
    }));
});
