import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  builtinLayouts,
  compareWords,
  compileLayout,
  judgeClientId,
  type Layout,
  type LayoutTable,
  luuid,
  parseId,
  recognise,
  type TimeUnit,
  uuidText,
} from "../../../src/ids/index.ts";
import { compileFields } from "../../../src/ids/layout/compile.ts";
import { runs } from "../../setup/property-runs.ts";
import { anyTable, anyWords } from "../arbitraries.ts";
import { slowDecode, slowFits, textBits, wordsOfBits } from "../oracle.ts";

const compile = (table: LayoutTable): Layout => {
  const layout = compileLayout(table);
  if (!layout.ok) throw new Error(JSON.stringify(layout.error));
  return layout.value;
};

const asBig = (values: Readonly<Record<string, number | bigint>>): Record<string, bigint> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, BigInt(value)]));

/** The words with the layout's fixed bits set. */
const fitting = (layout: Layout, words: readonly number[]): number[] =>
  words.map((word, index) => {
    const mask = layout.fixed.mask[index] as number;
    return ((word & ~mask) | (layout.fixed.value[index] as number)) >>> 0;
  });

describe("a compiled layout agrees with the bit strings of the oracle", () => {
  const checkLayout = (layout: Layout, anyBits: readonly number[]): void => {
    const words = fitting(layout, anyBits);
    expect(layout.fits(anyBits)).toBe(slowFits(layout.table, anyBits));
    expect(layout.fits(words)).toBe(true);
    expect(asBig(layout.decode(anyBits))).toEqual(slowDecode(layout.table, anyBits));
    for (const field of layout.fields) expect(field.readBig(words)).toBe(slowDecode(layout.table, words)[field.name]);
    expect(layout.encode(layout.decode(words))).toEqual({ ok: true, value: words });
    expect(layout.encode(asBig(layout.decode(words)))).toEqual({ ok: true, value: words });
    expect(layout.parse(layout.format(words))).toEqual({ ok: true, value: words });
    expect(layout.parse(layout.format(words).toUpperCase())).toEqual({ ok: true, value: words });
  };

  test.each([...builtinLayouts.values()])("$name", (layout) => {
    fc.assert(
      fc.property(anyWords(), (words) => checkLayout(layout, words)),
      { numRuns: runs(200) },
    );
  });

  test("tables of any shape", () => {
    fc.assert(
      fc.property(anyTable(), anyWords(), (table, words) => checkLayout(compile(table), words)),
      {
        numRuns: runs(200),
      },
    );
  });

  test.each([64, 72, 96, 120, 128, 136, 160])("fields of %i bits in all", (bits) => {
    fc.assert(
      fc.property(anyTable(bits), anyWords(Math.ceil(bits / 32)), (table, anyBits) => {
        const words = wordsOfBits(textBits(anyBits, bits));
        const fields = compileFields(table);
        const values = Object.fromEntries(fields.map((field) => [field.name, field.readBig(words)]));
        expect(values).toEqual(slowDecode(table, words));
        const written = words.map(() => 0);
        for (const field of fields) field.write(written, values[field.name] as bigint);
        expect(written).toEqual(words);
      }),
      { numRuns: runs(100) },
    );
  });

  test("writing a field leaves the others alone", () => {
    fc.assert(
      fc.property(anyTable(), anyWords(), anyWords(), (table, from, into) => {
        for (const field of compileFields(table)) {
          const words = into.slice();
          field.write(words, field.readBig(from));
          const outside = words.map((word, index) => (word & ~(field.mask[index] as number)) >>> 0);
          expect(field.readBig(words)).toBe(field.readBig(from));
          expect(outside).toEqual(into.map((word, index) => (word & ~(field.mask[index] as number)) >>> 0));
        }
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("minting time", () => {
  const withTime = (unit: TimeUnit, bits: number, epochMs: number): Layout =>
    compile({
      name: "timed",
      title: "Timed",
      source: "this test",
      text: uuidText,
      rows: [
        { field: "time", bits, role: "time", unit, epochMs },
        { field: "random", bits: 128 - bits, role: "random" },
      ],
    });

  // Times documented for Sonyflake v2, orderedUuid, LexicalUUID, RFC 9562 version 6, SID, KSUID and DistributedId128.
  const GREGORIAN_MS = Date.UTC(1582, 9, 15);
  test.each([
    ["10ms", 39, Date.UTC(2025, 0, 1), 5_642_774_774n, "2026-10-16T02:22:27.740Z"],
    ["10us", 48, 0, 0x9009ebcccd99n, "2020-03-09T03:00:51.731Z"],
    ["us", 64, 0, 16_749_185n, "1970-01-01T00:00:16.749Z"],
    ["100ns", 60, GREGORIAN_MS, 0x1ec9414c232ab00n, "2022-02-22T19:22:22.000Z"],
    ["ns", 63, 0, 1_559_872_035_903_071_353n, "2019-06-07T01:47:15.903Z"],
    ["s", 32, 1_400_000_000_000, 107_608_047n, "2017-10-10T04:00:47.000Z"],
    ["ms", 48, Date.UTC(1700, 0, 1), 0x094954a8622cn, "2023-07-24T17:59:43.916Z"],
  ] as const)("%s in %i bits", (unit, bits, epochMs, ticks, expected) => {
    const layout = withTime(unit, bits, epochMs);
    const words = layout.encode({ time: ticks, random: 0n });
    expect(words.ok && new Date(layout.mintedAtMs?.(words.value) ?? Number.NaN).toISOString()).toBe(expected);
  });

  test("agrees with whole-number arithmetic at any width", () => {
    const units = {
      s: 1_000_000_000n,
      "10ms": 10_000_000n,
      ms: 1_000_000n,
      "10us": 10_000n,
      us: 1000n,
      "100ns": 100n,
      ns: 1n,
    };
    const anyUnit = fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[]));
    const anyTicks = fc
      .integer({ min: 8, max: 64 })
      .chain((bits) =>
        fc.record({ bits: fc.constant(bits), ticks: fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }) }),
      );
    fc.assert(
      fc.property(anyUnit, anyTicks, fc.boolean(), (unit, { bits, ticks }, whole) => {
        // A rounded quotient would show one tick before a whole millisecond.
        const perMs = 1_000_000n / units[unit];
        const tried = whole && perMs > 1n && ticks > perMs ? ticks - (ticks % perMs) - 1n : ticks;
        const layout = withTime(unit, bits, -5);
        const words = layout.encode({ time: tried, random: 0n });
        const expectedMs = (tried * units[unit]) / 1_000_000n - 5n;
        fc.pre(expectedMs <= BigInt(Number.MAX_SAFE_INTEGER));
        expect(words.ok && layout.mintedAtMs?.(words.value)).toBe(Number(expectedMs));
      }),
      { numRuns: runs(200) },
    );
  });

  test.each([
    ["s", 53, 2n ** 53n - 1n],
    ["ms", 54, 2n ** 53n],
    ["ms", 64, 2n ** 53n],
    ["ms", 64, 2n ** 64n - 1n],
    ["us", 64, 2n ** 64n - 1n],
  ] as const)(
    "in %s of %i bits, %d is no time that a number holds: it is absent, never capped",
    (unit, bits, ticks) => {
      const layout = withTime(unit, bits, 0);
      const words = layout.encode({ time: ticks, random: 0n });
      if (!words.ok) throw new Error(words.error.reason);
      expect(layout.mintedAtMs?.(words.value)).toBeUndefined();
      const parsed = parseId(layout.table, layout.format(words.value));
      expect(parsed).toMatchObject({ ok: true, value: { mintedAtMs: undefined } });
      // Late is not plausible.
      const { readings } = recognise(layout.format(words.value), [{ layout }], 0);
      expect(readings[0]?.excluded).toBe(true);
      expect(readings[0]?.against[0]).toContain("minted at a Unix millisecond beyond 2^53 - 1, after");
      expect(judgeClientId(layout, words.value, { nowMs: 0, beforeMs: 1, afterMs: 1 })).toMatchObject({
        ok: false,
        error: { reason: "too-new", said: { mintedAtMs: undefined } },
      });
    },
  );

  test("the last exact millisecond is told", () => {
    const layout = withTime("ms", 64, 0);
    const words = layout.encode({ time: BigInt(Number.MAX_SAFE_INTEGER), random: 0n });
    expect(words.ok && layout.mintedAtMs?.(words.value)).toBe(Number.MAX_SAFE_INTEGER);
  });

  test("a layout without a time has none", () => {
    expect(luuid.mintedAtMs).toBeUndefined();
  });
});

describe("encode refuses", () => {
  const values = { primaryKey: 1, group: 2, random: 3 };
  test.each([
    [
      { primaryKey: 1, group: 2 },
      { reason: "missing-field", field: "random" },
    ],
    [
      { ...values, colour: 1 },
      { reason: "unknown-field", field: "colour" },
    ],
    [
      { ...values, version: 7 },
      { reason: "fixed-field", field: "version", expected: 6, value: "7" },
    ],
    [
      { ...values, group: 4096 },
      { reason: "out-of-range", field: "group", value: "4096", max: "4095" },
    ],
    [
      { ...values, group: -1 },
      { reason: "out-of-range", field: "group", value: "-1", max: "4095" },
    ],
    [
      { ...values, group: 1.5 },
      { reason: "out-of-range", field: "group", value: "1.5", max: "4095" },
    ],
    [
      { ...values, group: Number.NaN },
      { reason: "out-of-range", field: "group", value: "NaN", max: "4095" },
    ],
    [
      { ...values, group: -1n },
      { reason: "out-of-range", field: "group", value: "-1", max: "4095" },
    ],
    [
      { ...values, random: 2n ** 60n },
      { reason: "out-of-range", field: "random", value: "1152921504606846976", max: "1152921504606846975" },
    ],
    [
      { ...values, random: 2 ** 53 },
      { reason: "out-of-range", field: "random", value: "9007199254740992", max: "1152921504606846975" },
    ],
  ])("%o", (given, error) => {
    expect(luuid.encode(given)).toEqual({ ok: false, error });
  });

  test("a field whose name every object inherits", () => {
    const layout = compile({
      name: "odd",
      title: "Odd",
      source: "this test",
      text: uuidText,
      rows: [{ field: "constructor", bits: 128, role: "key" }],
    });
    expect(layout.encode({})).toEqual({ ok: false, error: { reason: "missing-field", field: "constructor" } });
  });

  test("nothing that a fixed field has anyway", () => {
    expect(luuid.encode({ ...values, version: 6, variant: 10n }).ok).toBe(true);
  });
});

test("a field of more than 53 bits is read with readBig only", () => {
  const random = luuid.field("random");
  expect(() => random?.read([0, 0, 0, 0])).toThrow("readBig");
  expect(random?.readBig([0, 0, 0xafffffff, 0xffffffff])).toBe(2n ** 60n - 1n);
});

test.each([
  [[1], [0, 1], 0],
  [[0, 2], [1], 1],
  [[1], [1, 0], -1],
  [[], [0], 0],
  [[1, 2, 3], [1, 2, 4], -1],
])("%o is to %o as %d is to 0, however many words they have", (a, b, order) => {
  expect(compareWords(a, b)).toBe(order);
  expect(compareWords(b, a) + order).toBe(0);
});
