import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";

/** How long a child may take to end by itself after SIGTERM: workerd lets running requests finish. */
const STOP_DEADLINE_MS = 5_000;

/** Asks a child to end, makes it end after a deadline, and resolves when it has. */
export async function stopChild(child: ChildProcess, deadlineMs = STOP_DEADLINE_MS): Promise<void> {
  const exit = exitOf(child);
  child.kill("SIGTERM");
  const deadline = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
  await exit;
  clearTimeout(deadline);
}

/** Resolves with the exit code; at once if the child has ended. Rejects if it could not be started. */
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

/** As a shell reports it: 128 plus the number of the signal that ended the process. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
