import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadTableText } from "../routing/index.ts";
import { bundleWorker, WORKER_ENTRY } from "./bundle.ts";
import { publishNext } from "./publish.ts";
import { packsOf, publishPacks, readPacks } from "./publish-packs.ts";
import { type RunningWorkerd, startWorkerd } from "./workerd.ts";
import { workerdConfig } from "./workerd-config.ts";

export interface GatewayOptions {
  /** 0 lets the system choose. */
  readonly port: number;
  /** The declared routing table, as JSON text: published to KV, and bundled as the last good copy. */
  readonly tableText: string;
  /** Where the packs lie that the table names. Needed only where it names some. */
  readonly packsFolder?: string | undefined;
  /** What the gateway keeps between runs: KV, Durable Objects, the generated configuration. */
  readonly stateFolder: string;
  /** Text bindings over the self-hosting defaults. */
  readonly vars?: Readonly<Record<string, string>> | undefined;
  /** Another main module than the gateway's own. */
  readonly workerPath?: string | undefined;
  /** The interface to listen on; loopback unless said otherwise. */
  readonly host?: string | undefined;
  /** Whether everybody may see and change the gateway's own pages while it runs; the configuration that it leaves never says so. */
  readonly openPages?: boolean | undefined;
  readonly minify?: boolean | undefined;
  readonly onLogLine?: ((line: string) => void) | undefined;
}

export interface RunningGateway extends RunningWorkerd {
  /** Where a table is published: one file a key. */
  readonly kvFolder: string;
}

/** What a self-hosted gateway needs that differs from the edge: there is no edge in front of it to name the client. */
const SELF_HOSTED_VARS = { CLIENT_ADDRESS: "socket", REQUEST_LOG: "json" };

/** Bundles the Worker, publishes the table with its packs to local KV and starts bare workerd on both. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const table = loadTableText(options.tableText, 0);
  if (!table.ok) throw new Error(`the table cannot be served: ${JSON.stringify(table.error[0])}`);
  const folder = resolve(options.stateFolder);
  const kvFolder = join(folder, "kv");
  const durableObjectsFolder = join(folder, "durable-objects");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  mkdirSync(durableObjectsFolder, { recursive: true });
  const worker = await bundleWorker({
    entry: options.workerPath ?? WORKER_ENTRY,
    tableText: options.tableText,
    minify: options.minify ?? false,
  });
  writeFileSync(join(folder, "worker.js"), worker);
  await publishPacksOf(options, kvFolder);
  publishNext(kvFolder, options.tableText, new Date());
  const configPath = join(folder, "config.capnp");
  const config = workerdConfig({
    address: `${options.host ?? "127.0.0.1"}:${options.port}`,
    kvFolder,
    durableObjectsFolder,
    workerFile: "worker.js",
    vars: { ...SELF_HOSTED_VARS, ...options.vars },
  });
  // Keys are among the settings, and hashes of tokens. A file that is there would keep the mode that it has.
  rmSync(configPath, { force: true });
  writeFileSync(configPath, config, { mode: 0o600 });
  return {
    ...(await startWorkerd({ configPath, onLogLine: options.onLogLine, openPages: options.openPages })),
    kvFolder,
  };
}

async function publishPacksOf({ tableText, packsFolder }: GatewayOptions, kvFolder: string): Promise<void> {
  const names = packsOf(tableText);
  if (names.length === 0) return;
  if (packsFolder === undefined)
    throw new Error(`the table names packs (${names.join(", ")}), and no folder of them was given`);
  const packs = await readPacks(tableText, packsFolder);
  if (!packs.ok) throw new Error(packs.error);
  publishPacks(kvFolder, packs.value);
}
