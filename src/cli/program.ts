import type { Row } from "./command.ts";
import { type Entry, type Load, rowsOf, termOf, Unloaded } from "./lazy.ts";
import { runProgram } from "./run-program.ts";
import type { Runtime } from "./runtime.ts";
import { SUMMARIES } from "./summaries.generated.ts";

/** Each command, with the file that has it. It is loaded when the command is run, or when its own help is asked for. */
export const COMMANDS: readonly Entry[] = [
  { name: "explain", load: async () => (await import("./commands/explain/explain.ts")).explainIds },
  { name: "mint", load: async () => (await import("./commands/mint.ts")).mint },
  { name: "locate", load: async () => (await import("./commands/locate.ts")).locate },
  {
    name: "id",
    description:
      "explain, mint, check and convert IDs; ID ranges of periods; columns of databases; capacity of layouts",
    commands: [
      { name: "explain", load: async () => (await import("./commands/explain/explain.ts")).explainIds },
      { name: "mint", load: async () => (await import("./commands/mint.ts")).mint },
      { name: "check", load: async () => (await import("./commands/id-check.ts")).idCheck },
      { name: "convert", load: async () => (await import("./commands/id-convert.ts")).idConvert },
      { name: "range", load: async () => (await import("./commands/id-range.ts")).idRange },
      { name: "column", load: async () => (await import("./commands/id-column.ts")).idColumn },
      { name: "capacity", load: async () => (await import("./commands/id-capacity.ts")).idCapacity },
    ],
  },
  {
    name: "table",
    description: "check, test, compare, publish and monitor routing tables",
    commands: [
      { name: "check", load: async () => (await import("./commands/table/check.ts")).tableCheck },
      { name: "test", load: async () => (await import("./commands/table/test.ts")).tableTest },
      { name: "diff", load: async () => (await import("./commands/table/diff.ts")).tableDiff },
      { name: "pack", load: async () => (await import("./commands/table/pack.ts")).tablePack },
      { name: "replay", load: async () => (await import("./commands/table/diff.ts")).tableReplay },
      { name: "capacity", load: async () => (await import("./commands/table/plan.ts")).tableCapacity },
      { name: "plan", load: async () => (await import("./commands/table/plan.ts")).tablePlan },
      { name: "upload-packs", load: async () => (await import("./commands/table/pack.ts")).tableUploadPacks },
      { name: "publish", load: async () => (await import("./commands/table/publish.ts")).publish },
      { name: "rollback", load: async () => (await import("./commands/table/publish.ts")).rollback },
      { name: "show", load: async () => (await import("./commands/table/history.ts")).tableShow },
      { name: "history", load: async () => (await import("./commands/table/history.ts")).tableHistory },
      { name: "audit", load: async () => (await import("./commands/table/history.ts")).tableAudit },
      { name: "status", load: async () => (await import("./commands/table/status.ts")).tableStatus },
      { name: "canary", load: async () => (await import("./commands/table/canary.ts")).canary },
      { name: "promote", load: async () => (await import("./commands/table/canary.ts")).promote },
      { name: "abort", load: async () => (await import("./commands/table/canary.ts")).abort },
    ],
  },
  { name: "contract", load: async () => (await import("./commands/contract/contract.ts")).contract },
  {
    name: "cluster",
    description: "several machines: edges, and the state nodes that they ask",
    commands: [
      {
        name: "certificates",
        load: async () => (await import("./commands/cluster/certificates.ts")).certificates,
      },
      { name: "check", load: async () => (await import("./commands/cluster/operate.ts")).check },
      { name: "status", load: async () => (await import("./commands/cluster/operate.ts")).status },
      { name: "restart", load: async () => (await import("./commands/cluster/operate.ts")).restart },
    ],
  },
  { name: "config", load: async () => (await import("./commands/config-check.ts")).config },
  { name: "public", load: async () => (await import("./commands/public-id.ts")).publicIds },
  { name: "move", load: async () => (await import("./commands/move.ts")).move },
  { name: "canary", load: async () => (await import("./commands/canary.ts")).canary },
  {
    name: "directory",
    description: "regions of keys that carry none: look up, claim, move, import, copy",
    commands: [
      { name: "get", load: async () => (await import("./commands/directory/directory.ts")).directoryGet },
      { name: "reserve", load: async () => (await import("./commands/directory/directory.ts")).directoryReserve },
      { name: "confirm", load: async () => (await import("./commands/directory/directory.ts")).directoryConfirm },
      { name: "release", load: async () => (await import("./commands/directory/directory.ts")).directoryRelease },
      { name: "move", load: async () => (await import("./commands/directory/directory.ts")).directoryMove },
      { name: "delete", load: async () => (await import("./commands/directory/directory.ts")).directoryDelete },
      { name: "orphans", load: async () => (await import("./commands/directory/directory.ts")).directoryOrphans },
      { name: "import", load: async () => (await import("./commands/directory/import.ts")).directoryImport },
      { name: "export", load: async () => (await import("./commands/directory/export.ts")).directoryExport },
      { name: "copy", load: async () => (await import("./commands/directory/copy.ts")).directoryCopy },
      { name: "verify", load: async () => (await import("./commands/directory/copy.ts")).directoryVerify },
      { name: "stat", load: async () => (await import("./commands/directory/copy.ts")).directoryStat },
    ],
  },
  { name: "events", load: async () => (await import("./commands/events.ts")).events },
  { name: "idempotency", load: async () => (await import("./commands/idempotency.ts")).idempotency },
  {
    name: "state",
    description: "export a gateway's whole state, and import it on another machine",
    commands: [
      { name: "export", load: async () => (await import("./commands/state/export.ts")).stateExport },
      { name: "import", load: async () => (await import("./commands/state/import.ts")).stateImport },
      { name: "verify", load: async () => (await import("./commands/state/verify.ts")).stateVerify },
    ],
  },
  { name: "luuid", load: async () => (await import("./commands/luuid/verify.ts")).luuidKeys },
  { name: "token", load: async () => (await import("./commands/token.ts")).token },
  { name: "layout", load: async () => (await import("./commands/layout.ts")).layout },
  { name: "init", load: async () => (await import("./commands/init/init.ts")).init },
  { name: "export", load: async () => (await import("./commands/export/export.ts")).exportCommand },
  { name: "build", load: async () => (await import("./commands/host.ts")).build },
  { name: "serve", load: async () => (await import("./commands/host.ts")).serve },
  { name: "start", load: async () => (await import("./commands/project/start.ts")).start },
  { name: "prepare", load: async () => (await import("./commands/project/deploy.ts")).prepare },
  { name: "deploy", load: async () => (await import("./commands/project/deploy.ts")).deploy },
  { name: "upgrade", load: async () => (await import("./commands/project/upgrade.ts")).upgrade },
  { name: "health", load: async () => (await import("./commands/project/health.ts")).health },
  { name: "completion", load: async () => (await import("./commands/completion/completion.ts")).completion },
  {
    name: "complete",
    isHidden: true,
    load: async () => (await import("./commands/completion/completion.ts")).complete,
  },
];

