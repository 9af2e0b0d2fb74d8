import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as library from "../../../src/ids/index.ts";
import {
  createMinter,
  distributedId,
  everyLayout,
  type FieldValue,
  frozenIds,
  hotguid,
  hotguidSql,
  incrementalIds,
  iuid,
  type Layout,
  type LayoutWith,
  layoutNamed,
  luuid,
  type MinterOptions,
  shortPrefixComb,
  twitterSnowflake,
  ulid,
  uuidText,
  uuidV5,
  xid,
} from "../../../src/ids/index.ts";
import { MARKED_UUIDS, wordMinter } from "../../../src/ids/mint/create-minter.ts";
import { seeded } from "./scripted-entropy.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const mintable = everyLayout.filter(({ table }) => table.minter !== "none");
type LayoutsOf<Module> = {
  readonly [Name in keyof Module as Module[Name] extends Layout ? Name : never]: Module[Name];
};
/** All that the library exports by their names. */
const LAYOUTS = Object.fromEntries(
  Object.entries(library).filter(([, value]) => everyLayout.includes(value as Layout)),
) as unknown as LayoutsOf<typeof library>;

const keysOf = (layout: Layout): Record<string, FieldValue> =>
  Object.fromEntries(
    layout.fields
      .filter(({ role }) => role === "key" || role === "node")
      .map(({ name, bits }, at) => [name, bits > 53 ? BigInt(at + 1) : at + 1]),
  );

describe("in one line", () => {
  test("an iUID of a country and a service", () => {
    const mint = createMinter({ layout: iuid, country: 5, service: 1 });
    const fromMs = Date.now();
    const id = iuid.parse(mint());
    if (!id.ok) throw new Error(id.error.reason);
    expect(iuid.decode(id.value)).toMatchObject({ country: 5, service: 1 });
    expect(iuid.mintedAtMs?.(id.value)).toBeGreaterThanOrEqual(fromMs);
  });

  test.each([NOW_MS, Date.UTC(2031, 0, 1), Date.UTC(2020, 0, 1)])("by another clock: %i", (nowMs) => {
    const id = iuid.parse(createMinter({ layout: iuid, country: 5, service: 1 }, () => nowMs)());
    expect(id.ok && iuid.mintedAtMs?.(id.value)).toBe(nowMs);
  });

  test.each(mintable)("a thousand of $name, all different", (layout) => {
    const mint = createMinter({ layout, ...keysOf(layout) });
    const texts = Array.from({ length: 1000 }, mint);
    expect(new Set(texts).size).toBe(1000);
    for (const text of texts) {
      const id = layout.parse(text);
      expect(id.ok && layout.decode(id.value)).toMatchObject(layout === luuid ? { group: 2 } : keysOf(layout));
    }
  });

  test("two minters have entropy of their own", () => {
    expect(createMinter({ layout: ulid })()).not.toBe(createMinter({ layout: ulid })());
  });

  test("primary keys count on from the first", () => {
    const mint = createMinter({ layout: luuid, group: 7, primaryKey: 41 });
    expect([mint().slice(0, 13), mint().slice(0, 13)]).toEqual(["00000000-0029", "00000000-002a"]);
  });
});

test.each([
  [
    { layout: iuid, country: 5 },
    { reason: "missing-key", field: "service" },
  ],
  [
    { layout: iuid, country: 256, service: 1 },
    { reason: "key-out-of-range", field: "country" },
  ],
  [
    { layout: iuid, country: 1.5, service: 1 },
    { reason: "key-out-of-range", field: "country" },
  ],
  [
    { layout: ulid, country: 5 },
    { reason: "unknown-key", field: "country" },
  ],
  [
    { layout: luuid, group: 1 },
    { reason: "missing-key", field: "primaryKey" },
  ],
  [
    { layout: hotguid, shardKey: 1, machine: 1 },
    { reason: "missing-key", field: "process" },
  ],
  [
    { layout: shortPrefixComb, interval: 1 },
    { reason: "unknown-key", field: "interval" },
  ],
  [{ layout: uuidV5 }, { reason: "not-mintable", layout: "uuid-v5" }],
] as const)("wrong keys throw: %#", (options, cause) => {
  let thrown: unknown;
  try {
    createMinter(options as MinterOptions);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ cause, message: expect.stringContaining(`${options.layout.name}: ${cause.reason}`) });
});

test.each([iuid, hotguid, ulid, xid, twitterSnowflake, distributedId])(
  "$name: a clock that stops and steps back repeats nothing, one that is far behind is an error",
  (layout) => {
    const minter = wordMinter(layout, keysOf(layout), seeded(1));
    if (!minter.ok) throw new Error(minter.error.reason);
    const texts = Array.from({ length: 400 }, (_, at) => {
      const words = minter.value(NOW_MS - 10 * (at % 3));
      if (!words.ok) throw new Error(words.error.reason);
      return layout.format(words.value);
    });
    expect(texts).toEqual([...new Set(texts)].toSorted());
    if (layout === distributedId) return;
    expect(minter.value(NOW_MS - 120_000)).toMatchObject({ ok: false, error: { reason: "clock-behind" } });
    expect(minter.value(NOW_MS).ok).toBe(true);
  },
);

