import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  combSqlLegacy,
  combSuffix,
  compareSqlServer,
  cuid,
  declareLayout,
  distributedId,
  elasticflake,
  everyLayout,
  hotguid,
  ksuid,
  type Layout,
  type PeriodOrder,
  type PeriodRange,
  periodRange,
  shortPrefixComb,
  type TextForm,
  twitterSnowflake,
  uuidV1,
  uuidV7,
  type Words,
} from "../../../src/ids/index.ts";
import { runs } from "../../setup/property-runs.ts";

const JUNE = Date.UTC(2026, 5, 1);
const JULY = Date.UTC(2026, 6, 1);

const rangeOf = (layout: Layout, fromMs = JUNE, toMs = JULY, text?: TextForm): PeriodRange => {
  const range = periodRange(layout, fromMs, toMs, text);
  if (!range.ok) throw new Error(JSON.stringify(range.error));
  return range.value;
};

const textsOf = (layout: Layout, fromMs?: number, toMs?: number): readonly string[] => {
  const { least, greatest } = rangeOf(layout, fromMs, toMs);
  return [layout.format(least), layout.format(greatest)];
};

/** Compares numerals as numbers: shorter is less, then by digits. For pairs, the first number decides. */
const compareNumbers = (a: string, b: string): number => {
  const [others, parts] = [b.split(/[-,]/), a.split(/[-,]/)];
  for (const [index, part] of parts.entries()) {
    const other = others[index] as string;
    if (part !== other) return part.length - other.length || (part < other ? -1 : 1);
  }
  return 0;
};

/** How a database compares two texts in each order. */
const COMPARE: Readonly<Record<PeriodOrder, (layout: Layout, a: string, b: string) => number>> = {
  text: (_, a, b) => (a < b ? -1 : a > b ? 1 : 0),
  number: (_, a, b) => compareNumbers(a, b),
  sqlserver: (layout, a, b) => compareSqlServer(wordsOf(layout, a), wordsOf(layout, b)),
};

const wordsOf = (layout: Layout, text: string): Words => {
  const words = layout.parse(text);
  if (!words.ok) throw new Error(`${text}: ${JSON.stringify(words.error)}`);
  return words.value;
};

/** IDs around the period, with any values in other fields. */
const anyAround = (layout: Layout, { least, greatest }: PeriodRange): fc.Arbitrary<Words> => {
  const time = layout.fields.find(({ role }) => role === "time");
  const from = time?.readBig(least) as bigint;
  const to = time?.readBig(greatest) as bigint;
  const span = to - from;
  const values = layout.fields
    .filter(({ role }) => role !== "fixed")
    .map((field) => {
      const max = BigInt(field.max);
      const any = fc.oneof(fc.bigInt({ min: 0n, max }), fc.constantFrom(0n, max));
      const near = fc.oneof(
        fc.bigInt({ min: from - span, max: to + span }),
        fc.constantFrom(from - 1n, from, to, to + 1n),
      );
      return (field === time ? near : any).map((value) => [field.name, value]);
    });
  return fc
    .tuple(...values)
    .map((entries) => layout.encode(Object.fromEntries(entries)))
    .filter((words) => words.ok)
    .map((words) => (words.ok ? words.value : []));
};

const ordered = everyLayout.flatMap((layout) =>
  layout.texts.flatMap((text) => {
    const range = periodRange(layout, JUNE, JULY, text);
    return range.ok ? [{ name: `${layout.name} as ${text.name}`, layout, text, range: range.value }] : [];
  }),
);

describe.each(ordered)("$name", ({ layout, text, range }) => {
  test("an ID stands within the bounds exactly when it says a time of the period", () => {
    const compare = COMPARE[range.order];
    const least = text.format(range.least);
    const greatest = text.format(range.greatest);
    fc.assert(
      fc.property(anyAround(layout, range), (words) => {
        const id = text.format(words);
        const within = compare(layout, least, id) <= 0 && compare(layout, id, greatest) <= 0;
        const mintedMs = layout.mintedAtMs?.(words) as number;
        expect(within).toBe(mintedMs >= JUNE && mintedMs < JULY);
      }),
      { numRuns: runs(100) },
    );
  });

  test("the bounds are IDs, and the next period begins after them", () => {
    expect([layout.fits(range.least), layout.fits(range.greatest)]).toEqual([true, true]);
    const next = rangeOf(layout, JULY, Date.UTC(2026, 7, 1), text);
    expect(COMPARE[range.order](layout, text.format(range.greatest), text.format(next.least))).toBeLessThan(0);
  });
});

