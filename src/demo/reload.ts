import { unwatchFile, watch, watchFile } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type GatewayOptions, publishToFolder, type RunningGateway, startGateway } from "../host/workerd/gateway.ts";

export interface ReloadOptions extends Omit<GatewayOptions, "tableText"> {
  readonly tableFile: string;
  /** The file's text to serve. Rejects with its faults. */
  readonly readTable: () => Promise<string>;
  readonly onLogLine: (line: string) => void;
}

const SOURCES = ["../../src", "../../routes"].map((path) => fileURLToPath(new URL(path, import.meta.url)));

const TABLE_POLL_MS = 500;

/** An editor writes a file in several steps. */
const SETTLE_MS = 100;

/** Runs the gateway, starts it anew when its source changes, and publishes the table file whenever that changes. */
export async function startReloading({ tableFile, readTable, ...options }: ReloadOptions) {
  const { onLogLine, packsFolder } = options;
  const vars = { TABLE_REFRESH_SECONDS: "1", ...options.vars };
  let tableText = await readTable();
  let running: RunningGateway | undefined;
  let end: (code: number) => void;
  const exited = new Promise<number>((resolve) => {
    end = resolve;
  });
  const start = async () => {
    const onBundled = async () => {
      const before = running;
      running = undefined;
      await before?.stop();
    };
    const started = await startGateway({ ...options, vars, tableText, onBundled });
    running = started;
    void started.exited.then((code) => running === started && end(code));
    return started;
  };
  const publish = async () => {
    const text = await readTable();
    await publishToFolder(kvFolder, text, packsFolder);
    tableText = text;
  };
  const { url, kvFolder } = await start();

  // In sequence: an earlier publish must not overwrite a later one.
  let last = Promise.resolve();
  const next = (work: () => Promise<unknown>, done: string, failed: string) => {
    last = last.then(work).then(
      () => onLogLine(done),
      (error) => onLogLine(`${error instanceof Error ? error.message : error}\n${failed}`),
    );
  };
  watchFile(tableFile, { interval: TABLE_POLL_MS }, (now, before) => {
    if (now.mtimeMs !== before.mtimeMs) {
      next(publish, "the table is published", "the table is not published; the previous one stays");
    }
  });
  let isSettling = false;
  const restart = async () => {
    await delay(SETTLE_MS);
    isSettling = false;
    await start();
  };
  const onSource = () => {
    if (!isSettling) next(restart, "the source is reloaded", "the source is not reloaded");
    isSettling = true;
  };
  const watchers = SOURCES.map((folder) => watch(folder, { recursive: true }, onSource));
  const stop = async () => {
    unwatchFile(tableFile);
    for (const watcher of watchers) watcher.close();
    await last;
    await running?.stop();
  };
  return { url, exited, stop };
}
