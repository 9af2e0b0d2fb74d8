import type { Command, OptionValues } from "commander";
import type { RandomWords, Result } from "../ids/index.ts";

/** Terminal styles, named as in `util.styleText`. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

/** Everything that commands need from the machine. `main.ts` provides the real one. */
export interface Runtime {
  readonly nowMs: () => number;
  readonly entropy: RandomWords;
  readonly version: string;
  /** The version of Node, such as `24.9.0`. */
  readonly nodeVersion: string;
  /** The error is the system's message: `no such file`. */
  readonly readFile: (path: string) => Result<Uint8Array<ArrayBuffer>, string>;
  readonly fileExists: (path: string) => boolean;
  /** The names in a folder, sorted. The error is the system's message. */
  readonly readFolder: (path: string) => Result<readonly string[], string>;
  /** A file as a stream with its size, for files larger than memory. */
  readonly openFile: (path: string) => Promise<Result<OpenFile, string>>;
  /** Writes or overwrites a file, and creates missing folders. The error is the system's message. */
  readonly writeFile: (path: string, content: string | Uint8Array) => Result<undefined, string>;
  /** Writes a file for its owner alone, bit by bit; it has its name once it is whole. The error is the system's message. */
  readonly createFile: (path: string) => Promise<Result<NewFile, string>>;
  readonly stdin: { readonly isTerminal: boolean; readonly chunks: AsyncIterable<Uint8Array> };
  /** Data, to stdout. Waits while the reader is slow. */
  readonly print: (text: string) => Promise<void>;
  /** Everything else, to stderr. */
  readonly report: (text: string) => void;
  /** Text for stdout, plain if colours are off. */
  readonly paint: (style: Style | readonly Style[], text: string) => string;
  readonly isWatched: boolean;
  /** Whether stderr is a terminal, so that progress may be shown. */
  readonly isReportWatched: boolean;
  /** Width of the terminal at stdout and at stderr. `undefined`: no terminal. */
  readonly columns: number | undefined;
  readonly reportColumns: number | undefined;
  /** The answer at the terminal, or why there is none. */
  readonly prompt: (question: string) => Promise<Result<string, NoAnswer>>;
  /** Runs `work`. Ctrl-C prints the farewell and exits with 130. */
  readonly guard: <Value>(work: () => Promise<Value>, farewell: string) => Promise<Value>;
  readonly env: (name: string) => string | undefined;
  readonly fetch: typeof fetch;
  /** A GET without redirects by Node's own client: `fetch` takes longer to load than a probe to answer. Default: `fetch`. */
  readonly get?: SimpleFetch;
  readonly pause: (ms: number) => Promise<void>;
  /** A signal that is aborted after `ms`. */
  readonly deadline: (ms: number) => AbortSignal;
}

/** The part of `fetch` that requests to a gateway need. */
export type SimpleFetch = (
  url: string,
  init: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal } & RequestInit,
) => Promise<
  Pick<Response, "status" | "ok"> & {
    readonly headers: Pick<Headers, "get">;
    readonly body: AsyncIterable<Uint8Array> | null;
  }
>;

/** There is `no-terminal`, the input `ended` (Ctrl-D), or the question was `interrupted` (Ctrl-C). */
export type NoAnswer = "no-terminal" | "ended" | "interrupted";

export interface NewFile {
  readonly write: (text: string) => Promise<void>;
  /** It is on the disk, and replaces a file of its name. */
  readonly finish: () => Promise<void>;
  readonly discard: () => Promise<void>;
}

export interface OpenFile {
  /** 0 for a pipe. */
  readonly bytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Exit codes. 4 to 8: how far the last change of a published table has propagated. 64 is EX_USAGE of
 * sysexits.h; 130 is 128 + SIGINT, as shells report it.
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
  usage: 64,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Wraps an action for commander. */
export type Act = <Options extends OptionValues>(
  action: (runtime: Runtime, args: readonly string[], options: Options) => Promise<ExitCode>,
) => (this: Command) => Promise<void>;

/** Ends a command. The message is for stderr. */
export class Stop extends Error {
  readonly code: ExitCode;
  readonly data: string;

  constructor(sentences: string, code: ExitCode = EXIT.failed, data = "") {
    super(sentences);
    this.code = code;
    this.data = data;
  }
}

export function fail(sentences: string, code?: ExitCode): never {
  throw new Stop(sentences, code);
}

/** Ends a command whose words are wrong, whatever its files hold and its gateway answers. */
export function misuse(sentences: string): never {
  throw new Stop(sentences, EXIT.usage);
}

/** Both values. The errors of both are reported. */
export const both = async <A, B>(first: Promise<A>, second: Promise<B>): Promise<readonly [A, B]> => {
  const settled = await Promise.allSettled([first, second]);
  const stops = settled.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  for (const stop of stops) if (!(stop instanceof Stop)) throw stop;
  if (stops.length < 2) return Promise.all([first, second]);
  const [code = EXIT.failed, ...others] = new Set(stops.map((stop: Stop) => stop.code));
  const together = others.length === 0 ? code : EXIT.failed;
  throw new Stop(stops.map(({ message }) => message).join(""), together, stops.map(({ data }) => data).join(""));
};
