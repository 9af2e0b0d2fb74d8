import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisedTable } from "./promised-table.ts";

/** The promised table, and tables that take up one of the caps nearly whole: each must fit beside the one in force. */

const REGIONS = { eu: { origins: [{ url: "https://eu.test" }] }, us: { origins: [{ url: "https://us.test" }] } };
const PARCELS = { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } };

const list = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));
const regionOf = (at: number): string => (at % 2 === 0 ? "eu" : "us");

export const LARGEST_TABLES = {
  promised: promisedTable,
  /** Nearly all of the cap on complexity. */
  exactKeys: () => ({
    regions: REGIONS,
    entities: PARCELS,
    routes: list(113_000, (at) => ({ when: { shardKey: at * 20_000 }, region: regionOf(at) })),
  }),
  /** Nearly all values that a table may have besides its routes and single entities. */
  values: () => ({
    regions: REGIONS,
    entities: PARCELS,
    routes: [{ when: {}, region: "eu" }],
    withoutId: Object.fromEntries(
      list(41, (entry) => [
        `list${entry}`,
        {
          path: `/lists/${entry}`,
          sources: list(12, (source) => ({
            header: `x-${source}`,
            values: Object.fromEntries(list(500, (value) => [`v${value}`, regionOf(value)])),
          })),
        },
      ]),
    ),
  }),
} as const;

export interface LoadedTables {
  /** Of each load. */
  readonly processorMs: readonly number[];
  /** By one compiled table. */
  readonly keptBytes: number;
  /** Of the whole process, Node included. */
  readonly peakBytes: number;
}

/** Loads a table in a Node of its own with so much heap, each time beside the one before. Throws where that does not do. */
export function loadInHeap(table: object, heapMegabytes: number, times: number): LoadedTables {
  const folder = mkdtempSync(join(tmpdir(), "waybill-tables-"));
  try {
    const path = join(folder, "table.json");
    writeFileSync(path, JSON.stringify(table));
    const script = fileURLToPath(new URL("processes/load-tables.ts", import.meta.url));
    // The young generation, three semi-spaces, comes on top of the old space.
    const heap = [`--max-old-space-size=${heapMegabytes - 6}`, "--max-semi-space-size=2"];
    const flags = [...heap, "--disable-warning=ExperimentalWarning"];
    const found = execFileSync(process.execPath, [...flags, script, path, String(times)], { stdio: "pipe" });
    return JSON.parse(found.toString());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
