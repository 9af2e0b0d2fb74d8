import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { POINTER_KEY } from "../../formats/kv.ts";
import { loadTableText } from "../../routing/index.ts";
import { packsOf, publishNext, publishPacks, readPacks } from "../publish/publish.ts";
import { type WorkerdSettings, workerdConfig } from "./config.ts";
import { type BundleOptions, bundleWorker, type ModuleFile, WORKER_FOLDER, writeWorker } from "./modules.ts";
import { CONFIG_FILE, type RunningWorkerd, refuseRunning, startWorkerd, type WorkerdOptions } from "./workerd.ts";

export interface ServeOptions
  extends Omit<WorkerdOptions, "configPath">,
    Pick<WorkerdSettings, "loopbackPorts" | "consoleFolder"> {
  /** The system chooses a port for 0. */
  readonly port: number;
  /** The declared routing table as JSON. An empty state publishes it as revision 1. */
  readonly tableText: string;
  /** Folder of the table's packs. Required if the table has any. */
  readonly packsFolder?: string | undefined;
  /** Persistent state: KV, Durable Objects, the generated configuration. */
  readonly stateFolder: string;
  /** Text bindings; they override the self-hosting defaults. */
  readonly vars?: Readonly<Record<string, string>> | undefined;
  /** Interface to listen on. Default: loopback. */
  readonly host?: string | undefined;
}

export type GatewayOptions = ServeOptions & BundleOptions;

export interface RunningGateway extends RunningWorkerd {
  /** Where tables are published: one file per key. */
  readonly kvFolder: string;
}

/** Defaults that differ from the edge's: no proxy in front reports the client's address. */
const SELF_HOSTED_VARS = { CLIENT_ADDRESS: "socket", REQUEST_LOG: "json" };

/** Bundles the Worker with the table as its fallback, and serves it. */
export const startGateway = async (options: GatewayOptions): Promise<RunningGateway> =>
  serveWorker(await bundleWorker(options), options);

/** Runs a bundled Worker in bare workerd. An empty state publishes the table; any other keeps what is published in it. */
export async function serveWorker(worker: readonly ModuleFile[], options: ServeOptions): Promise<RunningGateway> {
  const { tableText, packsFolder } = options;
  const table = loadTableText(tableText, 0);
  if (!table.ok) throw new Error(`the table cannot be served: ${JSON.stringify(table.error[0])}`);
  mkdirSync(options.stateFolder, { recursive: true, mode: 0o700 });
  const folder = realpathSync(options.stateFolder);
  refuseRunning(folder);
  const kvFolder = join(folder, "kv");
  const durableObjectsFolder = join(folder, "durable-objects");
  for (const own of [kvFolder, durableObjectsFolder]) mkdirSync(own, { recursive: true });
  // A state with a history but an empty KV gets its table back from the history.
  const isEmpty = !existsSync(join(kvFolder, POINTER_KEY)) && readdirSync(durableObjectsFolder).length === 0;
  await (isEmpty ? publishToFolder : publishPacksOf)(kvFolder, tableText, packsFolder);
  writeWorker(folder, worker);
  const configPath = join(folder, CONFIG_FILE);
  const { host = "127.0.0.1", port, loopbackPorts, consoleFolder, onLogLine, openPages } = options;
  const vars = { ...SELF_HOSTED_VARS, ...options.vars };
  const modules = worker.map(({ name }) => name);
  const code = { workerFolder: WORKER_FOLDER, modules };
  const folders = { kvFolder, durableObjectsFolder, consoleFolder };
  const config = workerdConfig({ address: `${host}:${port}`, ...code, ...folders, vars, loopbackPorts });
  // The settings include keys and token hashes. Writing to an existing file would keep its mode.
  rmSync(configPath, { force: true });
  writeFileSync(configPath, config, { mode: 0o600 });
  return { ...(await startWorkerd({ configPath, onLogLine, openPages })), kvFolder };
}

/** Publishes a table with its packs, as the next revision. */
export async function publishToFolder(kvFolder: string, tableText: string, packsFolder?: string): Promise<void> {
  await publishPacksOf(kvFolder, tableText, packsFolder);
  publishNext(kvFolder, tableText, new Date());
}

async function publishPacksOf(kvFolder: string, tableText: string, packsFolder = ""): Promise<void> {
  const names = packsOf(tableText);
  if (names.length > 0 && packsFolder === "")
    throw new Error(`the table has packs (${names.join(", ")}), but no packs folder was given`);
  const packs = await readPacks(tableText, packsFolder);
  if (!packs.ok) throw new Error(packs.error);
  publishPacks(kvFolder, packs.value);
}
