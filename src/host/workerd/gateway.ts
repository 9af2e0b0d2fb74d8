import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { POINTER_KEY } from "../../formats/kv.ts";
import { loadTableText } from "../../routing/index.ts";
import { digestOf, packsOf, publishedPointer, readPacks } from "../publish/publish.ts";
import { type WorkerdSettings, workerdConfig } from "./config.ts";
import { type ModuleFile, WORKER_FOLDER, writeWorker } from "./modules.ts";
import {
  type HandedTable,
  READY_PATH,
  START_FOLDER,
  startLines,
  untilStarted,
  writeStartFolder,
} from "./start-table.ts";
import { workerWith } from "./table-modules.ts";
import { CONFIG_FILE, type RunningWorkerd, refuseRunning, startWorkerd, type WorkerdOptions } from "./workerd.ts";

/** In a state: where tables are published. */
export const KV_FOLDER = "kv";

/** In a state: the files of Durable Objects. */
export const OBJECTS_FOLDER = "durable-objects";

export interface ServeOptions
  extends Omit<WorkerdOptions, "configPath" | "flags" | "descriptor">,
    Pick<WorkerdSettings, "loopbackPorts" | "standInsUrl" | "consoleFolder"> {
  /** The system chooses a port for 0. */
  readonly port: number;
  /** The declared routing table as JSON. An empty state publishes it as revision 1. */
  readonly tableText: string;
  /** A table to put into force, if it differs from the one that is. Default: the table in force stays. */
  readonly published?: { readonly text: string; readonly packsFolder: string } | undefined;
  /** Folder of the table's packs. Required if the table has any. */
  readonly packsFolder?: string | undefined;
  /** Persistent state: KV, Durable Objects, the generated configuration. */
  readonly stateFolder: string;
  /** Text bindings; they override the self-hosting defaults. */
  readonly vars?: Readonly<Record<string, string>> | undefined;
  /** Interface to listen on. Default: loopback. */
  readonly host?: string | undefined;
  /** A sentence for a port that is taken: how another is chosen. */
  readonly ifTaken?: string | undefined;
  /** Writes the configuration. Default: of one machine. */
  readonly configOf?: ((settings: WorkerdSettings) => string) | undefined;
}

export interface RunningGateway extends RunningWorkerd {
  /** Where tables are published: one file per key. */
  readonly kvFolder: string;
}

/** Defaults that differ from the edge's: no proxy in front reports the client's address. */
export const SELF_HOSTED_VARS = { CLIENT_ADDRESS: "socket", REQUEST_LOG: "json" };

export const portTaken = (port: number, remedy = "Choose another address with --listen."): string =>
  `Port ${port} is taken. ${remedy}`;

/** workerd's own words for it name no option. */
const withPort = (error: unknown, { port, ifTaken }: ServeOptions): unknown =>
  error instanceof Error && /already in use/.test(error.message) ? new Error(portTaken(port, ifTaken)) : error;

/** Serves this version's Worker with the table as its fallback. */
export const startGateway = async (options: ServeOptions): Promise<RunningGateway> =>
  serveWorker(await workerWith(options.tableText), options);

