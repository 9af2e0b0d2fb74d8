import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { serveWorker } from "../../src/host/workerd/gateway.ts";
import { bundleWorker } from "../../src/host/workerd/modules.ts";
import { CONFIG_FILE, startWorkerd } from "../../src/host/workerd/workerd.ts";
import { exactProcessorMs } from "../lib/process-usage.ts";
import type { BenchOptions, Section } from "../lib/report.ts";
import { inTurn, ratios, spread } from "../lib/sample.ts";

export interface ColdSubject {
  readonly name: string;
  readonly workerPath: string | undefined;
  readonly tableText: string;
}

interface Start {
  readonly firstMs: number;
  /** Processor time of a request, of the second to the hundredth. */
  readonly nextUs: number;
}

/** Starts more often than it takes turns elsewhere: a start is short. */
const STARTS_PER_ROUND = 2;

/** Fresh processes, from their start to the first answer, and what the next requests cost. The first one is the reference. */
export async function measureCold(
  subjects: readonly ColdSubject[],
  paths: readonly string[],
  originUrl: string,
  { rounds, progress }: BenchOptions,
): Promise<Section> {
  const folders: string[] = [];
  try {
    const prepared = [];
    for (const { name, workerPath, tableText } of subjects) {
      const stateFolder = mkdtempSync(join(tmpdir(), "waybill-bench-cold-"));
      folders.push(stateFolder);
      const worker = await bundleWorker({ workerPath, tableText, minify: true });
      // Publishes the table; later starts find it.
      const vars = { REQUEST_LOG: "off", ORIGIN: originUrl };
      await (await serveWorker(worker, { port: 0, tableText, stateFolder, vars })).stop();
      prepared.push({ name, configPath: join(stateFolder, CONFIG_FILE) });
    }
    const starts = await inTurn(
      prepared,
      rounds * STARTS_PER_ROUND,
      ({ configPath }) => start(configPath, paths),
      (round) => progress(`Cold starts: round ${round} of ${rounds * STARTS_PER_ROUND}`),
    );
    const reference = starts.get(subjects[0]?.name ?? "") ?? [];
    const first = (of: readonly Start[]) => of.map(({ firstMs }) => firstMs);
    const next = (of: readonly Start[]) => of.map(({ nextUs }) => nextUs);
    return {
      title: "Cold starts",
      note: "From the start of a fresh process to its first answer, all modules declared, and processor time of requests 2 to 100.",
      columns: ["what", "first answer ms", "over bare ms", "requests 2-100 us", "x bare"],
      rows: [...starts].map(([name, own]) => [
        name,
        spread(first(own)),
        spread(first(own).map((ms, round) => ms - (first(reference)[round] ?? Number.NaN))),
        spread(next(own)),
        spread(ratios(next(own), next(reference))),
      ]),
    };
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

async function start(configPath: string, paths: readonly string[]): Promise<Start> {
  const startedMs = performance.now();
  const running = await startWorkerd({ configPath });
  const ask = async (path: string): Promise<void> => {
    const response = await fetch(running.url + path);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  };
  try {
    await ask(paths[0] ?? "/");
    const firstMs = performance.now() - startedMs;
    const before = exactProcessorMs(running.pid) ?? Number.NaN;
    const others = paths.slice(1, 100);
    for (const path of others) await ask(path);
    const nextUs = (((exactProcessorMs(running.pid) ?? Number.NaN) - before) * 1000) / others.length;
    return { firstMs, nextUs };
  } finally {
    await running.stop();
  }
}
