import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

/** One step as its user waits for it. */
export interface Step {
  readonly name: string;
  readonly seconds: number;
  /** All its processes together, where the system tells. */
  readonly processorSeconds?: number | undefined;
  readonly installed?: Installed;
}

export interface Installed {
  readonly packages: number;
  readonly megabytes: number;
}

/** A file with two names counts once: workerd's install script, where npm runs it, gives its program a second one. */
function bytesIn(path: string, seen = new Set<number>()): number {
  const stat = lstatSync(path);
  if (stat.isDirectory()) return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name), seen), 0);
  if (seen.has(stat.ino)) return 0;
  seen.add(stat.ino);
  return stat.size;
}

export function installedIn(folder: string): Installed {
  const { packages } = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8"));
  return { packages: Object.keys(packages).length, megabytes: bytesIn(join(folder, "node_modules")) / 1e6 };
}

/** Ports that were free a moment ago: nothing listens there. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Linux counts the processor's time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** The time of a process, of those that it began, and of those of them that have ended. */
function processorSecondsOf(root: number): number | undefined {
  if (process.platform !== "linux") return undefined;
  const all = readdirSync("/proc").flatMap((id) => {
    try {
      // After the name, which may hold spaces: state, parent, …, and the times as fields 12 to 15.
      const fields = readFileSync(`/proc/${id}/stat`, "utf8").split(") ")[1]?.split(" ").map(Number) ?? [];
      return [{ id: Number(id), parent: fields[1], ticks: fields.slice(11, 15).reduce((sum, each) => sum + each, 0) }];
    } catch {
      return [];
    }
  });
  const ticksOf = (id: number): number =>
    all.reduce((sum, each) => sum + (each.id === id ? each.ticks : each.parent === id ? ticksOf(each.id) : 0), 0);
  return ticksOf(root) / TICKS_PER_SECOND;
}

const PROGRAM_MS_MAX = 300_000;
const START_MS_MAX = 120_000;

const execute = promisify(execFile);

/** Runs a program as at a prompt: gives what it printed. The registry answers it meanwhile, in this process. */
export async function succeed(env: NodeJS.ProcessEnv, cwd: string, ...words: string[]): Promise<string> {
  const [program = "", ...args] = words;
  const { stdout } = await execute(program, args, { cwd, env, timeout: PROGRAM_MS_MAX }).catch((error) => {
    throw new Error(`${words.join(" ")}: ${error.code}\n${error.stdout}\n${error.stderr}`);
  });
  return stdout;
}

export interface Started {
  readonly url: string;
  readonly output: () => string;
  readonly step: Step;
  /** Ctrl-C at its terminal: resolves when all its processes have ended, with npm's exit code or signal. */
  stop(): Promise<number | NodeJS.Signals>;
}

/** `npm start`, until a request of an entity has its answer. */
export async function npmStart(env: NodeJS.ProcessEnv, cwd: string, path: string): Promise<Started> {
  const since = performance.now();
  const child = spawn("npm", ["start", "--", "--port", "0"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const stop = () => {
    process.kill(-(child.pid ?? 0), "SIGINT");
    return ended;
  };
  const firstAnswer = async (): Promise<string> => {
    while (performance.now() - since < START_MS_MAX && child.exitCode === null) {
      const url = /^ready (\S+)$/m.exec(output)?.[1];
      if (url !== undefined && (await fetch(url + path)).ok) return url;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    if (child.exitCode === null) await stop();
    throw new Error(`npm start does not answer:\n${output}`);
  };
  const url = await firstAnswer();
  const seconds = (performance.now() - since) / 1000;
  const step = {
    name: "npm start, to the first answer",
    seconds,
    processorSeconds: processorSecondsOf(child.pid ?? 0),
  };
  return { url, output: () => output, step, stop };
}
