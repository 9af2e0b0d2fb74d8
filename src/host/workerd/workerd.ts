import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { apartFromTerminal, endWithParent, exitCodeOf, stopChild } from "../child.ts";
import { readBytes } from "../publish/publish.ts";
import { SOCKET_NAME } from "./config.ts";
import { OPEN_PAGES_VARIABLE } from "./config-text.ts";

export interface WorkerdOptions {
  readonly configPath: string;
  /** Other options of `workerd serve`. */
  readonly flags?: readonly string[] | undefined;
  /** Sockets that must listen. Default: that of clients. */
  readonly sockets?: readonly string[] | undefined;
  /** Descriptor of a listening socket that clients' socket takes over. */
  readonly descriptor?: number | undefined;
  /** Opens the gateway's own pages to everyone for this run; never written to the configuration file. */
  readonly openPages?: boolean | undefined;
  /** Called for each line that workerd or the Worker prints. */
  readonly onLogLine?: ((line: string) => void) | undefined;
}

/** A workerd process that listens. */
export interface RunningWorkerd {
  readonly url: string;
  readonly port: number;
  /** By the name of each socket. */
  readonly ports: Readonly<Record<string, number>>;
  readonly pid: number;
  /** The last printed lines, oldest first. */
  readonly lines: readonly string[];
  /** Resolves with the exit code when the process ends. */
  readonly exited: Promise<number>;
  /** Lets running requests finish within a deadline, or until `atOnce`: whether some were cut off. Idempotent. */
  stop(deadlineMs?: number, atOnce?: Promise<void>): Promise<boolean>;
}

/** Enough to see why a start failed, and bounded for a gateway that runs for weeks. */
const LINES_MAX = 200;

const START_DEADLINE_MS = 20_000;

/** File descriptor of workerd's control messages: the first after standard input, output and error. */
const CONTROL_DESCRIPTOR = 3;

/** In workerd: a socket that this process inherited. */
const CLIENTS_DESCRIPTOR = 4;

export const CONFIG_FILE = "config.capnp";

/** In the state folder: the process that has it open. Two of them would give the same numbers twice. */
const pidFileOf = (configFile: string): string =>
  `${configFile.replace(/\.capnp$/, "").replace(/^config/, "workerd")}.pid`;

/**
 * The process of a gateway that runs on a state folder. Its number alone does not say so: systems give numbers again, so its
 * command line counts too. `own`: a process that does not count, for in a container each start may get the number of the last.
 */
export function runningOn(stateFolder: string, own?: number, configFile = CONFIG_FILE): number | undefined {
  const pid = Number(readBytes(join(stateFolder, pidFileOf(configFile))) ?? 0);
  if (!(pid > 0) || pid === own) return undefined;
  return commandLine(pid).includes(join(realpathSync(stateFolder), configFile)) ? pid : undefined;
}

/** The program that prints a process's command line. Linux has it in a file, which needs no program. */
export const commandLineQuery = (pid: number, platform: NodeJS.Platform): readonly [string, ...string[]] =>
  platform === "win32"
    ? [
        "powershell",
        "-NoProfile",
        "-NonInteractive",
        "-Command",
        `(Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}').CommandLine`,
      ]
    : ["ps", "-ww", "-o", "args=", "-p", String(pid)];

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    const [program, ...args] = commandLineQuery(pid, process.platform);
    return spawnSync(program, args, { encoding: "utf8", windowsHide: true }).stdout ?? "";
  }
}

/** Throws if a gateway runs on a state folder. */
export function refuseRunning(stateFolder: string, own?: number, configFile?: string): void {
  const pid = runningOn(stateFolder, own, configFile);
  const what = `${stateFolder} is the state of a running gateway (process ${pid})`;
  if (pid !== undefined) throw new Error(`${what}. Stop it, or use another --state.`);
}

/**
 * Lines that workerd prints for each CONNECT, which it answers with 500 itself. A handler of our own would be worse: the
 * runtime opens a tunnel before it asks it, by a 200 (RFC 9110 §9.3.6). And one for each start: our V8 flags differ from those
 * of the cache in its binary, so it compiles a few scripts itself.
 */
const NOISE =
  /^(?:Received a connect event|workerd\/.*: (?:Handler does not export a connect\(\) function|warning: NOSENTRY per-isolate bootstrap compile cache))/;

