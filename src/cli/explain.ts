import type { Command } from "commander";
import { ok } from "../ids/index.ts";
import { explain } from "../routing/index.ts";
import type { Act } from "./action.ts";
import { eachId, lacksIds } from "./each-id.ts";
import { detailOf, formatError } from "./errors.ts";
import { type Explained, explainBare, explainNamed } from "./explain-bare.ts";
import { formatExplanation } from "./explain-text.ts";
import { findLayout, knownLayouts } from "./layouts.ts";
import { fail } from "./refuse.ts";
import { formatTableError, openTable } from "./table-file.ts";
import { EXIT, type Runtime } from "./world.ts";

interface Options {
  readonly table?: string | false;
  readonly layout?: string;
  readonly json?: boolean;
}

/** `waybill explain`: how each ID can be read, and where it goes. */
export const addExplain = (parent: Command, act: Act): void => {
  parent
    .command("explain")
    .description("say how IDs can be read, where they go and why")
    .argument("[id...]", "the IDs; - or none reads them from stdin, one a line")
    .option(
      "--layout <name>",
      "read the IDs as those of this layout alone; a route is shown if the table has the layout",
    )
    .option("--table <file>", "the routing table (default: routing-table.json, if it is there)")
    .option("--no-table", "try every built-in layout, whatever a table enables")
    .option("--json", "one JSON object a line, in the order of the IDs")
    .addHelpText("after", HELP)
    .action(act(explainIds));
};

const HELP = `
Examples:
  $ waybill explain 0192f0c1-7a30-8005-8040-8f3b2a1c9d77
  $ waybill explain --json < ids.txt | jq -r .decision.region
  $ waybill explain --no-table 01ARZ3NDEKTSV4RRFFQ69G5FAV
  $ waybill explain --layout sonyflake 94670051232743425

Exit code: 0 when every ID leads somewhere (without a table: can be read), otherwise 1.`;

const explainIds = async (runtime: Runtime, args: readonly string[], { table: path, layout: name, json }: Options) => {
  if (lacksIds(args, runtime)) return EXIT.failed;
  const opened = await openTable(path, runtime);
  if (!opened.ok) {
    return fail(formatTableError(opened.error), runtime);
  }
  const table = opened.value?.table;
  const layouts = knownLayouts(table);
  const named = name === undefined ? ok(undefined) : findLayout(name, layouts);
  if (!named.ok) {
    return fail(`error: ${named.error} (--layout)\n`, runtime);
  }
  const hint = named.value;
  const enabled = hint && table?.layouts.get(hint.name);
  if (enabled !== undefined)
    runtime.report(`IDs are read as ${enabled.layout.name} alone, as with id-layout: ${name}\n`);
  else if (hint !== undefined) runtime.report(`IDs are read as ${hint.name} alone, and no route is shown\n`);
  else if (table === undefined)
    runtime.report("no routing table: IDs are read by every built-in layout, and no route is shown\n");
  const routed = hint === undefined || enabled !== undefined ? table : undefined;
  const explainOne = (id: string): Explained => {
    if (table !== undefined && enabled !== undefined) return explain(table, id, runtime.nowMs(), { enabled });
    if (hint !== undefined) return explainNamed(id, hint, runtime.nowMs());
    return routed === undefined ? explainBare(id, layouts, runtime.nowMs()) : explain(routed, id, runtime.nowMs());
  };
  return eachId(args, runtime, (id, index) => {
    const explanation = explainOne(id);
    const { error } = explanation;
    if (json) return { data: `${JSON.stringify(plainOf(explanation))}\n`, report: "", failed: error !== undefined };
    const text = formatExplanation(explanation, { table: routed, layouts, runtime });
    return {
      data: index > 0 && text !== "" ? `\n${text}` : text,
      report:
        (error === undefined ? "" : formatError(error) + formatOtherTimes(explanation)) + formatPublic(explanation),
      failed: error !== undefined,
    };
  });
};

const formatOtherTimes = ({ otherTimes = [] }: Explained): string =>
  otherTimes.length === 0
    ? ""
    : `only the time in it rules out ${otherTimes.join(", ")}; say so with ${otherTimes.map((name) => `--layout ${name}`).join(" or ")}\n`;

const formatPublic = ({ publicOf = [] }: Explained): string =>
  publicOf.length === 0
    ? ""
    : `it has the form of public IDs of ${publicOf.join(", ")}; waybill public open --entity ${publicOf[0]} tells, with the keys\n`;

/** The error in one sentence beside its evidence; the candidates stand in the explanation already. */
const plainOf = ({ error, ...explanation }: Explained): object => {
  if (error === undefined) return explanation;
  const evidence = Object.entries(error).filter(([name]) => name !== "id" && name !== "candidates");
  return { ...explanation, error: { ...Object.fromEntries(evidence), detail: detailOf(error) } };
};
