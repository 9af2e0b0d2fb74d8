import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

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

/** Resolves at the first signal that asks this process to stop. Call it before anything starts. */
export const stopSignal = (): Promise<void> =>
  new Promise((stop) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop());
  });

/** Within this time a signal reaches all processes of a group. */
const SIGNAL_DEADLINE_MS = 250;

/**
 * Whether a child ended by itself. Ctrl-C signals the whole group, so a child may exit before our signal arrives; any other
 * exit is a failure, and is reported.
 */
export async function endedByItself(exited: Promise<number>, signalled: Promise<void>): Promise<boolean> {
  const isSignalled = signalled.then(() => true);
  const lost = exited.then(async (code) => {
    if (await Promise.race([isSignalled, delay(SIGNAL_DEADLINE_MS)])) return false;
    process.stderr.write(`The gateway exited with code ${code}.\n`);
    return true;
  });
  return Promise.race([isSignalled.then(() => false), lost]);
}
