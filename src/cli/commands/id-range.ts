import {
  isoTime,
  type Layout,
  type PeriodOrder,
  type PeriodRangeError,
  periodRange,
  type TextForm,
} from "../../ids/index.ts";
import type { EngineName } from "../../ids/stores/engine.ts";
import { storePeriod } from "../../ids/stores/period.ts";
import { DECIMAL } from "../../ids/text/alphabets.ts";
import { command, type OptionsOf, option, required } from "../command.ts";
import { time } from "../lib/input.ts";
import { findForm, openLayout, writtenForms } from "../lib/layouts.ts";
import { jsonText } from "../lib/output.ts";
import { columnName, columnRefusal, ENGINES, engineName } from "../lib/stores.ts";
import { EXIT, type ExitCode, fail, misuse, type Runtime } from "../runtime.ts";

const OPTIONS = [
  required("--from <time>", "start of the period, such as 2026-06-01T00:00:00Z", time),
  required("--to <time>", "end of the period, exclusive", time),
  option("--text <form>", "the text form in which the IDs are stored (default: the canonical one)"),
  option("--for <engine>", `print the condition of an engine, in its literals: ${ENGINES}`, engineName),
  option("--column <name>", "with --for: the column, or the key of Redis (default: id)", columnName),
  option("--type <type>", "with --for: the column's type (default: that of waybill id column)"),
  option("--partition", "with --for: print the bounds of a partition instead"),
  option("--table <file>", "a routing table with custom layouts"),
  option("--json", "one JSON object: layout, text, order, from, to, least and greatest; with --for also the column"),
] as const;
type Options = OptionsOf<typeof OPTIONS>;

export const idRange = command({
  name: "range",
  description: "print the lowest and highest ID of a period, as bounds of partitions and scans",
  args: [["<layout>", "a layout whose IDs sort by time"]],
  options: OPTIONS,
  help: `
Examples:
  $ waybill id range uuid-v7 --from 2026-06-01T00:00:00Z --to 2026-07-01T00:00:00Z
  $ waybill id range distributed-id --text uuid --from 2026-01-01T00:00:00Z --to 2027-01-01T00:00:00Z --json
  $ waybill id range iuid --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z --for mariadb --column o.id

Both IDs belong to the period, and so does every ID between them, in the order printed to stderr:
  text       by character code: a binary collation
  number     as numbers, because texts differ in length
  sqlserver  as a uniqueidentifier of SQL Server

With --for, a column that cannot be right is refused with the reason, and the column to use. --text then is the text that the
column holds. Exit code: 0 if there are bounds, otherwise 1.`,
  run: async (runtime, [name], options) => {
    const layout = await openLayout(name, options.table, runtime);
    const found = findForm(layout, options.text ?? layout.table.text.name);
    if (!found.ok) return misuse(`error: ${found.error} (--text)\n`);
    if (options.for !== undefined) {
      return conditionFor(options.for, layout, options.text === undefined ? undefined : found.value, options, runtime);
    }
    const extra = (["column", "type", "partition"] as const).find((each) => options[each] !== undefined);
    if (extra !== undefined) return misuse(`error: --${extra} needs --for with the name of an engine.\n`);
    const form = found.value;
    const range = periodRange(layout, options.from, options.to, form);
    if (!range.ok) return refusePeriod(range.error, layout, options);
    const { order } = range.value;
    const least = form.format(range.value.least);
    const greatest = form.format(range.value.greatest);
    const from = isoTime(options.from);
    const to = isoTime(options.to);
    const members = { layout: name, text: form.name, order, from, to, least, greatest };
    await runtime.print(options.json ? jsonText(members) : `${least}\n${greatest}\n`);
    if (!options.json) runtime.report(`order: ${order}, ${orderInWords(order, form)}\n`);
    return EXIT.ok;
  },
});

