import type { Command } from "commander";
import { ok } from "../ids/index.ts";
import { diffTables } from "../routing/diff.ts";
import { checkTable, compileTable } from "../routing/index.ts";
import type { Act } from "./action.ts";
import { diffText } from "./diff-text.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import { type MissingPack, missedBy, missingText, openShelf, withSlots } from "./pack-shelf.ts";
import { refuse } from "./refuse.ts";
import { isRevision, readSide, SIDE_HELP, type TableSide, tellSideError } from "./table-side.ts";
import { replayTraffic, type TrafficTally } from "./traffic-replay.ts";
import { tallyText, wayLines } from "./traffic-text.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions {
  readonly json?: boolean;
  readonly exitCode?: boolean;
  readonly log?: string;
}

/** `waybill table diff`: what a change of the table changes, and which keys go elsewhere because of it. */
export const addTableDiff = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("diff")
      .description("compare two routing tables, and list the keys whose IDs go elsewhere")
      .argument("<before>", "the table as it is: a file, the number of a revision, or - for stdin")
      .argument("<after>", "the table as it is to be: a file, the number of a revision, or - for stdin")
      .option("--log <file>", "say of a log's requests, too, how many go elsewhere")
      .option("--exit-code", "exit with 2 when the tables differ")
      .option("--json", "the differences as one JSON object, or the faults as table check has them"),
  )
    .addHelpText("after", HELP)
    .action(act(diff));
};

const HELP = `
Examples:
  $ waybill table diff published.json routing-table.json
  $ git show main:routing-table.json | waybill table diff --exit-code - routing-table.json
  $ waybill table diff published.json routing-table.json --log requests.ndjson
  $ waybill table diff 41 routing-table.json

${SIDE_HELP}
Both tables are checked first.
${GATEWAY_HELP} Files need none.
Exit code: 0, or with --exit-code 2 when they differ; 1 when one of them has faults.`;

const diff = async (world: World, args: readonly string[], options: Options): Promise<ExitCode> => {
  const { json = false, exitCode, log } = options;
  const [beforePath, afterPath] = args as readonly [string, string];
  if ([beforePath, afterPath, log].filter((path) => path === "-").length > 1) {
    const what = log === "-" ? "the two tables and the log" : "the two tables";
    return refuse(`error: only one of ${what} can come from stdin\n`, world);
  }
  // One after the other, so that the faults of both are shown.
  const before = await readSide(beforePath, options, world, checkTable);
  const after = await readSide(afterPath, options, world, checkTable);
  for (const side of [before, after]) if (!side.ok) await tellSideError(side.error, json, world);
  if (!before.ok || !after.ok) return EXIT.failed;

  // Only requests need tables that are compiled.
  const compiled =
    log === undefined ? undefined : [before.value, after.value].map(({ table }) => compileTable(table, 0));
  const shelf = openShelf(
    [beforePath, afterPath].map((word) => (isRevision(word) ? undefined : word)),
    world,
  );
  const missing: MissingPack[] = [];
  for (const [at, { name, table }] of [before.value, after.value].entries()) {
    const filled = await shelf.fill({ name, table: compiled?.[at] ?? withSlots(table) });
    if (!filled.ok) return refuse(filled.error, world);
    missing.push(...filled.value);
  }
  const found = diffTables(before.value.table, after.value.table, shelf.contents, world.nowMs());
  const [left, right] = compiled ?? [];
  const traffic =
    log === undefined || left === undefined || right === undefined
      ? ok(undefined)
      : await replayTraffic(log, left, right, world, { isQuiet: json });
  if (!traffic.ok) {
    return refuse(traffic.error, world);
  }
  const [from, to] = [before.value, after.value].map(plainSide);
  if (json) await world.print(`${JSON.stringify({ before: from, after: to, ...found, traffic: traffic.value })}\n`);
  else if (found.isEmpty) world.report("no differences\n");
  else await world.print(diffText(found, world.paint) + trafficText(traffic.value, world.paint));
  world.report(missingText(log === undefined ? missedBy(found, missing) : missing));
  if (traffic.value !== undefined) world.report(tallyText(traffic.value));
  return exitCode && !found.isEmpty ? EXIT.differs : EXIT.ok;
};

const plainSide = ({ name, revision, digest }: TableSide<unknown>): object =>
  revision === undefined ? { file: name, digest } : { revision, digest };

const trafficText = (traffic: TrafficTally | undefined, paint: World["paint"]): string =>
  traffic === undefined || traffic.changes.length === 0
    ? ""
    : `\n${[paint("bold", "requests that go elsewhere"), ...wayLines(traffic).map((line) => `  ${line}`)].join("\n")}\n`;
