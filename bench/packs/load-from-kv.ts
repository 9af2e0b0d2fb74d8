import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { partsOfFile } from "../../src/features/packs/table/pack.ts";
import { exactProcessorMs, residentBytes } from "../lib/process-usage.ts";
import type { BenchOptions, Cell, Section } from "../lib/report.ts";
import { spread } from "../lib/sample.ts";
import { type RunningWorker, startWorker } from "../lib/workerd.ts";
import { type PackFile, packFile, plainTable, randomRanges } from "./pack-files.ts";
import { openPack } from "./pack-table.ts";

/** Each round is a new process. */
const ROUNDS_MAX = 5;
const LOADS_PER_ROUND = 3;

const MEBI = 2 ** 20;

/** Cost of a request, and the growth of the process since before the first pack. */
interface Cost {
  readonly wallMs: number;
  readonly processorMs: number | undefined;
  readonly grownBytes: number | undefined;
}

/** Loads a table with a pack of a million ranges from KV, as the gateway does, in new processes. */
export async function loadingFromKv({ rounds, progress }: BenchOptions): Promise<Section> {
  const pack = await packFile(randomRanges());
  const count = Math.min(rounds, ROUNDS_MAX);
  const costs = new Map<string, Cost[]>();
  let counted = 0;
  for (let round = 1; round <= count; round++) {
    const worker = await startWorker({ worker: new URL("load-from-kv.worker.ts", import.meta.url) });
    try {
      await putPack(worker.kvFolder, pack);
      // Warm-up, as in an isolate that already has a table.
      await post(worker, "/table", JSON.stringify(plainTable()));
      const before = residentBytes(worker.pid);
      for (let load = 1; load <= LOADS_PER_ROUND; load++) {
        for (const [path, what] of [
          ["/table", "check and compile the table"],
          ["/packs", "load its pack: header and all pages"],
        ] as const) {
          const name = `${load === 1 ? "first" : `time ${load}`}: ${what}`;
          costs.set(name, [...(costs.get(name) ?? []), await timed(worker, path, before, pack.tableText)]);
        }
      }
      counted = await post(worker, "/packs", "");
    } finally {
      await worker.stop();
    }
    progress(`Packs, loading from KV: round ${round} of ${count}`);
  }
  return {
    title: "Loading a table and its pack from KV inside workerd",
    note:
      `Median (range) of ${count} new processes, the request included; each page is fetched from KV on disk, verified and ` +
      `indexed. Growth is that of the whole process, with garbage and the fetched bytes; the pages alone are counted as ` +
      `${(counted / MEBI).toFixed(1)} MiB.`,
    columns: ["work", "ms", "CPU ms", "growth of the process, MiB"],
    rows: [...costs].map(([name, own]) => [name, ...cells(own)]),
  };
}

async function putPack(kvFolder: string, { file }: PackFile): Promise<void> {
  const { header } = await openPack(file);
  const sha256 = Buffer.from(await crypto.subtle.digest("SHA-256", file.subarray(0, header.headerBytes)));
  for (const { key, bytes } of partsOfFile(file, header, sha256.toString("hex"))) {
    writeFileSync(join(kvFolder, key), bytes);
  }
}

async function timed(
  worker: RunningWorker,
  path: string,
  before: number | undefined,
  tableText: string,
): Promise<Cost> {
  const startedMs = performance.now();
  const workedMs = exactProcessorMs(worker.pid);
  await post(worker, path, tableText);
  const endedMs = performance.now();
  const after = exactProcessorMs(worker.pid);
  const grown = residentBytes(worker.pid);
  return {
    wallMs: endedMs - startedMs,
    processorMs: workedMs === undefined || after === undefined ? undefined : after - workedMs,
    grownBytes: before === undefined || grown === undefined ? undefined : grown - before,
  };
}

async function post({ url }: RunningWorker, path: string, body: string): Promise<number> {
  const response = await fetch(url + path, { method: "POST", body });
  const text = await response.text();
  if (!response.ok) throw new Error(`workerd answered ${response.status}: ${text}`);
  return Number(text);
}

const cells = (costs: readonly Cost[]): Cell[] => [
  spread(costs.map(({ wallMs }) => wallMs)),
  spreadOf(costs.flatMap(({ processorMs }) => processorMs ?? [])),
  spreadOf(costs.flatMap(({ grownBytes }) => (grownBytes === undefined ? [] : grownBytes / MEBI))),
];

const spreadOf = (figures: readonly number[]): Cell => (figures.length === 0 ? null : spread(figures));