/** Prints what is to paste on stdout, and the column that it is for on stderr. */
const conditionFor = async (
  engine: EngineName,
  layout: Layout,
  form: TextForm | undefined,
  options: Options,
  runtime: Runtime,
): Promise<ExitCode> => {
  const period = { fromMs: options.from, toMs: options.to, name: options.column ?? "id" };
  const found = storePeriod(engine, layout, period, { type: options.type, form });
  if (!found.ok) {
    const refusal = columnRefusal(found.error, layout, engine, form);
    if (refusal !== undefined) return fail(`error: ${refusal}\n`);
    return refusePeriod(found.error as PeriodRangeError, layout, options);
  }
  const { column, condition, partition } = found.value;
  const { title, source } = column.engine;
  const { type } = column.type;
  if (options.partition === true && partition === undefined) {
    return fail(`error: ${title} has no partitions by ranges of ${type}.\n`);
  }
  if (!options.json) {
    await runtime.print(`${options.partition === true ? partition : condition}\n`);
    runtime.report(`column: ${type}${column.isRecommended ? "" : ", not the recommended one"}\nsource: ${source}\n`);
    return EXIT.ok;
  }
  const text = column.form ?? form ?? layout.table.text;
  const least = text.format(found.value.least);
  const greatest = text.format(found.value.greatest);
  const from = isoTime(options.from);
  const to = isoTime(options.to);
  const bounds = { layout: layout.name, text: text.name, order: column.order, from, to, least, greatest };
  const names = { engine, column: period.name, type, isRecommended: column.isRecommended };
  await runtime.print(jsonText({ ...bounds, ...names, condition, ...(partition && { partition }), source }));
  return EXIT.ok;
};

const ORDERS: Readonly<Record<PeriodOrder, string>> = {
  text: "character by character, by code",
  number: "as numbers, not as text",
  sqlserver: "as a uniqueidentifier of SQL Server",
};

/** No engine reads other digits than decimal ones as a number. */
const orderInWords = (order: PeriodOrder, { numeral }: TextForm): string =>
  order === "number" && numeral?.digits !== DECIMAL.digits
    ? "by length, then character by character, by code"
    : ORDERS[order];

/** An empty period is wrong for every layout. */
function refusePeriod(error: PeriodRangeError, layout: Layout, period: Options): never {
  return fail(`error: ${sentenceOf(error, layout, period)}\n`, error.reason === "no-period" ? EXIT.usage : EXIT.failed);
}

const sentenceOf = (error: PeriodRangeError, layout: Layout, period: Options): string => {
  switch (error.reason) {
    case "no-period":
      return "The period is empty: --to must be later than --from.";
    case "no-time":
      return `An ID of ${error.layout} contains no time${layout.field("interval") === undefined ? "" : ": its interval is one of many"}, so a period has no lowest or highest ID.`;
    case "no-time-order":
      return `IDs of ${error.layout} do not sort by time, neither as text nor in SQL Server: they cannot bound a period.`;
    case "no-text-order":
      return `Texts of ${error.layout} in ${error.text} do not sort by time: its digits are not in code order.${otherForms(layout, period)}`;
    case "no-id":
      return `No ID of ${error.layout} is in this period: they range from ${nameTime(error.firstMs)} to ${nameTime(error.lastMs)}${tickOf(layout)}.`;
  }
};

/** Names the text forms that sort by time. */
const otherForms = (layout: Layout, { from, to }: Options): string => {
  const bounds = writtenForms(layout).filter((form) => periodRange(layout, from, to, form).ok);
  return bounds.length === 0 ? "" : ` Use --text ${bounds.map(({ name }) => name).join(" or ")}.`;
};

const tickOf = ({ table }: Layout): string => {
  const row = table.rows.find(({ role }) => role === "time");
  return row?.role === "time" ? `, in units of ${row.unit}` : "";
};

const nameTime = (unixMs: number | undefined): string =>
  isoTime(unixMs) ?? (unixMs === undefined ? "beyond Unix millisecond 2^53" : `Unix millisecond ${unixMs}`);
