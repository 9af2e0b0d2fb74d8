import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { POINTER_KEY } from "../../formats/kv.ts";
import { loadTableText } from "../../routing/index.ts";
import { digestOf, packsOf, publishNext, publishPacks, readPacks, replaceFile } from "../publish/publish.ts";
import { type WorkerdSettings, workerdConfig } from "./config.ts";
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

export interface GatewayOptions extends ServeOptions {
  /** Another main module, for tests and benchmarks. */
  readonly workerPath?: string | undefined;
  /** Smaller and faster to start, but with unreadable stack traces. */
  readonly minify?: boolean | undefined;
}

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
export async function serveWorker(worker: string, options: ServeOptions): Promise<RunningGateway> {
  const { tableText, packsFolder } = options;
  const table = loadTableText(tableText, 0);
  if (!table.ok) throw new Error(`the table cannot be served: ${JSON.stringify(table.error[0])}`);
  mkdirSync(options.stateFolder, { recursive: true, mode: 0o700 });
  const folder = realpathSync(options.stateFolder);
  refuseRunning(folder);
  const [kvFolder, durableObjectsFolder] = [join(folder, "kv"), join(folder, "durable-objects")];
  for (const own of [kvFolder, durableObjectsFolder]) mkdirSync(own, { recursive: true });
  // A state with a history but an empty KV gets its table back from the history.
  const isEmpty = !existsSync(join(kvFolder, POINTER_KEY)) && readdirSync(durableObjectsFolder).length === 0;
  await (isEmpty ? publishToFolder : publishPacksOf)(kvFolder, tableText, packsFolder);
  replaceFile(folder, "worker.js", worker);
  const configPath = join(folder, CONFIG_FILE);
  const { host = "127.0.0.1", port, loopbackPorts, consoleFolder, onLogLine, openPages } = options;
  const vars = { ...SELF_HOSTED_VARS, ...options.vars };
  const folders = { kvFolder, durableObjectsFolder, workerFile: "worker.js" };
  const config = workerdConfig({ address: `${host}:${port}`, ...folders, vars, loopbackPorts, consoleFolder });
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

const WORKER_ENTRY = fileURLToPath(new URL("../../worker.ts", import.meta.url));

type BundleOptions = Pick<GatewayOptions, "workerPath" | "tableText" | "minify">;

/** Bundles the Worker into one ECMAScript module, with the digest of a table that it checked. Rejects with esbuild's messages. */
export async function bundleWorker({ workerPath = WORKER_ENTRY, tableText, minify = false }: BundleOptions) {
  // A text is read faster than a literal.
  const contents = `export default JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(tableText)))})`;
  const bundledTable: Plugin = {
    name: "routing-table",
    setup: ({ onLoad }) => onLoad({ filter: /[\\/]routing-table\.json$/ }, () => ({ contents, loader: "js" })),
  };
  const { outputFiles } = await build({
    entryPoints: [workerPath],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    minify,
    define: {
      ...(loadTableText(tableText, 0).ok ? { CHECKED_DIGEST: JSON.stringify(digestOf(tableText)) } : {}),
      // `graphql` asks it for a module of Node at start.
      "globalThis.process": "undefined",
    },
    legalComments: "none",
    logLevel: "silent",
    plugins: [bundledTable],
  });
  return outputFiles[0]?.text ?? "";
}
