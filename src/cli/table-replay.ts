import type { Command } from "commander";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import { missingText, openShelf } from "./pack-shelf.ts";
import { printable } from "./printable.ts";
import { refuse } from "./refuse.ts";
import { compile } from "./table-file.ts";
import { isRevision, readSide, SIDE_HELP, tellSideError } from "./table-side.ts";
import { destinationText, ownersText, replayTraffic, type TrafficStep } from "./traffic-replay.ts";
import { tallyText, wayLines } from "./traffic-text.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions {
  readonly old: string;
  readonly new: string;
  readonly onlyChanged?: boolean;
  readonly exitCode?: boolean;
  readonly json?: boolean;
}

/** `waybill table replay`: sends the requests of a log through two tables. */
export const addTableReplay = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("replay")
      .description("send the requests of a log through two tables, and list those that would go elsewhere")
      .argument("<log>", "lines of the gateway's log, or paths, one a line; - reads them from stdin")
      .requiredOption("--old <table>", "the table as it is: a file, or the number of a revision")
      .requiredOption("--new <table>", "the table as it is to be: a file, or the number of a revision")
      .option("--only-changed", "leave out requests of which the log does not hold what decides")
      .option("--exit-code", "exit with 2 when a request goes elsewhere")
      .option("--json", "one JSON object a line"),
  )
    .addHelpText("after", HELP)
    .action(act(replayLog));
};

const HELP = `
Examples:
  $ waybill table replay requests.ndjson --old published.json --new routing-table.json
  $ waybill table replay requests.ndjson --old 41 --new 42 --only-changed --json
  $ grep '"status":404' requests.ndjson | waybill table replay - --old 41 --new routing-table.json

A line is an object with "path" and "method" (GET without one), a path, or a line that npm start prints.
${SIDE_HELP}
Packs are read from the folder packs beside the tables; where both are revisions, from the one in the current folder.
${GATEWAY_HELP} Files need none.
Exit code: 0, or with --exit-code 2 when a request goes elsewhere; 1 when something cannot be read.`;

const replayLog = async (world: World, [log = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  if ([log, options.old, options.new].filter((path) => path === "-").length > 1) {
    return refuse("error: only one of the log and the two tables can come from stdin\n", world);
  }
  const before = await readSide(options.old, options, world, compile);
  const after = await readSide(options.new, options, world, compile);
  for (const side of [before, after]) if (!side.ok) await tellSideError(side.error, false, world);
  if (!before.ok || !after.ok) return EXIT.failed;
  const paths = [options.old, options.new].map((name) => (isRevision(name) ? undefined : name));
  const shelf = openShelf(paths, world);
  for (const { value } of [before, after]) {
    const missing = await shelf.fill(value);
    if (!missing.ok) return refuse(missing.error, world);
    world.report(missingText(missing.value));
  }
  const tell = async (step: TrafficStep): Promise<void> => {
    if (step.verdict === "open" && options.onlyChanged) return;
    await world.print(options.json ? `${JSON.stringify(plainOf(step))}\n` : stepLine(step));
  };
  const tally = await replayTraffic(log, before.value.table, after.value.table, world, {
    isQuiet: options.json === true,
    tell,
  });
  if (!tally.ok) return refuse(tally.error, world);
  world.report(
    tallyText(tally.value) +
      wayLines(tally.value)
        .map((line) => `  ${line}\n`)
        .join(""),
  );
  return options.exitCode && tally.value.changed > 0 ? EXIT.differs : EXIT.ok;
};

/** `GET /orders/…  order  ap → us`. */
const stepLine = ({ request, before, after, verdict }: TrafficStep): string => {
  const way =
    verdict === "open" ? `${destinationText(after)}?` : `${destinationText(before)} → ${destinationText(after)}`;
  const cells = [`${request.method} ${request.path}`, ownersText(before, after), way];
  return `${printable(cells.filter((cell) => cell !== "").join("  "))}\n`;
};

const plainOf = ({ line, request, verdict, before, after }: TrafficStep): object => ({
  line,
  ...request,
  verdict,
  before,
  after,
});
