import { command, option, required } from "../../command.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS } from "../../gateway/http.ts";
import { fileOf, readTableSource, SOURCE_HELP } from "../../gateway/revision.ts";
import {
  changeLines,
  formatDestination,
  formatOwners,
  formatSummary,
  type ReplayStep,
  replayLog,
} from "../../lib/log-replay.ts";
import { escapeControls, jsonText, linesText } from "../../lib/output.ts";
import { formatMissing, openPackFiles } from "../../lib/packs.ts";
import { compile } from "../../lib/table-file.ts";
import { both, EXIT, fail } from "../../runtime.ts";

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
      fail("error: only one of the log and the two tables can be stdin\n");
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
    const tally = await replayLog(log, before.table, after.table, runtime, { isQuiet, report });
    runtime.report(formatSummary(tally) + linesText(changeLines(tally).map((line) => `  ${line}`)));
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

const plainOf = ({ line, request, verdict, before, after }: ReplayStep): object => ({
  line,
  ...request,
  verdict,
  before,
  after,
});
