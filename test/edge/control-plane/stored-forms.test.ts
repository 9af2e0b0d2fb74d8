import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { ControlPlane } from "../../../src/control-plane/object.ts";
import type { Env } from "../../../src/edge/env.ts";
import { formSeal } from "../../../src/edge/table/form-seal.ts";
import { sha256 } from "../../../src/edge/table/kv.ts";
import { bodyKey, formKey, POINTER_KEY } from "../../../src/formats/kv.ts";
import type { StoredForm } from "../../../src/routing/compile/restore.ts";
import { storeTable } from "../../../src/routing/compile/store.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { type FaultyKv, faultyKv } from "../faulty-kv.ts";

const { TABLE_KV, TABLE_TRUTH } = env as Env;

const DAY_MS = 86_400_000;

const sealOf = (version: string, first = 1) =>
  formSeal(version, [{ id: "a", key: new Uint8Array(32).fill(first) }], crypto.subtle);

const tableOf = (number: number) => ({
  ...DECLARED_TABLE,
  countries: { ...DECLARED_TABLE.countries, FR: 20 + number },
});
const bytesOf = (number: number) => new TextEncoder().encode(JSON.stringify(tableOf(number)));
const digestOf = (number: number) => sha256(bytesOf(number));

interface Tried {
  readonly keeper: ControlPlane;
  readonly store: FaultyKv;
  readonly faults: { formPut: string | undefined };
  readonly reported: string[];
  pass(ms: number): Promise<void>;
  restart(seal: ReturnType<typeof sealOf>): Promise<void>;
  publish(base: number, number: number): Promise<void>;
}

/** The object on real rows and a real KV, with a clock that the test moves. */
async function withControlPlane(test: (tried: Tried) => Promise<void>): Promise<void> {
  const stub = TABLE_TRUTH.get(TABLE_TRUTH.idFromName(crypto.randomUUID()));
  await runInDurableObject(stub, async (_, context) => {
    const store = faultyKv(TABLE_KV, { revision: 1, digest: "" }, "");
    const faults: Tried["faults"] = { formPut: undefined };
    const kv = new Proxy(store.kv, {
      get(target, name) {
        const put = (key: string, value: string) =>
          key.endsWith(".v1") && faults.formPut !== undefined
            ? Promise.reject(new Error(faults.formPut))
            : target.put(key, value);
        if (name === "put") return put;
        return name === "delete" ? TABLE_KV.delete.bind(TABLE_KV) : Reflect.get(target, name);
      },
    });
    const reported: string[] = [];
    const time = { nowMs: Date.UTC(2026, 10, 21), alarmMs: undefined as number | undefined };
    const deps = {
      bundled: DECLARED_TABLE,
      clock: { nowMs: () => time.nowMs },
      wakeAt: async (atMs: number) => {
        time.alarmMs = atMs;
      },
      kvDeadlines: { readMs: 1_500, writeMs: 10_000 },
      reportForm: (why: string) => void reported.push(why),
    };
    const start = async (seal: ReturnType<typeof sealOf>) => {
      const keeper = new ControlPlane(context, { ...(env as Env), TABLE_KV: kv }, { ...deps, seal });
      await keeper.ready;
      return keeper;
    };
    const state = { keeper: await start(sealOf("v1")) };
    const pass = async (ms: number) => {
      const endMs = time.nowMs + ms;
      while (time.alarmMs !== undefined && time.alarmMs <= endMs) {
        time.nowMs = Math.max(time.nowMs, time.alarmMs);
        time.alarmMs = undefined;
        await state.keeper.alarm();
      }
      time.nowMs = endMs;
    };
    await test({
      get keeper() {
        return state.keeper;
      },
      store,
      faults,
      reported,
      pass,
      restart: async (seal) => {
        state.keeper = await start(seal);
      },
      publish: async (base, number) => {
        const made = await state.keeper.publish({ expectedRevision: base, author: "ann", note: "" }, bytesOf(number));
        if (!made.ok) throw new Error(JSON.stringify(made.error));
        await pass(5_000);
      },
    });
  });
}

const formOf = async (number: number, version = "v1", first = 1) => {
  const digest = await digestOf(number);
  const value = await TABLE_KV.get(formKey(digest, version), "arrayBuffer");
  const opened = value && (await sealOf(version, first)?.open(digest, value));
  return opened?.form === undefined ? null : shown(opened.form);
};

const shown = ({ text, numbers }: StoredForm): string => `${text} ${numbers.join()}`;

const stored = (number: number) => shown(storeTable(tableOf(number) as unknown as DeclaredTable));

beforeEach(() => reset());

