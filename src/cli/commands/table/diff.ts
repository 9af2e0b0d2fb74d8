import { ok } from "../../../ids/index.ts";
import { diffTables } from "../../../routing/diff/diff.ts";
import { checkTable, compileTable } from "../../../routing/index.ts";
import { command, option } from "../../command.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS } from "../../gateway/http.ts";
import {
  isRevision,
  readTableSource,
  reportSourceError,
  SOURCE_HELP,
  type TableSource,
} from "../../gateway/revision.ts";
import { formatDiff } from "../../lib/diff-text.ts";
import { changeLines, formatSummary, type ReplaySummary, replayLog } from "../../lib/log-replay.ts";
import { formatMissing, type MissingPack, missedBy, openPackFiles, withSlots } from "../../lib/packs.ts";
import { EXIT, fail, type Runtime } from "../../runtime.ts";

/** `waybill table diff`: the differences of two tables, and the keys that they route differently. */
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
      return fail(`error: only one of ${what} can be stdin\n`, runtime);
    }
    // Both are read, so that the faults of both are shown.
    const before = await readTableSource(beforePath, options, runtime, checkTable);
    const after = await readTableSource(afterPath, options, runtime, checkTable);
    for (const side of [before, after]) if (!side.ok) await reportSourceError(side.error, json, runtime);
    if (!before.ok || !after.ok) return EXIT.failed;

    // Only the replay of requests needs compiled tables.
    const compiled =
      log === undefined ? undefined : [before.value, after.value].map(({ table }) => compileTable(table, 0));
    const packFiles = openPackFiles(
      [beforePath, afterPath].map((word) => (isRevision(word) ? undefined : word)),
      runtime,
    );
    const missing: MissingPack[] = [];
    for (const [at, { name, table }] of [before.value, after.value].entries()) {
      const filled = await packFiles.load({ name, table: compiled?.[at] ?? withSlots(table) });
      if (!filled.ok) return fail(filled.error, runtime);
      missing.push(...filled.value);
    }
    const found = diffTables(before.value.table, after.value.table, packFiles.contents, runtime.nowMs());
    const [left, right] = compiled ?? [];
    const traffic =
      log === undefined || left === undefined || right === undefined
        ? ok(undefined)
        : await replayLog(log, left, right, runtime, { isQuiet: json });
    if (!traffic.ok) return fail(traffic.error, runtime);
    const [from, to] = [before.value, after.value].map(plainSide);
    if (json) await runtime.print(`${JSON.stringify({ before: from, after: to, ...found, traffic: traffic.value })}\n`);
    else if (found.isEmpty) runtime.report("no differences\n");
    else await runtime.print(formatDiff(found, runtime.paint) + formatTraffic(traffic.value, runtime.paint));
    runtime.report(formatMissing(log === undefined ? missedBy(found, missing) : missing));
    if (traffic.value !== undefined) runtime.report(formatSummary(traffic.value));
    return exitCode && !found.isEmpty ? EXIT.differs : EXIT.ok;
  },
});

const plainSide = ({ name, revision, digest }: TableSource<unknown>): object =>
  revision === undefined ? { file: name, digest } : { revision, digest };

const formatTraffic = (traffic: ReplaySummary | undefined, paint: Runtime["paint"]): string =>
  traffic === undefined || traffic.changes.length === 0
    ? ""
    : `\n${[paint("bold", "requests routed differently"), ...changeLines(traffic).map((line) => `  ${line}`)].join("\n")}\n`;
