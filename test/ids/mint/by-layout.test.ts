import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checkShortComb,
  declareLayout,
  everyLayout,
  type FieldValue,
  instagramShardingId,
  type Layout,
  lexicalUuid,
  type MinterState,
  mintNext,
  mintShortComb,
  objectId,
  type RandomWords,
  type Row,
  shortPrefixComb,
  shortSuffixComb,
  startMinter,
  twitterSnowflake,
  ulid,
  uuidV4,
  uuidV7,
  type Words,
  xid,
} from "../../../src/ids/index.ts";
import { runs } from "../../setup/property-runs.ts";
import { slowDecode, textBits } from "../oracle.ts";
import { scripted, seeded } from "./scripted-entropy.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const mintable = everyLayout.filter(({ table }) => table.minter === undefined);
const timed = mintable.filter(({ mintedAtMs }) => mintedAtMs !== undefined);

const keysOf = (layout: Layout, value = 3): Record<string, FieldValue> =>
  Object.fromEntries(
    layout.fields.filter(({ role }) => role === "key" || role === "node").map(({ name }) => [name, value]),
  );

const start = (layout: Layout, keys = keysOf(layout)): MinterState => {
  const state = startMinter(layout, keys);
  if (!state.ok) throw new Error(JSON.stringify(state.error));
  return state.value;
};

/** One ID for each reading of the clock. */
const mintAll = (layout: Layout, clock: readonly number[], entropy: RandomWords): readonly Words[] => {
  let state = start(layout);
  return clock.map((nowMs) => {
    const next = mintNext(state, nowMs, entropy);
    if (!next.ok) throw new Error(JSON.stringify(next.error));
    state = next.value.state;
    return next.value.words;
  });
};

/** The bits in row order, which defines the order of IDs. */
const rowBits = ({ table }: Layout, words: Words): string => {
  const width = table.rows.reduce((sum, row) => sum + row.bits, 0);
  const text = textBits(words, width);
  return table.octetOrder?.map((byte) => text.slice(byte * 8, byte * 8 + 8)).join("") ?? text;
};

/** A clock that stops, runs, and steps back by up to a second. */
const anyClock = fc
  .array(fc.oneof(fc.constant(0), fc.integer({ min: -1000, max: 2000 })), { minLength: 2, maxLength: 60 })
  .map((steps) => {
    let nowMs = NOW_MS;
    return steps.map((step) => {
      nowMs += step;
      return nowMs;
    });
  });

describe.each(timed)("$name", (layout) => {
  test("IDs rise strictly, fit and are read back, whatever the clock does", () => {
    fc.assert(
      fc.property(anyClock, fc.integer(), (clock, seed) => {
        const ids = mintAll(layout, clock, seeded(seed));
        const bits = ids.map((words) => rowBits(layout, words));
        expect(bits).toEqual([...new Set(bits)].toSorted());
        for (const words of ids) {
          expect(layout.parse(layout.format(words))).toEqual({ ok: true, value: words });
          for (const [name, value] of Object.entries(keysOf(layout))) {
            expect(slowDecode(layout.table, words)[name]).toBe(BigInt(value));
          }
        }
      }),
      { numRuns: runs(20) },
    );
  });

  test("an ID bears the time of the clock, rounded down to its unit", () => {
    const [words] = mintAll(layout, [NOW_MS + 1], seeded(5));
    const bornMs = layout.mintedAtMs?.(words as Words) as number;
    expect(bornMs).toBeLessThanOrEqual(NOW_MS + 1);
    expect(bornMs).toBeGreaterThan(NOW_MS + 1 - 1000);
  });

  test("a clock that is a minute behind goes on, one that is further behind is refused", () => {
    const first = mintNext(start(layout), NOW_MS, seeded(5));
    const state = first.ok ? first.value.state : start(layout);
    const born = layout.mintedAtMs?.(state.lastWords) as number;
    expect(mintNext(state, born - 60_000, seeded(6)).ok).toBe(true);
    expect(mintNext(state, born - 60_001, seeded(6))).toMatchObject({ ok: false, error: { reason: "clock-behind" } });
  });

  test.each([Number.NaN, 0.5, -(2 ** 52), 2 ** 53])("a clock that reads %d is refused", (nowMs) => {
    expect(mintNext(start(layout), nowMs, seeded(5))).toMatchObject({
      ok: false,
      error: { reason: "key-out-of-range", field: "mintedAt" },
    });
  });
});

