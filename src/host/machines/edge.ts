import { randomUUID } from "node:crypto";
import { fstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { version } from "../parts.ts";
import { configFiles, edgeConfig } from "../workerd/edge-config.ts";
import { KV_FOLDER, SELF_HOSTED_VARS, writeConfig } from "../workerd/gateway.ts";
import { WORKER_FOLDER, writeWorker } from "../workerd/modules.ts";
import { READY_PATH } from "../workerd/start-table.ts";
import { codeVersionOf } from "../workerd/table-modules.ts";
import { type RunningWorkerd, refuseRunning, startWorkerd } from "../workerd/workerd.ts";
import type { Address } from "./addresses.ts";
import { claimFolder } from "./folder.ts";
import type { Machine } from "./machine.ts";
import { startMirror } from "./mirror/mirror.ts";
import { askPlain } from "./operate/nodes.ts";
import type { EdgeOptions } from "./options.ts";
import { type Clock, type Supervisor, supervise } from "./supervise.ts";

/** The mirror writes a small file when something is published, and each isolate reads it so often. */
const EDGE_VARS = { TABLE_REFRESH_SECONDS: "0.2" };

/** Starts the mirror and the processes of an edge. Rejects if a process cannot be started. */
export async function startEdge(options: EdgeOptions, machine: Machine) {
  const { name, listen, processes, stateNodes, stopMs } = options;
  const { report, clock } = machine;
  if ("descriptor" in listen) checkDescriptor(listen.descriptor);
  const folder = claimFolder(options.stateFolder, "edge");
  const files = configFiles(processes);
  for (const file of files) refuseRunning(folder, undefined, file);
  const kvFolder = join(folder, KV_FOLDER);
  mkdirSync(kvFolder, { recursive: true });
  writeWorker(folder, machine.worker);
  /** Where each process that has started listens. */
  const addresses = new Map<string, Address>();
  const mirror = await startMirror({
    nodes: stateNodes,
    tls: options.tlsFolder,
    kvFolder,
    edge: { name, processes, version, run: randomUUID() },
    codeVersion: codeVersionOf(machine.worker),
    report: machine.onEvent,
    onTable: async (revision) => {
      await Promise.all([...addresses.values()].map((address) => untilServed(address, revision, clock)));
    },
  });
  // An empty folder would serve the table of the build first.
  await mirror.first;
  const supervisors = files.map((file, at) => superviseProcess(file, at));
  const stop = async (atOnce?: Promise<void>): Promise<boolean> => {
    const cutOff = await Promise.all(supervisors.map((each) => each.stop(atOnce)));
    await mirror.stop();
    return cutOff.includes(true);
  };
  try {
    const running = await Promise.all(supervisors.map(({ first }) => first));
    return { ports: running.map(({ port }) => port), mirror, stop };
  } catch (error) {
    await stop(Promise.resolve());
    throw error;
  }

  function superviseProcess(file: string, at: number): Supervisor<RunningWorkerd> {
    const host = "host" in listen ? listen.host : "127.0.0.1";
    let port = "port" in listen && listen.port > 0 ? listen.port + at : 0;
    const configPath = join(folder, file);
    const number = processes === 1 ? undefined : at + 1;
    return supervise({
      clock,
      report,
      stopMs,
      name: number === undefined ? "workerd" : `workerd of process ${number}`,
      isRetried: () => false,
      async start() {
        const settings = {
          address: `${host}:${port}`,
          kvFolder,
          stateNodes,
          tls: machine.tls(),
          workerFolder: WORKER_FOLDER,
          modules: machine.worker.map((module) => module.name),
          vars: { ...SELF_HOSTED_VARS, ...EDGE_VARS, ...machine.vars },
          consoleFolder: machine.consoleFolder,
        };
        writeConfig(configPath, edgeConfig(settings));
        const running = await startWorkerd({
          configPath,
          openPages: machine.openPages,
          descriptor: "descriptor" in listen ? listen.descriptor : undefined,
          onLogLine: (line) => machine.onLogLine(line, number),
        });
        // A process that starts again keeps the port that the system chose.
        port = running.port;
        addresses.set(file, { host, port });
        return running;
      },
    });
  }
}

/** A gateway that stands still is not waited for longer. */
const SERVED_MS = 1_000;
const PAUSE_MS = 50;

/**
 * Asks a process until it serves that revision: it looks for a newer table when a request comes, beside it. So the first request of a
 * client is not decided by the table before.
 */
async function untilServed(address: Address, revision: number, { nowMs, sleep }: Clock): Promise<void> {
  for (const endMs = nowMs() + SERVED_MS; nowMs() < endMs; await sleep(PAUSE_MS)) {
    const answer = await askPlain(address, READY_PATH, SERVED_MS);
    if ("why" in answer) return;
    const [, served] = /^rev=(\d+)/.exec(String(answer.headers["waybill-table"])) ?? [];
    if (Number(served) >= revision) return;
  }
}

function checkDescriptor(descriptor: number): void {
  const remedy = "systemd passes one to a service that has a socket unit";
  let isSocket: boolean;
  try {
    isSocket = fstatSync(descriptor).isSocket();
  } catch {
    throw new Error(`--listen fd:${descriptor}: this process has no descriptor ${descriptor}; ${remedy}`);
  }
  if (!isSocket) throw new Error(`--listen fd:${descriptor}: the descriptor is no socket; ${remedy}`);
}
