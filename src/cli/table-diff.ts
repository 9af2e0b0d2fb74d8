import type { Command } from "commander";
import { ok } from "../ids/index.ts";
import { diffTables } from "../routing/diff.ts";
import { checkTable, compileTable } from "../routing/index.ts";
import type { Act } from "./action.ts";
import { diffText } from "./diff-text.ts";
import { type MissingPack, missedBy, missingText, openShelf, withSlots } from "./pack-shelf.ts";
import { refuse } from "./refuse.ts";
import { readTableFile, tableErrorText } from "./table-file.ts";
import { replayTraffic, type TrafficTally } from "./traffic-replay.ts";
import { tallyText, wayLines } from "./traffic-text.ts";
import { EXIT, type World } from "./world.ts";

interface Options {
  readonly json?: boolean;
  readonly exitCode?: boolean;
  readonly log?: string;
}

/** `waybill table diff`: what a change of the table changes, and which keys go elsewhere because of it. */
export const addTableDiff = (parent: Command, act: Act): void => {
  parent
    .command("diff")
    .description("compare two routing tables, and list the keys whose IDs go elsewhere")
    .argument("<before>", "the table as it is; - reads it from stdin")
    .argument("<after>", "the table as it is to be; - reads it from stdin")
    .option("--log <file>", "say of a log's requests, too, how many go elsewhere")
    .option("--exit-code", "exit with 2 when the tables differ")
    .option("--json", "the differences as one JSON object")
    .addHelpText("after", HELP)
    .action(act(diffFiles));
};

const HELP = `
Examples:
  $ waybill table diff published.json routing-table.json
  $ git show main:routing-table.json | waybill table diff --exit-code - routing-table.json
  $ waybill table diff published.json routing-table.json --log requests.ndjson

Both tables are checked first. Exit code: 0, or with --exit-code 2 when they differ; 1 when one of them has faults.`;

const diffFiles = async (world: World, args: readonly string[], { json, exitCode, log }: Options) => {
  const [beforePath, afterPath] = args as readonly [string, string];
  if ([beforePath, afterPath, log].filter((path) => path === "-").length > 1) {
    const what = log === "-" ? "the two tables and the log" : "the two tables";
    return refuse(`error: only one of ${what} can come from stdin\n`, world);
  }
  // One after the other, so that the faults of both are shown.
  const before = await readTableFile(beforePath, world, checkTable);
  const after = await readTableFile(afterPath, world, checkTable);
  for (const file of [before, after]) if (!file.ok) world.report(tableErrorText(file.error));
  if (!before.ok || !after.ok) return EXIT.failed;

  // Only requests need tables that are compiled.
  const compiled =
    log === undefined ? undefined : [before.value, after.value].map(({ table }) => compileTable(table, 0));
  const shelf = openShelf([beforePath, afterPath], world);
  const missing: MissingPack[] = [];
  for (const [at, { name, table }] of [before.value, after.value].entries()) {
    const filled = await shelf.fill({ name, table: compiled?.[at] ?? withSlots(table) });
    if (!filled.ok) return refuse(filled.error, world);
    missing.push(...filled.value);
  }
  const diff = diffTables(before.value.table, after.value.table, shelf.contents);
  const [left, right] = compiled ?? [];
  const traffic =
    log === undefined || left === undefined || right === undefined
      ? ok(undefined)
      : await replayTraffic(log, left, right, world, { isQuiet: json === true });
  if (!traffic.ok) {
    return refuse(traffic.error, world);
  }
  const [from, to] = [before.value, after.value].map(({ name, digest }) => ({ file: name, digest }));
  if (json) await world.print(`${JSON.stringify({ before: from, after: to, ...diff, traffic: traffic.value })}\n`);
  else if (diff.isEmpty) world.report("no differences\n");
  else await world.print(diffText(diff, world.paint) + trafficText(traffic.value, world.paint));
  world.report(missingText(log === undefined ? missedBy(diff, missing) : missing));
  if (traffic.value !== undefined) world.report(tallyText(traffic.value));
  return exitCode && !diff.isEmpty ? EXIT.differs : EXIT.ok;
};

const trafficText = (traffic: TrafficTally | undefined, paint: World["paint"]): string =>
  traffic === undefined || traffic.ways.length === 0
    ? ""
    : `\n${[paint("bold", "requests that go elsewhere"), ...wayLines(traffic).map((line) => `  ${line}`)].join("\n")}\n`;
