import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stopSignals } from "../child.ts";
import { eventLine, workerdLine } from "../log-lines.ts";
import { packsFolderOf } from "../publish/publish.ts";
import { BUILT_TABLE, CONSOLE_FOLDER, missingSettings, noBuild, readTraces, report } from "../self-hosting.ts";
import { readSettings } from "../settings.ts";
import type { TraceExport } from "../traces.ts";
import { readWorker } from "../workerd/modules.ts";
import type { TlsTexts } from "../workerd/tls-text.ts";
import { addressText } from "./addresses.ts";
import { startEdge } from "./edge.ts";
import { checkFiles, checkTls } from "./files.ts";
import type { Machine } from "./machine.ts";
import type { EdgeOptions, MachineOptions, StateOptions } from "./options.ts";
import { startStateNode } from "./state.ts";

/** A process that runs for months counts time that no clock sets back. */
const clock = { nowMs: () => performance.now(), sleep: (ms: number) => sleep(ms, undefined, { ref: true }) };

/** `waybill serve --role`: runs until a signal, and gives the exit code. Throws if it cannot be started. */
export async function serveMachine(build: string, options: MachineOptions): Promise<number> {
  const { first, atOnce } = stopSignals(["SIGINT", "SIGTERM", "SIGHUP"]);
  const traces = readTraces(options.tracesUrl);
  const machine = machineOf(build, options, traces);
  const running =
    options.role === "edge" ? await serveEdge(options, machine) : await serveState(options, machine, first);
  await first;
  const startMs = performance.now();
  if (await running.stop(atOnce))
    report(`requests still ran after ${Math.round((performance.now() - startMs) / 1000)} s, and were cut off`);
  await traces?.stop();
  return 0;
}

interface Served {
  stop(atOnce: Promise<void>): Promise<boolean>;
}

async function serveEdge(options: EdgeOptions, machine: Machine): Promise<Served> {
  const { ports, mirror, stop } = await startEdge(options, machine);
  const { listen, processes, name, stateNodes, stateFolder } = options;
  const { revision } = mirror.status();
  const host = "host" in listen ? listen.host : "127.0.0.1";
  // A descriptor is one port for all.
  const urls = [...new Set(ports)].map((port) => `http://${host}:${port}`);
  const table = revision === undefined ? "no mirror yet" : `revision ${revision}`;
  const count = processes === 1 ? "" : `, ${processes} processes`;
  report(
    `ready ${urls.join(" ")}, edge ${name}${count}, state nodes ${stateNodes.join(" ")}, state ${stateFolder}, ${table}`,
  );
  return { stop };
}

async function serveState(options: StateOptions, machine: Machine, stopped: Promise<void>): Promise<Served> {
  const node = await startStateNode(options, machine);
  const { listen, stateListen, cluster, stateFolder } = options;
  const running = await Promise.race([node.first, stopped]);
  if (running !== undefined) {
    const { port, ports } = running;
    const edges = `edges at ${stateListen.host}:${ports["state"]}`;
    const place =
      cluster === undefined
        ? "on this disk"
        : `${cluster.bucket} as ${addressText(cluster.advertise ?? cluster.address)}`;
    report(`ready http://${listen.host}:${port}, state node, ${edges}, state ${stateFolder}, ${place}`);
  }
  return node;
}

function machineOf(build: string, options: MachineOptions, traces: TraceExport | undefined): Machine {
  const worker = readWorker(build);
  if (worker.length === 0) throw new Error(noBuild(build));
  const { faults, warnings, notes, tls, clusterKey } = checkFiles(options, Date.now());
  if (faults.length > 0 || tls === undefined) throw new Error(`${faults.join("\n")}\nNothing was started.`);
  const settings = readSettings(process.env);
  for (const each of [...warnings, ...notes, ...settings.faults]) report(`warning: ${each}`);
  const vars = traces === undefined ? settings.settings : { TRACE_SHARE: "1", ...settings.settings };
  const missing = missingSettings(options.stateFolder, vars);
  if (missing.length > 0) report(`warning: ${missing.join(", ")} was set at the last start, and is not now`);
  const builtTable = join(build, BUILT_TABLE);
  return {
    worker,
    vars,
    tableText: readFileSync(builtTable, "utf8"),
    packsFolder: packsFolderOf(builtTable),
    consoleFolder: existsSync(join(build, CONSOLE_FOLDER)) ? resolve(build, CONSOLE_FOLDER) : undefined,
    openPages: process.env["OPEN_PAGES"] === "on",
    tls: renewedTls(options, tls),
    clusterKey,
    clock,
    onLogLine(line, number) {
      process.stdout.write(`${workerdLine(line, Date.now(), number)}\n`);
      traces?.onLine(line);
    },
    onEvent,
    report: reportRunning,
  };
}

/** An operator may just be copying: then each start has what was whole before. */
function renewedTls(options: MachineOptions, first: TlsTexts): () => TlsTexts {
  let last = first;
  return () => {
    const { faults, tls } = checkTls(options, Date.now());
    if (faults.length === 0 && tls !== undefined) last = tls;
    else reportRunning(`The certificates of before stay: ${faults.join("; ")}`);
    return last;
  };
}

const onEvent: Machine["onEvent"] = (event) => process.stdout.write(`${eventLine(event, Date.now())}\n`);

const reportRunning: Machine["report"] = (text) => onEvent({ event: "machine", text });
