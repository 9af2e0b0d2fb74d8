import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  declareLayout,
  type Layout,
  type LayoutDeclaration,
  parseId,
  startMinter,
  TEXT_NAMES,
  type TextName,
  type Words,
} from "../../../src/ids/index.ts";
import { runs } from "../../setup/property-runs.ts";
import { anyDamage, anyTable, anyWords } from "../arbitraries.ts";
import { slowDecode, textBits, wordsOfBits } from "../oracle.ts";

const declare = (declaration: LayoutDeclaration): Layout => {
  const layout = declareLayout(declaration);
  if (!layout.ok) throw new Error(JSON.stringify(layout.error));
  return layout.value;
};

const order: LayoutDeclaration = {
  name: "acme-order",
  rows: [
    { field: "mintedAt", bits: 40, role: "time", unit: "ms", epochMs: Date.UTC(2020, 0, 1) },
    { field: "format", bits: 4, role: "fixed", value: 5 },
    { field: "region", bits: 12, role: "key" },
    { field: "random", bits: 40, role: "random" },
  ],
  text: "base62",
  prefix: "ord_",
};

test("an ID of one's own", () => {
  const layout = declare(order);
  const words = layout.encode({ mintedAt: 216_000_000_000, region: 840, random: 1 });
  const text = words.ok ? layout.format(words.value) : "";
  expect(text).toMatch(/^ord_[0-9A-Za-z]{17}$/);
  expect(layout.parse(text)).toEqual(words);
  expect(words.ok && layout.mintedAtMs?.(words.value)).toBe(Date.UTC(2020, 0, 1) + 216_000_000_000);
  expect(layout.parse(text.replace("ord_", "usr_"))).toMatchObject({ ok: false, error: { reason: "shape", at: 0 } });
  expect(layout.table).toMatchObject({ title: "acme-order", source: "the routing table" });
  expect(startMinter(layout, { region: 1 }).ok).toBe(true);
});

describe("refused", () => {
  test.each([
    ["a name with a space", { ...order, name: "my order" }, { reason: "layout-name", name: "my order" }],
    [
      "an unknown text",
      { ...order, text: "roman" as TextName },
      { reason: "text-name", text: "roman", known: TEXT_NAMES },
    ],
    ["a name that every object has", { ...order, text: "toString" as TextName }, { reason: "text-name" }],
    ["a prefix of digits", { ...order, prefix: "1" }, { reason: "text-prefix", prefix: "1" }],
    ["a prefix that a path would encode", { ...order, prefix: "a/" }, { reason: "text-prefix", prefix: "a/" }],
    ["too few bits", { ...order, rows: order.rows.slice(1, 2) }, { reason: "layout-bits", bits: 4, min: 32, max: 256 }],
    [
      "too many bits",
      { ...order, rows: [...order.rows, ...order.rows, ...order.rows] },
      { reason: "layout-bits", bits: 288 },
    ],
    ["a UUID of 96 bits", { ...order, text: "uuid" as const }, { reason: "total-bits", expected: 128, actual: 96 }],
    [
      "a unit that is none",
      {
        ...order,
        rows: [
          { field: "mintedAt", bits: 40, role: "time", unit: "fortnight" as "ms", epochMs: 0 },
          { field: "random", bits: 56, role: "random" },
        ],
      },
      { reason: "unit", field: "mintedAt", unit: "fortnight" },
    ],
    [
      "a greatest value that the bits do not hold",
      { ...order, rows: [{ field: "a", bits: 96, role: "key", max: 2 ** 60 }] },
      { reason: "max-value", field: "a", bits: 96, max: 2 ** 60 },
    ],
    [
      "a greatest value above 53 bits that the bits do not hold",
      { ...order, rows: [{ field: "a", bits: 96, role: "key", max: 2n ** 96n }] },
      { reason: "max-value", field: "a", bits: 96, max: `${2n ** 96n}` },
    ],
    [
      "a greatest value of a part",
      {
        ...order,
        rows: [
          { field: "a", bits: 48, role: "key", max: 1 },
          { field: "a", bits: 48, role: "key" },
        ],
      },
      { reason: "split-field", field: "a" },
    ],
    [
      "a datetime of too many bits",
      { ...order, rows: [{ field: "a", bits: 96, role: "time", unit: "sql-datetime", epochMs: 0 }] },
      { reason: "sql-datetime-bits", field: "a", bits: 96, max: 53 },
    ],
  ] as readonly (readonly [string, LayoutDeclaration, object])[])("%s", (_name, declaration, error) => {
    expect(declareLayout(declaration)).toMatchObject({ ok: false, error });
  });
});

