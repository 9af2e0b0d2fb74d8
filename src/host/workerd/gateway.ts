import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { loadTableText } from "../../routing/index.ts";
import { packsOf, publishPacks, readPacks } from "../publish/packs.ts";
import { publishNext } from "../publish/publish.ts";
import { workerdConfig } from "./config.ts";
import { type RunningWorkerd, startWorkerd } from "./workerd.ts";

export interface GatewayOptions {
  /** The system chooses a port for 0. */
  readonly port: number;
  /** The declared routing table as JSON: published to KV, and bundled as the fallback. */
  readonly tableText: string;
  /** Folder of the table's packs. Required if the table has any. */
  readonly packsFolder?: string | undefined;
  /** Persistent state: KV, Durable Objects, the generated configuration. */
  readonly stateFolder: string;
  /** Text bindings; they override the self-hosting defaults. */
  readonly vars?: Readonly<Record<string, string>> | undefined;
  /** Another main module, for tests and benchmarks. */
  readonly workerPath?: string | undefined;
  /** Interface to listen on. Default: loopback. */
  readonly host?: string | undefined;
  /** Opens the gateway's own pages to everyone for this run; never written to the configuration file. */
  readonly openPages?: boolean | undefined;
  /** Smaller and faster to start, but with unreadable stack traces. */
  readonly minify?: boolean | undefined;
  readonly onLogLine?: ((line: string) => void) | undefined;
  /** Called when the Worker is bundled, before it starts: a gateway that it replaces must leave the port. */
  readonly onBundled?: (() => Promise<void>) | undefined;
}

export interface RunningGateway extends RunningWorkerd {
  /** Where tables are published: one file per key. */
  readonly kvFolder: string;
}

/** Defaults that differ from the edge's: no proxy in front reports the client's address. */
const SELF_HOSTED_VARS = { CLIENT_ADDRESS: "socket", REQUEST_LOG: "json" };

/** Bundles the Worker, publishes the table and its packs to local KV, and starts bare workerd. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const table = loadTableText(options.tableText, 0);
  if (!table.ok) throw new Error(`the table cannot be served: ${JSON.stringify(table.error[0])}`);
  const folder = resolve(options.stateFolder);
  const kvFolder = join(folder, "kv");
  const durableObjectsFolder = join(folder, "durable-objects");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  mkdirSync(durableObjectsFolder, { recursive: true });
  writeFileSync(join(folder, "worker.js"), await bundleWorker(options));
  await options.onBundled?.();
  await publishToFolder(kvFolder, options.tableText, options.packsFolder);
  const configPath = join(folder, "config.capnp");
  const config = workerdConfig({
    address: `${options.host ?? "127.0.0.1"}:${options.port}`,
    kvFolder,
    durableObjectsFolder,
    workerFile: "worker.js",
    vars: { ...SELF_HOSTED_VARS, ...options.vars },
  });
  // The settings include keys and token hashes. Writing to an existing file would keep its mode.
  rmSync(configPath, { force: true });
  writeFileSync(configPath, config, { mode: 0o600 });
  return {
    ...(await startWorkerd({ configPath, onLogLine: options.onLogLine, openPages: options.openPages })),
    kvFolder,
  };
}

/** Publishes a table with its packs, as the next revision. */
export async function publishToFolder(kvFolder: string, tableText: string, packsFolder = ""): Promise<void> {
  const names = packsOf(tableText);
  if (names.length > 0 && packsFolder === "")
    throw new Error(`the table has packs (${names.join(", ")}), but no packs folder was given`);
  const packs = await readPacks(tableText, packsFolder);
  if (!packs.ok) throw new Error(packs.error);
  publishPacks(kvFolder, packs.value);
  publishNext(kvFolder, tableText, new Date());
}

const WORKER_ENTRY = fileURLToPath(new URL("../../worker.ts", import.meta.url));

type BundleOptions = Pick<GatewayOptions, "workerPath" | "tableText" | "minify">;

/** Bundles the Worker into one ECMAScript module. Rejects with esbuild's messages. */
export async function bundleWorker({ workerPath = WORKER_ENTRY, tableText, minify = false }: BundleOptions) {
  const bundledTable: Plugin = {
    name: "routing-table",
    setup: ({ onLoad }) =>
      onLoad({ filter: /[\\/]routing-table\.json$/ }, () => ({ contents: tableText, loader: "json" })),
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
    legalComments: "none",
    logLevel: "silent",
    plugins: [bundledTable],
  });
  return outputFiles[0]?.text ?? "";
}
