import { describe, expect, it } from "vitest";
import { limitsOf, moodOf, shareOf } from "../../src/console/capacity/limits.ts";
import { mapInWords, partsOf } from "../../src/console/layouts/bit-map.ts";
import { loadText, oddsOf, yearOf, yearsLeft } from "../../src/console/layouts/load-words.ts";
import type { Reader } from "../../src/console/lookup/reader.ts";
import { readerOfTable } from "../../src/console/lookup/table-reader.ts";
import { destinationOf, type NewId } from "../../src/console/mint/destination.ts";
import { everyLayout, iuid, type Layout } from "../../src/ids/index.ts";
import { checkTable } from "../../src/routing/index.ts";
import type { DeclaredTable } from "../../src/routing/schema/table.ts";
import { readDemoTable } from "../system/demo/demo.ts";

/** The gateway's time, which a browser's clock may be years off. */
const NOW = Date.parse("2026-11-28T00:00:00Z");
const layoutNamed = (name: string): Layout => everyLayout.find((each) => each.name === name) as Layout;

/** The demo's table, changed. */
function tableWith(change: (table: ReturnType<typeof readDemoTable>) => object = (table) => table): DeclaredTable {
  const checked = checkTable(JSON.parse(JSON.stringify(change(readDemoTable()))));
  if (!checked.ok) throw new Error(checked.error[0]?.message);
  return checked.value;
}

const goes = (table: DeclaredTable, wanted: Partial<NewId>, nowMs = NOW) =>
  destinationOf(
    readerOfTable(table, 1) as Reader,
    table,
    { entity: "order", layout: iuid, country: "KZ", fields: {}, ...wanted },
    nowMs,
  );

describe("where new IDs go", () => {
  const table = tableWith();

  it("is the region of the first route that takes them now", () => {
    // The route of those that were minted before June 2026 does not.
    expect(goes(table, {})).toEqual({ region: "ap", rule: { kind: "route", index: 1 }, isForAll: true });
    expect(goes(table, { country: "BR" })).toMatchObject({ region: "us", isForAll: true });
    for (const time of ["2026-06-01T00:00:01Z", "2031-01-01T00:00:00Z"])
      expect(goes(table, {}, Date.parse(time))).toMatchObject({ region: "ap", isForAll: true });
    expect(goes(table, {}, Date.parse("2026-05-31T23:59:59Z"))).toMatchObject({ region: "eu", isForAll: true });
    expect(goes(table, { country: "PL", entity: "ride" })).toMatchObject({ region: "eu", isForAll: true });
  });

  it("is unsure where a route asks for bits that only each ID has", () => {
    const first = { when: { layout: "hotguid", slices: { partition: [7] } }, region: "us" };
    const split = tableWith((own) => ({ ...own, routes: [first, ...own.routes] }));
    const hotguid = { entity: "parcel", layout: layoutNamed("hotguid"), country: undefined };
    expect(goes(table, { ...hotguid, fields: { shardKey: 5 } })).toMatchObject({ region: "eu", isForAll: true });
    expect(goes(split, { ...hotguid, fields: { shardKey: 5 } })?.isForAll).toBe(true);
    const byTime = { when: { entity: "person", primaryKey: "0-99" }, region: "us" };
    const keys = tableWith((own) => ({ ...own, routes: [byTime, ...own.routes] }));
    const person = { entity: "person", layout: layoutNamed("luuid"), country: undefined };
    expect(goes(table, person)).toMatchObject({ region: "eu", isForAll: true });
    expect(goes(keys, person)?.isForAll).toBe(false);
  });

  it("is unsure where the route has a canary, and sure of routes that cannot take them", () => {
    const own = tableWith((all) => ({
      ...all,
      routes: [
        { when: { entity: "person", primaryKey: "0-99" }, region: "us" },
        { when: { layout: "iuid", country: "KZ" }, region: "ap", canary: { region: "eu", percent: 1 } },
        ...all.routes.slice(2),
      ],
    }));
    expect(goes(own, {})?.isForAll).toBe(false);
    expect(goes(own, { country: "DE" })).toMatchObject({ region: "eu", isForAll: true });
  });

  it("is no region where no route takes them, and not known where none can be made", () => {
    const own = tableWith((all) => ({ ...all, routes: all.routes.filter(({ when }) => !("country" in when)) }));
    expect(goes(own, {})).toMatchObject({ region: undefined });
    expect(goes(table, { country: undefined })).toBeUndefined();
    expect(goes(table, { entity: "parcel", layout: layoutNamed("hotguid"), country: undefined })).toBeUndefined();
  });
});

describe("limits", () => {
  it("come nearest first, in words, with the numbers of layouts", () => {
    const limits = limitsOf(
      { bytes: { used: 10, max: 1_000 }, regions: { used: 190, max: 200 }, newest: { used: 0, max: 5 } },
      tableWith(),
      [iuid],
    );
    expect(limits.map(({ name, about }) => [name, about])).toEqual([
      ["Regions", ""],
      ["Country numbers", "of iuid"],
      ["Text", "bytes of the table"],
      ["Service numbers", "of iuid"],
      // One that this page does not know.
      ["newest", ""],
    ]);
    expect(limits.map(shareOf)).toEqual([0.95, 7 / 256, 0.01, 2 / 256, 0]);
  });

  it.each([
    [0.599, undefined],
    [0.6, "warn"],
    [0.9, "bad"],
    [1, "bad"],
  ])("%d is %s", (share, mood) => expect(moodOf(share)).toBe(mood));
});

describe("the map of a layout", () => {
  it("has rows of 32 bits, all bits, and each field once with its size", () => {
    for (const layout of everyLayout) {
      const parts = partsOf(layout);
      expect(parts.reduce((sum, { bits }) => sum + bits, 0)).toBe(layout.table.text.bits);
      let column = 0;
      for (const { bits } of parts) {
        expect(column + bits).toBeLessThanOrEqual(32);
        column = (column + bits) % 32;
      }
    }
    expect(partsOf(iuid).map(({ field, bits, about }) => [field, bits, about])).toEqual([
      ["mintedAt", 32, "48 bits"],
      ["mintedAt", 16, "goes on"],
      ["version", 4, "8"],
      ["formatVersion", 4, "0"],
      ["country", 8, "8 bits"],
      ["variant", 2, "2"],
      ["service", 8, "8 bits"],
      ["random", 22, "54 bits"],
      ["random", 32, "goes on"],
    ]);
    expect(mapInWords(iuid)).toMatch(/^mintedAt 48 bits, version 4 bits/);
  });
});

it("says years and odds in words", () => {
  expect([yearOf(Date.UTC(10_889, 7, 2)), yearOf(undefined)]).toEqual(["the year 10889", "a year beyond all counting"]);
  expect([yearsLeft(Date.UTC(2036, 11, 1), NOW), yearsLeft(0, NOW), yearsLeft(undefined, NOW)]).toEqual([
    "10 years",
    "0 years",
    "no end is known",
  ]);
  expect([oddsOf(0), oddsOf(1 / 114_000), oddsOf(0.25)]).toEqual(["no chance", "1 chance in 114,000", "25 %"]);
  expect(loadText({ idsPerSecond: 1_000, minters: 1, years: 10 })).toBe("1,000 IDs a second by 1 minter, for 10 years");
});
