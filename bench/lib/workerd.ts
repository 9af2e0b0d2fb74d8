import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway } from "../../src/host/workerd/gateway.ts";
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

/** All Workers get the same binary, configuration and V8 flags; only the main module differs. The system chooses ports. */
export async function startWorker({ worker, tableText = ANY_TABLE, vars = {} }: WorkerOptions): Promise<RunningWorker> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
  const running = await startGateway({
    port: 0,
    tableText,
    stateFolder: folder,
    minify: true,
    workerPath: worker && fileURLToPath(worker),
    vars: { REQUEST_LOG: "off", ...vars },
  });
  const stop = async () => {
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const { url, port, pid, kvFolder } = running;
  return { url, port, pid, kvFolder, stop };
}
