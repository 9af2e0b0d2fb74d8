import type { Command } from "commander";
import { diffTables } from "../routing/diff.ts";
import { checkTable } from "../routing/index.ts";
import type { Act } from "./action.ts";
import { diffText } from "./diff-text.ts";
import { readTableFile, tableErrorText } from "./table-file.ts";
import { EXIT, type World } from "./world.ts";

interface Options {
  readonly json?: boolean;
  readonly exitCode?: boolean;
}

/** `waybill table diff`: what a change of the table changes, and which keys go elsewhere because of it. */
export const addTableDiff = (parent: Command, act: Act): void => {
  parent
    .command("diff")
    .description("compare two routing tables, and list the keys whose IDs go elsewhere")
    .argument("<before>", "the table as it is; - reads it from stdin")
    .argument("<after>", "the table as it is to be; - reads it from stdin")
    .option("--exit-code", "exit with 2 when the tables differ")
    .option("--json", "the differences as one JSON object")
    .addHelpText("after", HELP)
    .action(act(diffFiles));
};

const HELP = `
Examples:
  $ waybill table diff published.json routing-table.json
  $ git show main:routing-table.json | waybill table diff --exit-code - routing-table.json

Both tables are checked first. Exit code: 0, or with --exit-code 2 when they differ; 1 when one of them has faults.`;

const diffFiles = async (world: World, args: readonly string[], { json, exitCode }: Options) => {
  const [beforePath, afterPath] = args as readonly [string, string];
  if (beforePath === "-" && afterPath === "-") {
    world.report("error: only one of the two tables can come from stdin\n");
    return EXIT.failed;
  }
  // One after the other, so that the faults of both are shown.
  const before = await readTableFile(beforePath, world, checkTable);
  const after = await readTableFile(afterPath, world, checkTable);
  for (const file of [before, after]) if (!file.ok) world.report(tableErrorText(file.error));
  if (!before.ok || !after.ok) return EXIT.failed;

  const diff = diffTables(before.value.table, after.value.table);
  const [from, to] = [before.value, after.value].map(({ name, digest }) => ({ file: name, digest }));
  if (json) await world.print(`${JSON.stringify({ before: from, after: to, ...diff })}\n`);
  else if (diff.isEmpty) world.report("no differences\n");
  else await world.print(diffText(diff, world.paint));
  return exitCode && !diff.isEmpty ? EXIT.differs : EXIT.ok;
};
