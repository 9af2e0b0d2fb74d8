import type { Command, OptionValues } from "commander";
import type { RandomWords, Result } from "../ids/index.ts";

/** How a stretch of terminal text looks; the names are those of `util.styleText`. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

/** All that the command needs from the machine. `main.ts` hands in the real one. */
export interface Runtime {
  /** Unix time in milliseconds. */
  readonly nowMs: () => number;
  readonly entropy: RandomWords;
  readonly version: string;
  /** The secret `PUBLIC_ID_KEYS` of the environment: never an argument, which every user of a machine can see. */
  readonly publicIdKeys: string | undefined;
  /** A file's bytes, or the system's word for why there are none: `no such file`. */
  readonly readFile: (path: string) => Result<Uint8Array<ArrayBuffer>, string>;
  readonly fileExists: (path: string) => boolean;
  /** A file as a stream with its length in bytes, for those that may be larger than the memory. */
  readonly openFile: (path: string) => Promise<Result<OpenFile, string>>;
  /** Writes a text in place of what a file held; the system's word when that fails. */
  readonly writeFile: (path: string, text: string) => Result<undefined, string>;
  /** The same for bytes; folders that are not there are made. */
  readonly writeBytes: (path: string, bytes: Uint8Array) => Result<undefined, string>;
  readonly stdin: { readonly isTerminal: boolean; readonly chunks: AsyncIterable<Uint8Array> };
  /** Data, to stdout. Waits while the reader is behind. */
  readonly print: (text: string) => Promise<void>;
  /** Everything else, to stderr. */
  readonly report: (text: string) => void;
  /** Text for stdout, plain where colours are not wanted. */
  readonly paint: (style: Style | readonly Style[], text: string) => string;
  /** Whether a person looks at stdout. */
  readonly isWatched: boolean;
  /** Whether a person looks at stderr, and may be shown how far the work is. */
  readonly isReportWatched: boolean;
  /** How wide the terminal at stdout is, and the one at stderr. `undefined`: there is none. */
  readonly columns: number | undefined;
  readonly reportColumns: number | undefined;
  /** What a person at the terminal answers to a question, or why nobody does. */
  readonly prompt: (question: string) => Promise<Result<string, NoAnswer>>;
  /** Does a piece of work. Whoever interrupts it by Ctrl-C reads the farewell, and the command ends with 130. */
  readonly guard: <Value>(work: () => Promise<Value>, farewell: string) => Promise<Value>;
  /** A variable of the environment. */
  readonly env: (name: string) => string | undefined;
  readonly fetch: typeof fetch;
  /** Ends after so long. */
  readonly pause: (ms: number) => Promise<void>;
  /** Is aborted after so long. */
  readonly deadline: (ms: number) => AbortSignal;
}

/** There is `no-terminal`, the input `ended` (Ctrl-D), or the question was `interrupted` (Ctrl-C). */
export type NoAnswer = "no-terminal" | "ended" | "interrupted";

export interface OpenFile {
  /** 0 for a pipe. */
  readonly bytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * What a run of the command tells its caller: all well, an error or bad usage, differences that were asked about, a race that was
 * lost. Then how far the last change of a published table has not come: to KV, as the object knows or as KV shows it, to the
 * isolate that answers, to others; and that a wait for it was in vain. At last that nobody knows whether a change was made, and that
 * Ctrl-C ended it, by the number that shells give (128 + SIGINT).
 */
export const EXIT = {
  ok: 0,
  failed: 1,
  differs: 2,
  conflict: 3,
  pending: 4,
  kvBehind: 5,
  isolateBehind: 6,
  probesBehind: 7,
  notPropagated: 8,
  unknown: 9,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What a command does with its arguments, in order, and its options, by name. */
export type Action<Options> = (runtime: Runtime, args: readonly string[], options: Options) => Promise<ExitCode>;

/** Makes an action of ours one that commander calls. */
export type Act = <Options extends OptionValues>(action: Action<Options>) => (this: Command) => Promise<void>;

/** Says why nothing was done. */
export const fail = (sentences: string, runtime: Runtime): ExitCode => {
  runtime.report(sentences);
  return EXIT.failed;
};
