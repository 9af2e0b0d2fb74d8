import { evictDurableObject, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { LateWork } from "../../../src/edge/machines/late.ts";
import { DIRECTORY_SHARDS, type DirectoryRpc, durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { type DirectoryKeys, ORPHAN_MS } from "../../../src/features/directory/edge/object.ts";
import type { DirectoryTruth, Reservation } from "../../../src/features/directory/port.ts";
import { shardOf } from "../../../src/features/directory/table/shard.ts";
import { runs } from "../../setup/property-runs.ts";
import { openPromise } from "../machines/open-promise.ts";
import { fakeTruth } from "./fake-truth.ts";

const { DIRECTORY } = env as Env;
const AT = { directory: "slug", key: "a" };
const stubOf = (shard: number) => DIRECTORY.get(DIRECTORY.idFromName(`keys-${shard}`));
const stub = () => stubOf(shardOf(AT));

const ANN: Reservation = { ...AT, owner: "ann", operation: "1", region: "eu", leaseMs: 60_000 };
const BOB: Reservation = { ...AT, owner: "bob", operation: "2", region: "us", leaseMs: 60_000 };

/** Moves all times of the object into the past: it reads the platform's clock. */
const elapse = (ms: number): Promise<void> =>
  runInDurableObject(stub(), (_, { storage }) => {
    storage.sql.exec("UPDATE keys SET lease_until_ms = lease_until_ms - ?, changed_ms = changed_ms - ?", ms, ms);
  });

interface Store {
  readonly truth: Omit<DirectoryTruth, "orphans" | "scan" | "count" | "putMany" | "tryMany" | "changesSince">;
  elapse(ms: number): Promise<void>;
}

const STORES: readonly (readonly [name: string, make: () => Store])[] = [
  ["the Durable Object", () => ({ truth: durableDirectory(DIRECTORY), elapse })],
  [
    "the fake",
    () => {
      const clock = { nowMs: 1_000_000 };
      return {
        truth: fakeTruth(clock),
        async elapse(ms) {
          clock.nowMs += ms;
        },
      };
    },
  ],
];

beforeEach(() => reset());

describe.each(STORES)("claims in %s", (_name, make) => {
  let store: Store;
  let truth: Store["truth"];
  beforeEach(() => {
    store = make();
    truth = store.truth;
  });
  const stateOf = async () => {
    const got = await truth.get(AT);
    return got.ok ? got.value?.state : got.error;
  };

  it("are reserved and confirmed, each as often as it is sent", async () => {
    for (const again of [1, 2]) {
      expect(await truth.reserve(ANN), `${again}`).toMatchObject({
        value: { state: "done", entry: { state: "reserved" } },
      });
    }
    for (const again of [1, 2]) {
      const confirmed = await truth.confirm(ANN);
      expect(confirmed, `${again}`).toMatchObject({
        value: { state: "done", entry: { state: "confirmed", region: "eu" } },
      });
    }
    expect(await truth.reserve(ANN)).toMatchObject({ value: { state: "done", entry: { state: "confirmed" } } });
  });

  it("of others are held until the lease ends, then theirs", async () => {
    await truth.reserve(ANN);
    expect(await truth.reserve(BOB)).toEqual({ ok: true, value: { state: "held", retryAfterSeconds: 60 } });
    expect(await truth.confirm(BOB)).toMatchObject({ value: { state: "held" } });
    await store.elapse(60_000);
    expect(await stateOf()).toBe("expired");
    expect(await truth.reserve(BOB)).toMatchObject({ value: { state: "done", entry: { owner: "bob", region: "us" } } });
    expect(await truth.confirm(ANN)).toMatchObject({ value: { state: "held" } });
    expect(await truth.confirm(BOB)).toMatchObject({ value: { state: "done" } });
    expect(await truth.confirm(ANN)).toMatchObject({ value: { state: "taken" } });
    expect(await truth.reserve(ANN)).toMatchObject({ value: { state: "taken" } });
  });

  it("may be confirmed late where nobody else took the key", async () => {
    await truth.reserve(ANN);
    await store.elapse(86_400_000);
    expect(await truth.confirm(ANN)).toMatchObject({ value: { state: "done", entry: { state: "confirmed" } } });
  });

  it("are released by their operation alone", async () => {
    await truth.reserve(ANN);
    expect(await truth.release(BOB)).toEqual({ ok: true, value: "done" });
    expect(await stateOf()).toBe("reserved");
    expect(await truth.release(ANN)).toEqual({ ok: true, value: "done" });
    expect(await stateOf()).toBeUndefined();
    expect(await truth.confirm(ANN)).toEqual({ ok: true, value: { state: "lost" } });
    await truth.register(ANN);
    expect(await truth.release(ANN)).toEqual({ ok: true, value: "taken" });
  });

  it("change by the current version alone", async () => {
    await truth.register(ANN);
    const got = await truth.get(AT);
    const version = got.ok ? (got.value?.version ?? 0) : 0;
    expect(await truth.move(AT, "us", version + 1)).toEqual({ ok: true, value: { state: "stale", version } });
    expect(await truth.reportMissing(AT, version)).toMatchObject({ value: { state: "done" } });
    const moved = await truth.move(AT, "us", version + 1);
    expect(moved).toMatchObject({ value: { state: "done", entry: { region: "us", missingSinceMs: undefined } } });
    expect(await truth.remove(AT, version)).toMatchObject({ value: { state: "stale" } });
    expect(await truth.remove(AT, version + 2)).toEqual({ ok: true, value: { state: "done", entry: undefined } });
    expect(await truth.remove(AT, version + 2)).toEqual({ ok: true, value: { state: "absent" } });
  });

  it("learn a move only from the region that the key leads to", async () => {
    await truth.register(ANN);
    await truth.learn(AT, "ap", "us");
    expect(await truth.get(AT)).toMatchObject({ value: { region: "eu" } });
    await truth.learn(AT, "eu", "us");
    expect(await truth.get(AT)).toMatchObject({ value: { region: "us" } });
    await truth.learn({ ...AT, key: "none" }, "eu", "us");
    expect(await truth.get({ ...AT, key: "none" })).toEqual({ ok: true, value: undefined });
  });
});

describe("the release of a reservation whose answer nobody heard", () => {
  const of = (attempt?: string) => ({
    shard: shardOf(AT),
    shards: DIRECTORY_SHARDS,
    ...(attempt === undefined ? {} : { attempt }),
  });
  const object = () => stub() as unknown as DirectoryRpc;
  const stateNow = async () => (await object().get(of(), AT))?.state;

  it.each<
    readonly [string, reserved: readonly (string | undefined)[], released: string | undefined, string | undefined]
  >([
    ["makes the key free", ["first"], "first", undefined],
    ["makes the key free, also where a node was asked after another", ["first", "first"], "first", undefined],
    ["takes nothing from a retry", ["first", "retry"], "first", "reserved"],
    ["takes nothing from a retry that came before it", ["retry", "first"], "first", "reserved"],
    ["takes nothing from a retry, where the first try never came", ["retry"], "first", "reserved"],
    ["takes nothing from a retry that names no attempt", ["first", undefined], "first", "reserved"],
    ["by the client itself makes the key free", ["first", "retry"], undefined, undefined],
  ])("%s", async (_, reserved, released, state) => {
    for (const attempt of reserved) expect(await object().reserve(of(attempt), ANN)).toMatchObject({ state: "done" });
    expect(await object().release(of(released), ANN)).toBe("done");
    expect(await stateNow()).toBe(state);
  });

  it("makes the key free for whoever reserved it after a lease", async () => {
    await object().reserve(of("first"), ANN);
    await elapse(60_000);
    await object().reserve(of("other"), BOB);
    expect(await object().release(of("first"), ANN)).toBe("done");
    expect(await stateNow()).toBe("reserved");
    expect(await object().release(of("other"), BOB)).toBe("done");
    expect(await stateNow()).toBeUndefined();
  });

  it("works on a database of a former version, which knows no attempts", async () => {
    await object().reserve(of("first"), ANN);
    await runInDurableObject(stub(), (_, { storage }) => storage.sql.exec("ALTER TABLE keys DROP COLUMN attempt"));
    await evictDurableObject(stub());
    expect(await object().release(of("first"), ANN)).toBe("done");
    expect(await stateNow()).toBe("reserved");
    expect(await object().confirm(of(), ANN)).toMatchObject({ state: "done" });
  });

  it("comes after a retry, and leaves it the key", async () => {
    const background: Promise<unknown>[] = [];
    const { promise: retried, resolve: goOn } = openPromise<void>();
    const late = new LateWork({
      clock: { nowMs: Date.now },
      pause: () => retried,
      waitUntil: (work) => void background.push(work),
    });
    let isHeard = false;
    const namespace = {
      idFromName: () => "x",
      get: () => ({
        reserve: async (...values: Parameters<DirectoryRpc["reserve"]>) => {
          const answer = await object().reserve(...values);
          if (!isHeard) throw new Error("lost");
          return answer;
        },
        release: (...values: Parameters<DirectoryRpc["release"]>) => object().release(...values),
      }),
    } as unknown as Env["DIRECTORY"];
    const truth = durableDirectory(namespace, () => undefined, 1_000, { late });
    expect(await truth.reserve(ANN)).toMatchObject({ ok: false });
    isHeard = true;
    expect(await truth.reserve(ANN)).toMatchObject({ value: { state: "done" } });
    goOn();
    await Promise.all(background);
    expect(await stateNow()).toBe("reserved");
  });
});

const owner = fc.constantFrom("ann", "bob", "eve");
const operation = fc.constantFrom("1", "2");
const region = fc.constantFrom("eu", "us");
/** Keys of one object, so that one call ages them all. */
const KEYS = Array.from({ length: 3_000 }, (_, at) => `k${at}`)
  .filter((key) => shardOf({ directory: "slug", key }) === shardOf(AT))
  .slice(0, 2);
const at = fc.constantFrom("a", ...KEYS).map((key) => ({ directory: "slug", key }));
const claim = fc.record({
  at,
  owner,
  operation,
  region,
  leaseMs: fc.integer({ min: 1, max: 5 }).map((n) => n * 10_000),
});
const step = fc.oneof(
  claim.map((of) => ({ call: "reserve", ...of }) as const),
  claim.map((of) => ({ call: "confirm", ...of }) as const),
  claim.map((of) => ({ call: "release", ...of }) as const),
  claim.map((of) => ({ call: "register", ...of }) as const),
  fc.record({ call: fc.constant("elapse" as const), ms: fc.integer({ min: 1, max: 6 }).map((n) => n * 10_000) }),
  fc.record({ call: fc.constant("learn" as const), at, region }),
  fc.record({
    call: fc.constantFrom("move" as const, "remove" as const, "missing" as const),
    at,
    region,
    isStale: fc.boolean(),
  }),
  fc.constant({ call: "evict" as const }),
);

/** The part that both must agree on: versions and times are counted apart. */
const shown = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (name, part: unknown) =>
      ["version", "changedAtMs", "leaseUntilMs", "retryAfterSeconds"].includes(name)
        ? undefined
        : name === "missingSinceMs"
          ? part !== undefined
          : part,
    ),
  );

