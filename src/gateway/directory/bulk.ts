import type { BulkRow, DirectoryTruth, KeyCounts, PutMany } from "../../directory-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock } from "../../ports.ts";
import { ROW_LENGTH_MAX, readRow } from "../../routing/directory/row.ts";
import { DIRECTORY_SHARDS, PUT_ROWS_MAX, SCAN_ROWS_MAX, shardOf } from "../../routing/directory/shard.ts";

/** Rows that are written together: the most that a request has in memory, and what a broken import repeats. */
const WINDOW_ROWS = 20_000;
const WINDOW_BYTES = 4 * 1024 * 1024;

/** A Worker's invocation has six connections, and a thousand calls on the plan that allows the fewest. */
const CALLS_AT_ONCE = 6;
const CALLS_MAX = 600;

/** More are another file than the caller thinks. */
const FAULTS_MAX = 100;

/** Rows of one answer. The next one goes on at its cursor. */
const EXPORT_ROWS = 10_000;
const SHARDS_AT_ONCE = 4;

export interface ImportOptions {
  readonly truth: Pick<DirectoryTruth, "putMany">;
  readonly directory: string;
  /** The key of a text; the error is a sentence. */
  readonly keyOf: (text: string) => Result<string, string>;
  readonly regions: { has(region: string): boolean };
  /** Whether what is there with another region or owner is overwritten. */
  readonly replace: boolean;
  /** Reads and checks the rows, and writes none. */
  readonly dryRun: boolean;
}

type Sums = Omit<PutMany, "conflictKeys" | "isFull"> & { readonly lines: number; readonly faults: number };

/** A line of the answer. All lines up to `lines` are done: an import that broke off goes on after them. */
export type ImportLine =
  | { readonly fault: { readonly line: number; readonly why: string } }
  | { readonly conflict: { readonly line: number; readonly key: string } }
  | Sums
  | (Sums & { readonly done: boolean; readonly why?: string });

/** Imports rows of NDJSON. Each may come again: what is there as the row says is left as it is. */
export async function* importRows(
  chunks: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): AsyncGenerator<ImportLine, void> {
  const sums = { lines: 0, added: 0, unchanged: 0, replaced: 0, conflicts: 0, faults: 0 };
  let window = newWindow();
  let calls = 0;
  let line = 0;

  async function* flush(): AsyncGenerator<ImportLine, string | undefined> {
    const written = options.dryRun ? ok([]) : await write(window, options);
    if (!written.ok) return written.error;
    for (const put of written.value) {
      calls++;
      for (const name of ["added", "unchanged", "replaced", "conflicts"] as const) sums[name] += put[name];
      for (const key of put.conflictKeys) yield { conflict: { line: window.lines.get(key) ?? 0, key } };
    }
    window = newWindow();
    sums.lines = line;
    yield { ...sums };
    return calls >= CALLS_MAX ? "this request has done its share; go on after `lines`" : undefined;
  }

  try {
    for await (const text of linesOf(chunks)) {
      line++;
      if (text.trim() === "") continue;
      const row = toBulkRow(text, options);
      if (row.ok) addRow(window, options.directory, row.value, line, text.length);
      else {
        yield { fault: { line, why: row.error } };
        if (++sums.faults >= FAULTS_MAX) {
          const why = yield* flush();
          return yield { ...sums, done: false, why: why ?? "too many rows have faults" };
        }
      }
      if (window.rows < WINDOW_ROWS && window.bytes < WINDOW_BYTES) continue;
      const why = yield* flush();
      if (why !== undefined) return yield { ...sums, done: false, why };
    }
    const why = window.rows > 0 || line > sums.lines ? yield* flush() : undefined;
    // The last window was written, whatever it took.
    yield { ...sums, done: sums.lines === line, ...(sums.lines === line || why === undefined ? {} : { why }) };
  } catch {
    yield {
      ...sums,
      done: false,
      why: `the body broke off or is not UTF-8 in lines of up to ${ROW_LENGTH_MAX} characters`,
    };
  }
}

interface Window {
  readonly shards: Map<number, BulkRow[]>;
  readonly lines: Map<string, number>;
  rows: number;
  bytes: number;
}

const newWindow = (): Window => ({ shards: new Map(), lines: new Map(), rows: 0, bytes: 0 });

function addRow(window: Window, directory: string, row: BulkRow, line: number, bytes: number): void {
  const shard = shardOf({ directory, key: row[0] });
  const rows = window.shards.get(shard);
  if (rows === undefined) window.shards.set(shard, [row]);
  else rows.push(row);
  window.lines.set(row[0], line);
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

/** Writes all rows of a window, a few calls at once. The error says why not all are written. */
async function write({ shards }: Window, { truth, directory, replace }: ImportOptions) {
  const tasks = Array.from(shards, ([shard, rows]) =>
    Array.from({ length: Math.ceil(rows.length / PUT_ROWS_MAX) }, (_, at) => ({
      shard,
      rows: rows.slice(at * PUT_ROWS_MAX, (at + 1) * PUT_ROWS_MAX),
    })),
  ).flat();
  const done: PutMany[] = [];
  let failure: string | undefined;
  const queue = tasks.values();
  const work = async (): Promise<void> => {
    for (const { shard, rows } of queue) {
      if (failure !== undefined) return;
      const put = await truth.putMany(directory, shard, rows, replace);
      if (!put.ok) failure = "the directory cannot be reached; go on after `lines`";
      else if (put.value.isFull) failure = `the directory is full (shard ${shard})`;
      else done.push(put.value);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return failure === undefined ? ok(done) : err(failure);
}

/** The lines of a body without their ends. Throws for one that is too long, and for bytes that are not UTF-8. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      if (line.length > ROW_LENGTH_MAX) throw new RangeError("a line is too long");
      yield line;
    }
    if (rest.length > ROW_LENGTH_MAX) throw new RangeError("a line is too long");
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}

/** After it no further shard is asked: who waits for a count gives up after 20 s. */
const COUNT_MS = 10_000;

export interface CountedKeys {
  /** When counting began, Unix ms. Keys that changed while it lasted count as before or as after. */
  readonly atMs: number;
  readonly shards: number;
  readonly answered: number;
  /** Of the shards that answered. */
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
