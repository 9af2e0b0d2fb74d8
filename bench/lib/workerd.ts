import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWorker } from "../../src/host/workerd/bundle.ts";
import { serveWorker } from "../../src/host/workerd/gateway.ts";
import type { ModuleFile } from "../../src/host/workerd/modules.ts";
import { workerWith } from "../../src/host/workerd/table-modules.ts";
import { shardKeyTable } from "./tables.ts";

/** A benchmark's Worker, or the gateway, in its own workerd. */
export interface RunningWorker {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** One file per KV key. */
  readonly kvFolder: string;
  stop(): Promise<void>;
}

const ANY_TABLE = JSON.stringify(shardKeyTable(1));

export interface WorkerOptions {
  /** The main module. Default: the gateway. */
  readonly worker?: URL;
  /** Default: any valid table, for a Worker that uses none. */
  readonly tableText?: string;
  readonly vars?: Readonly<Record<string, string>>;
}

/** The modules of a Worker. `path`: its main module. Default: the gateway, as a build has it. */
export const modulesOf = async (path: string | undefined, tableText: string): Promise<readonly ModuleFile[]> =>
  path === undefined ? workerWith(tableText) : bundleWorker({ entries: { worker: path }, tableText, minify: true });

/** All Workers get the same binary, configuration and V8 flags; only the main module differs. The system chooses ports. */
export async function startWorker({ worker, tableText = ANY_TABLE, vars = {} }: WorkerOptions): Promise<RunningWorker> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
  const running = await serveWorker(await modulesOf(worker && fileURLToPath(worker), tableText), {
    port: 0,
    tableText,
    stateFolder: folder,
    vars: { REQUEST_LOG: "off", ...vars },
  });
  const stop = async () => {
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const { url, port, pid, kvFolder } = running;
  return { url, port, pid, kvFolder, stop };
}
