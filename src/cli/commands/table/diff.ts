import { LOG_FORMATS, parseLogLine, type UnreadableLine } from "../../../features/replay/log-lines.ts";
import { type Destination, type LoggedRequest, type Replayed, replay } from "../../../features/replay/serve.ts";
import { diffTables, type TableDiff } from "../../../routing/diff/diff.ts";
import { type CompiledTable, checkTable, compileTable } from "../../../routing/index.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { fileOf, readTableSource, SOURCE_HELP, type TableSource } from "../../client/client.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS } from "../../client/http.ts";
import { command, option, required } from "../../command.ts";
import { countDiff, formatDiff } from "../../lib/diff.ts";
import { markdownOf } from "../../lib/diff-markdown.ts";
import { linesOf, openInput } from "../../lib/input.ts";
import {
  alignColumns,
  counted,
  countOf,
  escapeControls,
  formatCount,
  formatPercent,
  indented,
  jsonText,
  linesText,
  section,
  startProgress,
} from "../../lib/output.ts";
import { formatMissing, missedBy, openPackFiles, withSlots } from "../../lib/packs.ts";
import { compile } from "../../lib/table-file.ts";
import { warningsOf } from "../../lib/warnings.ts";
import { both, EXIT, fail, misuse, type Runtime } from "../../runtime.ts";

/** Results of all requests of a log. Plain JSON of bounded size. */
export type ReplaySummary = Awaited<ReturnType<typeof replayLog>>;

/** `entity`: empty if neither table has one. */
type LogChange = Readonly<Record<"entity" | "from" | "to", string>> & { readonly requests: number };

export type ReplayStep = Replayed & { readonly line: number; readonly request: LoggedRequest };

