import { expect, test } from "vitest";
import {
  compileLayout,
  everyLayout,
  flakeIdTable,
  layoutNamed,
  shardingIdTable,
  snowflakeTable,
  sonyflakeTable,
} from "../../../src/ids/index.ts";
import { checkTable } from "../../../src/ids/layout/check-table.ts";

test.each(everyLayout)("the table of $name has no fault", (layout) => {
  expect(checkTable(layout.table, layout.texts)).toBeUndefined();
  expect(layoutNamed(layout.name)).toBe(layout);
  expect(layout.table.title).toMatch(/^\S.*[^.]$/);
});

test("every layout has a name of its own, and its texts have too", () => {
  expect(new Set(everyLayout.map(({ name }) => name)).size).toBe(everyLayout.length);
  for (const { texts } of everyLayout) expect(new Set(texts.map(({ name }) => name)).size).toBe(texts.length);
});

test.each([
  ["snowflake", snowflakeTable],
  ["sharding-id", shardingIdTable],
  ["flake-id", flakeIdTable],
  ["sonyflake", sonyflakeTable],
] as const)("%s with an epoch and a name of one's own", (name, table) => {
  const layout = compileLayout(table({ epochMs: 1_700_000_000_000, name: "own" }));
  expect(layout.ok && layout.value.mintedAtMs?.([0, 0])).toBe(1_700_000_000_000);
  expect(layout.ok && layout.value.name).toBe("own");
  expect(table({ epochMs: 0 }).name).toBe(name);
  expect(compileLayout(table({ epochMs: 0.5 }))).toMatchObject({ ok: false, error: { reason: "epoch" } });
});
