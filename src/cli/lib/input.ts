import { InvalidArgumentError } from "commander";
import { err, ok, type Result } from "../../ids/index.ts";
import { joinBytes } from "../../routing/bytes.ts";
import { parseTime } from "../../routing/layouts/fields.ts";
import { EXIT, type ExitCode, fail, misuse, type OpenFile, type Runtime } from "../runtime.ts";
import { escapeControls, jsonText } from "./output.ts";

/** Limits memory. In UTF-16 units. */
const LINE_LENGTH_MAX = 65_536;

/** The lines of a stream without their ends (LF or CRLF). A line that is too long is skipped, and gives its number. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  lengthMax = LINE_LENGTH_MAX,
): AsyncGenerator<Result<string, number>> {
  const decoder = new TextDecoder();
  let rest = "";
  let isSkipping = false;
  let count = 0;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      count += 1;
      if (isSkipping) isSkipping = false;
      else yield line.length > lengthMax ? err(count) : ok(line.replace(/\r$/, ""));
    }
    if (!isSkipping && rest.length > lengthMax) {
      isSkipping = true;
      yield err(count + 1);
    }
    if (isSkipping) rest = "";
  }
  const last = rest + decoder.decode();
  if (last !== "" && !isSkipping) yield ok(last);
}

/** The whole stream; `undefined` if it has more than `bytesMax` bytes. */
export async function bytesOf(chunks: AsyncIterable<Uint8Array>, bytesMax: number) {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > bytesMax) return undefined;
    parts.push(chunk);
  }
  return joinBytes(parts);
}

/** A file as a stream, or stdin for `-`. */
export const openInput = async (path: string, runtime: Runtime): Promise<OpenFile & { readonly name: string }> => {
  if (path === "-") return { name: "stdin", bytes: 0, chunks: runtime.stdin.chunks };
  const file = await runtime.openFile(path);
  return file.ok ? { ...file.value, name: path } : unreadable(path, file.error);
};

export function unreadable(path: string, why: string): never {
  return fail(`error: ${escapeControls(`${path} cannot be read: ${why}`)}\n`);
}

/** `last`: after the error. */
export const writeOutput = (path: string, content: string | Uint8Array, runtime: Runtime, last = ""): void => {
  const written = runtime.writeFile(path, content);
  if (!written.ok) fail(`error: ${escapeControls(path)} cannot be written: ${written.error}\n${last}`);
};

/** The output for one ID: to stdout and to stderr. */
export type IdResult = { readonly data: string; readonly report: string; readonly failed: boolean };

const DASHED_HINT = "If an option is meant: it begins with two dashes. Behind -- all words are IDs.\n";

/** Answers for each ID as it is read. A failed ID does not stop the others. */
export const eachId = async (
  args: readonly string[],
  runtime: Runtime,
  answer: (id: string, index: number) => IdResult | Promise<IdResult>,
): Promise<ExitCode> => {
  let count = 0;
  let code: ExitCode = EXIT.ok;
  for await (const id of idsOf(args, runtime)) {
    const { data, report, failed } = await answer(id, count);
    if (data !== "") await runtime.print(data);
    if (report !== "") runtime.report(report + (failed && id.startsWith("-") ? DASHED_HINT : ""));
    if (failed) code = EXIT.failed;
    count += 1;
  }
  return code;
};

/** Ends the command if no ID can come: no argument, and stdin is a terminal. */
export const requireIds = (args: readonly string[], { stdin }: Runtime): void => {
  if (args.length === 0 && stdin.isTerminal) misuse("error: no ID; pass one or more, or pipe them in, one per line\n");
};

/** Prints another ID for each ID. The error of `convert` is a sentence. */
export const convertEach = (
  args: readonly string[],
  json: boolean | undefined,
  runtime: Runtime,
  convert: (text: string) => Result<{ readonly id: string }, string>,
): Promise<ExitCode> => {
  requireIds(args, runtime);
  return eachId(args, runtime, (text) => {
    const converted = convert(text);
    if (!converted.ok) {
      const report = `error: ${converted.error}\n`;
      const data = json ? jsonText({ text, error: { detail: converted.error } }) : "";
      return { data, report: json ? "" : report, failed: true };
    }
    const data = json ? jsonText({ text, ...converted.value }) : `${converted.value.id}\n`;
    return { data, report: "", failed: false };
  });
};

