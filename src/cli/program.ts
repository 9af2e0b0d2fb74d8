import { Command, CommanderError, type OutputConfiguration } from "commander";
import { addCanary } from "./commands/canary.ts";
import { addContract } from "./commands/contract/contract.ts";
import { addExplain } from "./commands/explain.ts";
import { addCapacity } from "./commands/id-capacity.ts";
import { addConvert } from "./commands/id-convert.ts";
import { addRange } from "./commands/id-range.ts";
import { addLayout } from "./commands/layout.ts";
import { addMint } from "./commands/mint.ts";
import { addMove } from "./commands/move.ts";
import { addPublic } from "./commands/public-id.ts";
import { addTableCanary, addTableCanaryEnds } from "./commands/table/canary.ts";
import { addTableCapacity } from "./commands/table/capacity.ts";
import { addTableCheck } from "./commands/table/check.ts";
import { addTableDiff } from "./commands/table/diff.ts";
import { addTableHistory, addTableShow } from "./commands/table/history.ts";
import { addTablePack, addTableUploadPacks } from "./commands/table/pack.ts";
import { addTablePlan } from "./commands/table/plan.ts";
import { addTablePublish, addTableRollback } from "./commands/table/publish.ts";
import { addTableReplay } from "./commands/table/replay.ts";
import { addTableStatus } from "./commands/table/status.ts";
import { addToken } from "./commands/token.ts";
import type { Act, Runtime } from "./runtime.ts";

/** `waybill table`: routing tables on this machine, and those that a gateway has published. */
export const addTable = (parent: Command, act: Act): void => {
  const table = parent.command("table").description("check, compare, publish and monitor routing tables");
  addTableCheck(table, act);
  addTableDiff(table, act);
  addTablePack(table, act);
  addTableReplay(table, act);
  addTableCapacity(table, act);
  addTablePlan(table, act);
  addTableUploadPacks(table, act);
  addTablePublish(table, act);
  addTableRollback(table, act);
  addTableShow(table, act);
  addTableHistory(table, act);
  addTableStatus(table, act);
  addTableCanary(table, act);
  addTableCanaryEnds(table, act);
};

/** Runs the command. `args`: the words after its name. Gives the exit code; bad usage is reported, not thrown. */
export const run = async (args: readonly string[], runtime: Runtime): Promise<number> => {
  let exitCode = 0;
  const act: Act = (action) =>
    async function (this: Command) {
      exitCode = await action(runtime, this.args, this.opts());
    };
  try {
    await build(runtime, act).parseAsync(args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
  return exitCode;
};

const build = (runtime: Runtime, act: Act): Command => {
  const program = new Command("waybill")
    .description("Read, route and mint IDs offline with the gateway's own code, and manage routing tables.")
    .version(runtime.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .exitOverride()
    .configureOutput(outputOf(runtime))
    .showHelpAfterError("Run the command with --help for its usage.")
    .addHelpText("after", EXAMPLES);
  addExplain(program, act);
  addMint(program, act);
  const id = program
    .command("id")
    .description("explain, mint and convert IDs; ID ranges of periods; capacity of layouts");
  addExplain(id, act);
  addMint(id, act);
  addConvert(id, act);
  addRange(id, act);
  addCapacity(id, act);
  addTable(program, act);
  addContract(program, act);
  addPublic(program, act);
  addMove(program, act);
  addCanary(program, act);
  addToken(program, act);
  addLayout(program, act);
  return program;
};

/** Of help that no terminal shows. */
const COLUMNS_DEFAULT = 80;

/** In place of what commander would ask the process itself. */
const outputOf = ({ print, report, columns, reportColumns }: Runtime): OutputConfiguration => ({
  writeOut: (text) => void print(text),
  writeErr: report,
  getOutHelpWidth: () => columns ?? COLUMNS_DEFAULT,
  getErrHelpWidth: () => reportColumns ?? COLUMNS_DEFAULT,
  getOutHasColors: () => false,
  getErrHasColors: () => false,
});

const EXAMPLES = `
Examples:
  $ waybill explain 0192f0c1-7a30-8005-8040-8f3b2a1c9d77
  $ waybill mint --entity order --country KZ --count 3
  $ waybill id convert 1088824355131185736905670087 --to base62
  $ waybill id range uuid-v7 --from 2026-06-01T00:00:00Z --to 2026-07-01T00:00:00Z
  $ waybill id capacity snowflake --rate 50000 --minters 16
  $ waybill table check routing-table.json
  $ waybill table publish routing-table.json --note "ap takes Uzbekistan"
  $ waybill contract openapi.yaml
  $ waybill layout hotguid

Data goes to stdout, messages to stderr. Exit codes (the help of each command lists its own):
  0    success
  1    error or invalid usage
  2    differences (with --exit-code) or findings
  3    conflict: the table was changed by someone else
  4    the last change is not yet written to KV
  5    KV does not have the last change
  6    the responding isolate does not have the last change
  7    a probe did not see the last change
  8    timeout before the change was seen everywhere
  9    outcome unknown: the change may have been made
  130  interrupted by Ctrl-C`;
