import type { Command } from "commander";
import { ok, type Result } from "../ids/index.ts";
import { type CompiledTable, type Explanation, explain } from "../routing/index.ts";
import type { Act } from "./action.ts";
import { detailOf, errorText } from "./errors.ts";
import { explainBare } from "./explain-bare.ts";
import { explanationText } from "./explain-text.ts";
import { linesOf } from "./lines.ts";
import { openTable, tableErrorText } from "./table-file.ts";
import { EXIT, type World } from "./world.ts";

interface Options {
  readonly table?: string | false;
  readonly json?: boolean;
}

/** `waybill explain`: how each ID can be read, and where it goes. */
export const addExplain = (parent: Command, act: Act): void => {
  parent
    .command("explain")
    .description("say how IDs can be read, where they go and why")
    .argument("[id...]", "the IDs; - or none reads them from stdin, one a line")
    .option("--table <file>", "the routing table (default: routing-table.json, if it is there)")
    .option("--no-table", "read the IDs by the built-in layouts alone")
    .option("--json", "one JSON object a line, in the order of the IDs")
    .addHelpText("after", HELP)
    .action(act(explainIds));
};

const HELP = `
Examples:
  $ waybill explain 0192f0c1-7a30-8005-8040-8f3b2a1c9d77
  $ waybill explain --json < ids.txt | jq -r .decision.region
  $ waybill explain --no-table 6347eb00-bbaa-01cc-0201-0203d0000000

Exit code: 0 when every ID leads somewhere (without a table: can be read), otherwise 1.`;

const explainIds = async (world: World, args: readonly string[], { table: path, json }: Options) => {
  if (args.length === 0 && world.stdin.isTerminal) {
    world.report("error: no ID; give one or more, or pipe them in, one a line\n");
    return EXIT.failed;
  }
  const opened = await openTable(path, world);
  if (!opened.ok) {
    world.report(tableErrorText(opened.error));
    return EXIT.failed;
  }
  const table = opened.value?.table;
  if (table === undefined)
    world.report("no routing table: IDs are read by every built-in layout, and no route is shown\n");

  let count = 0;
  let failures = 0;
  for await (const id of idsOf(args, world)) {
    if (!id.ok) {
      world.report(`error: line ${id.error} of stdin is too long for an ID\n`);
      return EXIT.failed;
    }
    const explanation = explainWith(table, id.value, world.nowMs());
    if (explanation.error !== undefined) failures += 1;
    const text = json ? `${JSON.stringify(plainOf(explanation))}\n` : explanationText(explanation, table, world);
    await world.print(count > 0 && !json && text !== "" ? `\n${text}` : text);
    if (!json && explanation.error !== undefined) world.report(errorText(explanation.error));
    count += 1;
  }
  if (count === 0) {
    world.report("error: stdin has no ID\n");
    return EXIT.failed;
  }
  return failures === 0 ? EXIT.ok : EXIT.failed;
};

const explainWith = (table: CompiledTable | undefined, id: string, nowMs: number): Explanation =>
  table === undefined ? explainBare(id, nowMs) : explain(table, id, nowMs);

/** The IDs in order; empty lines of stdin are passed over. */
async function* idsOf(args: readonly string[], { stdin }: World): AsyncGenerator<Result<string, number>> {
  for (const arg of args.length === 0 ? ["-"] : args) {
    if (arg !== "-") yield ok(arg);
    else for await (const line of linesOf(stdin.chunks)) if (!line.ok || line.value !== "") yield line;
  }
}

/** The error in one sentence beside its evidence; the candidates stand in the explanation already. */
const plainOf = ({ error, ...explanation }: Explanation): object => {
  if (error === undefined) return explanation;
  const evidence = Object.entries(error).filter(([name]) => name !== "id" && name !== "candidates");
  return { ...explanation, error: { ...Object.fromEntries(evidence), detail: detailOf(error) } };
};