/** The IDs in order: from arguments, or from stdin for `-` and without any. Empty lines of stdin do not count. */
async function* idsOf(args: readonly string[], { stdin }: Runtime): AsyncGenerator<string> {
  let hasAny = false;
  for (const arg of args.length === 0 ? ["-"] : args) {
    for await (const line of arg === "-" ? linesOf(stdin.chunks) : [ok(arg)]) {
      if (!line.ok) return fail(`error: line ${line.error} of stdin is too long for an ID\n`);
      if (arg === "-" && line.value === "") continue;
      hasAny = true;
      yield line.value;
    }
  }
  if (!hasAny) fail("error: stdin has no ID\n");
}

export const allIds = async (args: readonly string[], runtime: Runtime): Promise<readonly string[]> => {
  const ids: string[] = [];
  for await (const id of idsOf(args, runtime)) ids.push(id);
  return ids;
};

/** A parser of one of a few names, which completion offers. */
export const oneOf = <const Name extends string>(names: readonly Name[], sentence: string) =>
  Object.assign(
    (text: string): Name => {
      const found = names.find((name) => name === text);
      if (found === undefined) throw new InvalidArgumentError(sentence);
      return found;
    },
    { names },
  );

/** Parsers of option values: strict, never guessing. */
const numberParser =
  (shape: RegExp, isMeant: (value: number) => boolean, sentence: string) =>
  (text: string): number => {
    const value = Number(text);
    if (shape.test(text) && isMeant(value)) return value;
    throw new InvalidArgumentError(sentence);
  };

const DIGITS = /^[0-9]{1,16}$/;

export const wholeNumber = numberParser(DIGITS, Number.isSafeInteger, "It must be a whole number of at least 0.");

export const countingNumber = numberParser(
  DIGITS,
  (value) => value >= 1 && Number.isSafeInteger(value),
  "It must be a whole number of at least 1.",
);

export const positiveNumber = numberParser(
  /^[0-9]{1,20}(\.[0-9]{1,20})?(e[0-9]{1,2})?$/,
  (value) => value > 0 && value <= Number.MAX_SAFE_INTEGER,
  "It must be a number above 0 and below 2^53, such as 5000, 0.5 or 2e6.",
);

/** With steps of one ID in a hundred million. */
export const percent = numberParser(
  /^[0-9]{1,3}(\.[0-9]{1,6})?$/,
  (value) => value <= 100,
  "It must be a number from 0 to 100, such as 10 or 0.5.",
);

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds. */
export const duration = (text: string): number => {
  const [, count, unit = ""] = /^([0-9]{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined)
    throw new InvalidArgumentError("Write a duration with its unit, such as 500ms, 90s, 5m, 24h or 7d.");
  return Number(count) * (UNITS_MS[unit] as number);
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

/** The table that a command finds by itself in the current folder. */
export const TABLE_FILE_DEFAULT = "routing-table.json";

/** The path of an option `--table`: none for `--no-table`, and by default the one in the current folder, if present. */
export const tablePath = (option: string | false | undefined, { fileExists }: Runtime): string | undefined => {
  if (option === false || (option === undefined && !fileExists(TABLE_FILE_DEFAULT))) return undefined;
  return option ?? TABLE_FILE_DEFAULT;
};

/** The table that a command takes by default, where its argument is left out; it says so on stderr. */
export const tableArgument = (path: string | undefined, { fileExists, report }: Runtime): string => {
  if (path !== undefined) return path;
  if (!fileExists(TABLE_FILE_DEFAULT)) {
    return misuse(`error: no table: name its file; there is no ${TABLE_FILE_DEFAULT} in this folder\n`);
  }
  report(`note: no file is named, so it is ${TABLE_FILE_DEFAULT} of this folder\n`);
  return TABLE_FILE_DEFAULT;
};