it("any order of claims, leases, moves and losses of memory comes to what the oracle says", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const clock = { nowMs: 1_000_000 };
      const real = durableDirectory(DIRECTORY);
      const oracle = fakeTruth(clock);
      await real.get(AT);
      await runInDurableObject(stub(), (_, { storage }) => void storage.sql.exec("DELETE FROM keys"));
      const versionIn = async (truth: Store["truth"], key: Reservation["key"], isStale: boolean) => {
        const got = await truth.get({ directory: "slug", key });
        return (got.ok ? (got.value?.version ?? 1) : 1) - (isStale ? 1 : 0);
      };
      for (const one of steps) {
        if (one.call === "elapse") {
          clock.nowMs += one.ms;
          // Leases are tens of seconds apart, and this test takes less.
          await real.get(AT);
          await elapse(one.ms);
          continue;
        }
        if (one.call === "evict") {
          await real.get(AT);
          await evictDurableObject(stub());
          continue;
        }
        const run = async (truth: Store["truth"]): Promise<unknown> => {
          if (one.call === "learn") return truth.learn(one.at, "eu", one.region);
          if (one.call === "move" || one.call === "remove" || one.call === "missing") {
            const version = await versionIn(truth, one.at.key, one.isStale);
            if (one.call === "move") return truth.move(one.at, one.region, version);
            return one.call === "remove" ? truth.remove(one.at, version) : truth.reportMissing(one.at, version);
          }
          const { call, at: place, ...of } = one;
          return truth[call]({ ...place, ...(of as Omit<Reservation, "directory" | "key">) });
        };
        expect(shown(await run(real)), JSON.stringify(one)).toEqual(shown(await run(oracle)));
        for (const key of ["a", ...KEYS]) {
          const place = { directory: "slug", key };
          expect(shown(await real.get(place)), key).toEqual(shown(await oracle.get(place)));
        }
      }
    }),
    { numRuns: runs(30) },
  );
});