/** Tables of any shape, in any text form that fits. */
const anyDeclared = fc
  .constantFrom(32, 64, 72, 96, 120, 128, 160, 168, 192, 256)
  .chain((bits) =>
    fc.tuple(
      anyTable(bits),
      fc.constantFrom(...TEXT_NAMES.filter((name) => name !== "uuid" || bits === 128)),
      fc.option(fc.constantFrom("ord_", "a", "X-y_"), { nil: undefined }),
      anyWords(Math.ceil(bits / 32)),
    ),
  )
  .map(
    ([
      {
        rows,
        octetOrder,
        text: { bits },
      },
      text,
      prefix,
      words,
    ]) => ({
      layout: declare({
        name: "declared",
        rows,
        text,
        ...(octetOrder === undefined ? {} : { octetOrder }),
        ...(prefix === undefined ? {} : { prefix }),
      }),
      words: wordsOfBits(textBits(words, bits)),
    }),
  );

/** The words with the layout's fixed bits set. */
const fitting = ({ fixed }: Layout, words: Words): Words =>
  words.map((word, index) => ((word & ~(fixed.mask[index] as number)) | (fixed.value[index] as number)) >>> 0);

test("declared layouts hold what ours hold", () => {
  fc.assert(
    fc.property(anyDeclared, ({ layout, words: anyOf }) => {
      const words = fitting(layout, anyOf);
      const text = layout.format(words);
      expect(layout.parse(text)).toEqual({ ok: true, value: words });
      expect(layout.encode(layout.decode(words))).toEqual({ ok: true, value: words });
      const slow = slowDecode(layout.table, words);
      expect(Object.entries(layout.decode(words)).map(([name, value]) => [name, BigInt(value)])).toEqual(
        Object.entries(slow),
      );
      expect(parseId(layout.table, text)).toMatchObject({ ok: true, value: { fields: layout.decode(words) } });
    }),
    { numRuns: runs(200) },
  );
});

test("a damaged text of a declared layout is refused, or is the one text of another value", () => {
  const anyDamaged = anyDeclared.chain(({ layout, words }) =>
    fc.tuple(fc.constant(layout), anyDamage(layout.format(fitting(layout, words)))),
  );
  fc.assert(
    fc.property(anyDamaged, ([layout, damaged]) => {
      const parsed = layout.parse(damaged);
      if (parsed.ok) expect(layout.format(parsed.value).toLowerCase()).toBe(damaged.toLowerCase());
    }),
    { numRuns: runs(200) },
  );
});