describe("a published table", () => {
  it("has its form in KV before the pointer names it", () =>
    withControlPlane(async ({ publish, store }) => {
      await publish(0, 1);
      const digest = await digestOf(1);
      expect(await formOf(1)).toEqual(stored(1));
      expect([...store.puts].toSorted()).toEqual([POINTER_KEY, bodyKey(digest), formKey(digest, "v1")].toSorted());
      expect(store.puts.at(-1)).toBe(POINTER_KEY);
    }));

  it("and its canary have one each", () =>
    withControlPlane(async ({ publish, keeper, pass }) => {
      await publish(0, 1);
      const request = { expectedRevision: 1, author: "ann", note: "" };
      await keeper.startCanary(request, bytesOf(2), { share: 5 });
      await pass(5_000);
      expect([await formOf(1), await formOf(2)]).toEqual([stored(1), stored(2)]);
    }));

  it("comes into force where its form cannot be written", () =>
    withControlPlane(async ({ publish, faults, reported }) => {
      faults.formPut = "KV PUT failed: 429";
      await publish(0, 1);
      expect(await TABLE_KV.get(POINTER_KEY, "json")).toMatchObject({ revision: 1 });
      expect(await formOf(1)).toBe(null);
      expect(reported).toEqual(["KV PUT failed: 429"]);
    }));

  it("has none without a key", () =>
    withControlPlane(async ({ publish, restart, store }) => {
      await restart(undefined);
      await publish(0, 1);
      expect(store.puts.filter((key) => /\.[^.]+\./.test(key))).toEqual([]);
    }));
});

describe("asked by an isolate", () => {
  const ask = async ({ keeper, pass }: Tried, number: number) => {
    await pass(120_000);
    await keeper.renewForm(await digestOf(number));
  };

  it("it writes the form of its own version after an upgrade", () =>
    withControlPlane(async (tried) => {
      await tried.publish(0, 1);
      await tried.restart(sealOf("v2"));
      await ask(tried, 1);
      expect([await formOf(1), await formOf(1, "v2")]).toEqual([stored(1), stored(1)]);
    }));

  it("it signs again with a new key, and mends a form that is damaged or gone", () =>
    withControlPlane(async (tried) => {
      await tried.publish(0, 1);
      await tried.restart(sealOf("v1", 2));
      await ask(tried, 1);
      expect(await formOf(1, "v1", 2)).toEqual(stored(1));
      await TABLE_KV.put(formKey(await digestOf(1), "v1"), "damaged");
      await ask(tried, 1);
      expect(await formOf(1, "v1", 2)).toEqual(stored(1));
      await TABLE_KV.delete(formKey(await digestOf(1), "v1"));
      await ask(tried, 1);
      expect(await formOf(1, "v1", 2)).toEqual(stored(1));
    }));

  it("it writes that of a table that a former version left in KV", () =>
    withControlPlane(async (tried) => {
      const digest = await digestOf(3);
      await TABLE_KV.put(bodyKey(digest), bytesOf(3));
      await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: 7, digest }));
      await ask(tried, 3);
      expect(await formOf(3)).toEqual(stored(3));
    }));

  it("it vouches for no table that is not in force, and for none with a fault", () =>
    withControlPlane(async (tried) => {
      await tried.publish(0, 1);
      await tried.publish(1, 2);
      const faulty = new TextEncoder().encode(
        JSON.stringify({ ...tableOf(1), routes: [{ when: {}, region: "mars" }] }),
      );
      const digest = await sha256(faulty);
      await TABLE_KV.put(bodyKey(digest), faulty);
      await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: 9, digest }));
      await tried.restart(sealOf("v2"));
      await ask(tried, 1);
      await tried.pass(120_000);
      await tried.keeper.renewForm(digest);
      const keys = (await TABLE_KV.list()).keys.map(({ name }) => name).filter((name) => name.endsWith(".v2"));
      expect(keys).toEqual([formKey(await digestOf(2), "v2")]);
    }));

  it("by a hundred at once it writes once", () =>
    withControlPlane(async (tried) => {
      await tried.publish(0, 1);
      await tried.restart(sealOf("v2"));
      await tried.pass(120_000);
      const digest = await digestOf(1);
      await Promise.all(Array.from({ length: 100 }, () => tried.keeper.renewForm(digest)));
      expect(tried.store.puts.filter((key) => key.endsWith(".v2"))).toHaveLength(1);
    }));
});

describe("forms of former tables and versions", () => {
  it("are deleted a day later, when the next is written", () =>
    withControlPlane(async ({ publish, pass }) => {
      await publish(0, 1);
      await publish(1, 2);
      expect([await formOf(1), await formOf(2)]).toEqual([stored(1), stored(2)]);
      await pass(DAY_MS);
      await publish(2, 3);
      expect([await formOf(1), await formOf(2), await formOf(3)]).toEqual([null, null, stored(3)]);
    }));

  it("stay while their table is in force again", () =>
    withControlPlane(async ({ publish, pass, keeper }) => {
      await publish(0, 1);
      await publish(1, 2);
      await pass(2 * DAY_MS);
      await keeper.rollback({ expectedRevision: 2, author: "ann", note: "" }, 1);
      await pass(5_000);
      expect([await formOf(1), await formOf(2)]).toEqual([stored(1), null]);
    }));

  it("go with the version that wrote them, although the table stays", () =>
    withControlPlane(async (tried) => {
      await tried.publish(0, 1);
      await tried.pass(2 * DAY_MS);
      await tried.restart(sealOf("v2"));
      await tried.keeper.renewForm(await digestOf(1));
      expect([await formOf(1), await formOf(1, "v2")]).toEqual([null, stored(1)]);
    }));
});
