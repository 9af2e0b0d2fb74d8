import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

export const MAIN = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));

/** A folder of this test file's own, removed at its end. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "waybill-project-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Started {
  readonly url: string;
  readonly child: ChildProcess;
  /** All that it printed. */
  readonly output: () => string;
  /** Resolves with the text since `from`, once it matches. */
  readonly printed: (pattern: RegExp) => Promise<string>;
  /** Hears only what is printed from here on. */
  readonly forget: () => void;
  readonly ended: Promise<number | null>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const PRINT_MS_MAX = 50_000;

const running: Started[] = [];
/** Call it in the hook after all tests of a file. */
export const stopAll = () => Promise.all(running.map((each) => each.stop("SIGTERM")));

/** Runs `waybill start` in a folder, in a group of processes of its own, until it is ready. */
export async function start(
  cwd: string,
  args: readonly string[],
  {
    env = {},
    command = [process.execPath, MAIN, "start"],
  }: { env?: NodeJS.ProcessEnv; command?: readonly string[] } = {},
): Promise<Started> {
  const [program = "", ...first] = command;
  const child = spawn(program, [...first, ...args], {
    cwd,
    env: { ...process.env, npm_command: undefined, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  let isOver = false;
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = once(child, "close").then(([code]) => {
    isOver = true;
    return code as number | null;
  });
  const printed = async (pattern: RegExp): Promise<string> => {
    const deadline = Date.now() + PRINT_MS_MAX;
    for (;;) {
      const found = pattern.exec(output)?.[0];
      if (found !== undefined) return found;
      if (isOver || Date.now() > deadline) throw new Error(`not printed: ${pattern}\n${output}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  const stop = async (signal: NodeJS.Signals = "SIGINT") => {
    if (!isOver) process.kill(-(child.pid ?? 0), signal);
    return ended;
  };
  const forget = () => {
    output = "";
  };
  const started = { child, output: () => output, printed, forget, ended, stop };
  running.push({ url: "", ...started });
  await printed(/^console /m);
  return { url: /^ready (\S+)$/m.exec(output)?.[1] ?? "", ...started };
}
