import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway } from "../src/host/workerd/gateway.ts";
import { plainTable } from "./pack-files.ts";

/** A Worker of this folder, or the gateway, in its own workerd. */
export interface RunningWorker {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** What its KV holds: one file a key. */
  readonly kvFolder: string;
  stop(): Promise<void>;
}

const ANY_TABLE = JSON.stringify(plainTable());

interface WorkerOptions {
  /** File in `workers/`; absent: the gateway itself. */
  readonly worker?: string;
  /** Absent: any that can be served, for a Worker that asks for none. */
  readonly tableText?: string;
  readonly vars?: Readonly<Record<string, string>>;
}

/** The same binary, configuration and V8 flags for every Worker: only the main module differs. Ports are the system's choice. */
export async function startWorker({ worker, tableText = ANY_TABLE, vars = {} }: WorkerOptions): Promise<RunningWorker> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
  const running = await startGateway({
    port: 0,
    tableText,
    stateFolder: folder,
    minify: true,
    workerPath: worker && fileURLToPath(new URL(`workers/${worker}`, import.meta.url)),
    vars: { REQUEST_LOG: "off", ...vars },
  });
  const stop = async () => {
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const { url, port, pid, kvFolder } = running;
  return { url, port, pid, kvFolder, stop };
}
