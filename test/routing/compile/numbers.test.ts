import { expect, test } from "vitest";
import * as conditions from "../../../src/routing/compile/conditions.ts";
import { parseTime } from "../../../src/routing/layouts/fields.ts";
import { includes } from "../../../src/routing/lookup/ranges.ts";

const reader = (read: typeof conditions.readNumbers) => (declared: Parameters<typeof read>[0], max: number) => {
  const faults: unknown[] = [];
  const ranges = read(declared, max, [], (_kind, [item]) => faults.push({ item }));
  return { ranges, faults };
};
const readNumbers = reader(conditions.readNumbers);
const readM49 = reader(conditions.readM49);

test("numbers and inclusive ranges are read in every way that the table may write them", () => {
  expect(readNumbers(5, 9)).toEqual({ ranges: [5, 5], faults: [] });
  expect(readNumbers("5", 9)).toEqual({ ranges: [5, 5], faults: [] });
  expect(readNumbers("0-9", 9)).toEqual({ ranges: [0, 9], faults: [] });
  expect(readNumbers([7, "1-3", "4", 0], 9)).toEqual({ ranges: [0, 4, 7, 7], faults: [] });
  expect(readNumbers("281474976710655", 2 ** 48 - 1).ranges).toEqual([2 ** 48 - 1, 2 ** 48 - 1]);
});

test.each(["5-", "-5", "1-2-3", "", "05", "5-07", "10", "8-10", "9-8", "9007199254740993", "1e3"])(
  "%j is no number up to 9, and the fault says which item it is",
  (text) => {
    expect(readNumbers(text, 9)).toMatchObject({ ranges: [], faults: [{ item: undefined }] });
    expect(readNumbers([3, text], 9)).toMatchObject({ ranges: [3, 3], faults: [{ item: 1 }] });
  },
);

test("an M.49 area takes itself and all beneath it, at any depth", () => {
  expect(readM49("143", 1023).ranges).toEqual([143, 143, 398, 398, 417, 417, 762, 762, 795, 795, 860, 860]);
  expect(readM49(398, 1023).ranges).toEqual([398, 398]);
  expect(readM49("002", 1023).ranges).toEqual(readM49(2, 1023).ranges);
  const world = readM49(1, 1023);
  expect(world.faults).toEqual([]);
  for (const code of [1, 2, 4, 15, 202, 398, 419, 840, 894]) expect(includes(world.ranges, code)).toBe(true);
  expect(includes(world.ranges, 3)).toBe(false);
});

test.each(["0", 0, 999, "1-2", "0398", 1024, "KZ"])("%j is no M.49 code", (code) => {
  expect(readM49(code, 1023)).toMatchObject({ ranges: [], faults: [{ item: undefined }] });
});

test("a time is a day and an hour that exist, with an offset", () => {
  expect(parseTime("2026-06-01T00:00:00Z")).toBe(Date.UTC(2026, 5, 1));
  expect(parseTime("2026-06-01T00:00:00.5+05:30")).toBe(Date.UTC(2026, 4, 31, 18, 30, 0, 500));
  expect(parseTime("2024-02-29T23:59:59Z")).toBe(Date.UTC(2024, 1, 29, 23, 59, 59));
  expect(parseTime("0001-01-01T00:00:00Z")).toBe(Date.parse("0001-01-01T00:00:00Z"));
  for (const text of [
    "2026-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-01T25:00:00Z",
    "2026-00-01T00:00:00Z",
  ]) {
    expect(parseTime(text)).toBeUndefined();
  }
});
