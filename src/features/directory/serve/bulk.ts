import { err, ok, type Result } from "../../../ids/result.ts";
import type { Clock } from "../../../ports/gateway.ts";
import { joinBytes } from "../../../routing/bytes.ts";
import type { BulkRow, DirectoryTruth, KeyCounts, PutMany } from "../port.ts";
import { ROW_LENGTH_MAX, ROW_TOO_LONG, readRow } from "../table/row.ts";
import { DIRECTORY_SHARDS, PUT_ROWS_MAX, SCAN_ROWS_MAX, shardOf } from "../table/shard.ts";

/** Rows that are written together: the most that a request has in memory, and what a broken import repeats. */
const WINDOW_ROWS = 20_000;
const WINDOW_BYTES = 4 * 1024 * 1024;

/** A Worker's invocation has six connections, and a thousand calls on the plan that allows the fewest. */
const CALLS_AT_ONCE = 6;
const CALLS_MAX = 600;

/** Faults of one answer. Others are counted. */
const FAULTS_SHOWN = 100;

/** Rows of one answer. The next one goes on at its cursor. */
const EXPORT_ROWS = 10_000;
const SHARDS_AT_ONCE = 4;

export interface ImportOptions {
  readonly truth: Pick<DirectoryTruth, "putMany" | "tryMany">;
  readonly directory: string;
  /** The key of a text; the error is a sentence. */
  readonly keyOf: (text: string) => Result<string, string>;
  readonly regions: { has(region: string): boolean };
  /** Whether what is there with another region or owner is overwritten. */
  readonly replace: boolean;
  /** Reads and checks the rows, and writes none. */
  readonly dryRun: boolean;
  /** Called when rows are written. */
  readonly changed?: () => void;
}

type Sums = Omit<PutMany, "conflictKeys" | "conflictRows" | "isFull"> & {
  readonly lines: number;
  readonly faults: number;
};

/** A line of the answer. All lines up to `lines` are done: an import that broke off goes on after them. */
export type ImportLine =
  | { readonly fault: { readonly line: number; readonly why: string } }
  | { readonly conflict: { readonly line: number; readonly key: string } }
  | Sums
  | (Sums & { readonly done: boolean; readonly why?: string });

/**
 * Imports rows of NDJSON, those of one key in their order. Each may come again: what is there as the row says is left as it is. A
 * row with a fault is left out.
 */
export async function* importRows(
  chunks: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): AsyncGenerator<ImportLine, void> {
  const sums = { lines: 0, added: 0, unchanged: 0, replaced: 0, conflicts: 0, faults: 0 };
  let window = newWindow();
  let calls = 0;
  let line = 0;

  async function* flush(): AsyncGenerator<ImportLine, string | undefined> {
    const written = await write(window, options);
    if (!written.ok) return written.error;
    for (const { put, rows } of written.value) {
      calls++;
      for (const name of ["added", "unchanged", "replaced", "conflicts"] as const) sums[name] += put[name];
      for (const [at, key] of put.conflictKeys.entries()) {
        // A former version of the object names keys alone.
        const index = put.conflictRows?.[at] ?? rows.findLastIndex(({ row }) => row[0] === key);
        yield { conflict: { line: rows[index]?.line ?? 0, key } };
      }
    }
    if (!options.dryRun) options.changed?.();
    window = newWindow();
    sums.lines = line;
    yield { ...sums };
    return calls >= CALLS_MAX ? "this request has done its share; go on after `lines`" : undefined;
  }

  try {
    for await (const text of linesOf(chunks)) {
      line++;
      if (text.ok && text.value.trim() === "") continue;
      const row = text.ok ? toBulkRow(text.value, options) : text;
      if (row.ok) addRow(window, options.directory, row.value, line, text.ok ? text.value.length : 0);
      else if (++sums.faults <= FAULTS_SHOWN) yield { fault: { line, why: row.error } };
      if (window.rows < WINDOW_ROWS && window.bytes < WINDOW_BYTES) continue;
      const why = yield* flush();
      if (why !== undefined) return yield { ...sums, done: false, why };
    }
    const why = window.rows > 0 || line > sums.lines ? yield* flush() : undefined;
    // The last window was written, whatever it took.
    yield { ...sums, done: sums.lines === line, ...(sums.lines === line || why === undefined ? {} : { why }) };
  } catch {
    yield { ...sums, done: false, why: "the body broke off" };
  }
}