/** Runs the command. `args`: the words after its name. Returns the exit code; bad usage is reported. */
export async function run(args: readonly string[], runtime: Runtime): Promise<number> {
  const loaded = new Map<Load, Row>();
  for (;;) {
    try {
      return await runLoaded(helpAsOption(args), runtime, loaded);
    } catch (error) {
      if (!(error instanceof Unloaded)) throw error;
      loaded.set(error.load, await error.load());
    }
  }
}

/** commander's own `help` takes one word alone, and `help table check` has two. */
const helpAsOption = (args: readonly string[]): readonly string[] => {
  const [first, ...words] = args;
  return first === "help" && words.length > 1 ? [...words, "--help"] : args;
};

const runLoaded = (args: readonly string[], runtime: Runtime, loaded: ReadonlyMap<Load, Row>): Promise<number> =>
  runProgram(args, runtime, (program, act) => {
    program
      .name("waybill")
      .description("Read, route and mint IDs offline with the gateway's own code, and manage routing tables.")
      .configureHelp({ subcommandTerm: termOf })
      .helpCommand("help [command]", "print the help of a command")
      .configureOutput({ outputError: (error, write) => write(withGroup(error)) })
      .addHelpText("after", EXAMPLES);
    for (const row of rowsOf(COMMANDS, SUMMARIES, loaded)) row(program, act);
    return program;
  });

/** The error for a word that is a command of groups alone, such as `publish`, with these commands in full. */
function withGroup(error: string): string {
  const [, word] = /^error: unknown command '([a-z-]+)'/.exec(error) ?? [];
  const meant = COMMANDS.flatMap((entry) =>
    "load" in entry || entry.commands.every(({ name }) => name !== word) ? [] : [`${entry.name} ${word}`],
  );
  return meant.length === 0 ? error : `error: unknown command '${word}'\n(Did you mean ${meant.join(" or ")}?)\n`;
}

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
