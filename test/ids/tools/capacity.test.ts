import { describe, expect, test } from "vitest";
import {
  type Capacity,
  capacityOf,
  cuid,
  declareLayout,
  distributedId,
  distributedId128,
  everyLayout,
  flake,
  hotguid,
  iuid,
  type Layout,
  type LayoutDeclaration,
  type Load,
  lexicalUuid,
  luuid,
  mintNext,
  orderedUuid,
  shortPrefixComb,
  sonyflakeV2,
  startMinter,
  twitterSnowflake,
  uuidV1,
  uuidV4,
  uuidV7,
  xid,
} from "../../../src/ids/index.ts";
import { seeded } from "../mint/scripted-entropy.ts";

const LOAD: Load = { idsPerSecond: 1000, minters: 1, years: 1 };

const capacity = (layout: Layout, load: Partial<Load> = {}): Capacity => {
  const answer = capacityOf(layout, { ...LOAD, ...load });
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  return answer.value;
};

const declared = (...rows: LayoutDeclaration["rows"]): Layout => {
  const layout = declareLayout({ name: "ticket", rows, text: "hex" });
  if (!layout.ok) throw new Error(JSON.stringify(layout.error));
  return layout.value;
};

describe("the end of the time", () => {
  test.each([
    [twitterSnowflake, Date.UTC(2080, 6, 10, 17, 30, 30, 209)],
    [orderedUuid, Date.UTC(2059, 2, 13, 2, 56, 7, 107)],
    [hotguid, Date.UTC(2106, 1, 7, 6, 28, 16)],
    [distributedId, Date.UTC(3014, 11, 13, 12, 41, 28, 832)],
    [cuid, Date.UTC(2059, 4, 25, 17, 38, 27, 456)],
  ])("of %o", (layout, endMs) => {
    expect(capacity(layout).time?.endMs).toBe(endMs);
  });

  test.each(everyLayout.filter(({ mintedAtMs, table }) => mintedAtMs !== undefined && table.minter !== "none"))(
    "of $name is where the greatest time stops",
    (layout) => {
      const { field = "", endMs } = capacity(layout).time ?? {};
      const time = layout.field(field);
      const words = layout.fixed.value.slice();
      const sql = layout.name === "comb-sql-legacy";
      time?.write(words, sql ? (0xffffn << 32n) | 25_919_999n : (time?.max ?? 0));
      const lastMs = layout.mintedAtMs?.(words);
      // Beyond 2^53 - 1 both are absent.
      expect(endMs === undefined).toBe(layout === flake || layout === lexicalUuid);
      if (lastMs === undefined || endMs === undefined) return expect(lastMs).toBe(endMs);
      expect(lastMs).toBeLessThanOrEqual(endMs);
      expect(lastMs).toBeGreaterThanOrEqual(endMs - 1001);
    },
  );
});

describe("IDs a second", () => {
  test.each([
    [twitterSnowflake, "sequence", 4_096_000],
    [sonyflakeV2, "sequence", 25_600],
    [xid, "counter", 16_777_216],
    [lexicalUuid, undefined, 1_000_000],
    [uuidV1, undefined, 10_000_000],
    // The README of Architect.Identities 2.1.1: 128 per millisecond, sustained.
    [distributedId, "random", 128_000],
    [distributedId128, "random", 131_072_000],
    [iuid, "random", 4_194_304_000],
  ])("of one minter of %o come of its %s", (layout, field, minterIdsPerSecond) => {
    expect(capacity(layout, { minters: 3 }).rate).toMatchObject({
      field,
      minterIdsPerSecond,
      allIdsPerSecond: 3 * minterIdsPerSecond,
    });
  });

  test("have no limit where no time divides them", () => {
    expect([capacity(uuidV4).rate, capacity(shortPrefixComb).rate]).toEqual([undefined, undefined]);
  });

  test("that a random field has room for are about those that a minter makes in a tick", () => {
    const layout = declared(
      { field: "mintedAt", bits: 40, role: "time", unit: "s", epochMs: 0 },
      { field: "random", bits: 24, role: "random" },
    );
    const entropy = seeded(1);
    const minter = startMinter(layout, {});
    if (!minter.ok) throw new Error(minter.error.reason);
    let state = minter.value;
    const ticks = new Set<number>();
    let count = 0;
    for (; ticks.size <= 20; count++) {
      const minted = mintNext(state, 0, entropy);
      if (!minted.ok) throw new Error(minted.error.reason);
      state = minted.value.state;
      ticks.add(layout.field("mintedAt")?.read(minted.value.words) as number);
    }
    const { idsPerTick = 0 } = capacity(layout).rate ?? {};
    expect(count / 20 / idsPerTick).toBeGreaterThan(1);
    expect(count / 20 / idsPerTick).toBeLessThan(2);
  });
});