type LinedRow = { readonly row: BulkRow; readonly line: number };

interface Window {
  readonly shards: Map<number, LinedRow[]>;
  rows: number;
  bytes: number;
}

const newWindow = (): Window => ({ shards: new Map(), rows: 0, bytes: 0 });

function addRow(window: Window, directory: string, row: BulkRow, line: number, bytes: number): void {
  const shard = shardOf({ directory, key: row[0] });
  const rows = window.shards.get(shard);
  if (rows === undefined) window.shards.set(shard, [{ row, line }]);
  else rows.push({ row, line });
  window.rows++;
  window.bytes += bytes;
}

function toBulkRow(text: string, { keyOf, regions }: ImportOptions): Result<BulkRow, string> {
  const row = readRow(text);
  if (!row.ok) return row;
  const { region, owner } = row.value;
  const key = keyOf(row.value.key);
  if (!key.ok) return key;
  return regions.has(region) ? ok([key.value, region, owner ?? null]) : err(`The table has no region ${region}.`);
}

/** Writes all rows of a window, a few shards at once and each in its order. The error says why not all are written. */
async function write({ shards }: Window, { truth, directory, replace, dryRun }: ImportOptions) {
  const done: { readonly put: PutMany; readonly rows: readonly LinedRow[] }[] = [];
  let failure: string | undefined;
  const queue = shards.entries();
  const writeShard = async (shard: number, all: readonly LinedRow[]): Promise<void> => {
    for (let at = 0; at < all.length && failure === undefined; at += PUT_ROWS_MAX) {
      const rows = all.slice(at, at + PUT_ROWS_MAX);
      const put = await truth[dryRun ? "tryMany" : "putMany"](
        directory,
        shard,
        rows.map(({ row }) => row),
        replace,
      );
      if (!put.ok) failure = "the directory cannot be reached; go on after `lines`";
      else if (put.value.isFull) failure = `the directory is full (shard ${shard})`;
      else done.push({ put: put.value, rows });
    }
  };
  const work = async (): Promise<void> => {
    for (const [shard, rows] of queue) await writeShard(shard, rows);
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return failure === undefined ? ok(done) : err(failure);
}

/** In UTF-8. */
const LINE_BYTES_MAX = ROW_LENGTH_MAX * 3;

/** The lines of a body without their ends. The error of one that cannot be read is a sentence. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Result<string, string>> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let parts: Uint8Array[] = [];
  let length = 0;
  let count = 0;
  const add = (part: Uint8Array): void => {
    length += part.length;
    // The rest of a line that is too long is passed over.
    if (length <= LINE_BYTES_MAX) parts.push(part);
  };
  const take = (): Result<string, string> => {
    const bytes = joinBytes(parts);
    const isTooLong = length > LINE_BYTES_MAX;
    const isFirst = count++ === 0;
    parts = [];
    length = 0;
    if (isTooLong) return err(ROW_TOO_LONG);
    try {
      const text = decoder.decode(bytes);
      // RFC 8259 §8.1 allows to ignore a mark at the start.
      return ok(isFirst ? text.replace(/^\ufeff/, "") : text);
    } catch {
      return err("It is not UTF-8.");
    }
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      add(chunk.subarray(from, end));
      from = end + 1;
      yield take();
    }
    add(chunk.subarray(from));
  }
  if (length > 0) yield take();
}

const LF = 0x0a;

/** After it no further shard is asked: who waits for a count gives up after 20 s. */
const COUNT_MS = 10_000;

export interface CountedKeys {
  /** When counting began, Unix ms. Keys that changed while it lasted count as before or as after. */
  readonly atMs: number;
  readonly shards: number;
  readonly answered: number;
  /** Sums of the shards that answered. */
  readonly counts: KeyCounts;
}

/** Counts the keys of all shards, a few at once. Those that fail, and those for which the time was too short, did not answer. */
export async function countKeys(
  truth: Pick<DirectoryTruth, "count">,
  directory: string,
  clock: Clock,
): Promise<CountedKeys> {
  const atMs = clock.nowMs();
  const counts = { confirmed: 0, reserved: 0, expired: 0, missing: 0 };
  let answered = 0;
  const queue = Array(DIRECTORY_SHARDS).keys();
  const work = async (): Promise<void> => {
    for (const shard of queue) {
      if (clock.nowMs() - atMs >= COUNT_MS) return;
      const counted = await truth.count(directory, shard);
      if (!counted.ok) continue;
      answered++;
      for (const name of ["confirmed", "reserved", "expired", "missing"] as const) counts[name] += counted.value[name];
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return { atMs, shards: DIRECTORY_SHARDS, answered, counts };
}

/** Where an export goes on: after a key of a shard. */
export interface ExportCursor {
  readonly shard: number;
  readonly after: string;
}

export type ExportLine =
  | { readonly key: string; readonly region: string; readonly owner?: string }
  | { readonly done: boolean; readonly rows: number; readonly next?: string; readonly why?: string };

/** Confirmed keys, shard by shard in the order of their bytes. The last line is the only one with `done`: without it, the answer broke off. */
export async function* exportRows(
  truth: Pick<DirectoryTruth, "scan">,
  directory: string,
  from: ExportCursor,
): AsyncGenerator<ExportLine, void> {
  let rows = 0;
  let { shard, after } = from;
  while (shard < DIRECTORY_SHARDS) {
    // Shards of small directories are nearly empty: several are asked at once.
    const count = Math.min(SHARDS_AT_ONCE, DIRECTORY_SHARDS - shard);
    const first = shard;
    const scans = Array.from({ length: count }, (_, at) =>
      truth.scan(directory, first + at, at === 0 ? after : "", SCAN_ROWS_MAX),
    );
    for (let at = 0; at < count; at++) {
      let page = await (scans[at] as (typeof scans)[number]);
      for (;;) {
        if (!page.ok) {
          const next = formatCursor({ shard, after });
          return yield { done: false, rows, next, why: "the directory cannot be reached" };
        }
        for (const { key, region, owner, state } of page.value.rows) {
          if (state !== "confirmed") continue;
          rows++;
          yield owner === undefined ? { key, region } : { key, region, owner };
        }
        if (page.value.next === undefined) break;
        after = page.value.next;
        if (rows >= EXPORT_ROWS) return yield { done: false, rows, next: formatCursor({ shard, after }) };
        page = await truth.scan(directory, shard, after, SCAN_ROWS_MAX);
      }
      shard++;
      after = "";
      if (rows >= EXPORT_ROWS && shard < DIRECTORY_SHARDS) {
        return yield { done: false, rows, next: formatCursor({ shard, after }) };
      }
    }
  }
  yield { done: true, rows };
}

const formatCursor = ({ shard, after }: ExportCursor): string => `${shard}:${after}`;

/** `undefined` for what no export gave. */
export function parseCursor(text: string): ExportCursor | undefined {
  const [, digits = "", after = ""] = /^([0-9]{1,3}):(.*)$/su.exec(text) ?? [];
  const shard = digits === "" ? DIRECTORY_SHARDS : Number(digits);
  return shard < DIRECTORY_SHARDS ? { shard, after } : undefined;
}
