import { InvalidArgumentError } from "commander";
import { err, ok, type Result } from "../../ids/index.ts";
import { parseTime } from "../../routing/layouts/fields.ts";
import { EXIT, type ExitCode, fail, type OpenFile, type Runtime } from "../runtime.ts";
import { escapeControls } from "./output.ts";

/** Limits memory. In UTF-16 units. */
const LINE_LENGTH_MAX = 65_536;

/** The lines of a stream without their ends (LF or CRLF). The number of a line that is too long ends them. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Result<string, number>> {
  const decoder = new TextDecoder();
  let rest = "";
  let count = 0;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      count += 1;
      if (line.length > LINE_LENGTH_MAX) return yield err(count);
      yield ok(line.replace(/\r$/, ""));
    }
    if (rest.length > LINE_LENGTH_MAX) return yield err(count + 1);
  }
  const last = rest + decoder.decode();
  if (last !== "") yield ok(last);
}

/** The whole stream; `undefined` if it has more than `bytesMax` bytes. */
export async function bytesOf(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > bytesMax) return undefined;
    parts.push(chunk);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** A file as a stream, or stdin for `-`. The error is for stderr. */
export const openInput = async (
  path: string,
  runtime: Runtime,
): Promise<Result<OpenFile & { readonly name: string }, string>> => {
  if (path === "-") return ok({ name: "stdin", bytes: 0, chunks: runtime.stdin.chunks });
  const file = await runtime.openFile(path);
  return file.ok ? ok({ ...file.value, name: path }) : err(readError(path, file.error));
};

export const readError = (path: string, why: string): string =>
  `error: ${escapeControls(`${path} cannot be read: ${why}`)}\n`;

/** Writes a file. The error is for stderr. */
export const writeOutput = (
  path: string,
  content: string | Uint8Array,
  runtime: Runtime,
): Result<undefined, string> => {
  const written = runtime.writeFile(path, content);
  return written.ok ? written : err(`error: ${escapeControls(path)} cannot be written: ${written.error}\n`);
};

/** The output for one ID: to stdout and to stderr. */
export interface IdResult {
  readonly data: string;
  readonly report: string;
  readonly failed: boolean;
}

/** Answers for each ID as it is read: from arguments, or from stdin for `-` and without any. A failed ID does not stop the others. */
export const eachId = async (
  args: readonly string[],
  runtime: Runtime,
  answer: (id: string, index: number) => IdResult,
): Promise<ExitCode> => {
  let count = 0;
  let failures = 0;
  for await (const id of idsOf(args, runtime)) {
    if (!id.ok) return fail(`error: line ${id.error} of stdin is too long for an ID\n`, runtime);
    const { data, report, failed } = answer(id.value, count);
    if (data !== "") await runtime.print(data);
    if (report !== "") runtime.report(report);
    if (failed) failures += 1;
    count += 1;
  }
  if (count === 0) return fail("error: stdin has no ID\n", runtime);
  return failures === 0 ? EXIT.ok : EXIT.failed;
};

/** Whether no ID can come: no argument, and stdin is a terminal. Reports it. */
export const lacksIds = (args: readonly string[], runtime: Runtime): boolean => {
  if (args.length > 0 || !runtime.stdin.isTerminal) return false;
  runtime.report("error: no ID; pass one or more, or pipe them in, one per line\n");
  return true;
};

/** An ID that became another one. `plain`: for `--json`. */
export interface ConvertedId {
  readonly id: string;
  readonly plain: object;
}

/** Prints another ID for each ID. The error of `convert` is a sentence. */
export const convertEach = (
  args: readonly string[],
  json: boolean | undefined,
  runtime: Runtime,
  convert: (text: string) => Result<ConvertedId, string>,
): Promise<ExitCode> => {
  if (lacksIds(args, runtime)) return Promise.resolve(EXIT.failed);
  return eachId(args, runtime, (text) => {
    const converted = convert(text);
    const failed = !converted.ok;
    const plain = converted.ok ? converted.value.plain : { error: { detail: converted.error } };
    if (json) return { data: `${JSON.stringify({ text, ...plain })}\n`, report: "", failed };
    return converted.ok
      ? { data: `${converted.value.id}\n`, report: "", failed }
      : { data: "", report: `error: ${converted.error}\n`, failed };
  });
};

/** The IDs in order, without empty lines of stdin. */
export async function* idsOf(args: readonly string[], { stdin }: Runtime): AsyncGenerator<Result<string, number>> {
  for (const arg of args.length === 0 ? ["-"] : args) {
    if (arg !== "-") yield ok(arg);
    else for await (const line of linesOf(stdin.chunks)) if (!line.ok || line.value !== "") yield line;
  }
}

/** Parsers of option values: strict, never guessing. */

export const wholeNumber = (text: string): number => {
  const value = digitsOf(text);
  if (Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("It must be a whole number of at least 0.");
};

/** Whole, and at least 1. */
export const countingNumber = (text: string): number => {
  const value = digitsOf(text);
  if (value >= 1 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("It must be a whole number of at least 1.");
};

const digitsOf = (text: string): number => (/^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN);

/** Above 0, with an optional fraction or power of ten, such as 0.5 or 2e6. */
export const positiveNumber = (text: string): number => {
  const value = /^[0-9]{1,20}(\.[0-9]{1,20})?(e[0-9]{1,2})?$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0) return value;
  throw new InvalidArgumentError("It must be a number above 0, such as 5000, 0.5 or 2e6.");
};

/** From 0 to 100, with steps of one ID in a hundred million. */
export const percent = (text: string): number => {
  const value = /^[0-9]{1,3}(\.[0-9]{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (value <= 100) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 100, such as 10 or 0.5.");
};

/** The parts of `name=value`. `before`: the names given already. */
export const namedValue = (what: string, text: string, before: object): readonly [name: string, value: string] => {
  const [, name, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("Write it as name=value.");
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${what} ${name} is duplicated.`);
  return [name, value];
};

/** ISO 8601 with seconds and offset: without an offset, a time depends on the machine. */
const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})$/;

/** Unix ms. */
export const time = (text: string): number => {
  if (!TIME.test(text)) throw new InvalidArgumentError("Write a time with its offset, such as 2026-06-01T00:00:00Z.");
  const unixMs = parseTime(text);
  if (unixMs === undefined) throw new InvalidArgumentError("There is no such day or hour.");
  return unixMs;
};
