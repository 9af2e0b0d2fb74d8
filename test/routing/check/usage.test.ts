import { expect, test } from "vitest";
import { COMPLEXITY_MAX } from "../../../src/routing/limits.ts";
import { measureTable } from "../../../src/routing/load.ts";
import { sampleTable } from "../tables.ts";

const measure = (table: object) => {
  const use = measureTable(table, 1234);
  if (!use.ok) throw new Error(JSON.stringify(use.error));
  return use.value;
};

test("a table's use of each cap is counted as the caps are", () => {
  const { complexity, ...parts } = measure(sampleTable());
  const used = Object.fromEntries(Object.entries(parts).map(([name, use]) => [name, use.used]));
  expect(used).toEqual({
    bytes: 1234,
    routes: 5,
    regions: 3,
    entities: 4,
    paths: 5,
    layouts: 1,
    withoutId: 0,
    packs: 0,
    packBytes: 0,
    packRanges: 0,
    overrides: 2,
    values: 63,
  });
  for (const { used, max } of Object.values(parts)) expect(used).toBeLessThan(max);
  expect(complexity.used).toBeGreaterThan(0);
  expect(complexity.max).toBe(COMPLEXITY_MAX);
});

test("packs count by their number, their octets together, and the ranges of the largest", () => {
  const pack = { sha256: "0".repeat(64), bytes: 90, ranges: 7, bits: 32, regions: ["eu"] };
  const { packs, packBytes, packRanges } = measure({ ...sampleTable(), packs: { a: pack, b: { ...pack, ranges: 3 } } });
  expect({ packs, packBytes, packRanges }).toEqual({
    packs: { used: 2, max: 16 },
    packBytes: { used: 180, max: 64 * 1024 * 1024 },
    packRanges: { used: 7, max: 2_000_000 },
  });
});

test("complexity grows with the routes, and the cap is where the check gives up", () => {
  const ranges = (count: number) => {
    const routes = Array.from({ length: count }, (_, at) => ({
      when: { layout: "hotguid", shardKey: `${at * 2}-${at * 2}` },
      region: "eu",
    }));
    return { ...sampleTable(), routes };
  };
  const few = measure(ranges(10)).complexity.used;
  const many = measure(ranges(1000)).complexity.used;
  expect(many).toBeGreaterThan(50 * few);
  expect(many).toBeLessThan(COMPLEXITY_MAX);
});

test("a table with faults has no use: its faults come instead", () => {
  expect(measureTable({ ...sampleTable(), default: "mars" }, 10)).toMatchObject({
    ok: false,
    error: [{ pointer: "/default" }],
  });
});
