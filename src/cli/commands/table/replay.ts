import { command, option, required } from "../../command.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS } from "../../gateway/http.ts";
import { isRevision, readTableSource, reportSourceError, SOURCE_HELP } from "../../gateway/revision.ts";
import {
  changeLines,
  formatDestination,
  formatOwners,
  formatSummary,
  type ReplayStep,
  replayLog,
} from "../../lib/log-replay.ts";
import { escapeControls } from "../../lib/output.ts";
import { formatMissing, openPackFiles } from "../../lib/packs.ts";
import { compile } from "../../lib/table-file.ts";
import { EXIT, fail } from "../../runtime.ts";

/** `waybill table replay`: replays the requests of a log on two tables. */
export const tableReplay = command({
  name: "replay",
  description: "replay the requests of a log on two tables and list those that are routed differently",
  args: [["<log>", "lines of the gateway's log, or paths, one per line; - reads them from stdin"]],
  options: [
    required("--old <table>", "the table before: a file or a revision number"),
    required("--new <table>", "the table after: a file or a revision number"),
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
${SOURCE_HELP}
Packs are read from the folder packs beside the tables, or in the current folder if both are revisions.
${GATEWAY_HELP} Files need no token.
Exit code: 0, or with --exit-code 2 if a request is routed differently; 1 if something cannot be read.`,
  run: async (runtime, [log = ""], options) => {
    if ([log, options.old, options.new].filter((path) => path === "-").length > 1) {
      return fail("error: only one of the log and the two tables can be stdin\n", runtime);
    }
    const before = await readTableSource(options.old, options, runtime, compile);
    const after = await readTableSource(options.new, options, runtime, compile);
    for (const side of [before, after]) if (!side.ok) await reportSourceError(side.error, false, runtime);
    if (!before.ok || !after.ok) return EXIT.failed;
    const paths = [options.old, options.new].map((name) => (isRevision(name) ? undefined : name));
    const packFiles = openPackFiles(paths, runtime);
    for (const { value } of [before, after]) {
      const missing = await packFiles.load(value);
      if (!missing.ok) return fail(missing.error, runtime);
      runtime.report(formatMissing(missing.value));
    }
    const report = async (step: ReplayStep): Promise<void> => {
      if (step.verdict === "open" && options.onlyChanged) return;
      await runtime.print(options.json ? `${JSON.stringify(plainOf(step))}\n` : stepLine(step));
    };
    const tally = await replayLog(log, before.value.table, after.value.table, runtime, {
      isQuiet: options.json === true,
      report,
    });
    if (!tally.ok) return fail(tally.error, runtime);
    runtime.report(
      formatSummary(tally.value) +
        changeLines(tally.value)
          .map((line) => `  ${line}\n`)
          .join(""),
    );
    return options.exitCode && tally.value.changed > 0 ? EXIT.differs : EXIT.ok;
  },
});

/** `GET /orders/…  order  ap → us`. */
const stepLine = ({ request, before, after, verdict }: ReplayStep): string => {
  const change =
    verdict === "open" ? `${formatDestination(after)}?` : `${formatDestination(before)} → ${formatDestination(after)}`;
  const cells = [`${request.method} ${request.path}`, formatOwners(before, after), change];
  return `${escapeControls(cells.filter((cell) => cell !== "").join("  "))}\n`;
};

const plainOf = ({ line, request, verdict, before, after }: ReplayStep): object => ({
  line,
  ...request,
  verdict,
  before,
  after,
});
