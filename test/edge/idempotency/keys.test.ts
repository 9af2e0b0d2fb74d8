import { evictDurableObject, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { ANSWER_BYTES_MAX, durableIdempotency } from "../../../src/features/idempotency/edge/keys.ts";
import {
  BYTES_MAX,
  type IdempotencyKeys as IdempotencyKeysObject,
  KEYS_MAX,
  SCOPE_BYTES_MAX,
  SCOPE_KEYS_MAX,
} from "../../../src/features/idempotency/edge/object.ts";
import type { BeginCall, Begun, IdempotencyKeys, KeptAnswer } from "../../../src/features/idempotency/port.ts";
import { fakeKeys } from "./fake-keys.ts";

const { IDEMPOTENCY } = env as Env;
const KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324";
/** The object of the key, which never changes: a digest of the key says so. */
const stub = () => IDEMPOTENCY.get(IDEMPOTENCY.idFromName("keys-23"));
const DAY_MS = 86_400_000;
const LEASE_MS = 60_000;
const ANN = "a".repeat(64);
const BOB = "b".repeat(64);

const recordOf = (id: string, region = "eu") => ({ entity: "order", id, region, revision: 3 });

const beginOf = (over: Partial<BeginCall> = {}): BeginCall => ({
  scope: ANN,
  key: KEY,
  fingerprint: "f1",
  attempt: "one",
  proposal: recordOf("id-1"),
  ttlMs: DAY_MS,
  leaseMs: LEASE_MS,
  ...over,
});

const ANSWER: KeptAnswer = {
  status: 201,
  fields: [
    ["content-type", "application/json"],
    ["x-two", "1"],
    ["x-two", "2"],
  ],
  body: new Uint8Array([0, 1, 255]),
};

/** Moves all times of the object into the past: it reads the platform's clock. */
const elapse = (ms: number): Promise<void> =>
  runInDurableObject(stub(), (_, { storage }) => {
    storage.sql.exec(
      "UPDATE keys SET started_ms = started_ms - ?, until_ms = until_ms - ?, lease_until_ms = lease_until_ms - ?",
      ms,
      ms,
      ms,
    );
  });

interface Store {
  readonly keys: IdempotencyKeys;
  elapse(ms: number): Promise<void>;
}

const STORES: readonly (readonly [name: string, make: () => Store])[] = [
  ["the Durable Object", () => ({ keys: durableIdempotency(IDEMPOTENCY), elapse })],
  [
    "the fake",
    () => {
      const clock = { nowMs: 1_000_000 };
      return {
        keys: fakeKeys(clock),
        async elapse(ms) {
          clock.nowMs += ms;
        },
      };
    },
  ],
];

beforeEach(() => reset());

async function granted<Value>(result: Promise<{ ok: true; value: Value } | { ok: false; error: unknown }>) {
  const settled = await result;
  if (!settled.ok) throw new Error(JSON.stringify(settled.error));
  return settled.value;
}

const untilOf = (begun: Begun): number => (begun.state === "full" ? Number.NaN : begun.untilMs);

describe.each(STORES)("keys of %s", (_, make) => {
  const setUp = () => {
    const { keys, elapse: pass } = make();
    const begin = (over: Partial<BeginCall> = {}): Promise<Begun> => granted(keys.begin(beginOf(over)));
    const finish = (attempt: string, answer?: KeptAnswer, scope = ANN) =>
      granted(keys.finish({ scope, key: KEY, attempt, ...(answer && { answer }) }));
    return { keys, begin, finish, elapse: pass };
  };

  it("start once: a twin is told to wait, and gets the kept answer afterwards", async () => {
    const { begin, finish } = setUp();
    const first = await begin();
    expect(first).toMatchObject({ state: "started", record: recordOf("id-1"), isResumed: false });
    const twin = { attempt: "two", proposal: recordOf("id-2", "us") };
    expect(await begin(twin)).toMatchObject({ state: "running", retryAfterSeconds: 5, untilMs: untilOf(first) });
    await finish("one", ANSWER);
    const done = await begin(twin);
    expect(done).toMatchObject({ state: "done", record: recordOf("id-1"), answer: ANSWER, untilMs: untilOf(first) });
  });

  it("of many twins at once exactly one starts", async () => {
    const { begin } = setUp();
    const begun = await Promise.all(Array.from({ length: 20 }, (_, index) => begin({ attempt: `t${index}` })));
    expect(begun.filter(({ state }) => state === "started")).toHaveLength(1);
    expect(begun.filter(({ state }) => state === "running")).toHaveLength(19);
  });

  it("another request with the key is a mismatch in every state, and changes nothing", async () => {
    const { begin, finish, elapse: pass } = setUp();
    const other = { attempt: "two", fingerprint: "f2" };
    await begin();
    expect(await begin(other)).toMatchObject({ state: "mismatch" });
    await pass(LEASE_MS);
    expect(await begin(other)).toMatchObject({ state: "mismatch" });
    await begin({ attempt: "three" });
    await finish("three", ANSWER);
    expect(await begin(other)).toMatchObject({ state: "mismatch" });
    expect(await begin({ attempt: "four" })).toMatchObject({ state: "done", record: recordOf("id-1") });
  });

  it("a begin repeated with its attempt is the same begin", async () => {
    const { begin, finish } = setUp();
    const first = await begin();
    expect(await begin()).toEqual(first);
    await finish("one");
    const second = await begin({ attempt: "two" });
    expect(second).toMatchObject({ state: "started", isResumed: true });
    expect(await begin({ attempt: "two" })).toEqual(second);
  });

  it("an attempt that ended without an answer leaves its ID to the next", async () => {
    const { begin, finish } = setUp();
    await begin();
    await finish("one");
    const next = await begin({ attempt: "two", proposal: recordOf("id-2", "us") });
    expect(next).toMatchObject({ state: "started", record: recordOf("id-1"), isResumed: true });
  });

  it("a void end frees the key for another request, but not one that an earlier attempt began", async () => {
    const { keys, begin } = setUp();
    const end = (attempt: string) => keys.finish({ scope: ANN, key: KEY, attempt, isVoid: true });
    await begin();
    await end("two");
    expect(await begin({ attempt: "two" })).toMatchObject({ state: "running" });
    await end("one");
    const other = { attempt: "three", fingerprint: "f2", proposal: recordOf("id-3") };
    expect(await begin(other)).toMatchObject({ state: "started", record: recordOf("id-3"), isResumed: false });
    await keys.finish({ scope: ANN, key: KEY, attempt: "three" });
    await begin({ ...other, attempt: "four" });
    await end("four");
    expect(await begin()).toMatchObject({ state: "mismatch" });
    expect(await begin({ ...other, attempt: "five" })).toMatchObject({ record: recordOf("id-3"), isResumed: true });
  });

  it("a dead attempt is resumed when its lease is over; its late end touches nothing", async () => {
    const { begin, finish, elapse: pass } = setUp();
    await begin();
    await pass(LEASE_MS - 1_000);
    expect(await begin({ attempt: "two" })).toMatchObject({ state: "running", retryAfterSeconds: 1 });
    await pass(1_000);
    expect(await begin({ attempt: "two" })).toMatchObject({ state: "started", isResumed: true });
    await finish("one", { ...ANSWER, status: 400 });
    expect(await begin({ attempt: "three" })).toMatchObject({ state: "running" });
    await finish("two", ANSWER);
    await finish("two", { ...ANSWER, status: 500 });
    expect(await begin({ attempt: "three" })).toMatchObject({ state: "done", answer: { status: 201 } });
  });

  it("an attempt may be resumed by itself", async () => {
    const { begin, elapse: pass } = setUp();
    await begin();
    await pass(LEASE_MS);
    expect(await begin()).toMatchObject({ state: "started", isResumed: true });
    expect(await begin({ attempt: "two" })).toMatchObject({ state: "running" });
  });

  it("end after their time, but not under an attempt", async () => {
    const { begin, finish, elapse: pass } = setUp();
    await begin();
    await pass(DAY_MS - 1_000);
    expect(await begin({ attempt: "two" })).toMatchObject({ state: "started", record: recordOf("id-1") });
    await pass(30_000);
    expect(await begin({ attempt: "three" })).toMatchObject({ state: "running" });
    await finish("two", ANSWER);
    await pass(30_000);
    const anew = await begin({ attempt: "four", fingerprint: "f2", proposal: recordOf("id-4") });
    expect(anew).toMatchObject({ state: "started", record: recordOf("id-4"), isResumed: false });
  });

  it("one key of two callers is two keys; both are shown", async () => {
    const { keys, begin, finish } = setUp();
    await begin();
    const other = { scope: BOB, fingerprint: "f2", proposal: recordOf("id-2") };
    expect(await begin(other)).toMatchObject({ state: "started", record: recordOf("id-2"), isResumed: false });
    await begin({ scope: "", proposal: recordOf("id-3") });
    await finish("one", ANSWER, BOB);
    await finish("one", undefined, "");
    const shown = await granted(keys.show(KEY));
    expect(shown.toSorted((one, two) => one.record.id.localeCompare(two.record.id))).toMatchObject([
      { scope: "aaaaaaaaaaaa", state: "running", attempts: 1, answer: undefined, fingerprint: "f1" },
      { scope: "bbbbbbbbbbbb", state: "done", answer: { status: 201, bytes: 43 }, fingerprint: "f2" },
      { scope: "", state: "open", answer: undefined },
    ]);
    expect(await granted(keys.show("another"))).toEqual([]);
  });

  it("a begin with an answer makes the key done, for its own repetition too", async () => {
    const { begin } = setUp();
    expect(await begin({ answer: ANSWER })).toMatchObject({ state: "started", isResumed: false });
    expect(await begin({ answer: ANSWER })).toMatchObject({ state: "started", isResumed: false });
    const twin = { attempt: "two", proposal: recordOf("id-2"), answer: { ...ANSWER, status: 200 } };
    expect(await begin(twin)).toMatchObject({ state: "done", record: recordOf("id-1"), answer: ANSWER });
  });

  it("a begin for no time only looks up", async () => {
    const { keys, begin } = setUp();
    expect(await begin({ ttlMs: 0 })).toMatchObject({ state: "started", isResumed: false });
    expect(await granted(keys.show(KEY))).toEqual([]);
    await begin({ attempt: "two", answer: ANSWER });
    expect(await begin({ ttlMs: 0 })).toMatchObject({ state: "done", answer: ANSWER });
  });

  it("a finish of an unknown key is nothing", async () => {
    const { keys, finish } = setUp();
    await finish("one", ANSWER);
    expect(await granted(keys.show(KEY))).toEqual([]);
  });
});

type Step =
  | readonly ["begin" | "settle" | "finish" | "fail", attempt: number, fingerprint: number]
  | readonly ["pass", ms: number];

it("the Durable Object does as the fake does, whatever happens in whatever order", async () => {
  const attempt = fc.integer({ min: 0, max: 3 });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(fc.constantFrom("begin", "finish", "fail"), attempt, fc.constant(0)) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom("begin", "settle"), attempt, fc.integer({ min: 0, max: 1 })) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constant("pass" as const), fc.constantFrom(LEASE_MS, DAY_MS - LEASE_MS, DAY_MS)),
    },
  );
  const apply = async ({ keys, elapse: pass }: Store, [what, number, fingerprint = 0]: Step) => {
    if (what === "pass") return pass(number);
    const call = { scope: ANN, key: KEY, attempt: `a${number}` };
    const answer = { ...ANSWER, status: 200 + number };
    if (what === "finish") return keys.finish({ ...call, answer });
    if (what === "fail") return keys.finish(call);
    const begun = beginOf({ ...call, fingerprint: `f${fingerprint}`, proposal: recordOf(`id-${number}`) });
    return keys.begin(what === "settle" ? { ...begun, answer } : begun);
  };
  /** Times differ by what the test itself takes. */
  const shown = async ({ keys }: Store, result: unknown) =>
    JSON.parse(
      JSON.stringify([result ?? null, await keys.show(KEY)], (name, value) =>
        /Ms$|Seconds$/.test(name) ? undefined : value instanceof Uint8Array ? [...value] : value,
      ),
    );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await reset();
      const [real, fake] = STORES.map(([, make]) => make()) as [Store, Store];
      for (const one of steps) {
        expect(await shown(real, await apply(real, one))).toEqual(await shown(fake, await apply(fake, one)));
      }
    }),
  );
});