interface ReplayOptions {
  /** Form of the log; by default each line is read in the form that it has. */
  readonly format?: string | undefined;
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
  { isQuiet = false, report, format }: ReplayOptions = {},
) => {
  const { bytes, chunks } = await openInput(path, runtime);
  const progress = startProgress({ label: escapeControls(path), bytes, isQuiet }, runtime);
  const nowMs = runtime.nowMs();
  const counts = { requests: 0, same: 0, changed: 0, open: 0, others: 0 };
  const changes = new Map<string, LogChange>();
  const why = new Map<UnreadableLine, number>();
  const unreadable = { lines: 0, first: undefined as number | undefined };
  try {
    for await (const { line, read } of readLog(path, counted(chunks, progress), format)) {
      if (read.kind === "other") counts.others += 1;
      if (read.kind === "unreadable") {
        unreadable.lines += 1;
        unreadable.first ??= line;
        why.set(read.why, (why.get(read.why) ?? 0) + 1);
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
  const log = { ...counts, unreadable: { ...unreadable, why: Object.fromEntries(why) } };
  if (counts.requests === 0) fail(`error: ${escapeControls(path)} has no request\n${formatSkipped(log)}${LOG_FORM}`);
  return { ...log, changes: [...changes.values()].sort((a, b) => b.requests - a.requests) };
};

/** The lines of a log by their numbers, without blank ones. */
async function* readLog(path: string, chunks: AsyncIterable<Uint8Array>, format: string | undefined) {
  let line = 0;
  for await (const text of linesOf(chunks)) {
    line += 1;
    if (text.ok && text.value.trim() === "") continue;
    // RFC 1952 §2.3.1: how gzip begins.
    if (line === 1 && text.ok && text.value.startsWith("\x1f")) {
      fail(`error: ${escapeControls(path)} is compressed: gunzip -c FILE | waybill table replay -\n`);
    }
    yield { line, read: text.ok ? parseLogLine(text.value, format) : TOO_LONG };
  }
}

const countChange = (changes: Map<string, LogChange>, { before, after }: Replayed): void => {
  const change = { entity: formatOwners(before, after), from: formatDestination(before), to: formatDestination(after) };
  const key = JSON.stringify(change);
  changes.set(key, { ...change, requests: (changes.get(key)?.requests ?? 0) + 1 });
};

/** `order`, or `order → ride`. */
export const formatOwners = (before: Destination, after: Destination): string =>
  [...new Set([before, after].flatMap((side) => ("entity" in side && side.entity ? [side.entity] : [])))].join(" → ");

/** A region, the slug of a problem, or why the target is undetermined. */
const formatDestination = (destination: Destination): string => {
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
  directory: "(by its directory)",
} as const;

/** `order  ap → us  120 requests  12 %`, the share of all requests. */
export const changeLines = ({ requests: all, changes }: ReplaySummary): readonly string[] =>
  alignColumns(
    changes.map(({ entity, from, to, requests }) => [
      entity || "(no entity)",
      `${from} → ${to}`,
      countOf(requests, "request"),
      formatPercent((requests / all) * 100),
    ]),
  );

const TOO_LONG = { kind: "unreadable", why: "too-long" } as const;

const UNREADABLE_TEXT: Readonly<Record<UnreadableLine, string>> = {
  text: "in no known form",
  json: "JSON without the method and path of a known log",
  request: "whose request has no path",
  "not-utf-8": "not UTF-8",
  "too-long": "too long",
};

const LOG_FORM = `A line is a path, "GET /path", JSON with "path" and "method", or of another log: ${LOG_FORMATS.join(", ")}.\n`;

type Skipped = Pick<ReplaySummary, "others" | "unreadable">;

/** `skipped: 3 lines that cannot be read (2 in no known form, 1 too long); the first is line 7`. */
function formatSkipped({ others, unreadable: { lines, first, why } }: Skipped): string {
  const passed = others === 0 ? "" : `skipped: ${countOf(others, "line")} of other events\n`;
  if (lines === 0) return passed;
  const reasons = Object.entries(why).map(
    ([one, count]) => `${formatCount(count)} ${UNREADABLE_TEXT[one as UnreadableLine]}`,
  );
  return `${passed}skipped: ${countOf(lines, "line")} that cannot be read (${reasons.join(", ")}); the first is line ${first}\n`;
}

/** `1,000 requests: 12 routed differently, 985 unchanged, 3 undetermined by the log`. */
const formatSummary = ({ requests, same, changed, open, ...skipped }: ReplaySummary): string => {
  const counts = [`${formatCount(changed)} routed differently`, `${formatCount(same)} unchanged`];
  const openCount = open === 0 ? [] : [`${formatCount(open)} undetermined by the log`];
  return `${countOf(requests, "request")}: ${[...counts, ...openCount].join(", ")}\n${formatSkipped(skipped)}`;
};

const FORMAT_HELP = `The log's form is recognised line by line; --format reads one alone: ${LOG_FORMATS.join(", ")}.`;

export const tableDiff = command({
  name: "diff",
  description: "compare two routing tables and list the keys that are routed differently",
  args: [
    ["<before>", "the table before: a file, a revision number, or - for stdin"],
    ["<after>", "the table after: a file, a revision number, or - for stdin"],
  ],
  options: [
    option("--log <file>", "also count the requests of a log that are routed differently"),
    option("--format <name>", "the form of the log").choices(LOG_FORMATS),
    option("--exit-code", "exit with 2 if the tables differ"),
    option("--markdown", "the differences in Markdown, for a comment on a pull request"),
    option("--json", "the differences as one JSON object, or the faults as in table check"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill table diff published.json routing-table.json
  $ git show main:routing-table.json | waybill table diff --exit-code - routing-table.json
  $ waybill table diff published.json routing-table.json --log requests.ndjson
  $ waybill table diff 41 routing-table.json
  $ waybill table diff --markdown before.json routing-table.json >> "$GITHUB_STEP_SUMMARY"

${SOURCE_HELP}
${FORMAT_HELP}
Both tables are validated first.
${GATEWAY_HELP} Files need no token.
Exit code: 0, or with --exit-code 2 if they differ; 1 if one of them has faults.`,
  run: async (runtime, args, options) => {
    const { json = false, markdown = false, exitCode, log, format } = options;
    if (markdown && (json || log !== undefined)) misuse("error: give --markdown without --json and --log\n");
    const [beforePath, afterPath] = args as readonly [string, string];
    if ([beforePath, afterPath, log].filter((path) => path === "-").length > 1) {
      const what = log === "-" ? "the two tables and the log" : "the two tables";
      misuse(`error: only one of ${what} can be stdin\n`);
    }
    const read = (word: string) => readTableSource(word, options, runtime, checkTable, json ? "json" : "stderr");
    const [before, after] = await both(read(beforePath), read(afterPath));

    // Only the replay of requests needs compiled tables.
    const compiled = log === undefined ? [] : [before, after].map(({ table }) => compileTable(table, 0));
    const tables = [before, after].map(({ name, table }, at) => ({ name, table: compiled[at] ?? withSlots(table) }));
    const { missing, contents } = await openPackFiles([fileOf(beforePath), fileOf(afterPath)], tables, runtime);
    const found = diffTables(before.table, after.table, { packs: contents }, runtime.nowMs());
    const [left, right] = compiled;
    const isReplayed = log !== undefined && left !== undefined && right !== undefined;
    const traffic = isReplayed ? await replayLog(log, left, right, runtime, { isQuiet: json, format }) : undefined;
    if (markdown) await runtime.print(markdownBetween(before.table, after.table, found));
    else if (json)
      await runtime.print(jsonText({ before: plainSide(before), after: plainSide(after), ...found, traffic }));
    else await printDiff(found, traffic, runtime);
    runtime.report(formatMissing(log === undefined ? missedBy(found, missing) : missing));
    if (traffic !== undefined) runtime.report(formatSummary(traffic));
    return exitCode && !found.isEmpty ? EXIT.differs : EXIT.ok;
  },
});

async function printDiff(found: TableDiff, traffic: ReplaySummary | undefined, runtime: Runtime): Promise<void> {
  if (found.isEmpty) runtime.report("no differences\n");
  else await runtime.print(formatDiff(found, runtime.paint) + (traffic ? formatTraffic(traffic, runtime.paint) : ""));
}

const markdownBetween = (before: DeclaredTable, after: DeclaredTable, found: TableDiff): string => {
  const counts = found.isEmpty ? undefined : countDiff(found);
  return markdownOf(counts, warningsOf(before, after, counts, undefined));
};

const plainSide = ({ name, revision, digest }: TableSource<unknown>): object =>
  revision === undefined ? { file: name, digest } : { revision, digest };

const formatTraffic = (traffic: ReplaySummary, paint: Runtime["paint"]): string => {
  const lines = section(paint("bold", "requests routed differently"), changeLines(traffic));
  return linesText(lines.length === 0 ? [] : ["", ...lines]);
};

export const tableReplay = command({
  name: "replay",
  description: "replay the requests of a log on two tables and list those that are routed differently",
  args: [["<log>", "lines of the gateway's log, or paths, one per line; - reads them from stdin"]],
  options: [
    required("--old <table>", "the table before: a file or a revision number"),
    required("--new <table>", "the table after: a file or a revision number"),
    option("--format <name>", "the form of the log").choices(LOG_FORMATS),
    option("--only-changed", "omit requests whose route depends on data not in the log"),
    option("--exit-code", "exit with 2 if a request is routed differently"),
    option("--json", "one JSON object per line"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill table replay requests.ndjson --old published.json --new routing-table.json
  $ waybill table replay requests.ndjson --old 41 --new 42 --only-changed --json
  $ grep '"status":404' requests.ndjson | waybill table replay - --old 41 --new routing-table.json

A line is an object with "path" and "method" (GET without one), a path, or a line that npm start prints.
Access logs of other proxies are read too: combined ones (nginx, Apache, Traefik, Envoy's default), those of AWS's
load balancers and Heroku, and the JSON of Caddy, Traefik, Envoy and Cloudflare.
${FORMAT_HELP}
${SOURCE_HELP}
Packs are read from the folder packs beside the tables, or in the current folder if both are revisions.
${GATEWAY_HELP} Files need no token.
Exit code: 0, or with --exit-code 2 if a request is routed differently; 1 if something cannot be read.`,
  run: async (runtime, [log = ""], options) => {
    if ([log, options.old, options.new].filter((path) => path === "-").length > 1) {
      misuse("error: only one of the log and the two tables can be stdin\n");
    }
    const read = (word: string) => readTableSource(word, options, runtime, compile);
    const [before, after] = await both(read(options.old), read(options.new));
    const packs = await openPackFiles([fileOf(options.old), fileOf(options.new)], [before, after], runtime);
    runtime.report(formatMissing(packs.missing));
    const report = async (step: ReplayStep): Promise<void> => {
      if (step.verdict === "open" && options.onlyChanged) return;
      await runtime.print(options.json ? jsonText(plainOf(step)) : stepLine(step));
    };
    const isQuiet = options.json === true;
    const { format } = options;
    const tally = await replayLog(log, before.table, after.table, runtime, { isQuiet, report, format });
    runtime.report(formatSummary(tally) + linesText(indented(changeLines(tally))));
    return options.exitCode && tally.changed > 0 ? EXIT.differs : EXIT.ok;
  },
});

/** `GET /orders/…  order  ap → us`. */
const stepLine = ({ request, before, after, verdict }: ReplayStep): string => {
  const change =
    verdict === "open" ? `${formatDestination(after)}?` : `${formatDestination(before)} → ${formatDestination(after)}`;
  const cells = [`${request.method} ${request.path}`, formatOwners(before, after), change];
  return `${escapeControls(cells.filter((cell) => cell !== "").join("  "))}\n`;
};

const plainOf = ({ line, request, verdict, ...sides }: ReplayStep): object => ({ line, ...request, verdict, ...sides });
