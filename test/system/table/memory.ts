import { readFileSync } from "node:fs";

/** Resident memory of a process. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** The greatest growth of a process's memory while something runs. */
export async function growthDuring(pid: number, work: () => Promise<void>): Promise<number> {
  const before = residentBytes(pid);
  let most = before;
  const sampler = setInterval(() => {
    most = Math.max(most, residentBytes(pid));
  }, 20);
  await work();
  clearInterval(sampler);
  return Math.max(most, residentBytes(pid)) - before;
}
