import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, rmSync, unwatchFile, watchFile, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { exitOf, stopChild } from "../host/child.ts";
import { bulkOf, readPacks } from "../host/publish/packs.ts";
import { publication } from "../host/publish/publish.ts";
import { POINTER_KEY } from "../published/kv.ts";

export interface ReloadOptions {
  readonly port: number;
  readonly tableFile: string;
  /** The file's text to serve. Rejects with its faults. */
  readonly readTable: () => Promise<string>;
  readonly packsFolder: string;
  readonly stateFolder: string;
  readonly onLogLine: (line: string) => void;
  readonly openPages: boolean;
  /** Settings of the Worker, with secrets. */
  readonly vars: Readonly<Record<string, string>>;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Covers bundling and a cold start of workerd on a busy machine. */
const START_DEADLINE_MS = 60_000;
const START_POLL_MS = 100;
const TABLE_POLL_MS = 500;

/** Defaults that differ from the deployed Worker's. */
const RELOAD_VARS = { REQUEST_LOG: "json", TABLE_REFRESH_SECONDS: "1" };

/** Runs the gateway in `wrangler dev`, which reloads the source, and publishes the table file whenever it changes. */
export async function startReloading(options: ReloadOptions) {
  const { port, tableFile, readTable, stateFolder, onLogLine, vars } = options;
  mkdirSync(stateFolder, { recursive: true });
  const persist = ["--persist-to", join(stateFolder, "wrangler")];
  const uploaded = new Set<string>();
  const publish = async () => putTable(options, persist, await readTable(), uploaded);
  await publish();
  const child = wrangler([
    ...["dev", "--ip", "127.0.0.1", "--port", String(port), "--show-interactive-dev-session=false", ...persist],
    // Options override the file's settings.
    ...Object.entries(RELOAD_VARS).flatMap(([name, value]) => ["--var", `${name}:${vars[name] ?? value}`]),
    ...["--var", `OPEN_PAGES:${options.openPages ? "on" : "off"}`],
    ...(Object.keys(vars).length === 0 ? [] : ["--env-file", writeSettings(stateFolder, vars)]),
  ]);
  const exited = exitOf(child);
  onLines(child, (line) => {
    // wrangler logs each request too.
    if (!/^\[wrangler:info\] [A-Z]+ \//.test(line)) onLogLine(line);
  });
  const url = `http://127.0.0.1:${port}`;
  await untilServing(`${url}/-/health`, child);
  const republish = async () => {
    try {
      await publish();
      onLogLine("the table is published");
    } catch (error) {
      onLogLine(error instanceof Error ? error.message : String(error));
      onLogLine("the table is not published; the previous one stays");
    }
  };
  // In sequence: an earlier publish must not overwrite a later one.
  let last = Promise.resolve();
  watchFile(tableFile, { interval: TABLE_POLL_MS }, (now, before) => {
    if (now.mtimeMs !== before.mtimeMs) last = last.then(republish);
  });
  const stop = () => {
    unwatchFile(tableFile);
    return stopChild(child);
  };
  return { url, exited, stop };
}

/** A private file: other users can read a process's arguments. */
function writeSettings(stateFolder: string, vars: Readonly<Record<string, string>>): string {
  const file = join(stateFolder, "settings.env");
  rmSync(file, { force: true });
  // The secrets are JSON, where a quote can only be inside a string.
  const lines = Object.entries(vars).map(([name, value]) => `${name}='${value.replaceAll("'", "\\u0027")}'\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  return file;
}

/** Writes a table to wrangler's local KV, after those of its packs that are not there yet. */
async function putTable(
  { packsFolder, stateFolder }: ReloadOptions,
  persist: readonly string[],
  tableText: string,
  uploaded: Set<string>,
): Promise<void> {
  const packs = await readPacks(tableText, packsFolder);
  if (!packs.ok) throw new Error(packs.error);
  for (const pack of packs.value) {
    const header = pack.parts.at(-1)?.key ?? "";
    if (!uploaded.has(header)) await putBulk(stateFolder, persist, bulkOf(pack));
    uploaded.add(header);
  }
  const { printed } = await runKv(["key", "get", POINTER_KEY, "--text"], persist);
  // Follows revisions published here or over HTTP.
  const revision = 1 + Number(/"revision":(\d+)/.exec(printed)?.[1] ?? 0);
  const { bodyKey, body, pointerKey, pointer } = publication(tableText, revision, new Date());
  const entries = Object.entries({ [bodyKey]: body, [pointerKey]: pointer }).map(([key, value]) => ({ key, value }));
  await putBulk(stateFolder, persist, JSON.stringify(entries));
}

async function putBulk(stateFolder: string, persist: readonly string[], json: string): Promise<void> {
  const file = join(stateFolder, "bulk.json");
  writeFileSync(file, json);
  const { code, printed } = await runKv(["bulk", "put", file], persist);
  rmSync(file);
  if (code !== 0) throw new Error(`wrangler could not write the local KV:\n${printed}`);
}

async function runKv(command: readonly string[], persist: readonly string[]) {
  const child = wrangler(["kv", ...command, "--binding", "TABLE_KV", "--local", ...persist]);
  const lines: string[] = [];
  onLines(child, (line) => lines.push(line));
  const code = await exitOf(child);
  return { code, printed: lines.join("\n") };
}

/** Runs wrangler's own script: a wrapper process would not forward signals. */
function wrangler(args: readonly string[]): ChildProcess {
  const script = join(dirname(createRequire(import.meta.url).resolve("wrangler/package.json")), "bin", "wrangler.js");
  return spawn(process.execPath, [script, ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
}

function onLines({ stdout, stderr }: ChildProcess, onLine: (line: string) => void): void {
  for (const input of [stdout, stderr]) if (input !== null) createInterface({ input }).on("line", onLine);
}

async function untilServing(url: string, child: ChildProcess): Promise<void> {
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline && !hasExited()) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await delay(START_POLL_MS);
  }
  const why = hasExited() ? "wrangler dev exited during its start" : `wrangler dev does not serve ${url}`;
  await stopChild(child);
  throw new Error(why);
}
