import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Resources that another process uses. `undefined` on systems without `/proc`. */

const USER_TICKS_PER_SECOND = 100;

/** Processor time, user and kernel. */
export function processorMs(pid: number): number | undefined {
  if (process.platform !== "linux") return undefined;
  // The command name, in parentheses, may contain anything. User and system time are fields 12 and 13 after it (proc(5)).
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / USER_TICKS_PER_SECOND;
}

/** The same with nanosecond precision, for running threads only. Exact while the process is idle. */
export function exactProcessorMs(pid: number): number | undefined {
  if (process.platform !== "linux") return undefined;
  const threads = readdirSync(`/proc/${pid}/task`);
  // The first of three fields is time on a processor in ns (Linux, Documentation/scheduler/sched-stats.rst).
  const times = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

/** Resident memory. */
export const residentBytes = (pid: number): number | undefined => statusBytes(pid, "VmRSS");

/** The peak of resident memory. */
export const peakResidentBytes = (pid: number): number | undefined => statusBytes(pid, "VmHWM");

function statusBytes(pid: number, name: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  const line = readFileSync(`/proc/${pid}/status`, "utf8")
    .split("\n")
    .find((each) => each.startsWith(`${name}:`));
  return line === undefined ? undefined : Number.parseInt(line.slice(name.length + 1), 10) * 1024;
}

/** Leaves the last core to a process, as far as the system allows: threads of one that moves disturb each other. */
export function pinToOneCore(pid: number): boolean {
  const core = String(availableParallelism() - 1);
  return spawnSync("taskset", ["--all-tasks", "--cpu-list", "--pid", core, String(pid)]).status === 0;
}