/** Starts workerd and resolves once it listens. Rejects with its output if it exits or times out. */
export async function startWorkerd(options: WorkerdOptions): Promise<RunningWorkerd> {
  const { configPath, descriptor, sockets = [SOCKET_NAME] } = options;
  const flags = [
    `--control-fd=${CONTROL_DESCRIPTOR}`,
    ...(descriptor === undefined ? [] : [`--socket-fd=${SOCKET_NAME}=${CLIENTS_DESCRIPTOR}`]),
    ...(options.flags ?? []),
  ];
  const child = spawn(workerdBinary(), ["serve", ...flags, configPath], {
    stdio: ["ignore", "pipe", "pipe", "pipe", ...(descriptor === undefined ? [] : [descriptor])],
    ...apartFromTerminal(),
    env: { ...process.env, [OPEN_PAGES_VARIABLE]: options.openPages === true ? "on" : "off" },
  });
  endWithParent(child);
  const stateFolder = dirname(configPath);
  const configFile = basename(configPath);
  const pidFile = join(stateFolder, pidFileOf(configFile));
  try {
    refuseRunning(stateFolder, child.pid, configFile);
    writeFileSync(pidFile, String(child.pid ?? ""));
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  const lines: string[] = [];
  const keep = (line: string) => {
    if (NOISE.test(line)) return;
    if (lines.push(line) > LINES_MAX) lines.shift();
    options.onLogLine?.(line);
  };
  onLines(child, 1, keep);
  onLines(child, 2, keep);
  const exited = new Promise<number>((resolve) => {
    child.once("close", (code, signal) => resolve(exitCodeOf(code, signal)));
  });
  const ports = await listeningPorts(child, sockets, lines, exited);
  const port = ports[SOCKET_NAME] ?? 0;
  // If two start at one moment, the later stays.
  if (Number(readBytes(pidFile)) !== child.pid) {
    child.kill("SIGKILL");
    refuseRunning(stateFolder, undefined, configFile);
  }
  const stop: RunningWorkerd["stop"] = async (deadlineMs, atOnce) => {
    const isKilled = await stopChild(child, deadlineMs, atOnce);
    await exited;
    rmSync(pidFile, { force: true });
    return isKilled;
  };
  return { url: `http://127.0.0.1:${port}`, port, ports, pid: child.pid ?? 0, lines, exited, stop };
}

/** The binary itself: the package's wrapper script would not forward signals. */
function workerdBinary(): string {
  const require = createRequire(import.meta.url);
  const { default: path }: { readonly default?: unknown } = require("workerd");
  if (typeof path !== "string") throw new Error("the package workerd does not export the path of its binary");
  return path;
}

function listeningPorts(
  child: ChildProcess,
  sockets: readonly string[],
  lines: readonly string[],
  exited: Promise<number>,
): Promise<Readonly<Record<string, number>>> {
  const ports: Record<string, number> = {};
  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      clearTimeout(deadline);
      child.kill("SIGKILL");
      reject(new Error([`workerd ${what}`, ...lines, ...adviceOn(lines)].join("\n")));
    };
    const deadline = setTimeout(() => fail(`does not listen after ${START_DEADLINE_MS} ms`), START_DEADLINE_MS);
    child.once("error", (error) => fail(`cannot be started: ${error.message}`));
    void exited.then((code) => fail(`ended with code ${code} at its start`));
    onLines(child, CONTROL_DESCRIPTOR, (line) => {
      Object.assign(ports, portOf(line));
      if (sockets.some((name) => ports[name] === undefined)) return;
      clearTimeout(deadline);
      resolve(ports);
    });
  });
}

/** Names the option of the address that another program has. The words are workerd's. */
function adviceOn(lines: readonly string[]): readonly string[] {
  const taken = lines.find((line) => /already in use/.test(line));
  if (taken === undefined) return [];
  if (/^Socket "state"/.test(taken)) return ["Choose another address with --state-listen."];
  return [`Choose another address with ${/cluster address/.test(taken) ? "--cluster-addr" : "--listen"}.`];
}

function onLines(child: ChildProcess, descriptor: number, onLine: (line: string) => void): void {
  const input = child.stdio[descriptor];
  if (!(input instanceof Readable)) throw new TypeError(`descriptor ${descriptor} of workerd is not a pipe`);
  createInterface({ input }).on("line", onLine);
}

/** Parses a control message, one JSON object per line: the port of a socket that listens, by the socket's name. */
function portOf(line: string): Readonly<Record<string, number>> {
  const message: { event?: unknown; socket?: unknown; port?: unknown } | null = JSON.parse(line);
  const { event, socket, port } = message ?? {};
  return event === "listen" && typeof socket === "string" && typeof port === "number" ? { [socket]: port } : {};
}
