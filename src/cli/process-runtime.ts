import { randomFillSync } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { dirname, isAbsolute, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { getSystemErrorMap, styleText } from "node:util";
import { version } from "../host/parts.ts";
import { err, ok, type Result } from "../ids/index.ts";
import { messageOf } from "../ids/result.ts";
import { asCalled, tinted } from "./lib/output.ts";
import { EXIT, type NoAnswer, type Runtime, type SimpleFetch } from "./runtime.ts";

/** The only file of the command that uses the process, its clock and its randomness. */

const { stdin, stdout, stderr } = process;

export const processRuntime: Runtime = {
  nowMs: Date.now,
  entropy: pooledEntropy(),
  version,
  nodeVersion: process.versions.node,
  readFile: (path) => attempt(() => readFileSync(path), path),
  openFile: async (path) => {
    let file: FileHandle | undefined;
    try {
      file = await open(path);
      const stat = await file.stat();
      if (stat.isDirectory()) throw new Error("it is a folder");
      return ok({ bytes: stat.isFile() ? stat.size : 0, chunks: file.createReadStream() });
    } catch (error) {
      await file?.close();
      return err(reasonAt(path, error));
    }
  },
  fileExists: existsSync,
  readFolder: (path) => attempt(() => readdirSync(path).toSorted(), path),
  writeFile: (path, content) =>
    attempt(() => {
      mkdirSync(dirname(path), { recursive: true });
      writeWhole(path, content);
      return undefined;
    }),
  createFile: async (path) => {
    const unfinished = `${path}.unfinished-${process.pid}`;
    try {
      const file = await open(unfinished, "wx", 0o600);
      return ok({
        write: async (text) => void (await file.appendFile(text)),
        async finish() {
          await file.sync();
          await file.close();
          renameSync(unfinished, path);
        },
        async discard() {
          await file.close();
          rmSync(unfinished, { force: true });
        },
      });
    } catch (error) {
      return err(reasonAt(path, error));
    }
  },
  stdin: { isTerminal: stdin.isTTY === true, chunks: stdin },
  print: (text) =>
    new Promise((resolve) => {
      if (stdout.write(text)) resolve();
      else stdout.once("drain", resolve);
    }),
  report: (text) => {
    const called = asCalled(text, processRuntime.env);
    stderr.write(tinted(called, (style, part) => styleText(style, part, { stream: stderr })));
  },
  // Respects NO_COLOR, FORCE_COLOR and the terminal's capabilities. Node 20 heeds them for one style alone, not for a list.
  paint: (style, text) =>
    [style].flat().reduceRight((painted, one) => styleText(one, painted, { stream: stdout }), text),
  isWatched: stdout.isTTY === true,
  isReportWatched: stderr.isTTY === true,
  columns: stdout.isTTY ? stdout.columns : undefined,
  reportColumns: stderr.isTTY ? stderr.columns : undefined,
  prompt: async (question) => {
    if (stdin.isTTY !== true || stderr.isTTY !== true) return err("no-terminal");
    const { createInterface } = await import("node:readline/promises");
    const terminal = createInterface({ input: stdin, output: stderr });
    // Without these the question would wait forever.
    const unanswered = new Promise<Result<string, NoAnswer>>((resolve) => {
      terminal.once("SIGINT", () => resolve(err("interrupted")));
      terminal.once("close", () => resolve(err("ended")));
    });
    try {
      return await Promise.race([terminal.question(question).then(ok), unanswered]);
    } finally {
      terminal.close();
    }
  },
  guard: async (work, farewell) => {
    const leave = (): void => {
      stderr.write(farewell);
      process.exit(EXIT.interrupted);
    };
    process.once("SIGINT", leave);
    try {
      return await work();
    } finally {
      process.off("SIGINT", leave);
    }
  },
  env: (name) => process.env[name],
  fetch: globalThis.fetch,
  get,
  pause: (ms) => setTimeout(ms),
  deadline: (ms) => AbortSignal.timeout(ms),
};

async function get(url: string, { headers, signal }: Parameters<SimpleFetch>[1]): ReturnType<SimpleFetch> {
  // An import of `node:http` evaluates all its exports: Node 24 loads its WebSocket client for that, in 35 ms.
  const client = process.getBuiltinModule(url.startsWith("https:") ? "node:https" : "node:http");
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    client.get(url, { headers, signal, agent: false }, resolve).once("error", reject);
  });
  const { statusCode: status = 0 } = response;
  const field = (name: string): string | null => [response.headers[name]].flat().join(", ") || null;
  return { status, ok: status >= 200 && status < 300, headers: { get: field }, body: response };
}

/** Runs a program with the words after its name. `name`: in front of its own errors. */
export async function runProcess(
  name: string,
  program: (args: readonly string[], runtime: Runtime) => Promise<number>,
): Promise<void> {
  // A reader may close the pipe early; that is not an error.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    stderr.write(`${name}: stdout cannot be written: ${error.message}\n`);
    process.exit(EXIT.failed);
  });
  stderr.on("error", () => process.exit(EXIT.failed));
  try {
    process.exitCode = await program(process.argv.slice(2), processRuntime);
  } catch (error) {
    // An internal error: a stack trace would not help the user.
    stderr.write(`${name}: internal error: ${messageOf(error)}\n`);
    process.exitCode = EXIT.failed;
  }
}

function pooledEntropy(): Runtime["entropy"] {
  const pool = new Uint32Array(1024);
  let next = pool.length;
  return {
    word: () => {
      if (next === pool.length) {
        randomFillSync(pool);
        next = 0;
      }
      return pool[next++] as number;
    },
  };
}

/** `path`: shown in the error if it is given. */
function attempt<Value>(work: () => Value, path?: string): Result<Value, string> {
  try {
    return ok(work());
  } catch (error) {
    return err(path === undefined ? reasonOf(error) : reasonAt(path, error));
  }
}

/** Relative paths depend on the current folder, so the absolute one is shown. */
function reasonAt(path: string, error: unknown): string {
  return isAbsolute(path) ? reasonOf(error) : `${reasonOf(error)} (${resolve(path)})`;
}

function reasonOf(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]) ?? message;
}

/** A file that is there stays whole until the new content is on the disk. Its mode and a link to it stay. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const before = statSync(path, { throwIfNoEntry: false });
  // Pipes and devices take bytes as they come.
  if (before?.isFile() !== true) {
    writeFileSync(path, content);
    return;
  }
  const target = realpathSync(path);
  accessSync(target, constants.W_OK);
  const unfinished = `${target}.unfinished-${process.pid}`;
  try {
    writeFileSync(unfinished, content, { mode: 0o600 });
    chmodSync(unfinished, before.mode);
    renameSync(unfinished, target);
  } catch (error) {
    rmSync(unfinished, { force: true });
    // A folder may take no new file though this one may be written.
    if (!NO_NEW_FILE.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    writeFileSync(target, content);
  }
}

const NO_NEW_FILE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "ENAMETOOLONG"]);
