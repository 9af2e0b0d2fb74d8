import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  builtinLayouts,
  formatUuid,
  hotguid,
  hotguidSql,
  isoTime,
  iuid,
  luuid,
  recognise,
  type TimeWindow,
} from "../../src/ids/index.ts";
import { anyWords } from "./arbitraries.ts";

const NOW_MS = Date.UTC(2026, 10, 21);
const all = [hotguid, hotguidSql, iuid, luuid].map((layout) => ({ layout }));

/** A line for each reading: the layout's name, in brackets if excluded. */
const names = (text: string, layouts = all): readonly string[] =>
  recognise(text, layouts, NOW_MS).readings.map(({ layout, excluded }) =>
    excluded ? `(${layout.name})` : layout.name,
  );

describe("which layouts a text may have", () => {
  test.each([
    ["an iUID", "01990f04-d900-80ab-b36b-dc545d6b4b87", ["iuid", "(luuid)", "(hotguid)", "(hotguid-sql)"]],
    ["a LUUID", "00000023-122e-6aa1-a789-28ef27ab7c62", ["(iuid)", "luuid", "(hotguid)", "(hotguid-sql)"]],
    ["a HotGuid", "6347eb00-bbaa-01cc-0201-0203d0000000", ["(iuid)", "(luuid)", "hotguid", "(hotguid-sql)"]],
    [
      "a HotGuid in its SQL form",
      "000000d0-0302-0102-01cc-6347eb00bbaa",
      ["(iuid)", "(luuid)", "(hotguid)", "hotguid-sql"],
    ],
    [
      "a HotGuid that looks like an iUID of the far future",
      "6347eb00-bbaa-80cc-8201-0203d0000000",
      ["(iuid)", "(luuid)", "hotguid", "(hotguid-sql)"],
    ],
    [
      "a HotGuid and a LUUID at once",
      "6347eb00-bbaa-61cc-a201-0203d0000000",
      ["(iuid)", "luuid", "hotguid", "(hotguid-sql)"],
    ],
    [
      "an iUID before its time",
      "00000000-0000-8000-8000-000000000000",
      ["(iuid)", "(luuid)", "(hotguid)", "(hotguid-sql)"],
    ],
  ])("%s", (_name, text, expected) => {
    expect(names(text)).toEqual(expected);
  });

  test("more fixed bits first, then the order given", () => {
    const text = "6347eb00-bbaa-01cc-0201-0203d0000000";
    expect(names(text, all.toReversed())).toEqual(["(iuid)", "(luuid)", "(hotguid-sql)", "hotguid"]);
  });
});

test("reasons", () => {
  const { readings } = recognise("01990f04-d900-80ab-b36b-dc545d6b4b87", all, NOW_MS);
  expect(readings.map((reading) => [reading.layout.name, reading.for, reading.against])).toEqual([
    [
      "iuid",
      [
        "version is 8 as in every iuid",
        "formatVersion is 0 as in every iuid",
        "variant is 2 as in every iuid",
        "minted at 2025-09-03T10:00:00.000Z, between 2000-01-01T00:00:00.000Z and 2026-11-22T00:00:00.000Z",
      ],
      [],
    ],
    ["luuid", [], ["version is 8, but every luuid has 6", "variant is 11, but every luuid has 10"]],
    [
      "hotguid",
      [],
      ["minted at 1970-11-07T06:41:08.000Z, before 2000-01-01T00:00:00.000Z", "layout hotguid has no fixed bits"],
    ],
    [
      "hotguid-sql",
      [],
      ["minted at 2087-02-19T18:07:39.000Z, after 2026-11-22T00:00:00.000Z", "layout hotguid-sql has no fixed bits"],
    ],
  ]);
});

describe("the window", () => {
  const at = (unixMs: number): string => {
    const words = iuid.encode({ mintedAt: unixMs, country: 0, service: 0, random: 0 });
    return words.ok ? iuid.format(words.value) : "";
  };
  const excluded = (unixMs: number, window?: TimeWindow): boolean | undefined =>
    recognise(at(unixMs), [{ layout: iuid, window }], NOW_MS).readings[0]?.excluded;

  test.each([
    ["before 2000", Date.UTC(2000, 0, 1) - 1, true],
    ["the first instant", Date.UTC(2000, 0, 1), false],
    ["a day ahead", NOW_MS + 86_400_000, false],
    ["more than a day ahead", NOW_MS + 86_400_001, true],
    ["past the year 9999", 2 ** 48 - 1, true],
  ])("%s", (_name, unixMs, expected) => {
    expect(excluded(unixMs)).toBe(expected);
  });

  test.each([
    [NOW_MS - 11, true],
    [NOW_MS - 10, false],
    [NOW_MS + 5, false],
    [NOW_MS + 6, true],
  ])("of the layout's own, at %d", (unixMs, expected) => {
    expect(excluded(unixMs, { fromMs: NOW_MS - 10, aheadMs: 5 })).toBe(expected);
  });
});

test("the window may be all of time", () => {
  const window = { fromMs: Number.NEGATIVE_INFINITY, aheadMs: Number.POSITIVE_INFINITY };
  const { readings } = recognise("01990f04-d900-80ab-b36b-dc545d6b4b87", [{ layout: iuid, window }], NOW_MS);
  expect(readings).toMatchObject([{ excluded: false, against: [] }]);
});

test.each([
  [Number.NaN, undefined],
  [NOW_MS, { fromMs: Number.NaN, aheadMs: 1 }],
  [NOW_MS, { fromMs: 0, aheadMs: Number.NaN }],
])("without a window, as at %d with %o, no time fits", (nowMs, window) => {
  const text = "01990f04-d900-80ab-b36b-dc545d6b4b87";
  const [reading] = recognise(text, [{ layout: iuid, window }], nowMs).readings;
  expect(reading).toMatchObject({
    excluded: true,
    against: ["minted at 2025-09-03T10:00:00.000Z, with no window to compare it to"],
  });
  expect(reading?.for).toHaveLength(3);
});

test("a text that is no UUID has no readings, and one error for each layout", () => {
  const { readings, unreadable } = recognise("23122e", all, NOW_MS);
  expect(readings).toEqual([]);
  expect(unreadable.map(({ layout, error }) => [layout.name, error.reason])).toEqual([
    ["iuid", "length"],
    ["luuid", "length"],
    ["hotguid", "length"],
    ["hotguid-sql", "length"],
  ]);
});

test("every layout is listed, and those whose fixed bits are wrong are excluded", () => {
  fc.assert(
    fc.property(anyWords(), (words) => {
      const text = formatUuid(words);
      const { readings, unreadable } = recognise(text, all, NOW_MS);
      expect(unreadable).toEqual([]);
      expect(new Set(readings.map(({ layout }) => layout.name))).toEqual(new Set(builtinLayouts.keys()));
      for (const { layout, excluded, against, words: read } of readings) {
        expect(read).toEqual(words);
        expect(excluded && against.length === 0).toBe(false);
        expect(!layout.parse(text).ok && !excluded).toBe(false);
      }
    }),
  );
});

test.each([
  [0, "1970-01-01T00:00:00.000Z"],
  [Date.UTC(10000, 0, 1) - 1, "9999-12-31T23:59:59.999Z"],
  [Date.UTC(10000, 0, 1), undefined],
  [-62_167_219_200_000, "0000-01-01T00:00:00.000Z"],
  [-62_167_219_200_001, undefined],
  [2 ** 63, undefined],
  [Number.NaN, undefined],
])("%d as ISO 8601", (unixMs, expected) => {
  expect(isoTime(unixMs)).toBe(expected);
});
