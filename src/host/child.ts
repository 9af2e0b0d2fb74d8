import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";

/** Time between SIGTERM and SIGKILL: workerd lets running requests finish. */
const STOP_DEADLINE_MS = 5_000;

/** Sends SIGTERM, then SIGKILL after a deadline. Resolves when the child has exited. */
export async function stopChild(child: ChildProcess, deadlineMs = STOP_DEADLINE_MS): Promise<void> {
  const exit = exitOf(child);
  child.kill("SIGTERM");
  const deadline = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
  await exit;
  clearTimeout(deadline);
}

/** Resolves with the exit code, at once if the child has exited. Rejects if it did not start. */
export function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve(exitCodeOf(child.exitCode, child.signalCode));
      return;
    }
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(exitCodeOf(code, signal)));
  });
}

/** As in a shell: 128 plus the signal's number for a process that a signal ended. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
