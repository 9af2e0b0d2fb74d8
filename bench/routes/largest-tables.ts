import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisedTable } from "./promised-table.ts";

/** The promised table, and tables near a limit: each must fit in memory beside the one in use. */

const REGIONS = { eu: { origins: [{ url: "https://eu.test" }] }, us: { origins: [{ url: "https://us.test" }] } };
const PARCELS = { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } };

const list = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));
const regionOf = (at: number): string => (at % 2 === 0 ? "eu" : "us");

export const LARGEST_TABLES = {
  promised: promisedTable,
  /** Near the limit of complexity. */
  exactKeys: () => ({
    regions: REGIONS,
    entities: PARCELS,
    routes: list(113_000, (at) => ({ when: { shardKey: at * 20_000 }, region: regionOf(at) })),
  }),
  /** Near the limit of values outside routes and overrides. */
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
  /** One per load. */
  readonly processorMs: readonly number[];
  /** Memory of one compiled table. */
  readonly retainedBytes: number;
  /** Memory of the whole process, including Node. */
  readonly peakBytes: number;
}

/** Loads a table `times` times in a new Node process with a limited heap. Throws if the heap is too small. */
export function loadInHeap(table: object, heapMegabytes: number, times: number): LoadedTables {
  const folder = mkdtempSync(join(tmpdir(), "waybill-tables-"));
  try {
    const path = join(folder, "table.json");
    writeFileSync(path, JSON.stringify(table));
    const script = fileURLToPath(new URL("load-tables.process.ts", import.meta.url));
    // The young generation, three semi-spaces, adds to the old space.
    const heap = [`--max-old-space-size=${heapMegabytes - 6}`, "--max-semi-space-size=2"];
    const flags = [...heap, "--disable-warning=ExperimentalWarning"];
    const found = execFileSync(process.execPath, [...flags, script, path, String(times)], { stdio: "pipe" });
    return JSON.parse(found.toString());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
