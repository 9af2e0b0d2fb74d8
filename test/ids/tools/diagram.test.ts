import fc from "fast-check";
import { expect, test } from "vitest";
import { diagram, hotguidSqlTable, hotguidTable, iuidTable, luuidTable } from "../../../src/ids/index.ts";
import { anyTable } from "../arbitraries.ts";

const RULER = `\
 0                   1                   2                   3
 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1`;
const BORDER = `+${"-+".repeat(32)}`;

const random = (lines: readonly string[], legend: readonly string[] = []): string =>
  [RULER, BORDER, ...lines.flatMap((line) => [line, BORDER]), ...legend].join("\n");

test("iUID", () => {
  expect(diagram(iuidTable)).toBe(
    random(
      [
        "|                           mintedAt                            |",
        "|           mintedAt            |version|   A   |    country    |",
        "| B |    service    |                  random                   |",
        "|                            random                             |",
      ],
      [" A: formatVersion", " B: variant"],
    ),
  );
});

test("LUUID", () => {
  expect(diagram(luuidTable)).toBe(
    random([
      "|                          primaryKey                           |",
      "|          primaryKey           |version|         group         |",
      "|variant|                        random                         |",
      "|                            random                             |",
    ]),
  );
});

test("HotGuid shows bytes in text order", () => {
  expect(diagram(hotguidTable)).toBe(
    random([
      "|                           mintedAt                            |",
      "| machine[15:8] |machine[23:16] | process[15:8] | machine[7:0]  |",
      "| process[7:0]  |                    counter                    |",
      "| shardKey[7:0] |shardKey[15:8] |shardKey[23:16]|shardKey[31:24]|",
    ]),
  );
});

test("HotGuid in its SQL form", () => {
  expect(diagram(hotguidSqlTable)).toBe(
    random([
      "|                           shardKey                            |",
      "| counter[7:0]  | counter[15:8] |counter[23:16] | process[7:0]  |",
      "| process[15:8] | machine[7:0]  |           mintedAt            |",
      "|           mintedAt            | machine[15:8] |machine[23:16] |",
    ]),
  );
});

test("every line of any layout fills the width, and every letter is explained once", () => {
  fc.assert(
    fc.property(anyTable(), (table) => {
      const lines = diagram(table).split("\n");
      const drawing = lines.slice(2, 11);
      const legend = lines.slice(11);
      expect(drawing.map((line) => line.length)).toEqual(new Array(9).fill(BORDER.length));
      const letters = new Set(drawing.join("").match(/(?<=\| *)[^a-z |](?= *\|)/g) ?? []);
      expect([...letters].toSorted()).toEqual(legend.map((line) => line.charAt(1)).toSorted());
    }),
  );
});

test("a bit for each field: every one has a letter of its own", () => {
  const rows = Array.from({ length: 128 }, (_, bit) => ({ field: `bit${bit}`, bits: 1, role: "key" }) as const);
  const legend = diagram({ ...luuidTable, rows })
    .split("\n")
    .slice(11);
  expect(new Set(legend.map((line) => line.charAt(1))).size).toBe(128);
});

test("a table that is no layout has no diagram", () => {
  expect(() => diagram({ ...luuidTable, rows: luuidTable.rows.slice(1) })).toThrow("no diagram of layout luuid");
});
