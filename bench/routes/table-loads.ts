import { exactProcessorMs, peakResidentBytes, residentBytes } from "../lib/process-usage.ts";
import type { BenchOptions, Cell, Section } from "../lib/report.ts";
import { spread } from "../lib/sample.ts";
import { startWorker } from "../lib/workerd.ts";
import { LARGEST_TABLES, loadInHeap } from "./largest-tables.ts";

/** The largest tables, reloaded while the previous one is in use: processor time and memory. */

const ROUNDS_MAX = 3;
const LOADS = 4;
/** Ample, so that time excludes memory pressure. `test/system/table/memory.slow.test.ts` pins the minimum. */
const HEAP_MEGABYTES = 256;

const MEBI = 2 ** 20;
const mebi = (bytes: number): number => bytes / MEBI;

export async function tableLoads(options: BenchOptions): Promise<readonly Section[]> {
  return [inNode(options), await inWorkerd(options)];
}

function inNode({ rounds, progress }: BenchOptions): Section {
  const count = Math.min(rounds, ROUNDS_MAX);
  const rows = Object.entries(LARGEST_TABLES).map(([name, declare]): Cell[] => {
    const table = declare();
    const found = Array.from({ length: count }, () => loadInHeap(table, HEAP_MEGABYTES, LOADS));
    progress(`Largest tables in Node: ${name}`);
    return [
      name,
      mebi(JSON.stringify(table).length),
      spread(found.map(({ processorMs }) => processorMs[0] ?? Number.NaN)),
      spread(found.flatMap(({ processorMs }) => processorMs.slice(1))),
      spread(found.map(({ retainedBytes }) => mebi(retainedBytes))),
    ];
  });
  return {
    title: "The largest tables in Node",
    note: `From bytes, with the previous table in memory, ${LOADS} loads in each of ${count} processes: median (range).`,
    columns: ["table", "text, MiB", "first load, CPU ms", "later loads, CPU ms", "retained, MiB"],
    rows,
  };
}

async function inWorkerd({ progress }: BenchOptions): Promise<Section> {
  const rows: Cell[][] = [];
  for (const [name, declare] of Object.entries(LARGEST_TABLES)) {
    rows.push([name, ...(await loadsInWorkerd(JSON.stringify(declare())))]);
    progress(`Largest tables inside workerd: ${name}`);
  }
  return {
    title: "The largest tables inside workerd",
    note:
      `${LOADS} loads in a new process, with the previous table in memory. Growth is that of the whole process, including ` +
      "uncollected garbage.",
    columns: ["table", "first load, CPU ms", "later loads, CPU ms", "growth at the end, MiB", "peak growth, MiB"],
    rows,
  };
}

async function loadsInWorkerd(tableText: string): Promise<Cell[]> {
  const worker = await startWorker({ worker: new URL("table-load.worker.ts", import.meta.url) });
  try {
    const before = residentBytes(worker.pid) ?? Number.NaN;
    const tookMs: number[] = [];
    for (let load = 0; load < LOADS; load++) {
      const started = exactProcessorMs(worker.pid) ?? Number.NaN;
      const response = await fetch(worker.url, { method: "POST", body: tableText });
      if (!response.ok) throw new Error(`workerd answered ${response.status}: ${await response.text()}`);
      await response.text();
      tookMs.push((exactProcessorMs(worker.pid) ?? Number.NaN) - started);
    }
    const [first = Number.NaN, ...later] = tookMs;
    const end = residentBytes(worker.pid) ?? Number.NaN;
    const peak = peakResidentBytes(worker.pid) ?? Number.NaN;
    return [first, spread(later), mebi(end - before), mebi(peak - before)];
  } finally {
    await worker.stop();
  }
}
