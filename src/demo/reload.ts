import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { exitOf, stopChild } from "../host/child.ts";
import { bulkOf, readPacks } from "../host/publish/packs.ts";
import { POINTER_KEY, publication } from "../host/publish/publish.ts";

export interface ReloadingOptions {
  readonly port: number;
  readonly tableText: string;
  /** Where the packs lie that tables name. */
  readonly packsFolder: string;
  readonly stateFolder: string;
  readonly onLogLine: (line: string) => void;
  readonly openPages: boolean;
  /** Settings of the Worker, secrets among them. */
  readonly vars: Readonly<Record<string, string>>;
}

export interface ReloadingGateway {
  readonly url: string;
  /** Puts another table into force; the gateway takes it up within seconds. */
  publish(tableText: string): Promise<void>;
  readonly exited: Promise<number>;
  stop(): Promise<void>;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** wrangler's bundle, a cold workerd and a busy machine. */
const START_DEADLINE_MS = 60_000;
const POLL_MS = 100;

/** What differs from the deployed Worker, unless the operator says otherwise. */
const RELOADING_VARS = { REQUEST_LOG: "json", TABLE_REFRESH_SECONDS: "1" };

/** The gateway on `wrangler dev`: slower, but each change of the source is served at once. */
export async function startReloading(options: ReloadingOptions): Promise<ReloadingGateway> {
  const { port, stateFolder, onLogLine, vars } = options;
  const persist = ["--persist-to", join(stateFolder, "wrangler")];
  const put = new Set<string>();
  const publish = async (tableText: string) => {
    await putPacks(options, persist, tableText, put);
    await putTable(stateFolder, persist, tableText);
  };
  await publish(options.tableText);
  const child = wrangler([
    ...["dev", "--ip", "127.0.0.1", "--port", String(port), "--show-interactive-dev-session=false", ...persist],
    // They come before what the file says.
    ...Object.entries(RELOADING_VARS).flatMap(([name, value]) => ["--var", `${name}:${vars[name] ?? value}`]),
    ...["--var", `OPEN_PAGES:${options.openPages ? "on" : "off"}`],
    ...(Object.keys(vars).length === 0 ? [] : ["--env-file", writeSettings(stateFolder, vars)]),
  ]);
  const exited = exitOf(child);
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on("line", (line) => {
      // wrangler counts requests as well; one line each is enough.
      if (!/^\[wrangler:info\] [A-Z]+ \//.test(line)) onLogLine(line);
    });
  }
  const url = `http://127.0.0.1:${port}`;
  await untilServing(`${url}/-/health`, exited, () => stopChild(child));
  return { url, exited, publish, stop: () => stopChild(child) };
}

/** A file that nobody else may read: arguments of a process can be seen by all. */
function writeSettings(stateFolder: string, vars: Readonly<Record<string, string>>): string {
  const file = join(stateFolder, "settings.env");
  rmSync(file, { force: true });
  // JSON, of which the secrets are, has no other use for a quote than inside of its texts.
  const lines = Object.entries(vars).map(([name, value]) => `${name}='${value.replaceAll("'", "\\u0027")}'\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  return file;
}

/** Packs that were put once are there: a table that changes has most of those that it had. */
async function putPacks(
  { packsFolder, stateFolder }: ReloadingOptions,
  persist: readonly string[],
  tableText: string,
  put: Set<string>,
): Promise<void> {
  const packs = await readPacks(tableText, packsFolder);
  if (!packs.ok) throw new Error(packs.error);
  for (const pack of packs.value) {
    const { key } = pack.parts[pack.parts.length - 1] ?? { key: "" };
    if (put.has(key)) continue;
    await putBulk(stateFolder, persist, bulkOf(pack));
    put.add(key);
  }
}

/** wrangler's local KV has a format of its own, so wrangler itself writes it. */
async function putBulk(stateFolder: string, persist: readonly string[], json: string): Promise<void> {
  mkdirSync(stateFolder, { recursive: true });
  const file = join(stateFolder, "bulk.json");
  writeFileSync(file, json);
  const { code, printed } = await askKv(["bulk", "put", file], persist);
  rmSync(file);
  if (code !== 0) throw new Error(`wrangler could not write the local KV:\n${printed}`);
}

async function putTable(stateFolder: string, persist: readonly string[], tableText: string): Promise<void> {
  const revision = (await revisionInForce(persist)) + 1;
  const { bodyKey, body, pointerKey, pointer } = publication(tableText, revision, new Date());
  const values = [
    { key: bodyKey, value: body },
    { key: pointerKey, value: pointer },
  ];
  await putBulk(stateFolder, persist, JSON.stringify(values));
}

/** What was published before, here or over HTTP, has a lower number; 0 before the first. */
async function revisionInForce(persist: readonly string[]): Promise<number> {
  const { printed } = await askKv(["key", "get", POINTER_KEY, "--text"], persist);
  return Number(/"revision":(\d+)/.exec(printed)?.[1] ?? 0);
}

async function askKv(command: readonly string[], persist: readonly string[]) {
  const child = wrangler(["kv", ...command, "--binding", "TABLE_KV", "--local", ...persist]);
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      printed += chunk;
    });
  }
  return { code: await exitOf(child), printed };
}

/** wrangler's own script, so that the process that we know is the one that ends its workerd. */
function wrangler(args: readonly string[]): ChildProcess {
  const script = join(dirname(createRequire(import.meta.url).resolve("wrangler/package.json")), "bin", "wrangler.js");
  return spawn(process.execPath, [script, ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
}

async function untilServing(url: string, exited: Promise<number>, stop: () => Promise<void>): Promise<void> {
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline && !isOver) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  await stop();
  throw new Error(isOver ? "wrangler dev ended at its start" : `wrangler dev does not serve ${url}`);
}