test("DistributedIds go on rising when their second of leeway is used up", () => {
  const minter = wordMinter(distributedId, {}, seeded(3));
  if (!minter.ok) throw new Error(minter.error.reason);
  const texts = Array.from({ length: 130_000 }, () => {
    const words = minter.value(NOW_MS);
    if (!words.ok) throw new Error(words.error.reason);
    return distributedId.format(words.value);
  });
  expect(texts).toEqual([...new Set(texts)].toSorted());
});

test("a HotGuid is no other UUID with fixed bits", () => {
  const marked = everyLayout.filter(({ fixedBits, table }) => fixedBits > 0 && table.text === uuidText);
  expect(marked).toEqual(expect.arrayContaining([...MARKED_UUIDS]));
  fc.assert(
    fc.property(fc.constantFrom(hotguid, hotguidSql), fc.integer(), (layout, seed) => {
      const minter = wordMinter(layout, { shardKey: seed >>> 0 }, seeded(seed));
      const words = minter.ok ? minter.value(NOW_MS) : minter;
      if (!words.ok) throw new Error(words.error.reason);
      expect(marked.filter(({ fits }) => fits(words.value))).toEqual([]);
    }),
  );
});

describe("the compiler knows the keys", () => {
  test.each([
    // @ts-expect-error Nothing is wrong at run time alone: the type asks for `country`.
    () => createMinter({ layout: iuid, service: 1 }),
    // @ts-expect-error A key is misspelt.
    () => createMinter({ layout: iuid, contry: 5, service: 1 }),
    // @ts-expect-error A key too many.
    () => createMinter({ layout: iuid, country: 5, service: 1, shard: 2 }),
    // @ts-expect-error A key that is no number.
    () => createMinter({ layout: iuid, country: "KZ", service: 1 }),
    // @ts-expect-error A ULID has none.
    () => createMinter({ layout: ulid, country: 5 }),
    // @ts-expect-error
    () => createMinter({ layout: hotguid }),
    // @ts-expect-error
    () => createMinter({ layout: luuid, group: 1 }),
    // @ts-expect-error
    () => createMinter({ layout: twitterSnowflake, datacenter: 1 }),
    // @ts-expect-error
    () => incrementalIds({ layout: iuid, service: 1 }),
    // @ts-expect-error
    () => frozenIds({ layout: iuid, contry: 5, service: 1 }),
  ])("and the run time too: %#", (mint) => {
    expect(mint).toThrow(/^no ID of/);
  });

  test("and takes all that are right", () => {
    createMinter({ layout: iuid, country: 5, service: 1n })();
    createMinter({ layout: hotguid, shardKey: 7 })();
    createMinter({ layout: hotguid, shardKey: 7, machine: 1, process: 2 })();
    createMinter({ layout: ulid })();
    const named: Layout | undefined = layoutNamed("iuid");
    if (named === undefined) throw new Error("no iuid");
    createMinter({ layout: named, country: 5, service: 1 })();
  });

  test("of every layout", () => {
    type Named<Of> = Of extends LayoutWith<infer Needed, infer Optional> ? Needed | Optional : never;
    type Names = { readonly [Name in keyof typeof LAYOUTS]: readonly Named<(typeof LAYOUTS)[Name]>[] };
    const snowflake = ["datacenter", "worker"] as const;
    const hotguid = ["machine", "process", "shardKey"] as const;
    const gregorian = ["clockSequence", "node"] as const;
    const none = [] as const;
    const names: Names = {
      iuid: ["country", "service"],
      luuid: ["primaryKey", "group"],
      hotguid,
      hotguidSql: hotguid,
      uuidV1: gregorian,
      uuidV6: gregorian,
      uuidV2: ["timeHigh", "localId", "clockHigh", "domain", "node"],
      twitterSnowflake: snowflake,
      discordSnowflake: snowflake,
      flakeId: snowflake,
      instagramShardingId: ["shard"],
      sonyflakeV1: ["machine"],
      sonyflakeV2: ["machine"],
      xid: ["machine", "process"],
      objectId: ["process"],
      lexicalUuid: ["worker"],
      flake: ["worker"],
      elasticflake: ["node"],
      cuid: ["fingerprint"],
      distributedId: none,
      distributedId128: none,
      ksuid: none,
      ulid: none,
      sid: none,
      pushId: none,
      shortPrefixComb: none,
      shortSuffixComb: none,
      combPrefix: none,
      combSuffix: none,
      combSqlLegacy: none,
      orderedUuid: none,
      uuidV3: none,
      uuidV4: none,
      uuidV5: none,
      uuidV7: none,
      uuidV8: none,
      uuidNil: none,
      uuidMax: none,
      uuid: none,
    };
    for (const [name, layout] of Object.entries(LAYOUTS)) {
      expect(names[name as keyof Names], name).toEqual(Object.keys(keysOf(layout)));
    }
    expect(Object.values(LAYOUTS)).toHaveLength(everyLayout.length);
  });
});
