// Runs npm for a checkout: one install at a time, which ends with this process.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** How often the holder of a lock says that it is there, and after how long without it the lock is free: its process may be stopped. */
const BEAT_MS = 2_000;
const HELD_MS = 30_000;

const LOOK_MS = 250;

/** Between the signal and SIGKILL: npm puts back what it has moved away. */
const END_MS = 5_000;

/** A terminal's Ctrl-C also comes by npm, whose script this is. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Does work while no other process does any under the same lock, which it waits for.
 * @template Value
 * @param {string} lock a file
 * @param {(pid: number) => void} onWait told once
 * @param {() => Promise<Value>} work
 * @returns {Promise<Value>}
 */
export async function alone(lock, onWait, work) {
  mkdirSync(dirname(lock), { recursive: true });
  for (let waits = 0; !take(lock); waits += 1) {
    const pid = holderOf(lock);
    if (pid === undefined) rmSync(lock, { force: true });
    else {
      if (waits === 0) onWait(pid);
      await delay(LOOK_MS);
    }
  }
  const beat = setInterval(() => utimesSync(lock, new Date(), new Date()), BEAT_MS).unref();
  const leave = () => rmSync(lock, { force: true });
  process.once("exit", leave);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    process.off("exit", leave);
    leave();
  }
}

/** @param {string} lock */
function take(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  }
}

/** The process that holds a lock; `undefined`: it ended without leaving it. @param {string} lock */
function holderOf(lock) {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    const ageMs = Date.now() - statSync(lock).mtimeMs;
    // Between its making and its content it is empty for a moment.
    if (ageMs > HELD_MS || (pid === 0 && ageMs > LOOK_MS) || pid === process.pid) return undefined;
    if (pid > 0) process.kill(pid, 0);
    return pid;
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    return code === "EPERM" ? 0 : undefined;
  }
}

/**
 * Runs npm in a group of processes of its own. A signal to this process, or its end in whatever way, ends the whole group; it is
 * waited for. Gives npm's exit code, or the signal that this process got.
 * @param {string} folder
 * @param {readonly [string, ...string[]]} command
 * @returns {Promise<{ code: number } | { signal: NodeJS.Signals } | { error: Error }>}
 */
export async function runNpm(folder, [program, ...args]) {
  const isWindows = process.platform === "win32";
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let child;
  const kill = (/** @type {NodeJS.Signals} */ signal) => {
    try {
      if (isWindows || child?.pid === undefined) child?.kill(signal);
      else process.kill(-child.pid, signal);
    } catch {
      // It has ended.
    }
  };
  /** @type {{ signal: NodeJS.Signals, atMs: number } | undefined} */
  let got;
  /** @type {NodeJS.Timeout | undefined} */
  let deadline;
  const end = (/** @type {NodeJS.Signals} */ signal) => {
    if (got === undefined) {
      got = { signal, atMs: performance.now() };
      kill("SIGTERM");
      deadline = setTimeout(kill, END_MS, "SIGKILL");
    } else if (performance.now() - got.atMs > SAME_SIGNAL_MS) kill("SIGKILL");
  };
  // Before npm starts, so that no signal finds it alone.
  const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
  for (const signal of signals) process.on(signal, end);
  const stdio = /** @type {["ignore", number, number]} */ (["ignore", 2, 2]);
  // It takes a moment to start: SIGKILL may come before npm has begun.
  const guard = isWindows ? undefined : startGuard();
  const npm = spawn(program, args, { cwd: folder, stdio, windowsHide: true, detached: !isWindows });
  child = npm;
  if (npm.pid !== undefined) guard?.stdin.write(`${npm.pid}\n`);
  // npm starts scripts by a shell, which dies by a signal that it does not hand on.
  const parent = process.ppid;
  const orphaned = () => got === undefined && process.ppid !== parent && end("SIGTERM");
  const look = process.env["npm_command"] === undefined ? undefined : setInterval(orphaned, LOOK_MS);
  try {
    return await new Promise((resolve) => {
      npm.once("error", (error) => resolve({ error }));
      npm.once("exit", (code, signal) => {
        resolve(got ?? { code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) });
      });
    });
  } finally {
    clearTimeout(deadline);
    clearInterval(look);
    for (const signal of signals) process.off(signal, end);
    if (got !== undefined) {
      // npm itself may have left others of its group.
      kill("SIGKILL");
      // How far it got is unknown: the next start installs all again.
      rmSync(join(folder, "node_modules", ".package-lock.json"), { force: true });
    }
    guard?.kill("SIGKILL");
  }
}

/** Kills the group that its first line names when this process ends in whatever way, SIGKILL included: then its input ends. */
function startGuard() {
  const guard = spawn("sh", ["-c", 'read -r group || exit; read -r _; kill -KILL "-$group"'], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.once("error", () => undefined);
  guard.stdin.on("error", () => undefined);
  return guard;
}
