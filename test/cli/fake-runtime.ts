import { readFileSync } from "node:fs";
import { styleText } from "node:util";
import { run } from "../../src/cli/program.ts";
import { EXIT, type Runtime } from "../../src/cli/runtime.ts";
import { err, ok } from "../../src/ids/index.ts";
import { MemoryFiles } from "./memory-files.ts";

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export interface RuntimeOptions {
  /** By default none. What a command writes is found in it. */
  readonly files?: MemoryFiles;
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly fetch?: Runtime["fetch"];
  /** Every stream is a terminal, where this answers what is asked. `undefined`: Ctrl-D. */
  readonly answer?: (question: string) => string | undefined;
  readonly isColoured?: boolean;
  readonly clock?: FakeClock;
  /** Hears what is written, in the order of both streams. */
  readonly onWrite?: (stream: "stdout" | "stderr", text: string) => void;
  /** Ctrl-C, when this is aborted. */
  readonly interrupt?: AbortSignal;
  /** The version of Node. */
  readonly nodeVersion?: string;
  /** By default `waybill`. */
  readonly program?: typeof run;
}

/** Time passes when a command sleeps, and only then. */
export class FakeClock {
  nowMs: number;
  #timers: { readonly atMs: number; readonly act: () => void }[] = [];

  constructor(nowMs = Date.now()) {
    this.nowMs = nowMs;
  }

  after(ms: number, act: () => void): void {
    this.#timers.push({ atMs: this.nowMs + ms, act });
  }

  deadline(ms: number): AbortSignal {
    const controller = new AbortController();
    this.after(ms, () => controller.abort(new DOMException("The operation timed out.", "TimeoutError")));
    return controller.signal;
  }

  async sleep(ms: number): Promise<void> {
    this.nowMs += ms;
    const due = this.#timers.filter(({ atMs }) => atMs <= this.nowMs);
    this.#timers = this.#timers.filter(({ atMs }) => atMs > this.nowMs);
    for (const { act } of due) act();
  }
}

/** Runs the command in this process. */
export const waybill = async (args: readonly string[], options: RuntimeOptions = {}): Promise<Outcome> => {
  const { runtime, written } = fakeRuntime(options);
  try {
    return { code: await (options.program ?? run)(args, runtime), ...written };
  } catch (error) {
    if (error !== INTERRUPTED) throw error;
    return { code: EXIT.interrupted, ...written };
  }
};

/** All that a command needs from the machine, in memory; and what it writes. */
export const fakeRuntime = (
  options: RuntimeOptions,
): { readonly runtime: Runtime; readonly written: Omit<Outcome, "code"> } => {
  const { files = MemoryFiles.of({}), stdin = "", env = {}, clock = new FakeClock(), answer, interrupt } = options;
  const written = { stdout: "", stderr: "" };
  const write = (stream: "stdout" | "stderr", text: string): void => {
    written[stream] += text;
    options.onWrite?.(stream, text);
  };
  const report = (text: string): void => write("stderr", text);
  const runtime: Runtime = {
    nowMs: () => clock.nowMs,
    pause: (ms) => clock.sleep(ms),
    deadline: (ms) => clock.deadline(ms),
    entropy: { word: () => crypto.getRandomValues(new Uint32Array(1))[0] as number },
    version: VERSION,
    nodeVersion: options.nodeVersion ?? "24.9.0",
    env: (name) => env[name],
    readFile: (path) => files.read(path),
    fileExists: (path) => files.exists(path),
    readFolder: (path) => (files.open(path).ok ? err("not a directory") : ok(files.names(path))),
    openFile: async (path) => {
      const content = files.open(path);
      return content.ok ? ok({ bytes: content.value.length, chunks: chunksOf(content.value) }) : content;
    },
    writeFile: (path, content) => ok(files.write(path, content)),
    createFile: async (path) => {
      let text = "";
      return ok({
        write: async (more) => {
          text += more;
        },
        finish: async () => files.write(path, text),
        discard: async () => undefined,
      });
    },
    stdin: {
      isTerminal: answer !== undefined,
      chunks: chunksOf(typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin),
    },
    print: async (text) => write("stdout", text),
    report,
    paint: (style, text) =>
      options.isColoured ? styleText(style as Parameters<typeof styleText>[0], text, { validateStream: false }) : text,
    isWatched: answer !== undefined,
    isReportWatched: answer !== undefined,
    columns: undefined,
    reportColumns: undefined,
    prompt: async (question) => {
      if (answer === undefined) return err("no-terminal");
      report(question);
      const answered = answer(question);
      return answered === undefined ? err("ended") : ok(answered);
    },
    guard: async (work, farewell) => {
      if (interrupt === undefined) return work();
      const interrupted = new Promise<never>((_, reject) => {
        interrupt.addEventListener("abort", () => {
          report(farewell);
          reject(INTERRUPTED);
        });
      });
      return Promise.race([work(), interrupted]);
    },
    fetch: options.fetch ?? (() => Promise.reject(new TypeError("fetch failed", { cause: new Error("no network") }))),
  };
  return { runtime, written };
};

const INTERRUPTED = new Error("Ctrl-C");

const VERSION = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { readonly version: string }
).version;

/** As much at once as a pipe gives. */
const CHUNK_BYTES = 65_536;

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

/** The objects of NDJSON output: one a line, and a line end after the last. */
export const objectsOf = (ndjson: string): readonly Record<string, unknown>[] => {
  if (!ndjson.endsWith("\n")) throw new Error(`no line end at the end of ${JSON.stringify(ndjson)}`);
  return ndjson
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
};
