import { isoTime, type Layout, type PeriodOrder, type PeriodRangeError, periodRange } from "../../ids/index.ts";
import { command, type OptionsOf, option, required } from "../command.ts";
import { time } from "../lib/input.ts";
import { findForm, openLayout, writtenForms } from "../lib/layouts.ts";
import { jsonText } from "../lib/output.ts";
import { EXIT, fail } from "../runtime.ts";

const OPTIONS = [
  required("--from <time>", "start of the period, such as 2026-06-01T00:00:00Z", time),
  required("--to <time>", "end of the period, exclusive", time),
  option("--text <form>", "the text form in which the IDs are stored (default: the canonical one)"),
  option("--table <file>", "a routing table with custom layouts"),
  option("--json", "one JSON object: layout, text, order, from, to, least and greatest"),
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

Both IDs belong to the period, and so does every ID between them, in the order printed to stderr:
  text       by character code: a binary collation
  number     as numbers, because texts differ in length
  sqlserver  as a uniqueidentifier of SQL Server`,
  run: async (runtime, [name], options) => {
    const layout = await openLayout(name, options.table, runtime);
    const found = findForm(layout, options.text ?? layout.table.text.name);
    if (!found.ok) return fail(`error: ${found.error} (--text)\n`);
    const form = found.value;
    const range = periodRange(layout, options.from, options.to, form);
    if (!range.ok) return fail(`error: ${sentenceOf(range.error, layout, options)}\n`);
    const { order } = range.value;
    const [least, greatest] = [form.format(range.value.least), form.format(range.value.greatest)];
    const [from, to] = [isoTime(options.from), isoTime(options.to)];
    const members = { layout: name, text: form.name, order, from, to, least, greatest };
    await runtime.print(options.json ? jsonText(members) : `${least}\n${greatest}\n`);
    if (!options.json) runtime.report(`order: ${order}, ${ORDERS[order]}\n`);
    return EXIT.ok;
  },
});

const ORDERS: Readonly<Record<PeriodOrder, string>> = {
  text: "character by character, by code",
  number: "as numbers, not as text",
  sqlserver: "as a uniqueidentifier of SQL Server",
};

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
