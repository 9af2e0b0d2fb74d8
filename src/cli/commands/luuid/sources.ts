import { ok, type Result } from "../../../ids/index.ts";
import { hasKey, type KeyRange, parseKeyRange, sharedKey, stepOf } from "../../../ids/tools/key-range.ts";
import { linesOf, openInput, unreadable } from "../../lib/input.ts";
import { counted, escapeControls, formatCount, startProgress } from "../../lib/output.ts";
import { fail, misuse, type Runtime } from "../../runtime.ts";
import { type KeyRecord, readRecord } from "./record.ts";

/** One region's report, in a file or over HTTP. */
export interface Source {
  readonly region: string;
  /** A path or a URL. */
  readonly from: string;
}

/** The sources of the arguments. stdin can be read only once. */
export const sourcesOf = (args: readonly string[]): readonly Source[] =>
  args.map((arg) => {
    const [, region, from] = /^([^=]+)=(.+)$/.exec(arg) ?? [];
    if (region === undefined || from === undefined) {
      return misuse(`error: ${escapeControls(arg)}: write a source as region=FILE or region=https://…\n`);
    }
    if (from === "-") return misuse("error: sources are read twice, so none can be stdin\n");
    return { region, from };
  });

/** The records of a source as they come, with progress; faulty lines as sentences. */
export async function* recordsOf({ from }: Source, isQuiet: boolean, runtime: Runtime) {
  const { bytes, chunks } = /^https?:\/\//.test(from) ? await openUrl(from, runtime) : await openInput(from, runtime);
  const label = escapeControls(from.replace(/^.*\//, "") || from);
  const progress = startProgress({ label, bytes, isQuiet }, runtime);
  let number = 0;
  try {
    for await (const line of linesOf(counted(readable(chunks, from), progress))) {
      number++;
      if (!line.ok) return fail(`error: ${escapeControls(from)}: line ${line.error} is too long\n`);
      const text = line.value.trim();
      if (text === "") continue;
      const record: Result<KeyRecord, string> = readRecord(text);
      if (record.ok) yield ok(record.value);
      else yield { ok: false, error: `${from}:${number}: ${record.error}` } as const;
    }
  } finally {
    progress.clear();
  }
}

const openUrl = async (url: string, runtime: Runtime) => {
  const response = await runtime.fetch(url, { headers: { accept: "application/x-ndjson" } }).catch((error: unknown) => {
    return unreadable(url, causeOf(error));
  });
  if (response.status !== 200) return unreadable(url, `it answers ${response.status}`);
  if (response.body === null) return unreadable(url, "its answer is empty");
  return { bytes: Number(response.headers.get("content-length") ?? 0), chunks: response.body };
};

/** A stream that breaks off is an error, not an end. */
async function* readable(chunks: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    unreadable(from, causeOf(error));
  }
}

const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
};

export type Ranges = ReadonlyMap<string, KeyRange>;

/** Reads `eu=0/4,us=1/4`, or `eu=0/4 from 5000,us=1/4 from 5000`: each region with its gateway's SEQUENCE_RANGE. */
export const rangesOf = (text: string): Ranges => {
  const ranges = new Map<string, KeyRange>();
  for (const part of text.split(",")) {
    const [, region, spelled = ""] = /^([^=]+)=(.+)$/.exec(part) ?? [];
    const range = parseKeyRange(spelled);
    const shown = escapeControls(part);
    if (region === undefined || range === undefined) return misuse(`error: --ranges: ${shown} is not like eu=0/4\n`);
    if (ranges.has(region)) return misuse(`error: --ranges: ${escapeControls(region)} is named twice\n`);
    ranges.set(region, range);
  }
  return ranges;
};

/** Regions whose ranges share keys, as sentences. */
export const overlapsIn = (ranges: Ranges): readonly string[] => {
  const all = [...ranges];
  return all.flatMap(([region, range], at) =>
    all.slice(at + 1).flatMap(([other, theirs]) => {
      const from = sharedKey(range, theirs);
      if (from === undefined) return [];
      const to = formatCount(Math.min(range.last, theirs.last));
      const areAll = stepOf(range) * stepOf(theirs) === 1;
      return [`${region} and ${other} share ${areAll ? "the" : "some"} keys ${formatCount(from)} to ${to}`];
    }),
  );
};

/** Keys below the first one of an interleaved range were given before it. */
export const isOutside = (range: KeyRange | undefined, primaryKey: number): boolean =>
  range !== undefined && primaryKey >= (range.interleaved?.from ?? 0) && !hasKey(range, primaryKey);