it("a change whose answer was lost is not made again: it would be refused, although it was made", async () => {
  let sent = 0;
  const lost = async () => {
    sent++;
    throw Object.assign(new Error("Network connection lost."), { retryable: true });
  };
  const namespace = {
    idFromName: () => "x",
    get: () => ({ move: lost, remove: lost, get: lost, noteChange: async () => undefined }),
  };
  const truth = durableDirectory(namespace as unknown as typeof DIRECTORY);
  for (const change of [truth.move(AT, "us", 1), truth.remove(AT, 1)])
    expect(await change).toMatchObject({ ok: false });
  expect(sent).toBe(2);
  expect(await truth.get(AT)).toMatchObject({ ok: false, error: { reason: "directory-unavailable", why: "failed" } });
  expect(sent).toBe(4);
});

it("one of 1,000 claims of a name at once wins", async () => {
  const truth = durableDirectory(DIRECTORY);
  const claims = Array.from({ length: 1_000 }, (_, n) => truth.reserve({ ...ANN, owner: `o${n}`, operation: `p${n}` }));
  const outcomes = await Promise.all(claims);
  const states = outcomes.map((outcome) => (outcome.ok ? outcome.value.state : outcome.error.reason));
  expect(states.filter((state) => state === "done")).toHaveLength(1);
  expect(states.filter((state) => state === "held")).toHaveLength(999);
});

