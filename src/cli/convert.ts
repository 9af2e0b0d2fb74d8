import type { Command } from "commander";
import type { Act } from "./action.ts";
import { convertId, parseSpelling } from "./convert-id.ts";
import { eachId, lacksIds } from "./each-id.ts";
import { knownLayouts } from "./layouts.ts";
import { fail } from "./refuse.ts";
import { formatTableError, openNamedTable } from "./table-file.ts";
import { EXIT, type Runtime } from "./world.ts";

interface Options {
  readonly from?: string;
  readonly to: string;
  readonly table?: string;
  readonly json?: boolean;
}

/** `waybill id convert`: the same ID in another text, or in another layout that holds the same bits. */
export const addConvert = (parent: Command, act: Act): void => {
  parent
    .command("convert")
    .description("write IDs in another text form, or as IDs of a layout that holds the same bits")
    .argument("[id...]", "the IDs; - or none reads them from stdin, one a line")
    .option("--from <spelling>", "what they are: a layout, a text form, or both as layout:text")
    .requiredOption("--to <spelling>", "what they are to be, likewise")
    .option("--table <file>", "a routing table that declares layouts of its own")
    .option("--json", "one JSON object a line: id, from and to")
    .addHelpText("after", HELP)
    .action(act(convertIds));
};

const HELP = `
Examples:
  $ waybill id convert 1088824355131185736905670087 --to base62
  $ waybill id convert --from hotguid --to hotguid-sql < ids.txt
  $ waybill id convert 01arz3ndektsv4rrffq69g5fav --from ulid --to uuid

Between layouts: hotguid and hotguid-sql, comb-prefix and comb-suffix, short-prefix-comb and short-suffix-comb, uuid-v1 and
uuid-v6, object-id and xid. Where a text can be read in several ways that give different IDs, --from must say which is meant.
Exit code: 0 when every ID was converted, otherwise 1.`;

const convertIds = async (runtime: Runtime, args: readonly string[], options: Options) => {
  const opened = await openNamedTable(options.table, runtime);
  if (!opened.ok) {
    return fail(formatTableError(opened.error), runtime);
  }
  const layouts = knownLayouts(opened.value?.table);
  const from = parseSpelling(options.from, layouts);
  const to = parseSpelling(options.to, layouts);
  if (!from.ok || !to.ok) {
    if (!from.ok) runtime.report(`error: ${from.error} (--from)\n`);
    if (!to.ok) runtime.report(`error: ${to.error} (--to)\n`);
    return EXIT.failed;
  }
  if (lacksIds(args, runtime)) return EXIT.failed;
  return eachId(args, runtime, (id) => {
    const converted = convertId(id, from.value, to.value, layouts, runtime.nowMs());
    if (converted.ok) {
      const data = options.json ? JSON.stringify({ text: id, ...converted.value }) : converted.value.id;
      return { data: `${data}\n`, report: "", failed: false };
    }
    return options.json
      ? { data: `${JSON.stringify({ text: id, error: { detail: converted.error } })}\n`, report: "", failed: true }
      : { data: "", report: `error: ${converted.error}\n`, failed: true };
  });
};
