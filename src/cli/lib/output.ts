import { formatCount } from "../../formats/console/diff.ts";
import type { Runtime } from "../runtime.ts";

export { formatCount, formatPercent } from "../../formats/console/diff.ts";

/** Pads each column to its widest cell. Cells may be untrusted. */
export const alignColumns = (untrusted: readonly (readonly string[])[]): readonly string[] => {
  const rows = untrusted.map((row) => row.map(escapeControls));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  const padded = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] as number));
  return rows.map((row) => padded(row).join("  ").trimEnd());
};

/** `1 range`, `66,877 ranges`. */
export const countOf = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${formatCount(count)} ${count === 1 ? noun : nouns}`;

/** Each line with its end. */
export const linesText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

export const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);

/** A title with its lines; nothing without lines. */
export const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...indented(lines)];

/** Values for `--json`, one per line. */
export const jsonText = (...values: readonly unknown[]): string =>
  linesText(values.map((value) => JSON.stringify(value)));

/** Control, format, separator and unpaired surrogate characters, which terminals obey or hide. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Colours the words with which errors and warnings begin, and the places of faults. */
export const tinted = (text: string, paint: (style: "red" | "yellow", text: string) => string): string =>
  text.replace(/^(?:error|warning):|^[^\s{]\S*:\d+:\d+:/gm, (found) =>
    paint(found === "warning:" ? "yellow" : "red", found),
  );

/** A word of a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+,=][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

type Env = (name: string) => string | undefined;

/** How the command is called here: a project has it in its packages alone, and a checkout in a script. */
const calledAs = (env: Env): string => {
  const by = env("npm_command");
  if (by === undefined || by === "") return "waybill";
  return by !== "exec" && env("npm_package_name") === "waybill" ? "npm run -s waybill --" : "npx waybill";
};

/** A message whose commands run as they are written: in backticks, or on a line of their own. */
export const asCalled = (text: string, env: Env): string =>
  text.replaceAll(/(?<=`|^ +)waybill(?= [a-z])/gm, calledAs(env));

/** Untrusted text, safe to show on one line of a terminal. */
export const escapeControls = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);

type Progress = ReturnType<typeof startProgress>;

export interface ProgressOptions {
  /** Such as `shards.csv` or `uploading pack shards`. Printable. */
  readonly label: string;
  /** Total bytes; 0 if unknown. */
  readonly bytes: number;
  /** With `--json` nothing is shown. */
  readonly isQuiet?: boolean;
}

/** Interval of updates on a terminal: more often would flicker. */
const BAR_EVERY_MS = 100;

/** Interval of lines elsewhere: short operations print none. */
const LINE_EVERY_MS = 10_000;

/** Before, the rate says little of the time that is left. */
const LEFT_AFTER_MS = 1_000;

const BAR_CELLS = 20;

/** In UTF-16 units. */
const LABEL_LENGTH_MAX = 24;
const LABEL_LENGTH_MIN = 8;

/** Width of a terminal that does not tell. */
const COLUMNS_DEFAULT = 80;

/** Erases the line of a terminal. */
export const ERASE = "\r\u001b[K";

/**
 * Shows progress on stderr: a bar on a terminal, otherwise a line at intervals. `add`: bytes and rows done since the last call.
 * `clear`: before other output, and at the end, also after an error.
 */
export const startProgress = (
  { label, bytes, isQuiet = false }: ProgressOptions,
  {
    nowMs,
    report,
    isReportWatched,
    reportColumns = COLUMNS_DEFAULT,
  }: Pick<Runtime, "nowMs" | "report" | "isReportWatched"> & Partial<Pick<Runtime, "reportColumns">>,
) => {
  const startMs = nowMs();
  const everyMs = isReportWatched ? BAR_EVERY_MS : LINE_EVERY_MS;
  let done = 0;
  let rowsDone = 0;
  let reportedMs = startMs;
  let isShown = false;
  const clear = (): void => {
    if (isShown) report(ERASE);
    isShown = false;
  };
  const tell = (now: number): void => {
    reportedMs = now;
    const perMs = done / (now - startMs);
    const leftMs = bytes > done && done > 0 && now - startMs >= LEFT_AFTER_MS ? (bytes - done) / perMs : undefined;
    const rate = [
      `${formatSize(perMs * 1000)}/s`,
      ...(rowsDone > 0 ? [countOf(rowsDone, "row")] : []),
      ...(leftMs === undefined ? [] : [`${formatDuration(leftMs)} left`]),
    ].join(isReportWatched ? "  " : ", ");
    if (!isReportWatched) {
      report(`${label}: ${bytes > 0 ? formatProgressPercent(done, bytes) : formatSize(done)}, ${rate}\n`);
      return;
    }
    const part = bytes > 0 ? `${barOf(done / bytes)} ${formatProgressPercent(done, bytes)}` : formatSize(done);
    const line = `${part}  ${rate}`;
    report(`${ERASE}${line}${labelIn(label, reportColumns - line.length)}`);
    isShown = true;
  };
  const add = (bytes: number, rows = 0): void => {
    done += bytes;
    rowsDone += rows;
    const now = nowMs();
    if (!isQuiet && now - reportedMs >= everyMs) tell(now);
  };
  return { add, clear };
};

/** Passes the chunks on; each counts when the next one is requested. */
export async function* counted(chunks: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk;
    progress.add(chunk.length, lineEndsIn(chunk));
  }
}

const LINE_FEED = 0x0a;

const lineEndsIn = (chunk: Uint8Array): number => {
  let count = 0;
  for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) count++;
  return count;
};

/** `45 s`, `3 min`, `2 h 5 min`; rounded up, so that it never says that nothing is left. */
export const formatDuration = (ms: number): string => {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

/** A file may grow while it is read, so at most 100 %. */
const formatProgressPercent = (done: number, bytes: number): string =>
  `${Math.floor(Math.min(1, done / bytes) * 100)} %`;

/** `9.0 MB`, `9.1 kB`, `312 B`. */
export const formatSize = (bytes: number): string => {
  if (bytes >= 100_000) return `${(bytes / 1e6).toFixed(1)} MB`;
  return bytes >= 1_000 ? `${(bytes / 1e3).toFixed(1)} kB` : `${Math.round(bytes)} B`;
};

/** The label, or its end, which is more specific than its start: a wrapped line cannot be rewritten. */
const labelIn = (label: string, columns: number): string => {
  // Two spaces before it, and the last column for the cursor.
  const room = Math.min(LABEL_LENGTH_MAX, columns - 3);
  if (room < LABEL_LENGTH_MIN) return "";
  return `  ${label.length > room ? `…${label.slice(1 - room)}` : label}`;
};

const barOf = (share: number): string => {
  const full = Math.round(Math.min(1, share) * BAR_CELLS);
  return `[${"#".repeat(full)}${".".repeat(BAR_CELLS - full)}]`;
};
