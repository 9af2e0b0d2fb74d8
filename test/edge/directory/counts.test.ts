import { evictDurableObject, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { ORPHAN_MS } from "../../../src/features/directory/edge/object.ts";
import type { BulkRow, DirectoryKey, KeyCounts } from "../../../src/features/directory/port.ts";
import { shardOf } from "../../../src/features/directory/table/shard.ts";
import { runs } from "../../setup/property-runs.ts";

const { DIRECTORY } = env as Env;
const truth = durableDirectory(DIRECTORY);
const SHARD = 7;
const stub = () => DIRECTORY.get(DIRECTORY.idFromName(`keys-${SHARD}`));

/** Keys of two directories that one object has. */
const PLACES: readonly DirectoryKey[] = ["slug", "email"].flatMap((directory) =>
  Array.from({ length: 3_000 }, (_, at) => ({ directory, key: `k${at}` }))
    .filter((at) => shardOf(at) === SHARD)
    .slice(0, 4),
);

beforeEach(() => reset());

const sql = <Value>(work: (of: SqlStorage) => Value): Promise<Value> =>
  runInDurableObject(stub(), (_, { storage }) => work(storage.sql));

/** Every row is read and looked at. */
const slowCount = (directory: string): Promise<KeyCounts> =>
  sql((of) => {
    const rows = of
      .exec<{ lease: number | null; missing: number | null }>(
        "SELECT lease_until_ms AS lease, missing_ms AS missing FROM keys WHERE directory = ?",
        directory,
      )
      .toArray();
    const nowMs = Date.now();
    return {
      confirmed: rows.filter(({ lease }) => lease === null).length,
      reserved: rows.filter(({ lease }) => lease !== null && lease > nowMs).length,
      expired: rows.filter(({ lease }) => lease !== null && lease <= nowMs).length,
      missing: rows.filter(({ missing }) => missing !== null).length,
    };
  });

const place = fc.constantFrom(...PLACES);
const region = fc.constantFrom("eu", "us");
const owner = fc.constantFrom("ann", "bob");
const CLAIMS = ["reserve", "reserve", "confirm", "release", "register"] as const;
const claim = fc.record({ place, region, owner, operation: fc.constantFrom("1", "2") });
const step = fc.oneof(
  fc.record({ call: fc.constantFrom(...CLAIMS), claim }),
  fc.record({ call: fc.constantFrom("move" as const, "remove" as const, "missing" as const), place, region }),
  fc.record({ call: fc.constant("learn" as const), place, region }),
  fc.record({
    call: fc.constant("put" as const),
    directory: fc.constantFrom("slug", "email"),
    keys: fc.array(fc.tuple(fc.nat(3), region, fc.option(owner)), { maxLength: 6 }),
    replace: fc.boolean(),
  }),
  fc.record({ call: fc.constant("elapse" as const), ms: fc.constantFrom(40_000, ORPHAN_MS) }),
  fc.constant({ call: "sweep" as const }),
  fc.constant({ call: "evict" as const }),
  // The first one reads all rows; what comes after keeps its total.
  fc.record({ call: fc.constant("count" as const), directory: fc.constantFrom("slug", "email") }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function run(one: Step): Promise<unknown> {
  switch (one.call) {
    case "reserve":
    case "confirm":
    case "release":
    case "register": {
      const { place: at, ...of } = one.claim;
      return truth[one.call]({ ...at, ...of, leaseMs: 60_000 });
    }
    case "learn":
      return truth.learn(one.place, "eu", one.region);
    case "put": {
      const own = PLACES.filter(({ directory }) => directory === one.directory);
      const rows = one.keys.map(([at, to, of]): BulkRow => [own[at]?.key ?? "", to, of]);
      return truth.putMany(one.directory, SHARD, rows, one.replace);
    }
    case "elapse":
      return sql((of) => of.exec("UPDATE keys SET lease_until_ms = lease_until_ms - ?", one.ms));
    case "sweep":
      return runDurableObjectAlarm(stub());
    case "evict":
      // Only what runs is evicted.
      await truth.scan("slug", SHARD, "", 1);
      return evictDurableObject(stub());
    case "count":
      return truth.count(one.directory, SHARD);
    default: {
      const got = await truth.get(one.place);
      const version = got.ok ? (got.value?.version ?? 0) : 0;
      if (one.call === "move") return truth.move(one.place, one.region, version);
      return one.call === "remove" ? truth.remove(one.place, version) : truth.reportMissing(one.place, version);
    }
  }
}

it("counts keys as one who reads them all, after any order of claims, imports, changes, leases and sweeps", async () => {
  const seen = new Set<string>();
  const compare = async (directory: string): Promise<void> => {
    const value = await slowCount(directory);
    for (const [name, count] of Object.entries(value)) if (count > 0) seen.add(name);
    expect(await truth.count(directory, SHARD)).toEqual({ ok: true, value });
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      await truth.scan("slug", SHARD, "", 1);
      await sql((of) => {
        of.exec("DELETE FROM keys");
        of.exec("DELETE FROM totals");
      });
      for (const one of steps) {
        await run(one);
        // Counting after each would leave no time without a total.
        if (one.call === "count") await compare(one.directory);
      }
      for (const directory of ["slug", "email"]) await compare(directory);
    }),
    { numRuns: runs(40) },
  );
  expect([...seen].toSorted()).toEqual(["confirmed", "expired", "missing", "reserved"]);
});

/** Every statement of the object from now on, with how many rows it read. */
const spied = (work: () => Promise<unknown>): Promise<number> =>
  runInDurableObject(stub(), async (_, { storage }) => {
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
    const { exec } = storage.sql;
    storage.sql.exec = (...of: Parameters<typeof exec>) => {
      const cursor = exec.apply(storage.sql, of);
      cursors.push(cursor as (typeof cursors)[number]);
      return cursor as never;
    };
    await work();
    return cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
  });

it("reads a few rows, however many there are, once they were counted; so does the report of orphans", async () => {
  const rows = Array.from({ length: 1_500 }, (_, at): BulkRow => [`k${at}`, "eu", null]);
  await truth.putMany("slug", SHARD, rows, false);
  await truth.count("slug", SHARD);
  const at = { directory: "slug", key: PLACES[0]?.key ?? "" };
  await truth.remove(at, 1);
  await truth.reserve({ ...at, region: "eu", owner: "ann", operation: "1", leaseMs: 60_000 });
  const read = await spied(async () => {
    expect(await truth.count("slug", SHARD)).toMatchObject({ value: { confirmed: 1_499, reserved: 1 } });
    expect(await truth.orphans("slug", SHARD, "", 100)).toMatchObject({ value: { rows: [] } });
  });
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(20);
});