describe("periods", () => {
  test.each([
    [uuidV7, ["019e807a-ec00-7000-8000-000000000000", "019f1af9-b3ff-7fff-bfff-ffffffffffff"], "text"],
    [combSuffix, ["00000000-0000-4000-8000-019e807aec00", "ffffffff-ffff-4fff-bfff-019f1af9b3ff"], "sqlserver"],
    // 1 June 2026 is day 46,172 since 1 January 1900.
    [combSqlLegacy, ["00000000-0000-4000-8000-b45c00000000", "ffffffff-ffff-4fff-bfff-b479018b81ff"], "sqlserver"],
    [distributedId, ["1122877090772732923084800000", "1123606673912366943436799999"], "text"],
    [twitterSnowflake, ["2061236281144246272", "2072107917112246271"], "number"],
  ] as const)("of %o", (layout, bounds, order) => {
    expect(textsOf(layout)).toEqual(bounds);
    expect(rangeOf(layout).order).toBe(order);
  });

  test("an end within a second is the beginning of the next one where seconds are counted", () => {
    expect(textsOf(hotguid, JUNE + 500, JUNE + 1001).map((id) => id.slice(0, 8))).toEqual(["6a1ccb81", "6a1ccb81"]);
    expect(periodRange(hotguid, JUNE + 1, JUNE + 999)).toMatchObject({ ok: false, error: { reason: "no-id" } });
  });

  test("a datetime says 0, 3, 7 or 10 ms, and midnight comes after the last of them", () => {
    const minted = (fromMs: number, toMs: number) => {
      const { least, greatest } = rangeOf(combSqlLegacy, fromMs, toMs);
      return [combSqlLegacy.mintedAtMs?.(least), combSqlLegacy.mintedAtMs?.(greatest)];
    };
    expect(minted(JUNE + 1, JUNE + 10)).toEqual([JUNE + 3, JUNE + 7]);
    expect(minted(JUNE - 4, JUNE + 3)).toEqual([JUNE - 3, JUNE]);
    expect(periodRange(combSqlLegacy, JUNE + 4, JUNE + 7)).toMatchObject({ error: { reason: "no-id" } });
  });

  test("a period that begins before the first ID begins with it", () => {
    expect(textsOf(ksuid, Date.UTC(1990, 0, 1), JULY)[0]).toBe("000000000000000000000000000");
    expect(textsOf(distributedId, Date.UTC(2000, 0, 1), JULY)[0]).toBe("1000000000000000000000000000");
    expect(textsOf(cuid, JUNE, Date.UTC(2100, 0, 1))[1]).toBe("czzzzzzzzzzzzzzzzzzzzzzzz");
  });
});

describe("no range", () => {
  test.each([
    ["an end that is no number", uuidV7, Number.NaN, JULY, { reason: "no-period" }],
    ["an empty period", uuidV7, JUNE, JUNE, { reason: "no-period" }],
    ["a period that runs backwards", uuidV7, JULY, JUNE, { reason: "no-period" }],
    ["a counter of intervals", shortPrefixComb, JUNE, JULY, { reason: "no-time", layout: "short-prefix-comb" }],
    ["the low bits of the time in front", uuidV1, JUNE, JULY, { reason: "no-time-order", layout: "uuid-v1" }],
    ["digits in another order", elasticflake, JUNE, JULY, { reason: "no-text-order", text: "base64url" }],
    [
      "a period before all IDs",
      ksuid,
      0,
      1_399_999_999_000,
      { reason: "no-id", firstMs: 1_400_000_000_000, lastMs: 5_694_967_295_000 },
    ],
    [
      "a period before the least ID",
      distributedId,
      0,
      Date.UTC(2012, 0, 1),
      { reason: "no-id", firstMs: Date.UTC(2012, 6, 31, 8, 54, 38, 800) },
    ],
    ["a period after all IDs", hotguid, Date.UTC(2107, 0, 1), Date.UTC(2108, 0, 1), { reason: "no-id" }],
  ] as const)("for %s", (_, layout, fromMs, toMs, error) => {
    expect(periodRange(layout, fromMs, toMs)).toMatchObject({ ok: false, error });
  });

  test("for a user's layout that has something else in front of its time", () => {
    const time = { field: "mintedAt", bits: 40, role: "time", unit: "ms", epochMs: 0 } as const;
    const shard = { field: "shard", bits: 24, role: "key" } as const;
    const declare = (...rows: Parameters<typeof declareLayout>[0]["rows"]) => {
      const layout = declareLayout({ name: "ticket", rows, text: "base32", prefix: "t_" });
      if (!layout.ok) throw new Error(JSON.stringify(layout.error));
      return layout.value;
    };
    expect(periodRange(declare(shard, time), 0, 1000)).toMatchObject({ error: { reason: "no-time-order" } });
    expect(textsOf(declare(time, shard), 0, 1000)).toEqual(["t_0000000000000", "t_000000FKZZZZZ"]);
  });
});
