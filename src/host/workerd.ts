import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { exitCodeOf, stopChild } from "./child.ts";
import { OPEN_PAGES_VARIABLE, SOCKET_NAME } from "./workerd-config.ts";

export interface WorkerdOptions {
  readonly configPath: string;
  /** Everybody may see and change everything; nobody may unless said otherwise. */
  readonly openPages?: boolean | undefined;
  /** Every line that workerd or the Worker prints, without its end. */
  readonly onLogLine?: ((line: string) => void) | undefined;
}

/** A workerd that listens. */
export interface RunningWorkerd {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The last lines that it printed, oldest first. */
  readonly lines: readonly string[];
  /** Resolves with the exit code when the process has ended, whoever ended it. */
  readonly exited: Promise<number>;
  /** Lets running requests finish within a deadline; may be called again. */
  stop(): Promise<void>;
}

/** Enough to see why a start failed; a gateway that runs for weeks must not keep them all. */
const LINES_KEPT = 200;

const START_DEADLINE_MS = 20_000;

/** workerd's own descriptor for control messages, the first one after standard input, output and error. */
const CONTROL_DESCRIPTOR = 3;

/** Starts workerd and resolves once it listens. Rejects with what it printed when it ends or hangs instead. */
export async function startWorkerd(options: WorkerdOptions): Promise<RunningWorkerd> {
  const child = spawn(workerdBinary(), ["serve", `--control-fd=${CONTROL_DESCRIPTOR}`, options.configPath], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: { ...process.env, [OPEN_PAGES_VARIABLE]: options.openPages === true ? "on" : "off" },
  });
  const lines: string[] = [];
  const keep = (line: string) => {
    if (lines.push(line) > LINES_KEPT) lines.shift();
    options.onLogLine?.(line);
  };
  onLines(child, 1, keep);
  onLines(child, 2, keep);
  const exited = new Promise<number>((resolve) =>
    child.once("close", (code, signal) => resolve(exitCodeOf(code, signal))),
  );
  const port = await listeningPort(child, lines, exited);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    pid: child.pid ?? 0,
    lines,
    exited,
    stop: async () => {
      await stopChild(child);
      await exited;
    },
  };
}

/** The binary itself, not the package's script, which would stand between us and its signals. */
function workerdBinary(): string {
  const require = createRequire(import.meta.url);
  const exported: unknown = require("workerd");
  const path =
    typeof exported === "object" && exported !== null && "default" in exported ? exported.default : undefined;
  if (typeof path !== "string") throw new Error("the package workerd does not tell where its binary is");
  return path;
}

function listeningPort(child: ChildProcess, lines: readonly string[], exited: Promise<number>): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      clearTimeout(deadline);
      child.kill("SIGKILL");
      reject(new Error([`workerd ${what}`, ...lines].join("\n")));
    };
    const deadline = setTimeout(() => fail(`does not listen after ${START_DEADLINE_MS} ms`), START_DEADLINE_MS);
    child.once("error", (error) => fail(`cannot be started: ${error.message}`));
    void exited.then((code) => fail(`ended with code ${code} at its start`));
    onLines(child, CONTROL_DESCRIPTOR, (line) => {
      const port = portOf(line);
      if (port === undefined) return;
      clearTimeout(deadline);
      resolve(port);
    });
  });
}

function onLines(child: ChildProcess, descriptor: number, onLine: (line: string) => void): void {
  const input = child.stdio[descriptor];
  if (!(input instanceof Readable)) throw new TypeError(`descriptor ${descriptor} of workerd is not a pipe`);
  createInterface({ input }).on("line", onLine);
}

/** A control message is one JSON object a line; the one that matters here says which port a socket got. */
function portOf(line: string): number | undefined {
  const message: unknown = JSON.parse(line);
  if (typeof message !== "object" || message === null) return undefined;
  if (!("event" in message && message.event === "listen")) return undefined;
  if (!("socket" in message && message.socket === SOCKET_NAME)) return undefined;
  return "port" in message && typeof message.port === "number" ? message.port : undefined;
}
