import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createMinter,
  distributedId,
  everyLayout,
  type FieldValue,
  hotguid,
  hotguidSql,
  iuid,
  type Layout,
  luuid,
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
    createMinter(options);
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