test("random bits of few values have room for few IDs a tick", () => {
  const layout = declared(
    { field: "mintedAt", bits: 48, role: "time", unit: "s", epochMs: 0 },
    { field: "random", bits: 40, role: "random", max: 1 },
  );
  expect(capacity(layout).rate?.idsPerTick).toBe(1);
});

describe("minters", () => {
  test.each([
    [twitterSnowflake, { fields: ["datacenter", "worker"], max: 1024 }, undefined],
    [xid, { fields: ["machine", "process"], max: 2 ** 40 }, 2 ** -40],
    [flake, { fields: ["worker"], max: 2 ** 48 }, 2 ** -48],
    [uuidV7, undefined, undefined],
    [cuid, undefined, undefined],
    [iuid, undefined, undefined],
  ])("of %o", (layout, minters, sameNode) => {
    const answer = capacity(layout, { minters: 2 });
    expect(answer.minters).toEqual(minters);
    if (sameNode === undefined) expect(answer.sameNode).toBeUndefined();
    else expect((answer.sameNode ?? 0) / sameNode).toBeCloseTo(1, 9);
  });

  test("are too many, or too slow, where the layout has no room for them", () => {
    expect(capacity(twitterSnowflake, { minters: 1024 }).isEnough).toBe(true);
    expect(capacity(twitterSnowflake, { minters: 1025 }).isEnough).toBe(false);
    expect(capacity(sonyflakeV2, { idsPerSecond: 25_600 }).isEnough).toBe(true);
    expect(capacity(sonyflakeV2, { idsPerSecond: 25_601 }).isEnough).toBe(false);
    expect(capacity(sonyflakeV2, { idsPerSecond: 25_601, minters: 2 }).isEnough).toBe(true);
  });
});

describe("equal IDs", () => {
  /** A small layout, so that its IDs do collide. */
  const small = declared(
    { field: "mintedAt", bits: 48, role: "time", unit: "s", epochMs: 0 },
    { field: "random", bits: 16, role: "random" },
  );

  test("are as many as draws at random make", () => {
    const { word } = seeded(7);
    const seconds = 400;
    let pairs = 0;
    for (let second = 0; second < seconds; second++) {
      const seen = new Map<number, number>();
      for (let id = 0; id < 1000; id++) {
        const value = word() >>> 16;
        const before = seen.get(value) ?? 0;
        pairs += before;
        seen.set(value, before + 1);
      }
    }
    const expected = capacity(small, { years: seconds / 31_557_600 }).collisions?.expectedPairs ?? 0;
    expect(expected).toBeCloseTo((seconds * 1000 ** 2) / 2 / 65_536, 6);
    // Five standard deviations of a Poisson count.
    expect(Math.abs(pairs - expected)).toBeLessThan(5 * Math.sqrt(expected));
  });

  test.each(everyLayout.filter((layout) => capacityOf(layout, LOAD).ok && capacity(layout).collisions !== undefined))(
    "of $name are too likely from odds of 1 in 1,000 on",
    (layout) => {
      const years = 10;
      const groups = capacity(layout, { years }).collisions?.groups ?? 0;
      const { values = 0 } = capacity(layout).collisions ?? {};
      // n^2 / (2 m d) pairs, of which none is there with e^-pairs, to within x = n / (m d) of it.
      const ids = Math.sqrt(2 * groups * values * -Math.log1p(-1e-3));
      const idsPerSecond = (share: number): number => (share * ids) / (years * 31_557_600);
      const at = (share: number) => capacity(layout, { years, minters: 2, idsPerSecond: idsPerSecond(share) });
      expect([at(0.999).collisions?.areTooLikely, at(1.001).collisions?.areTooLikely]).toEqual([false, true]);
      expect(at(1.001).isEnough).toBe(false);
    },
  );

  test("have the exact odds of the birthday problem, where few values are left too", () => {
    const tiny = declared(
      { field: "mintedAt", bits: 48, role: "time", unit: "s", epochMs: 0 },
      { field: "random", bits: 16, role: "random", max: 9 },
    );
    const seconds = 50;
    const { probability = 0 } = capacity(tiny, { idsPerSecond: 0.3, years: seconds / 31_557_600 }).collisions ?? {};
    const { word } = seeded(11);
    const chance = (): number => word() / 2 ** 32;
    let hits = 0;
    const tries = 4000;
    for (let run = 0; run < tries; run++) {
      const seen = new Set<number>();
      let isEqual = false;
      // IDs arrive at random: the time to the next is exponential.
      for (let at = -Math.log(1 - chance()) / 0.3; at < seconds; at += -Math.log(1 - chance()) / 0.3) {
        const cell = Math.floor(at) * 10 + (word() % 10);
        isEqual ||= seen.has(cell);
        seen.add(cell);
      }
      if (isEqual) hits += 1;
    }
    const deviation = Math.sqrt((probability * (1 - probability)) / tries);
    expect(Math.abs(hits / tries - probability)).toBeLessThan(5 * deviation);
  });

  test("of version 4 have even odds after 2.7 * 10^18", () => {
    const { probability = 0 } = capacity(uuidV4, { idsPerSecond: 2.715e18 / 31_557_600 }).collisions ?? {};
    expect(probability).toBeCloseTo(0.5, 3);
  });

  test("of a short COMB can be of any two turns of its ring", () => {
    const year = capacity(shortPrefixComb);
    const century = capacity(shortPrefixComb, { years: 100 });
    expect([year.collisions?.groups, century.collisions?.groups]).toEqual([65_536, 65_536]);
    expect((century.collisions?.expectedPairs ?? 0) / (year.collisions?.expectedPairs ?? 0)).toBeCloseTo(10_000, 6);
  });

  test("without a time count all IDs and all random bits", () => {
    const layout = declared(
      { field: "count", bits: 32, role: "counter" },
      { field: "random", bits: 32, role: "random" },
    );
    expect(capacity(layout).collisions).toMatchObject({ groups: 1, values: 2 ** 64 });
  });

  test("are none where minters count, and none where a sequence never gives a key twice", () => {
    expect(capacity(twitterSnowflake).collisions).toBeUndefined();
    expect(capacity(luuid)).toMatchObject({ collisions: undefined, supply: { ids: 2 ** 48, seconds: 2 ** 48 / 1000 } });
  });
});

