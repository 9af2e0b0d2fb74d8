import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { endWithParent } from "../../../../src/host/child.ts";

/** A machine of a trial: a network namespace, or an address of loopback. */
export interface Host {
  readonly name: string;
  readonly address: string;
  start(command: readonly [string, ...string[]], options?: StartOptions): ChildProcess;
  /** To all its processes, those that its own have started included. */
  signal(name: NodeJS.Signals): void;
  /** Its processes that run a program of that name. */
  named(program: string): readonly number[];
  /** Resolves when none is left. */
  kill(): Promise<void>;
}

export interface StartOptions {
  /** Over this process's own environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly stdio?: StdioOptions | undefined;
}

export interface Hosts {
  readonly at: (name: string) => Host;
  /** Cut, each is silent to the other. `undefined` where hosts cannot be cut apart. */
  readonly cuts: Cuts | undefined;
  stop(): Promise<void>;
}

export interface Cuts {
  cut(one: string, others: readonly string[]): void;
  /** All cuts. */
  mend(): void;
}

/** How a kind of host runs a command, and finds its processes. */
export interface HostKind {
  readonly prefix: readonly string[];
  readonly processes: (started: readonly number[]) => readonly number[];
}

const OUTPUT: StdioOptions = ["ignore", "pipe", "pipe"];

export function hostOf(name: string, address: string, { prefix, processes }: HostKind): Host {
  const started: ChildProcess[] = [];
  const own = () => processes(started.flatMap((child) => (isRunning(child) ? [child.pid ?? 0] : [])));
  const signal = (wanted: NodeJS.Signals) => {
    for (const pid of own()) tell(pid, wanted);
  };
  return {
    name,
    address,
    start: (command, { env, cwd, stdio = OUTPUT } = {}) => {
      const [program = "", ...args] = [...prefix, ...command];
      const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio, detached: true });
      endWithParent(child);
      started.push(child);
      return child;
    },
    signal,
    named: (program) => own().filter((pid) => programOf(pid) === program),
    kill: async () => {
      // A process may start another while it is killed.
      for (let left = own(); left.length > 0; left = own().filter((pid) => !isZombie(pid))) {
        for (const pid of left) tell(pid, "SIGKILL");
        await delay(20);
      }
    },
  };
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;

function tell(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Processes with all that they have started, parents first. */
export function withChildren(roots: readonly number[]): readonly number[] {
  const children = new Map<number, number[]>();
  for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const parent = Number(statusOf(Number(pid))[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(pid)]);
  }
  const found = [...roots];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found.filter((pid) => !isZombie(pid));
}

const isZombie = (pid: number): boolean => !/^[RSDTtI]/.test(statusOf(pid)[0] ?? "");

/** The kernel keeps the first 15 characters. */
function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

/** State and parent, as proc(5) has them after the command's name; nothing for a process that is gone. */
function statusOf(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