it("many old reservations are removed a thousand at a time, a second apart", async () => {
  const truth = durableDirectory(DIRECTORY);
  await truth.reserve(ANN);
  const alarmIn = await runInDurableObject(stub(), async (_, { storage }) => {
    storage.sql.exec(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
        INSERT INTO keys (directory, key, region, version, changed_ms, lease_until_ms) SELECT 'slug', 'n' || i, 'eu', 1, 0, 1 FROM n`,
    );
    return ((await storage.getAlarm()) ?? 0) - Date.now();
  });
  expect(alarmIn).toBeGreaterThan(ORPHAN_MS);
  /** Rows that an alarm leaves, read before another can come by itself. */
  const leftByAlarm = () =>
    runInDurableObject(stub(), async (object, { storage }) => {
      await (object as DirectoryKeys).alarm();
      const { count } = storage.sql.exec<{ count: number }>("SELECT count(*) AS count FROM keys").one();
      return [count, ((await storage.getAlarm()) ?? 0) - Date.now() <= 1_000];
    });
  expect(await leftByAlarm()).toEqual([501, true]);
  expect(await leftByAlarm()).toEqual([1, false]);
});

it("reservations leave the report long after their lease", async () => {
  const truth = durableDirectory(DIRECTORY);
  await truth.reserve(ANN);
  await truth.register({ ...BOB, key: KEYS[0] as string });
  await elapse(60_000 + ORPHAN_MS - 1_000);
  await runDurableObjectAlarm(stub());
  expect(await truth.orphans("slug", shardOf(AT), "", 10)).toMatchObject({
    value: { rows: [{ key: "a", state: "expired" }] },
  });
  await elapse(1_000);
  await runDurableObjectAlarm(stub());
  expect(await truth.orphans("slug", shardOf(AT), "", 10)).toMatchObject({ value: { rows: [] } });
  expect(await truth.scan("slug", shardOf(AT), "", 10)).toMatchObject({ value: { rows: [{ state: "confirmed" }] } });
});
