import { group, type Row } from "./command.ts";
import { canary } from "./commands/canary.ts";
import { complete, completion } from "./commands/completion/completion.ts";
import { config } from "./commands/config-check.ts";
import { contract } from "./commands/contract/contract.ts";
import { directory } from "./commands/directory/directory.ts";
import { explainIds } from "./commands/explain/explain.ts";
import { exportCommand } from "./commands/export/export.ts";
import { build as buildCommand, serve } from "./commands/host.ts";
import { idCapacity } from "./commands/id-capacity.ts";
import { idCheck } from "./commands/id-check.ts";
import { idColumn } from "./commands/id-column.ts";
import { idConvert } from "./commands/id-convert.ts";
import { idRange } from "./commands/id-range.ts";
import { idempotency } from "./commands/idempotency.ts";
import { init } from "./commands/init/init.ts";
import { layout } from "./commands/layout.ts";
import { locate } from "./commands/locate.ts";
import { luuidKeys } from "./commands/luuid/verify.ts";
import { mint } from "./commands/mint.ts";
import { move } from "./commands/move.ts";
import { deploy, prepare } from "./commands/project/deploy.ts";
import { health } from "./commands/project/health.ts";
import { start } from "./commands/project/start.ts";
import { upgrade } from "./commands/project/upgrade.ts";
import { publicIds } from "./commands/public-id.ts";
import { abort, promote, canary as tableCanary } from "./commands/table/canary.ts";
import { tableCheck } from "./commands/table/check.ts";
import { tableDiff, tableReplay } from "./commands/table/diff.ts";
import { tableAudit, tableHistory, tableShow } from "./commands/table/history.ts";
import { tablePack, tableUploadPacks } from "./commands/table/pack.ts";
import { tableCapacity, tablePlan } from "./commands/table/plan.ts";
import { publish, rollback } from "./commands/table/publish.ts";
import { tableStatus } from "./commands/table/status.ts";
import { tableTest } from "./commands/table/test.ts";
import { token } from "./commands/token.ts";
import { runProgram } from "./run-program.ts";
import type { Runtime } from "./runtime.ts";

const ROWS: readonly Row[] = [
  explainIds,
  mint,
  locate,
  group("id", "explain, mint, check and convert IDs; ID ranges of periods; columns of databases; capacity of layouts", [
    explainIds,
    mint,
    idCheck,
    idConvert,
    idRange,
    idColumn,
    idCapacity,
  ]),
  group("table", "check, test, compare, publish and monitor routing tables", [
    tableCheck,
    tableTest,
    tableDiff,
    tablePack,
    tableReplay,
    tableCapacity,
    tablePlan,
    tableUploadPacks,
    publish,
    rollback,
    tableShow,
    tableHistory,
    tableAudit,
    tableStatus,
    tableCanary,
    promote,
    abort,
  ]),
  contract,
  config,
  publicIds,
  move,
  canary,
  directory,
  idempotency,
  luuidKeys,
  token,
  layout,
  init,
  exportCommand,
  buildCommand,
  serve,
  start,
  prepare,
  deploy,
  upgrade,
  health,
  completion,
  complete,
];

/** Runs the command. `args`: the words after its name. Returns the exit code; bad usage is reported. */
export const run = (args: readonly string[], runtime: Runtime): Promise<number> =>
  runProgram(args, runtime, (program, act) => {
    program
      .name("waybill")
      .description("Read, route and mint IDs offline with the gateway's own code, and manage routing tables.")
      .helpCommand("help [command]", "print the help of a command")
      .addHelpText("after", EXAMPLES);
    for (const row of ROWS) row(program, act);
    return program;
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
  1    fault: in an ID, a file or what a gateway answers
  2    differences (with --exit-code) or findings
  3    conflict: the table was changed by someone else
  4    the last change is not yet written to KV
  5    KV does not have the last change
  6    the responding isolate does not have the last change
  7    a probe did not see the last change
  8    timeout before the change was seen everywhere
  9    outcome unknown: the change may have been made
  64   wrong use of any command: words that are unknown, missing, surplus or malformed
  130  interrupted by Ctrl-C`;
