import { unwatchFile, watch, watchFile } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildConsole } from "../host/console/build.ts";
import { type RunningGateway, type ServeOptions, serveWorker } from "../host/workerd/gateway.ts";
import { bundleWorker } from "../host/workerd/modules.ts";
import { editPublisher } from "./publish-edit.ts";

export interface ReloadOptions extends ServeOptions {
  readonly tableFile: string;
  /** The file's text to serve. Rejects with its faults. */
  readonly readTable: () => Promise<string>;
  readonly onLogLine: (line: string) => void;
}

const SOURCES = ["../../src", "../../routes"].map((path) => fileURLToPath(new URL(path, import.meta.url)));

const TABLE_POLL_MS = 100;

/** An edit is seen in force after two of them at the latest. */
const TABLE_REFRESH_SECONDS = "0.2";

/** An editor writes a file in several steps. */
const SETTLE_MS = 100;

/** Runs the gateway, starts it anew when its source changes, and publishes the table file whenever that changes. */
export async function startReloading({ tableFile, readTable, ...options }: ReloadOptions) {
  const edits = editPublisher({ TABLE_REFRESH_SECONDS, ...options.vars }, options.openPages === true);
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
    const worker = await bundleWorker({ tableText });
    const before = running;
    running = undefined;
    await before?.stop();
    const started = await serveWorker(worker, { ...options, vars, tableText, onLogLine });
    running = started;
    void started.exited.then((code) => running === started && end(code));
    return started;
  };
  const publish = async () => {
    const startMs = performance.now();
    const text = await readTable();
    const made = running && (await edits.publish(running, text, tableFile));
    tableText = text;
    if (made === undefined) return;
    const seconds = ((performance.now() - startMs) / 1000).toFixed(2);
    onLogLine(`the table is published: revision ${made.revision}, in force after ${seconds} s`);
    onLogLine(await made.diff());
  };
  const { url } = await start();

  // In sequence: an earlier publish must not overwrite a later one.
  let last = Promise.resolve();
  const next = (work: () => Promise<void>, failed: string) => {
    last = last.then(work).catch((error) => onLogLine(`${error instanceof Error ? error.message : error}\n${failed}`));
  };
  watchFile(tableFile, { interval: TABLE_POLL_MS }, (now, before) => {
    if (now.mtimeMs !== before.mtimeMs) next(publish, "the table is not published; the previous one stays");
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
    if (!isSettling) next(restart, "the source is not reloaded");
    isSettling = true;
  };
  const watchers = SOURCES.map((folder) => watch(folder, { recursive: true }, onSource));
  const stop: RunningGateway["stop"] = async (deadlineMs, atOnce) => {
    unwatchFile(tableFile);
    for (const watcher of watchers) watcher.close();
    await last;
    return (await running?.stop(deadlineMs, atOnce)) ?? false;
  };
  return { url, exited, stop };
}
