import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stopChild } from "../src/host/child.ts";
import type { LoadFigures, LoadRequest } from "./load.ts";

/** The origin and the load run in processes of their own, so that neither's work is counted as the gateway's. */

const USER_TICKS_PER_SECOND = 100;

export async function startOrigin() {
  const child = start("origin.ts");
  const { port } = await nextMessage<{ port: number }>(child);
  return { url: `http://127.0.0.1:${port}`, port, pid: child.pid ?? 0, stop: () => stopChild(child) };
}

export function startLoad() {
  const child = start("load.ts");
  const run = async (request: LoadRequest): Promise<LoadFigures> => {
    child.send(request);
    const found = await nextMessage<LoadFigures | { error: string }>(child);
    if ("error" in found) throw new Error(found.error);
    return found;
  };
  return { run, stop: () => stopChild(child) };
}

/** Processor time that a process has used so far, its own and the kernel's; `undefined` where the system does not tell. */
export function processorMs(pid: number): number | undefined {
  if (process.platform !== "linux") return undefined;
  // The name in parentheses may hold anything; user and system time are the 12th and 13th fields after it (proc(5)).
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / USER_TICKS_PER_SECOND;
}

/** The same to the nanosecond, of the threads that are still there; exact while the process waits. */
export function exactProcessorMs(pid: number): number | undefined {
  if (process.platform !== "linux") return undefined;
  const threads = readdirSync(`/proc/${pid}/task`);
  // The first field of three is the time on a processor, in ns (Documentation/scheduler/sched-stats.rst of Linux).
  const times = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

/** Bytes of memory that a process has; `undefined` where the system does not tell. */
export const residentBytes = (pid: number): number | undefined => statusBytes(pid, "VmRSS");

/** The most that it ever had. */
export const peakResidentBytes = (pid: number): number | undefined => statusBytes(pid, "VmHWM");

function statusBytes(pid: number, name: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  const line = readFileSync(`/proc/${pid}/status`, "utf8")
    .split("\n")
    .find((each) => each.startsWith(`${name}:`));
  return line === undefined ? undefined : Number.parseInt(line.slice(name.length + 1), 10) * 1024;
}

const start = (file: string): ChildProcess => fork(fileURLToPath(new URL(`processes/${file}`, import.meta.url)));

async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  const [message]: Message[] = await once(child, "message");
  if (message === undefined) throw new Error("a child of the benchmark said nothing");
  return message;
}
