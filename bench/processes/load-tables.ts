import { readFileSync } from "node:fs";
import { loadTableBytes } from "../../src/edge/table/table-bytes.ts";
import type { LoadedTables } from "../largest-tables.ts";
import { heldBytes } from "../memory.ts";

/** Loads the table of a file so many times, each beside the one before, as an isolate does, and prints what that took. */

const [path = "", times = "2"] = process.argv.slice(2);
const before = heldBytes();
const processorMs: number[] = [];
let held: unknown;
for (let count = 0; count < Number(times); count++) held = load();
const keptBytes = heldBytes() - before;
const figures: LoadedTables = { processorMs, keptBytes, peakBytes: process.resourceUsage().maxRSS * 1024 };
if (held !== undefined) process.stdout.write(JSON.stringify(figures));

function load() {
  const bytes = readFileSync(path);
  const started = process.cpuUsage();
  const table = loadTableBytes(bytes, 1);
  const { user, system } = process.cpuUsage(started);
  if (!table.ok) throw new Error(JSON.stringify(table.error.slice(0, 3)));
  processorMs.push((user + system) / 1000);
  return table.value;
}
