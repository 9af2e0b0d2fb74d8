import { diffTables } from "../../../routing/diff/diff.ts";
import { checkTable, compileTable } from "../../../routing/index.ts";
import { command, option } from "../../command.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS } from "../../gateway/http.ts";
import { fileOf, readTableSource, SOURCE_HELP, type TableSource } from "../../gateway/revision.ts";
import { formatDiff } from "../../lib/diff-text.ts";
import { changeLines, formatSummary, type ReplaySummary, replayLog } from "../../lib/log-replay.ts";
import { jsonText } from "../../lib/output.ts";
import { formatMissing, missedBy, openPackFiles, withSlots } from "../../lib/packs.ts";
import { both, EXIT, fail, type Runtime } from "../../runtime.ts";

export const tableDiff = command({
  name: "diff",
  description: "compare two routing tables and list the keys that are routed differently",
  args: [
    ["<before>", "the table before: a file, a revision number, or - for stdin"],
    ["<after>", "the table after: a file, a revision number, or - for stdin"],
  ],
  options: [
    option("--log <file>", "also count the requests of a log that are routed differently"),
    option("--exit-code", "exit with 2 if the tables differ"),
    option("--json", "the differences as one JSON object, or the faults as in table check"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill table diff published.json routing-table.json
  $ git show main:routing-table.json | waybill table diff --exit-code - routing-table.json
  $ waybill table diff published.json routing-table.json --log requests.ndjson
  $ waybill table diff 41 routing-table.json

${SOURCE_HELP}
Both tables are validated first.
${GATEWAY_HELP} Files need no token.
Exit code: 0, or with --exit-code 2 if they differ; 1 if one of them has faults.`,
  run: async (runtime, args, options) => {
    const { json = false, exitCode, log } = options;
    const [beforePath, afterPath] = args as readonly [string, string];
    if ([beforePath, afterPath, log].filter((path) => path === "-").length > 1) {
      const what = log === "-" ? "the two tables and the log" : "the two tables";
      fail(`error: only one of ${what} can be stdin\n`);
    }
    const read = (word: string) => readTableSource(word, options, runtime, checkTable, json ? "json" : "stderr");
    const [before, after] = await both(read(beforePath), read(afterPath));

    // Only the replay of requests needs compiled tables.
    const compiled = log === undefined ? [] : [before, after].map(({ table }) => compileTable(table, 0));
    const tables = [before, after].map(({ name, table }, at) => ({ name, table: compiled[at] ?? withSlots(table) }));
    const { missing, contents } = await openPackFiles([fileOf(beforePath), fileOf(afterPath)], tables, runtime);
    const found = diffTables(before.table, after.table, contents, runtime.nowMs());
    const [left, right] = compiled;
    const traffic =
      log === undefined || left === undefined || right === undefined
        ? undefined
        : await replayLog(log, left, right, runtime, { isQuiet: json });
    if (json) await runtime.print(jsonText({ before: plainSide(before), after: plainSide(after), ...found, traffic }));
    else if (found.isEmpty) runtime.report("no differences\n");
    else await runtime.print(formatDiff(found, runtime.paint) + formatTraffic(traffic, runtime.paint));
    runtime.report(formatMissing(log === undefined ? missedBy(found, missing) : missing));
    if (traffic !== undefined) runtime.report(formatSummary(traffic));
    return exitCode && !found.isEmpty ? EXIT.differs : EXIT.ok;
  },
});

const plainSide = ({ name, revision, digest }: TableSource<unknown>): object =>
  revision === undefined ? { file: name, digest } : { revision, digest };

const formatTraffic = (traffic: ReplaySummary | undefined, paint: Runtime["paint"]): string =>
  traffic === undefined || traffic.changes.length === 0
    ? ""
    : `\n${[paint("bold", "requests routed differently"), ...changeLines(traffic).map((line) => `  ${line}`)].join("\n")}\n`;