describe("rows in any order behind the first bits of the time", () => {
  type Part = "time" | "counter" | "random" | "salt" | "key";
  /** The bits of fields are parted into rows, which are mixed. */
  const anyRows = fc.array(
    fc.record({
      part: fc.constantFrom<Part>("time", "counter", "random", "salt", "key"),
      bits: fc.integer({ min: 2, max: 12 }),
    }),
    { minLength: 1, maxLength: 8 },
  );
  const rowOf = (part: Part, bits: number): Row => {
    if (part === "time") return { field: "mintedAt", bits, role: "time", unit: "ms", epochMs: NOW_MS - 5000 };
    return { field: part, bits, role: part === "salt" ? "random" : part };
  };

  test("IDs rise strictly, within a tick and from tick to tick", () => {
    fc.assert(
      fc.property(
        anyRows,
        fc.constantFrom<Part>("time", "random", "key"),
        anyClock,
        fc.integer(),
        (parts, last, clock, seed) => {
          const rows = [rowOf("time", 18), ...parts.map(({ part, bits }) => rowOf(part, bits))];
          const pad = 160 - rows.reduce((sum, { bits }) => sum + bits, 0);
          const declared = declareLayout({ name: "mixed", text: "hex", rows: [...rows, rowOf(last, pad)] });
          if (!declared.ok) throw new Error(JSON.stringify(declared.error));
          const texts = mintAll(declared.value, clock, seeded(seed)).map((id) => declared.value.format(id));
          expect(texts).toEqual([...new Set(texts)].toSorted());
        },
      ),
      { numRuns: runs(200) },
    );
  });

  test("a counter parted around random bits carries over them", () => {
    const declared = declareLayout({
      name: "parted",
      text: "hex",
      rows: [
        rowOf("time", 40),
        { field: "counter", bits: 4, role: "counter" },
        { field: "salt", bits: 16, role: "random" },
        { field: "counter", bits: 4, role: "counter" },
      ],
    });
    if (!declared.ok) throw new Error(JSON.stringify(declared.error));
    const { value: layout } = declared;
    const ids = mintAll(layout, new Array<number>(300).fill(NOW_MS), seeded(9));
    expect(ids.map((id) => layout.field("counter")?.read(id)).slice(0, 257)).toEqual([
      ...Array.from({ length: 256 }, (_, at) => at),
      0,
    ]);
    const texts = ids.map((id) => layout.format(id));
    expect(texts).toEqual([...new Set(texts)].toSorted());
  });
});

test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY])("a clock of %d is named in its error", (nowMs) => {
  expect(mintNext(start(ulid), nowMs, seeded(5))).toMatchObject({ error: { value: `${nowMs}` } });
});