describe("the Durable Object of keys", () => {
  const keys = durableIdempotency(IDEMPOTENCY);
  const begin = (over: Partial<BeginCall> = {}) => granted(keys.begin(beginOf(over)));
  const rows = <Value>(query: string) =>
    runInDurableObject(stub(), (_, { storage }) => storage.sql.exec(query).toArray() as Value[]);
  const alarmAt = () => runInDurableObject(stub(), (_, { storage }) => storage.getAlarm());
  const TOTALS = "SELECT * FROM totals ORDER BY scope";
  const totals = () => rows<{ scope: string; keys: number; bytes: number }>(TOTALS);
  /** Rows left after one alarm, before another can come. */
  const firstPart = () =>
    runInDurableObject(stub(), async (object, { storage }) => {
      await (object as IdempotencyKeysObject).alarm();
      return storage.sql.exec(TOTALS).toArray();
    });

  it("still knows its keys when it begins anew", async () => {
    const first = await begin();
    await evictDurableObject(stub());
    expect(await begin({ attempt: "two" })).toMatchObject({ state: "running" });
    await evictDurableObject(stub());
    await granted(keys.finish({ scope: ANN, key: KEY, attempt: "one", answer: ANSWER }));
    await evictDurableObject(stub());
    expect(await begin({ attempt: "two" })).toMatchObject({ state: "done", answer: ANSWER, untilMs: untilOf(first) });
  });

  it("sweeps what has ended by its alarm, in parts, and sleeps when nothing is left", async () => {
    const untilMs = untilOf(await begin());
    expect(await alarmAt()).toBe(untilMs + 600_000);
    await begin({ scope: BOB, ttlMs: LEASE_MS });
    expect(await alarmAt()).toBeLessThan(untilMs);
    await runInDurableObject(stub(), (_, { storage }) => {
      storage.sql.exec(
        `INSERT INTO keys SELECT 'k' || json_each.value, scope, fingerprint, entity, keys.id, region, revision, started_ms, 5, attempt,
          attempts, lease_until_ms, status, fields_json, bytes, body FROM keys, json_each(?) WHERE scope = ?`,
        JSON.stringify(Array.from({ length: 1_500 }, (_, index) => index)),
        BOB,
      );
    });
    expect(await totals()).toMatchObject([{ scope: ANN }, { scope: "all", keys: 1502 }, { scope: BOB, keys: 1501 }]);
    expect(await firstPart()).toMatchObject([{ keys: 1 }, { keys: 502 }, { keys: 501 }]);
    // The next part is due at once: the platform starts it by itself.
    await vi.waitFor(async () => expect(await totals()).toMatchObject([{ keys: 1 }, { keys: 2 }, { keys: 1 }]));
    await elapse(LEASE_MS);
    expect(await runDurableObjectAlarm(stub())).toBe(true);
    expect(await totals()).toMatchObject([
      { scope: ANN, keys: 1 },
      { scope: "all", keys: 1 },
    ]);
    await elapse(DAY_MS);
    expect(await runDurableObjectAlarm(stub())).toBe(true);
    expect(await totals()).toEqual([]);
    expect(await alarmAt()).toBeNull();
  });

  it("counts the bytes of kept answers up and down", async () => {
    await begin();
    expect(await totals()).toEqual([
      { scope: ANN, keys: 1, bytes: 0 },
      { scope: "all", keys: 1, bytes: 0 },
    ]);
    await keys.finish({ scope: ANN, key: KEY, attempt: "one", answer: ANSWER });
    await begin({ scope: BOB, answer: ANSWER });
    expect(await totals()).toEqual([
      { scope: ANN, keys: 1, bytes: 43 },
      { scope: "all", keys: 2, bytes: 86 },
      { scope: BOB, keys: 1, bytes: 43 },
    ]);
    await elapse(DAY_MS);
    await begin({ attempt: "two" });
    expect(await totals()).toMatchObject([{ bytes: 0 }, { keys: 2, bytes: 43 }, { bytes: 43 }]);
  });

  it.each([
    [ANN, "keys", SCOPE_KEYS_MAX],
    ["all", "keys", KEYS_MAX],
    [ANN, "bytes", SCOPE_BYTES_MAX],
    ["all", "bytes", BYTES_MAX],
  ] as const)("refuses new keys where %s have all %s, and goes on with known ones", async (scope, which, max) => {
    await begin();
    const set = (number: number) =>
      runInDurableObject(stub(), (_, { storage }) => {
        storage.sql.exec(`UPDATE totals SET ${which} = ? WHERE scope = ?`, number, scope);
      });
    await set(max - 1);
    expect(await begin({ ttlMs: 0, key: KEY, scope: scope === "all" ? BOB : ANN, attempt: "one" })).toMatchObject({
      state: "started",
    });
    await set(max);
    const caller = { scope: BOB, attempt: "two" };
    expect(await begin(caller)).toMatchObject(scope === "all" ? { state: "full", max, which } : { state: "started" });
    await granted(keys.finish({ scope: ANN, key: KEY, attempt: "one", answer: ANSWER }));
    expect(await begin({ attempt: "three" })).toMatchObject({ state: "done" });
    if (scope === "all") return;
    // The caller's next key of this object.
    await runInDurableObject(stub(), (_, { storage }) => {
      storage.sql.exec("UPDATE keys SET key = 'another' WHERE scope = ?", ANN);
    });
    expect(await begin({ attempt: "four" })).toEqual({ state: "full", max, which });
  });

  it("makes room by what has ended before it refuses", async () => {
    await begin();
    await runInDurableObject(stub(), (_, { storage }) => {
      storage.sql.exec("UPDATE keys SET key = 'another', until_ms = 5");
      storage.sql.exec("UPDATE totals SET keys = ? WHERE scope = ?", SCOPE_KEYS_MAX, ANN);
    });
    expect(await begin({ attempt: "two" })).toMatchObject({ state: "started" });
  });

  it("keeps no answer that is too large; its key stays open", async () => {
    await begin();
    const answer = { ...ANSWER, body: new Uint8Array(ANSWER_BYTES_MAX) };
    await granted(keys.finish({ scope: ANN, key: KEY, attempt: "one", answer }));
    expect(await begin({ attempt: "two" })).toMatchObject({ state: "started", isResumed: true });
    expect(await keys.begin(beginOf({ scope: BOB, answer }))).toMatchObject({
      error: { reason: "idempotency-unavailable" },
    });
    expect(await granted(keys.show(KEY))).toHaveLength(1);
  });

  it("keys go to different objects", async () => {
    const names = new Set<string>();
    const noting = {
      idFromName: (name: string) => names.add(name) && IDEMPOTENCY.idFromName(name),
      get: () => ({ show: async () => [] }),
    } as unknown as typeof IDEMPOTENCY;
    for (let index = 0; index < 500; index++) await durableIdempotency(noting).show(`key-${index}`);
    expect(names.size).toBe(64);
  });
});

describe("an object that cannot be reached", () => {
  const failing = (begin: () => Promise<unknown>) =>
    durableIdempotency({ idFromName: () => "x", get: () => ({ begin }) } as unknown as typeof IDEMPOTENCY, 10);

  it("is said to be so", async () => {
    const gone = await failing(() => Promise.reject(new Error("gone"))).begin(beginOf());
    expect(gone).toEqual({ ok: false, error: { reason: "idempotency-unavailable", why: "gone" } });
    const silent = await failing(() => new Promise(() => undefined)).begin(beginOf());
    expect(silent).toMatchObject({ error: { why: "no answer within 10 ms" } });
    const unbound = await durableIdempotency(undefined as unknown as typeof IDEMPOTENCY).begin(beginOf());
    expect(unbound).toMatchObject({ error: { reason: "idempotency-unavailable" } });
  });

  it("is asked once more where the platform says that this helps", async () => {
    let calls = 0;
    const begin = () =>
      calls++ === 0 ? Promise.reject(Object.assign(new Error("moved"), { retryable: true })) : Promise.resolve("begun");
    expect(await failing(begin).begin(beginOf())).toEqual({ ok: true, value: "begun" });
  });
});
