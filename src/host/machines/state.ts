import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { version } from "../parts.ts";
import { digestOf, packsFolderOf, readPacks, readTableText } from "../publish/publish.ts";
import { SOCKET_NAME } from "../workerd/config.ts";
import { SELF_HOSTED_VARS, serveWorker, writeConfig } from "../workerd/gateway.ts";
import { WORKER_FOLDER, writeWorker } from "../workerd/modules.ts";
import { START_FOLDER, startLines, untilStarted, writeStartFolder } from "../workerd/start-table.ts";
import { nodeFlags, STATE_SOCKET, type StateSettings, stateConfig } from "../workerd/state-config.ts";
import { CONFIG_FILE, type RunningWorkerd, refuseRunning, startWorkerd } from "../workerd/workerd.ts";
import { addressText } from "./addresses.ts";
import { readText } from "./files.ts";
import { claimFolder, foreignState } from "./folder.ts";
import type { Machine } from "./machine.ts";
import { bucketObstacle } from "./operate/bucket.ts";
import type { ClusterOptions, StateOptions } from "./options.ts";
import { supervise } from "./supervise.ts";
import { network, watchPeers } from "./watch-peers.ts";
import { WATCHDOG_TIMES } from "./watchdog.ts";

/** Edges reach the origins; a state node may not, and would call each of them dead. The version is for those who ask. */
const STATE_VARS = { CHECK_SECONDS: "0", NODE_VERSION: version };

const SOCKETS = [SOCKET_NAME, STATE_SOCKET];

/** Starts a state node, which runs until `stop`. */
export async function startStateNode(options: StateOptions, machine: Machine) {
  const { clock, report } = machine;
  const { cluster, stopMs } = options;
  const start =
    cluster === undefined ? await aloneStarter(options, machine) : await nodeStarter(options, cluster, machine);
  const bucket = cluster && bucketOf(cluster, report);
  const isWatched = cluster !== undefined && cluster.peers.length > 0;
  const supervisor = supervise<RunningWorkerd>({
    clock,
    report,
    stopMs,
    name: "workerd",
    // Without its bucket each start of a node fails until the bucket is back.
    isHeld: isWatched,
    isRetried: ({ message }) => cluster !== undefined && !/already in use/.test(message),
    obstacle: bucket?.obstacle,
    start,
  });
  // It is reached where a node runs.
  supervisor.first.then(bucket?.look).catch(() => undefined);
  const ended = new AbortController();
  // A node that cannot be started is watched no longer, so that the command ends.
  supervisor.first.catch(() => ended.abort());
  if (isWatched) watchOver(cluster, supervisor, machine, ended.signal);
  return {
    first: supervisor.first,
    stop(atOnce?: Promise<void>): Promise<boolean> {
      ended.abort();
      return supervisor.stop(atOnce);
    },
  };
}

/** Slower than this, a node loses its lease. */
const BUCKET_ANSWER_MS = 2_000;

/** A bucket that this process has never reached is no obstacle: workerd may have another way to it. It is named once. */
function bucketOf(cluster: ClusterOptions, report: Machine["report"]) {
  let isReached = false;
  let named: string | undefined;
  const look = async (): Promise<string | undefined> => {
    const why = await bucketObstacle(cluster, {
      nowMs: Date.now,
      fetch,
      deadline: () => AbortSignal.timeout(BUCKET_ANSWER_MS),
      env: (name) => process.env[name],
      readText,
    });
    isReached ||= why === undefined;
    return why;
  };
  const obstacle = async (): Promise<string | undefined> => {
    const why = await look();
    if (isReached || why === undefined) return why;
    if (why !== named) report(`The bucket, as this process sees it: ${why}.`);
    named = why;
    return undefined;
  };
  return { look, obstacle };
}

type Start = (isFirst: boolean) => Promise<RunningWorkerd>;

function watchOver(
  { address, peers, timeDivisor = 1 }: ClusterOptions,
  supervisor: { readonly hold: () => void; readonly release: () => void },
  { clock, report }: Machine,
  stopped: AbortSignal,
): void {
  const { silenceMs, everyMs, deadlineMs } = WATCHDOG_TIMES;
  const times = { silenceMs: silenceMs / timeDivisor, everyMs: everyMs / timeDivisor, deadlineMs };
  void watchPeers({ own: address, peers, clock, network, times, ...supervisor, report }, stopped);
}