describe("one step after another", () => {
  const texts = (layout: Layout, clock: readonly number[], ...words: readonly number[]): readonly string[] =>
    mintAll(layout, clock, scripted(...words)).map((id) => layout.format(id));

  test("a counter starts at 0 in each millisecond", () => {
    const clock = [1_314_220_021_721, 1_314_220_021_721, 1_314_220_021_722];
    expect(texts(instagramShardingId, clock)).toEqual(["3072", "3073", `${(1 << 23) + 3072}`]);
  });

  test("a counter that is used up moves the time ahead", () => {
    const epochMs = 1_288_834_974_657;
    const ids = mintAll(twitterSnowflake, new Array(4097).fill(epochMs), scripted());
    expect(twitterSnowflake.decode(ids[4095] as Words)).toMatchObject({ mintedAt: 0, sequence: 4095 });
    expect(twitterSnowflake.decode(ids[4096] as Words)).toMatchObject({ mintedAt: 1, sequence: 0 });
  });

  test("a wide counter starts at random in its lower half", () => {
    const [first, second] = mintAll(objectId, [0, 500], scripted(0xffffffff));
    expect(objectId.decode(first as Words)["counter"]).toBe(0x7fffff);
    expect(objectId.decode(second as Words)["counter"]).toBe(0x800000);
  });

  test("a random part starts in its lower half and takes random steps", () => {
    expect(texts(ulid, [0, 0, 0], 0xffffffff, 0xffffffff, 0xffffffff, 0, 0xffffffff)).toEqual([
      "0000000000FZZZZZZZZZZZZZZZ",
      "0000000000G000000000000000",
      "0000000000G000000004000000",
    ]);
  });

  test("a random part carries over fixed bits", () => {
    const low = "00000000-0000-7000-bfff-ffffffffffff";
    const words = uuidV7.parse(low);
    const state = { ...start(uuidV7), lastWords: words.ok ? words.value : [], lastTicks: 0n };
    const next = mintNext(state, 0, scripted(0));
    expect(next.ok && uuidV7.format(next.value.words)).toBe("00000000-0000-7001-8000-000000000000");
  });

  test("a random part that is used up moves the time ahead", () => {
    const words = ulid.parse("0000000000ZZZZZZZZZZZZZZZZ");
    const state = { ...start(ulid), lastWords: words.ok ? words.value : [], lastTicks: 0n };
    const next = mintNext(state, 0, scripted(0, 0, 0, 0));
    expect(next.ok && ulid.format(next.value.words)).toBe("00000000010000000000000000");
  });

  test("where nothing counts, the time does", () => {
    expect(texts(lexicalUuid, [1, 1, 1])).toEqual([
      "00000000-0000-03e8-0000000000000003",
      "00000000-0000-03e9-0000000000000003",
      "00000000-0000-03ea-0000000000000003",
    ]);
  });

  test("the last tick of all is followed by none", () => {
    const state = start(xid);
    const last = xid.encode({ mintedAt: 0xffffffff, machine: 3, process: 3, counter: 0xffffff });
    const next = mintNext(
      { ...state, lastWords: last.ok ? last.value : [], lastTicks: 0xffffffffn },
      0xffffffff * 1000,
      scripted(),
    );
    expect(next).toMatchObject({ ok: false, error: { reason: "key-out-of-range", value: "4294967296" } });
  });

  test("version 4 is all chance", () => {
    const ones = 0xffffffff;
    expect(texts(uuidV4, [0, 0], ones, ones, ones, ones, 0, 0, 0, 0)).toEqual([
      "ffffffff-ffff-4fff-bfff-ffffffffffff",
      "00000000-0000-4000-8000-000000000000",
    ]);
  });
});

describe("no minter", () => {
  const { datacenter, ...withoutDatacenter } = keysOf(twitterSnowflake);
  test.each([
    ["a key is missing", twitterSnowflake, withoutDatacenter, { reason: "missing-key", field: "datacenter" }],
    ["a key is unknown", ulid, { shard: 1 }, { reason: "unknown-key", field: "shard" }],
    ["a time is given", ulid, { mintedAt: 1 }, { reason: "unknown-key", field: "mintedAt" }],
    [
      "a key is too great",
      twitterSnowflake,
      { ...keysOf(twitterSnowflake), worker: 32 },
      { reason: "key-out-of-range", field: "worker", value: "32", max: "31" },
    ],
  ])("%s", (_name, layout, keys, error) => {
    expect(startMinter(layout, keys)).toEqual({ ok: false, error });
  });

  test.each(everyLayout.filter(({ table }) => table.minter !== undefined))(
    "$name is made otherwise or not at all",
    (layout) => {
      expect(startMinter(layout, keysOf(layout))).toEqual({
        ok: false,
        error: { reason: "not-mintable", layout: layout.name },
      });
    },
  );
});

describe("short COMBs", () => {
  test.each([shortPrefixComb, shortSuffixComb])("$name bears the interval and random bits", (layout) => {
    const words = mintShortComb(layout, 1_685_622_896_789, seeded(1), 30_000);
    expect(words.ok && layout.decode(words.value)).toMatchObject({ interval: 0x5a25 });
    expect(words.ok && layout.parse(layout.format(words.value)).ok).toBe(true);
  });

  test.each([
    [Number.NaN, 60_000, "nowMs"],
    [0, 0, "intervalMs"],
    [0, 0.5, "intervalMs"],
  ])("clock %d and interval %d are refused", (nowMs, intervalMs, field) => {
    expect(mintShortComb(shortPrefixComb, nowMs, seeded(1), intervalMs)).toMatchObject({ ok: false, error: { field } });
  });
});

test.each([ulid, uuidV7, uuidV4])("no short COMB is seen in $name", (layout) => {
  expect(checkShortComb(layout, [1, 2, 3, 4], NOW_MS)).toEqual({
    ok: false,
    error: { reason: "no-interval", layout: layout.name },
  });
});
