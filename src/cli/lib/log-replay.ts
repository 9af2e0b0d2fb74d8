import { type Destination, type LoggedRequest, parseLogLine, type Replayed, replay } from "../../gateway/replay.ts";
import type { CompiledTable } from "../../routing/index.ts";
import { fail, type Runtime } from "../runtime.ts";
import { linesOf, openInput } from "./input.ts";
import { alignColumns, counted, countOf, escapeControls, formatCount, formatPercent, startProgress } from "./output.ts";

/** Results of all requests of a log. Plain JSON of bounded size. */
export type ReplaySummary = Awaited<ReturnType<typeof replayLog>>;

interface LogChange {
  /** Empty if neither table has one. */
  readonly entity: string;
  readonly from: string;
  readonly to: string;
  readonly requests: number;
}

/** A request replayed on both tables. */
export interface ReplayStep extends Replayed {
  /** From 1. */
  readonly line: number;
  readonly request: LoggedRequest;
}

interface ReplayOptions {
  /** No progress bar. */
  readonly isQuiet?: boolean;
  /** Called for every request that is routed differently, or may be. */
  readonly report?: (step: ReplayStep) => Promise<void>;
}

/** Replays the requests of a log on two tables while reading it. `-` is stdin. */
export const replayLog = async (
  path: string,
  before: CompiledTable,
  after: CompiledTable,
  runtime: Runtime,
  { isQuiet = false, report }: ReplayOptions = {},
) => {
  const { bytes, chunks } = await openInput(path, runtime);
  const progress = startProgress({ label: escapeControls(path), bytes, isQuiet }, runtime);
  const nowMs = runtime.nowMs();
  const counts = { requests: 0, same: 0, changed: 0, open: 0, others: 0 };
  const changes = new Map<string, LogChange>();
  const unreadable = { lines: 0, first: undefined as number | undefined };
  let line = 0;
  try {
    for await (const text of linesOf(counted(chunks, progress))) {
      line += 1;
      if (!text.ok) return fail(`error: line ${text.error} of ${escapeControls(path)} is too long for a request\n`);
      if (text.value === "") continue;
      const read = parseLogLine(text.value);
      if (read.kind === "other") counts.others += 1;
      if (read.kind === "unreadable") {
        unreadable.lines += 1;
        unreadable.first ??= line;
      }
      if (read.kind !== "request") continue;
      const replayed = replay(before, after, read.request, nowMs);
      counts.requests += 1;
      counts[replayed.verdict] += 1;
      if (replayed.verdict === "changed") countChange(changes, replayed);
      if (report === undefined || replayed.verdict === "same") continue;
      progress.clear();
      await report({ line, request: read.request, ...replayed });
    }
  } finally {
    progress.clear();
  }
  if (counts.requests === 0) fail(`error: ${escapeControls(path)} has no request\n`);
  return { ...counts, unreadable, changes: [...changes.values()].sort((a, b) => b.requests - a.requests) };
};

const countChange = (changes: Map<string, LogChange>, { before, after }: Replayed): void => {
  const change = { entity: formatOwners(before, after), from: formatDestination(before), to: formatDestination(after) };
  const key = JSON.stringify(change);
  changes.set(key, { ...change, requests: (changes.get(key)?.requests ?? 0) + 1 });
};

/** `order`, or `order → ride`. */
export const formatOwners = (before: Destination, after: Destination): string =>
  [...new Set([before, after].flatMap((side) => ("entity" in side && side.entity ? [side.entity] : [])))].join(" → ");

/** A region, the slug of a problem, or why the target is undetermined. */
export const formatDestination = (destination: Destination): string => {
  switch (destination.kind) {
    case "region":
      return destination.region;
    case "refused":
      return destination.reason;
    case "own":
      return "(gateway)";
    case "open":
      return OPEN_TEXT[destination.why];
  }
};

const OPEN_TEXT = {
  "public-id": "(by its public ID)",
  "request-fields": "(by its fields)",
  pack: "(by its pack)",
} as const;

/** `order  ap → us  120 requests  12 %`, the share of all requests. */
export const changeLines = ({ requests, changes }: ReplaySummary): readonly string[] =>
  alignColumns(changes.map((change) => changeCells(change, requests)));

const changeCells = ({ entity, from, to, requests }: LogChange, all: number): readonly string[] => [
  entity === "" ? "(no entity)" : entity,
  `${from} → ${to}`,
  countOf(requests, "request"),
  formatPercent((requests / all) * 100),
];

/** `1,000 requests: 12 routed differently, 985 unchanged, 3 undetermined by the log`. */
export const formatSummary = ({ requests, same, changed, open, others, unreadable }: ReplaySummary): string => {
  const counts = [`${formatCount(changed)} routed differently`, `${formatCount(same)} unchanged`];
  const openCount = open === 0 ? [] : [`${formatCount(open)} undetermined by the log`];
  const first = `${countOf(requests, "request")}: ${[...counts, ...openCount].join(", ")}\n`;
  const passed = others === 0 ? "" : `skipped: ${countOf(others, "line")} of other events\n`;
  const lost =
    unreadable.lines === 0
      ? ""
      : `skipped: ${countOf(unreadable.lines, "line")} that cannot be read; the first is line ${unreadable.first}\n`;
  return first + passed + lost;
};
