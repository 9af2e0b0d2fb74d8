import type { World } from "./world.ts";

/** Shows how far a long piece of work is. Whoever starts one ends it, in failure too. */
export interface Progress {
  /** So many octets more are done. */
  readonly add: (octets: number) => void;
  /** Takes the bar away before something else is printed; the next `add` that is due shows it again. */
  readonly clear: () => void;
  /** Takes the bar away for good. */
  readonly end: () => void;
}

/** What is told, and the clock and the stream that it is told by. */
export interface ProgressOptions {
  /** What is being done, for people: `shards.csv`, `uploading pack shards`. Printable. */
  readonly label: string;
  /** Of the whole work, in octets; 0 where nobody knows. */
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
  { nowMs, report, isReportWatched }: Pick<World, "nowMs" | "report" | "isReportWatched">,
): Progress => {
  const startMs = nowMs();
  const everyMs = isReportWatched ? BAR_EVERY_MS : LINE_EVERY_MS;
  let done = 0;
  let toldMs = startMs;
  let isShown = false;
  const clear = (): void => {
    if (isShown) report(ERASE);
    isShown = false;
  };
  const tell = (now: number): void => {
    toldMs = now;
    const rate = `${sizeText(done / ((now - startMs) / 1000))}/s`;
    if (!isReportWatched) {
      report(`${label}: ${bytes > 0 ? percentText(done, bytes) : sizeText(done)}, ${rate}\n`);
      return;
    }
    const part = bytes > 0 ? `${barOf(done / bytes)} ${percentText(done, bytes)}` : sizeText(done);
    report(`${ERASE}${part}  ${rate}  ${shortened(label)}`);
    isShown = true;
  };
  const add = (octets: number): void => {
    done += octets;
    const now = nowMs();
    if (!isQuiet && now - toldMs >= everyMs) tell(now);
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
const percentText = (done: number, bytes: number): string => `${Math.floor(Math.min(1, done / bytes) * 100)} %`;

/** `9.0 MB`, `9.1 kB`, `312 B`: something never looks like nothing. */
export const sizeText = (octets: number): string => {
  if (octets >= 100_000) return `${(octets / 1e6).toFixed(1)} MB`;
  return octets >= 1_000 ? `${(octets / 1e3).toFixed(1)} kB` : `${Math.round(octets)} B`;
};

/** Ends of paths tell more than their beginnings. */
const shortened = (label: string): string =>
  label.length > LABEL_LENGTH_MAX ? `…${label.slice(1 - LABEL_LENGTH_MAX)}` : label;

const barOf = (share: number): string => {
  const full = Math.round(Math.min(1, share) * BAR_CELLS);
  return `[${"#".repeat(full)}${".".repeat(BAR_CELLS - full)}]`;
};