/** Runs the modules of a Worker in bare workerd. An empty state publishes the table; any other keeps what is published in it. */
export async function serveWorker(worker: readonly ModuleFile[], options: ServeOptions): Promise<RunningGateway> {
  const { host = "127.0.0.1", port, loopbackPorts, standInsUrl, consoleFolder, onLogLine, openPages } = options;
  for (const text of [options.tableText, ...(options.published ? [options.published.text] : [])]) {
    const table = loadTableText(text, 0);
    if (!table.ok) throw new Error(`the table cannot be served: ${JSON.stringify(table.error[0])}`);
  }
  mkdirSync(options.stateFolder, { recursive: true, mode: 0o700 });
  const folder = realpathSync(options.stateFolder);
  refuseRunning(folder);
  const kvFolder = join(folder, KV_FOLDER);
  const durableObjectsFolder = join(folder, OBJECTS_FOLDER);
  for (const own of [kvFolder, durableObjectsFolder]) mkdirSync(own, { recursive: true });
  const handed = await handedTable(options, kvFolder);
  writeWorker(folder, worker);
  const settings: WorkerdSettings = {
    address: `${host}:${port}`,
    kvFolder,
    durableObjectsFolder,
    workerFolder: WORKER_FOLDER,
    modules: worker.map(({ name }) => name),
    vars: { ...SELF_HOSTED_VARS, ...options.vars },
    consoleFolder,
    loopbackPorts,
    standInsUrl,
  };
  const { configOf = workerdConfig, sockets } = options;
  const workerd = { configPath: join(folder, CONFIG_FILE), onLogLine, openPages, sockets, configOf };
  const started =
    handed === undefined ? startConfigured(settings, workerd) : startWithTable(handed, settings, workerd, host);
  const gateway = await started.catch((error: unknown) => {
    throw withPort(error, options);
  });
  return { ...gateway, kvFolder };
}

/** An empty KV is not always an empty state: then the gateway puts back the table of its history instead. */
async function handedTable(options: ServeOptions, kvFolder: string): Promise<HandedTable | undefined> {
  const { tableText, packsFolder, published } = options;
  if (published === undefined && existsSync(join(kvFolder, POINTER_KEY))) return undefined;
  const { text, packsFolder: beside = "" } = published ?? { text: tableText, packsFolder };
  const names = packsOf(text);
  if (names.length > 0 && beside === "")
    throw new Error(`the table has packs (${names.join(", ")}), but no packs folder was given`);
  const packs = await readPacks(text, beside);
  if (!packs.ok) throw new Error(packs.error);
  return { text, packs: packs.value, isFirst: published === undefined };
}

interface Configured extends WorkerdOptions {
  readonly configOf: (settings: WorkerdSettings) => string;
}

function startConfigured(settings: WorkerdSettings, options: Configured): Promise<RunningWorkerd> {
  writeConfig(options.configPath, options.configOf(settings));
  return startWorkerd(options);
}

export function writeConfig(path: string, text: string): void {
  // The settings include keys and token hashes. Writing to an existing file would keep its mode.
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600 });
}

async function startWithTable(
  handed: HandedTable,
  settings: WorkerdSettings,
  options: Configured,
  host: string,
): Promise<RunningWorkerd> {
  const startFolder = join(dirname(options.configPath), START_FOLDER);
  writeStartFolder(startFolder, handed);
  const lines = startLines(options.onLogLine);
  const gateway = await startConfigured({ ...settings, startFolder }, { ...options, onLogLine: lines.onLine });
  try {
    const status = await untilStarted(host, gateway.port);
    const isPublished = isInForce(handed, settings.kvFolder);
    const failure = lines.failure() ?? (isPublished || handed.isFirst ? undefined : notTaken(status));
    if (failure !== undefined) throw new Error(`The table was not published, and the gateway is stopped: ${failure}`);
    if (!isPublished) return gateway;
  } catch (error) {
    await gateway.stop(0);
    throw error;
  }
  // The configuration can be served again, without the table of this start.
  writeConfig(options.configPath, options.configOf(settings));
  rmSync(startFolder, { recursive: true, force: true });
  return gateway;
}

const notTaken = (status: number): string =>
  status === 200
    ? "the build is of a version that takes no table at its start. Build it again with this one."
    : `it answers ${READY_PATH} with ${status}.`;

/** The Worker of a former version or of a benchmark knows nothing of a table that is handed over. */
function isInForce({ text, isFirst }: HandedTable, kvFolder: string): boolean {
  const pointer = publishedPointer(kvFolder);
  const digest = pointer.ok ? pointer.value?.digest : undefined;
  return digest !== undefined && (isFirst || digest === digestOf(text));
}
