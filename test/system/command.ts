import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = join(ROOT, "src/cli/main.ts");

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Ctrl-C, when this is aborted. */
  readonly interrupt?: AbortSignal;
  /** The current folder; by default one without a table. */
  readonly cwd?: string;
}

/** A new folder. It is removed with all that a run of tests makes. */
const scratchFolder = (): string => mkdtempSync(join(tmpdir(), "waybill-cli-"));

/** A folder in which the fixtures' table is the one that commands find by themselves. */
export const tableFolder = (table: unknown = DECLARED_TABLE): string => {
  const folder = scratchFolder();
  writeFileSync(join(folder, "routing-table.json"), JSON.stringify(table, null, 2));
  return folder;
};

/** A folder without a routing table, for commands that write nothing. */
const NO_TABLE = join(ROOT, "src");
/** This run of tests has its own: it spares all commands but the first from stripping types and compiling, two thirds of their time. */
const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;

/** Runs the real command. Its stdin ends at once unless it is given. */
export const waybill = async (args: readonly string[], options: RunOptions = {}): Promise<Outcome> => {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd ?? NO_TABLE,
    env: { PATH, NODE_COMPILE_CACHE, ...options.env },
  });
  // A command that ends before it has read everything breaks the pipe, as it does in a shell.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.stdin ?? "");
  options.interrupt?.addEventListener("abort", () => child.kill("SIGINT"));
  return outcomeOf(child);
};

/** Runs a script of the shell, for pipes. The command is `"$NODE" "$MAIN"`. */
export const shell = async (script: string, cwd: string): Promise<Outcome> => {
  const env = { PATH, NODE_COMPILE_CACHE, NODE: process.execPath, MAIN };
  const child = spawn("sh", ["-c", script], { cwd, env });
  child.stdin.end();
  return outcomeOf(child);
};

const outcomeOf = async (child: ChildProcessWithoutNullStreams): Promise<Outcome> => {
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, code };
};