describe("bounds of fields", () => {
  const both = (rows: LayoutDeclaration["rows"], text: string) => {
    const layout = declare({ name: "bound", text: "hex", rows });
    return [layout.parse(text), parseId(layout.table, text)] as const;
  };
  const sql = (bits: number) => ({ field: "at", bits, role: "time", unit: "sql-datetime", epochMs: 0 }) as const;

  test.each([
    ["00000000000003e8", true],
    ["00000000000003e9", false],
    ["7fffffffffffffff", false],
  ])("the greatest value of 63 bits holds for %s", (text, fits) => {
    const rows = [
      { field: "sign", bits: 1, role: "fixed", value: 0 },
      { field: "key", bits: 63, role: "key", max: 1000 },
    ] as const;
    const [parsed, read] = both(rows, text);
    const refused = { ok: false, error: { reason: "range", field: "key", min: "0", max: "1000" } };
    if (fits) expect([parsed.ok, read.ok]).toEqual([true, true]);
    else expect([parsed, read]).toEqual([refused, refused]);
    expect(declare({ name: "bound", text: "hex", rows }).encode({ key: 1001 })).toMatchObject({ ok: false });
  });

  test.each([
    ["00010000" + "000b0000", true],
    ["00010000" + "000c0000", false],
    ["00000000" + "ffff0000", true],
    ["0000018b" + "82000000", false],
  ])("and of an SQL Server datetime for %s", (text, fits) => {
    const rows = [
      { ...sql(48), max: 0x1_0000_000b },
      { field: "random", bits: 16, role: "random" },
    ] as const;
    for (const result of both(rows, text)) {
      expect(result.ok).toBe(fits);
      if (!result.ok) expect(result.error).toMatchObject({ reason: "range", field: "at" });
    }
  });

  test("a parted SQL Server datetime is measured when it is whole", () => {
    const rows = [sql(36), { field: "random", bits: 16, role: "random" }, sql(12)] as const;
    // A day has 25,920,000 units: 0x18b8200. The first row alone would be out of range.
    expect(both(rows, "ffff018b8" + "0000" + "1ff").map(({ ok }) => ok)).toEqual([true, true]);
    expect(both(rows, "ffff018b8" + "0000" + "200").map(({ ok }) => ok)).toEqual([false, false]);
    expect(both(rows, "0000018b7" + "ffff" + "fff").map(({ ok }) => ok)).toEqual([true, true]);
  });
});

test("fields can be named like what every object has", () => {
  const names = ["constructor", "toString", "valueOf", "hasOwnProperty"];
  const layout = declare({
    name: "odd",
    text: "hex",
    rows: names.map((field) => ({ field, bits: 16, role: "key" })),
  });
  const fields = { constructor: 1, toString: 2, valueOf: 3, hasOwnProperty: 4 } as const;
  expect(layout.encode({})).toEqual({ ok: false, error: { reason: "missing-field", field: "constructor" } });
  expect(startMinter(layout, {})).toEqual({ ok: false, error: { reason: "missing-key", field: "constructor" } });
  const words = layout.encode(fields);
  if (!words.ok) throw new Error(words.error.reason);
  expect(layout.format(words.value)).toBe("0001000200030004");
  expect(Object.entries(layout.decode(words.value))).toEqual(Object.entries(fields));
  const parsed = parseId(layout.table, "0001000200030004");
  expect(parsed.ok && Object.entries(parsed.value.fields)).toEqual(Object.entries(fields));
});

test.each([
  [64, 2n ** 53n + 1n],
  [54, 2n ** 53n],
  [96, 2n ** 95n + 12345678901234567n],
  [56, 2 ** 53 - 1],
] as const)("a field of %i bits holds its greatest value %d exactly, and no more", (bits, max) => {
  const rows = [
    { field: "shard", bits, role: "key", max },
    { field: "random", bits: 40, role: "random" },
  ] as const;
  const layout = declareLayout({ name: "wide", rows, text: "hex" });
  if (!layout.ok) throw new Error(JSON.stringify(layout.error));
  const { encode, field, format, parse, table } = layout.value;
  expect(field("shard")?.max).toBe(BigInt(max));
  const last = encode({ shard: BigInt(max), random: 0 });
  if (!last.ok) throw new Error(last.error.reason);
  expect(parse(format(last.value)).ok).toBe(true);
  const beyond = format(last.value.slice());
  const next = (BigInt(`0x${beyond}`) + (1n << 40n)).toString(16).padStart(beyond.length, "0");
  for (const read of [parse(next), parseId(table, next)]) {
    expect(read).toMatchObject({ ok: false, error: { reason: "range", field: "shard", max: `${max}` } });
  }
  expect(encode({ shard: BigInt(max) + 1n, random: 0 })).toMatchObject({
    ok: false,
    error: { reason: "out-of-range", max: `${max}` },
  });
});
