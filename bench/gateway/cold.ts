import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { serveWorker } from "../../src/host/workerd/gateway.ts";
import { CONFIG_FILE, startWorkerd } from "../../src/host/workerd/workerd.ts";
import { exactProcessorMs } from "../lib/process-usage.ts";
import type { BenchOptions, Cell, Section } from "../lib/report.ts";
import { inTurn, ratios, spread } from "../lib/sample.ts";
import { modulesOf } from "../lib/workerd.ts";

export interface ColdSubject {
  readonly name: string;
  readonly workerPath: string | undefined;
  readonly tableText: string;
}

export interface Start {
  readonly firstMs: number;
  /** Processor time from the start of the process to its first answer. */
  readonly firstProcessorMs: number;
  /** Processor time of a request, of the second to the hundredth. */
  readonly nextUs: number;
}

/** Starts more often than it takes turns elsewhere: a start is short. */
const STARTS_PER_ROUND = 2;

export interface ColdMeasured {
  readonly section: Section;
  /** By name of the subject, in the order of rounds. */
  readonly starts: ReadonlyMap<string, readonly Start[]>;
}

/** Fresh processes, from their start to the first answer, and what the next requests cost. The first one is the reference. */
export async function measureCold(
  title: string,
  subjects: readonly ColdSubject[],
  paths: readonly string[],
  originUrl: string,
  { rounds, progress }: BenchOptions,
): Promise<ColdMeasured> {
  const folders: string[] = [];
  try {
    const prepared = [];
    for (const { name, workerPath, tableText } of subjects) {
      const stateFolder = mkdtempSync(join(tmpdir(), "waybill-bench-cold-"));
      folders.push(stateFolder);
      const worker = await modulesOf(workerPath, tableText);
      // Publishes the table; later starts find it.
      const vars = { REQUEST_LOG: "off", ORIGIN: originUrl };
      await (await serveWorker(worker, { port: 0, tableText, stateFolder, vars })).stop();
      prepared.push({ name, configPath: join(stateFolder, CONFIG_FILE) });
    }
    const starts = await inTurn(
      prepared,
      rounds * STARTS_PER_ROUND,
      ({ configPath }) => start(configPath, paths),
      (round) => progress(`${title}: round ${round} of ${rounds * STARTS_PER_ROUND}`),
    );
    const reference = starts.get(subjects[0]?.name ?? "") ?? [];
    const rows = [...starts].map(([name, own]): Cell[] => [
      name,
      ...(["firstMs", "firstProcessorMs"] as const).flatMap((key) => [
        spread(own.map((each) => each[key])),
        spread(over(own, reference, key)),
      ]),
      spread(own.map(({ nextUs }) => nextUs)),
      spread(nextRatios(own, reference)),
    ]);
    const note =
      "From the start of a fresh process to its first answer, all modules declared: wall time and processor time, and processor " +
      "time of requests 2 to 100.";
    const first = ["first answer ms", "over bare ms", "processor ms", "over bare ms"];
    return { section: { title, note, columns: ["what", ...first, "requests 2-100 us", "x bare"], rows }, starts };
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

/** The difference of a start from the reference in the same round. */
export const over = (
  own: readonly Start[] = [],
  reference: readonly Start[] = [],
  key: "firstMs" | "firstProcessorMs",
): number[] => own.map((each, round) => each[key] - (reference[round]?.[key] ?? Number.NaN));

export const nextRatios = (own: readonly Start[] = [], reference: readonly Start[] = []): number[] =>
  ratios(
    own.map(({ nextUs }) => nextUs),
    reference.map(({ nextUs }) => nextUs),
  );

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
    return { firstMs, firstProcessorMs: before, nextUs };
  } finally {
    await running.stop();
  }
}
