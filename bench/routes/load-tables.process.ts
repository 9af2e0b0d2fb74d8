import { readFileSync } from "node:fs";
import { loadTableBytes } from "../../src/edge/table/compile-text.ts";
import type { LoadedTables } from "./largest-tables.ts";
import { retainedBytes } from "./memory.ts";

/** Loads a table file several times, keeping the previous one as an isolate does. Prints time and memory. */

const [path = "", times = "2"] = process.argv.slice(2);
const before = retainedBytes();
const processorMs: number[] = [];
let table: unknown;
for (let count = 0; count < Number(times); count++) table = load();
const retained = retainedBytes() - before;
const figures: LoadedTables = {
  processorMs,
  retainedBytes: retained,
  peakBytes: process.resourceUsage().maxRSS * 1024,
};
if (table !== undefined) process.stdout.write(JSON.stringify(figures));

function load() {
  const bytes = readFileSync(path);
  const started = process.cpuUsage();
  const loaded = loadTableBytes(bytes, 1);
  const { user, system } = process.cpuUsage(started);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error.slice(0, 3)));
  processorMs.push((user + system) / 1000);
  return loaded.value;
}
