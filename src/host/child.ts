import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** Time between SIGTERM and SIGKILL: workerd lets running requests finish. */
const STOP_DEADLINE_MS = 5_000;

/** Sends SIGTERM, and SIGKILL after a deadline or `atOnce`. Resolves when the child has exited: whether it was killed. */
export async function stopChild(
  child: ChildProcess,
  deadlineMs = STOP_DEADLINE_MS,
  atOnce?: Promise<void>,
): Promise<boolean> {
  const exit = exitOf(child);
  child.kill("SIGTERM");
  let isKilled = false;
  const kill = () => {
    isKilled = child.kill("SIGKILL");
  };
  const deadline = setTimeout(kill, deadlineMs);
  void atOnce?.then(kill);
  await exit;
  clearTimeout(deadline);
  return isKilled;
}

/** A terminal's Ctrl-C would reach a child too, and end it before it is told to. A Windows process is never apart from its console. */
export const apartFromTerminal = (platform: NodeJS.Platform = process.platform) => ({
  detached: platform !== "win32",
  windowsHide: true,
});

/** Kills a child when this process ends in whatever way, SIGKILL included: then the guard's input ends. */
export function endWithParent(child: ChildProcess, platform: NodeJS.Platform = process.platform): void {
  // It could not be started; or Windows ends it, since all children of a Node that are not detached are in its job.
  if (child.pid === undefined || platform === "win32") return;
  const guard = spawn("sh", ["-c", 'read -r _; kill -KILL "$0"', String(child.pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.once("error", () => undefined);
  child.once("exit", () => guard.kill("SIGKILL"));
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

/** The runners of npm and of this project pass on a Ctrl-C that their children have got already. */
const SAME_SIGNAL_MS = 1_000;

/** How often a process under npm looks whether npm's shell is still there. */
const PARENT_POLL_MS = 250;

/**
 * Call it before anything starts. `first`: a signal that asks this process to stop, or the end of the shell in which npm runs it:
 * some shells die of a signal without handing it on. `atOnce`: one of `secondSignals` after it, by default Ctrl-C.
 */
export function stopSignals(secondSignals: readonly NodeJS.Signals[] = ["SIGINT"]) {
  let firstMs: number | undefined;
  const parent = process.ppid;
  const first = new Promise<void>((stop) => {
    const look = () => process.ppid !== parent && stop();
    if (process.env["npm_command"] !== undefined) setInterval(look, PARENT_POLL_MS).unref();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.on(signal, () => {
        firstMs ??= performance.now();
        stop();
      });
    }
  });
  const atOnce = new Promise<void>((stop) => {
    for (const signal of secondSignals)
      process.on(signal, () => performance.now() - (firstMs ?? 0) > SAME_SIGNAL_MS && stop());
  });
  return { first, atOnce };
}

/** Within this time a signal reaches all processes of a service. */
const SIGNAL_DEADLINE_MS = 250;

/**
 * Whether a child ended by itself. A service manager may signal all processes, so a child may exit before our signal arrives;
 * any other exit is a failure, and is reported.
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
