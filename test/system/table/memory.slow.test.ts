import { describe, expect, it } from "vitest";
import { LARGEST_TABLES, loadInHeap } from "../../../bench/routes/largest-tables.ts";
import { MILLION } from "../../../bench/scale/inputs.ts";
import type { TableUse } from "../../../src/routing/check/usage.ts";
import { measureTable } from "../../../src/routing/load.ts";

/** Part of the 128 MB of an isolate; docs/design/scale.md says what else is in them. */
const PROMISED_HEAP_MEGABYTES = 80;
const ANY_HEAP_MEGABYTES = 90;

const useOf = (table: object): TableUse => {
  const use = measureTable(table, JSON.stringify(table).length);
  if (!use.ok) throw new Error(JSON.stringify(use.error.slice(0, 3)));
  return use.value;
};

const share = ({ used, max }: { readonly used: number; readonly max: number }): number => used / max;

describe("a table is loaded beside the one in force", () => {
  it("the largest that is promised", () => {
    const { retainedBytes } = loadInHeap(LARGEST_TABLES.promised(), PROMISED_HEAP_MEGABYTES, 3);
    expect(retainedBytes).toBeLessThan(MILLION.tableBytes);
    expect(retainedBytes, "what docs/design/scale.md says").toBeGreaterThan(MILLION.tableBytes / 2);
  });

  it("as complex as may be", () => {
    const table = LARGEST_TABLES.exactKeys();
    expect(share(useOf(table).complexity)).toBeGreaterThan(0.95);
    loadInHeap(table, ANY_HEAP_MEGABYTES, 3);
  });

  it("with as many values as may be", () => {
    const table = LARGEST_TABLES.values();
    expect(share(useOf(table).values)).toBeGreaterThan(0.95);
    loadInHeap(table, ANY_HEAP_MEGABYTES, 3);
  });

  it("but not in a heap that is too small, so that the others show something", () => {
    expect(() => loadInHeap(LARGEST_TABLES.promised(), 40, 1)).toThrow();
  });
});
