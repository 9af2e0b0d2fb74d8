import type { Runtime } from "../runtime.ts";

/** Pads each column to its widest cell. */
export const alignColumns = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] as number))
      .join("  ")
      .trimEnd(),
  );
};

/** `1,204`. */
export const formatCount = (count: number | bigint): string => count.toLocaleString("en-US");

/** `12.5 %`; a part never says that it is nothing or all. */
export const formatPercent = (percent: number): string => {
  if (percent > 0 && percent < 0.01) return "less than 0.01 %";
  if (percent < 100 && percent > 99.99) return "more than 99.99 %";
  return `${Number(percent.toFixed(2))} %`;
};

/** Control, format, separator and unpaired surrogate characters: a terminal would obey some, and hide others. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A text that came from outside, safe to show on a terminal and on one line. */
export const escapeControls = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);

/** Shows how far a long piece of work is. Whoever starts one ends it, in failure too. */
export interface Progress {
  /** So many bytes more are done. */
  readonly add: (bytes: number) => void;
  /** Takes the bar away before something else is printed; the next `add` that is due shows it again. */
  readonly clear: () => void;
  /** Takes the bar away for good. */
  readonly end: () => void;
}

/** What is told, and the clock and the stream that it is told by. */
export interface ProgressOptions {
  /** What is being done, for people: `shards.csv`, `uploading pack shards`. Printable. */
  readonly label: string;
  /** Of the whole work, in bytes; 0 where nobody knows. */
  readonly bytes: number;
  /** Nothing is shown: `--json` was asked for. */
  readonly isQuiet?: boolean;
}

/** On a terminal one line is rewritten this often: more is flicker. */
const BAR_EVERY_MS = 100;

/** Elsewhere a line is added this often, and none before: short work has none. */
const LINE_EVERY_MS = 10_000;

const BAR_CELLS = 30;

/** A line that the terminal breaks cannot be rewritten. In UTF-16 units. */
const LABEL_LENGTH_MAX = 24;

const ERASE = "\r\u001b[K";

/** Begins to show work on stderr: a bar on a terminal, a line now and then elsewhere. */
export const startProgress = (
  { label, bytes, isQuiet = false }: ProgressOptions,
  { nowMs, report, isReportWatched }: Pick<Runtime, "nowMs" | "report" | "isReportWatched">,
): Progress => {
  const startMs = nowMs();
  const everyMs = isReportWatched ? BAR_EVERY_MS : LINE_EVERY_MS;
  let done = 0;
  let reportedMs = startMs;
  let isShown = false;
  const clear = (): void => {
    if (isShown) report(ERASE);
    isShown = false;
  };
  const tell = (now: number): void => {
    reportedMs = now;
    const rate = `${formatSize(done / ((now - startMs) / 1000))}/s`;
    if (!isReportWatched) {
      report(`${label}: ${bytes > 0 ? formatProgressPercent(done, bytes) : formatSize(done)}, ${rate}\n`);
      return;
    }
    const part = bytes > 0 ? `${barOf(done / bytes)} ${formatProgressPercent(done, bytes)}` : formatSize(done);
    report(`${ERASE}${part}  ${rate}  ${shortened(label)}`);
    isShown = true;
  };
  const add = (bytes: number): void => {
    done += bytes;
    const now = nowMs();
    if (!isQuiet && now - reportedMs >= everyMs) tell(now);
  };
  return { add, clear, end: clear };
};

/** The chunks of a file as they are; each counts as done when the next one is asked for. */
export async function* counted(chunks: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk;
    progress.add(chunk.length);
  }
}

/** A file may grow while it is read. */
const formatProgressPercent = (done: number, bytes: number): string =>
  `${Math.floor(Math.min(1, done / bytes) * 100)} %`;

/** `9.0 MB`, `9.1 kB`, `312 B`: something never looks like nothing. */
export const formatSize = (bytes: number): string => {
  if (bytes >= 100_000) return `${(bytes / 1e6).toFixed(1)} MB`;
  return bytes >= 1_000 ? `${(bytes / 1e3).toFixed(1)} kB` : `${Math.round(bytes)} B`;
};

/** Ends of paths tell more than their beginnings. */
const shortened = (label: string): string =>
  label.length > LABEL_LENGTH_MAX ? `…${label.slice(1 - LABEL_LENGTH_MAX)}` : label;

const barOf = (share: number): string => {
  const full = Math.round(Math.min(1, share) * BAR_CELLS);
  return `[${"#".repeat(full)}${".".repeat(BAR_CELLS - full)}]`;
};