test.each([
  ["uuid-v5", LOAD, { reason: "not-mintable", layout: "uuid-v5" }],
  ["uuid-v7", { ...LOAD, idsPerSecond: 0 }, { reason: "load", name: "idsPerSecond", value: 0 }],
  ["uuid-v7", { ...LOAD, minters: 1.5 }, { reason: "load", name: "minters", value: 1.5 }],
  ["uuid-v7", { ...LOAD, years: Number.POSITIVE_INFINITY }, { reason: "load", name: "years" }],
  ["uuid-v7", { ...LOAD, years: 1e308 }, { reason: "load", name: "years", value: 1e308 }],
  ["uuid-v4", { ...LOAD, idsPerSecond: 2 ** 53 }, { reason: "load", name: "idsPerSecond" }],
  ["uuid-v7", { ...LOAD, minters: 2 ** 53 }, { reason: "load", name: "minters" }],
] as const)("no answer for %s and %o", (name, load, error) => {
  const layout = everyLayout.find((each) => each.name === name) as Layout;
  expect(capacityOf(layout, load)).toMatchObject({ ok: false, error });
});

test.each(everyLayout.filter(({ table }) => table.minter !== "none"))(
  "the greatest load of $name has numbers",
  (layout) => {
    const max = Number.MAX_SAFE_INTEGER;
    const found = capacityOf(layout, { idsPerSecond: max, minters: max, years: max });
    if (!found.ok) throw new Error(found.error.reason);
    const { collisions, sameNode = 0, rate, supply } = found.value;
    const numbers = [sameNode, rate?.allIdsPerSecond ?? 0, supply?.seconds ?? 0, collisions?.expectedPairs ?? 0];
    expect([...numbers, collisions?.probability ?? 0, collisions?.groups ?? 0].every(Number.isFinite)).toBe(true);
  },
);

test("a counter among the bits of the time numbers nothing: each tick has one ID", () => {
  const at = { field: "at", role: "time", unit: "ms", epochMs: 0 } as const;
  const rows = [
    { ...at, bits: 30 },
    { field: "count", bits: 22, role: "counter" },
    { ...at, bits: 12 },
  ] as const;
  const layout = declareLayout({ name: "within", text: "hex", rows });
  if (!layout.ok) throw new Error(layout.error.reason);
  expect(capacity(layout.value).rate).toMatchObject({ field: undefined, idsPerTick: 1 });
});