/** KV and objects on this node's own disk: the state of one machine, which edges may ask. */
async function aloneStarter(options: StateOptions, machine: Machine): Promise<Start> {
  const { stateFolder, tableFile, listen } = options;
  const foreign = foreignState(stateFolder, "machine");
  if (foreign !== undefined) throw new Error(foreign);
  const text = tableFile === undefined ? undefined : await readTableText(tableFile);
  if (text?.ok === false) throw new Error(`${text.error}\nNothing was started or published.`);
  let { port } = listen;
  let statePort = options.stateListen.port;
  return async (isFirst) => {
    mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
    const tls = machine.tls();
    const running = await serveWorker(machine.worker, {
      host: listen.host,
      port,
      stateFolder,
      tableText: machine.tableText,
      packsFolder: machine.packsFolder,
      // A later table stays in force when workerd starts again.
      published:
        isFirst && text ? { text: text.value, packsFolder: packsFolderOf(resolve(tableFile ?? "")) } : undefined,
      vars: { ...STATE_VARS, ...machine.vars },
      consoleFolder: machine.consoleFolder,
      openPages: machine.openPages,
      onLogLine: (line) => machine.onLogLine(line),
      sockets: SOCKETS,
      configOf: (settings) =>
        stateConfig({
          ...settings,
          stateAddress: `${options.stateListen.host}:${statePort}`,
          tls,
          store: { kvFolder: settings.kvFolder },
        }),
    });
    port = running.port;
    statePort = running.ports[STATE_SOCKET] ?? statePort;
    return running;
  };
}

/** A node of a cluster: the bucket has the state, and its disk a copy. */
async function nodeStarter(options: StateOptions, cluster: ClusterOptions, machine: Machine): Promise<Start> {
  const { listen, stateListen, stopMs } = options;
  const packs = await readPacks(machine.tableText, machine.packsFolder);
  if (!packs.ok) throw new Error(packs.error);
  const folder = claimFolder(options.stateFolder, "cluster");
  refuseRunning(folder);
  const durableObjectsFolder = join(folder, "durable-objects");
  mkdirSync(durableObjectsFolder, { recursive: true });
  const startFolder = join(folder, START_FOLDER);
  writeWorker(folder, machine.worker);
  // Whichever node has the object publishes its first table. The same name of the start everywhere: nothing is published twice.
  writeStartFolder(startFolder, {
    text: machine.tableText,
    packs: packs.value,
    isFirst: true,
    id: digestOf(machine.tableText),
  });
  const configPath = join(folder, CONFIG_FILE);
  let port = listen.port;
  let statePort = stateListen.port;
  return async (isFirst) => {
    const settings: StateSettings = {
      address: `${listen.host}:${port}`,
      stateAddress: `${stateListen.host}:${statePort}`,
      tls: machine.tls(),
      durableObjectsFolder,
      startFolder,
      workerFolder: WORKER_FOLDER,
      modules: machine.worker.map(({ name }) => name),
      vars: { ...SELF_HOSTED_VARS, ...STATE_VARS, ...machine.vars },
      consoleFolder: machine.consoleFolder,
      store: {
        bucket: cluster.bucket,
        bucketOptions: cluster.bucketOptions,
        key: machine.clusterKey ?? "",
        stopMs: Math.round(stopMs * HANDOVER_SHARE),
        timeDivisor: cluster.timeDivisor,
        address: addressText(cluster.address),
        advertise: cluster.advertise && addressText(cluster.advertise),
      },
    };
    writeConfig(configPath, stateConfig(settings));
    const lines = startLines((line) => machine.onLogLine(line));
    const running = await startWorkerd({
      configPath,
      flags: nodeFlags(settings),
      sockets: SOCKETS,
      openPages: machine.openPages,
      onLogLine: isFirst ? lines.onLine : (line) => machine.onLogLine(line),
    });
    if (isFirst) void publishFirst(listen.host, running, lines.failure, machine.report);
    port = running.port;
    statePort = running.ports[STATE_SOCKET] ?? statePort;
    return running;
  };
}

/** A request makes the cluster publish its first table. Without an answer the next one does. */
async function publishFirst(
  host: string,
  { port, exited }: RunningWorkerd,
  failure: () => string | undefined,
  report: Machine["report"],
): Promise<void> {
  const answer = untilStarted(host, port).then(
    () => failure(),
    (error: Error) => failure() ?? error.message,
  );
  const why = await Promise.race([answer, exited.then(() => undefined)]);
  if (why !== undefined) report(`the first table of the cluster is not published yet: ${why}`);
}

/** workerd stops within 8 of the 15 s that its supervisor waits: the rest is for a slow machine. */
const HANDOVER_SHARE = 8 / 15;
