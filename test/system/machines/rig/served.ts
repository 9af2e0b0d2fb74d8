import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exitOf } from "../../../../src/host/child.ts";
import type { Host } from "../hosts/host.ts";

/** The folder that a node serves, and the command that made it and serves it. */
export interface Build {
  readonly folder: string;
  readonly command: string;
}

/** `waybill serve` on a host, which can be stopped, killed and started again. */
export interface Served {
  readonly host: Host;
  /** Resolves when it is ready. Its build is the last that was named. */
  start(build?: Build): Promise<void>;
  /** Without waiting for readiness: it may never come. */
  begin(): void;
  /** SIGTERM: resolves with the exit code. */
  stop(): Promise<number>;
  isRunning(): boolean;
  /** All that it has printed in all its lives. */
  printed(): string;
}

export interface ServedOptions {
  readonly build: Build;
  /** The members of `--config`. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

const READY_DEADLINE_MS = 120_000;
const PRINTED_MAX = 200_000;

export function servedOn(host: Host, { build: first, config, folder, env }: ServedOptions): Served {
  const file = join(folder, `${host.name}.json`);
  writeFileSync(file, JSON.stringify(config));
  let build = first;
  let child: ChildProcess | undefined;
  let printed = "";
  const run = (): ChildProcess => {
    const args = ["serve", build.folder, "--config", file];
    const started = host.start([process.execPath, build.command, ...args], { env, cwd: folder });
    child = started;
    for (const output of [started.stdout, started.stderr]) {
      output?.on("data", (chunk: Buffer) => {
        printed = (printed + chunk).slice(-PRINTED_MAX);
      });
    }
    return started;
  };
  return {
    host,
    start: async (next = build) => {
      build = next;
      await readyOf(run(), host.name, () => printed);
    },
    begin: () => void run(),
    stop: async () => {
      child?.kill("SIGTERM");
      return child === undefined ? 0 : exitOf(child);
    },
    isRunning: () => child !== undefined && child.exitCode === null && child.signalCode === null,
    printed: () => printed,
  };
}

function readyOf(child: ChildProcess, name: string, printed: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: string) => {
      clearTimeout(deadline);
      if (error === undefined) resolve();
      else reject(new Error(`${name} ${error}:\n${printed()}`));
    };
    const deadline = setTimeout(settle, READY_DEADLINE_MS, `is not ready after ${READY_DEADLINE_MS} ms`);
    child.once("exit", (code) => settle(`ended with code ${code} at its start`));
    child.stderr?.on("data", (chunk: Buffer) => {
      if (/\bready\b/.test(String(chunk))) settle();
    });
  });
}
