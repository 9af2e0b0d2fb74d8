import type { BenchOptions } from "./bench.ts";
import { exactProcessorMs, peakResidentBytes, residentBytes } from "./children.ts";
import { LARGEST_TABLES, loadInHeap } from "./largest-tables.ts";
import type { Cell, Section } from "./report.ts";
import { spread } from "./sample.ts";
import { startWorker } from "./workerd.ts";

/** The largest tables, loaded again and again beside the one in force: processor time, and memory. */

const ROUNDS_MAX = 3;
const LOADS = 4;
/** More than enough, so that time is not that of a collector in need: `test/system/table-memory.test.ts` sets the least. */
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
      spread(found.map(({ keptBytes }) => mebi(keptBytes))),
    ];
  });
  return {
    title: "The largest tables in Node",
    note: `From octets, each beside the one before, ${LOADS} loads in each of ${count} processes: median (range).`,
    columns: ["table", "text, MiB", "first load, ms of the processor", "later loads, ms", "kept, MiB"],
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
      `${LOADS} loads beside the one before, in a fresh process. Growth is what the whole process has more than before, with ` +
      "garbage that nothing forces out; the most is that of any moment.",
    columns: ["table", "first load, ms of the processor", "later loads, ms", "growth at the end, MiB", "at most, MiB"],
    rows,
  };
}

async function loadsInWorkerd(tableText: string): Promise<Cell[]> {
  const worker = await startWorker({ worker: "table-load.ts" });
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
    const most = peakResidentBytes(worker.pid) ?? Number.NaN;
    return [first, spread(later), mebi(end - before), mebi(most - before)];
  } finally {
    await worker.stop();
  }
}
