import { watch } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildConsole } from "../host/console/build.ts";
import { editPublisher } from "../host/project/publish-edit.ts";
import { watchTable } from "../host/project/watch-table.ts";
import { bundleWorker } from "../host/workerd/bundle.ts";
import { type RunningGateway, type ServeOptions, serveWorker } from "../host/workerd/gateway.ts";
import { tableModules } from "../host/workerd/table-modules.ts";

export interface ReloadOptions extends ServeOptions {
  readonly tableFile: string;
  /** The file's text to serve. Rejects with its faults. */
  readonly readTable: () => Promise<string>;
  readonly onLogLine: (line: string) => void;
}

const SOURCES = ["../../src", "../../routes"].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** An editor writes a file in several steps. */
const SETTLE_MS = 100;

/** Runs the gateway, restarts it when its source changes, and publishes the table file whenever that changes. */
export async function startReloading({ tableFile, readTable, ...options }: ReloadOptions) {
  const edits = editPublisher(options.vars, options.openPages === true);
  const vars = edits.settings;
  let { tableText } = options;
  const onLogLine = (line: string) => {
    if (!edits.isOwn(line)) options.onLogLine(line);
  };
  let running: RunningGateway | undefined;
  let end: (code: number) => void;
  const exited = new Promise<number>((resolve) => {
    end = resolve;
  });
  const start = async () => {
    // This process has the code that it was started with: it can vouch for no table.
    const worker = [...tableModules(tableText, undefined), ...(await bundleWorker())];
    const before = running;
    running = undefined;
    await before?.stop();
    const started = await serveWorker(worker, { ...options, vars, tableText, onLogLine });
    running = started;
    void started.exited.then((code) => running === started && end(code));
    return started;
  };
  const { url } = await start();
  const table = watchTable({
    tableFile,
    readTable,
    edits,
    gateway: () => running,
    onLine: onLogLine,
    onText(text) {
      tableText = text;
    },
  });
  let isSettling = false;
  const restart = async () => {
    await delay(SETTLE_MS);
    isSettling = false;
    if (options.consoleFolder !== undefined) await buildConsole(options.consoleFolder);
    await start();
    onLogLine("the source is reloaded");
  };
  const onSource = () => {
    if (!isSettling) table.next(restart, "the source is not reloaded");
    isSettling = true;
  };
  const watchers = SOURCES.map((folder) => watch(folder, { recursive: true }, onSource));
  const stop: RunningGateway["stop"] = async (deadlineMs, atOnce) => {
    for (const watcher of watchers) watcher.close();
    await table.stop();
    return (await running?.stop(deadlineMs, atOnce)) ?? false;
  };
  return { url, exited, stop };
}
