import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { partsOfFile } from "../src/routing/index.ts";
import type { BenchOptions } from "./bench.ts";
import { exactProcessorMs, residentBytes } from "./children.ts";
import { type PackFile, packFile, plainTable, randomRanges } from "./pack-files.ts";
import { openPack } from "./pack-table.ts";
import type { Cell, Section } from "./report.ts";
import { spread } from "./sample.ts";
import { type RunningWorker, startWorker } from "./workerd.ts";

/** Each round is a process of its own. */
const ROUNDS_MAX = 5;
const LOADS_PER_ROUND = 3;

const MEBI = 2 ** 20;

/** What a request took, and how much memory the process has more than before the first load of a pack. */
interface Took {
  readonly wallMs: number;
  readonly processorMs: number | undefined;
  readonly grownBytes: number | undefined;
}

/** A table with a pack of a million ranges, loaded from KV as the gateway does it, in processes that have done nothing before. */
export async function loadingFromKv({ rounds, progress }: BenchOptions): Promise<Section> {
  const pack = await packFile(randomRanges());
  const count = Math.min(rounds, ROUNDS_MAX);
  const took = new Map<string, Took[]>();
  let counted = 0;
  for (let round = 1; round <= count; round++) {
    const worker = await startWorker({ worker: "pack-load.ts" });
    try {
      await putPack(worker.kvFolder, pack);
      // The code has run once, as in an isolate that has a table already.
      await ask(worker, "/table", JSON.stringify(plainTable()));
      const before = residentBytes(worker.pid);
      for (let load = 1; load <= LOADS_PER_ROUND; load++) {
        for (const [path, what] of [
          ["/table", "check and compile the table"],
          ["/packs", "load its pack: header and all pages"],
        ] as const) {
          const name = `${load === 1 ? "first" : `time ${load}`}: ${what}`;
          took.set(name, [...(took.get(name) ?? []), await timed(worker, path, before, pack.tableText)]);
        }
      }
      counted = await ask(worker, "/packs", "");
    } finally {
      await worker.stop();
    }
    progress(`Packs, loading from KV: round ${round} of ${count}`);
  }
  return {
    title: "Loading a table and its pack from KV inside workerd",
    note:
      `Median (range) of ${count} fresh processes, the request included; each page is fetched from KV on disk, verified and ` +
      `indexed. Growth is what the whole process has more than before, with garbage and the pages as they came; the pages ` +
      `are counted with ${(counted / MEBI).toFixed(1)} MiB.`,
    columns: ["work", "ms", "of the processor", "growth of the process, MiB"],
    rows: [...took].map(([name, own]) => [name, ...cells(own)]),
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
): Promise<Took> {
  const [startedMs, workedMs] = [performance.now(), exactProcessorMs(worker.pid)];
  await ask(worker, path, tableText);
  const [endedMs, after] = [performance.now(), exactProcessorMs(worker.pid)];
  const grown = residentBytes(worker.pid);
  return {
    wallMs: endedMs - startedMs,
    processorMs: workedMs === undefined || after === undefined ? undefined : after - workedMs,
    grownBytes: before === undefined || grown === undefined ? undefined : grown - before,
  };
}

async function ask({ url }: RunningWorker, path: string, body: string): Promise<number> {
  const response = await fetch(url + path, { method: "POST", body });
  const text = await response.text();
  if (!response.ok) throw new Error(`workerd answered ${response.status}: ${text}`);
  return Number(text);
}

const cells = (took: readonly Took[]): Cell[] => [
  spread(took.map(({ wallMs }) => wallMs)),
  spreadOf(took.flatMap(({ processorMs }) => processorMs ?? [])),
  spreadOf(took.flatMap(({ grownBytes }) => (grownBytes === undefined ? [] : grownBytes / MEBI))),
];

const spreadOf = (figures: readonly number[]): Cell => (figures.length === 0 ? null : spread(figures));
