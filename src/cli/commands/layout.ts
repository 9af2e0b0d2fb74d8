import { diagram, isoTime, type Layout, type Row } from "../../ids/index.ts";
import { command, option } from "../command.ts";
import { openLayout, openLayouts, writtenForms } from "../lib/layouts.ts";
import { alignColumns } from "../lib/output.ts";
import { EXIT, type Runtime } from "../runtime.ts";

export const layout = command({
  name: "layout",
  description: "show the ID layouts with their fields, text forms and sources",
  args: [["[layout]", "which one; all of them without a name"]],
  options: [
    option("--names", "only the names, one per line"),
    option("--table <file>", "a routing table with custom layouts"),
    option("--json", "one JSON object per line: the layouts as tables"),
  ],
  help: `
Examples:
  $ waybill layout iuid
  $ waybill layout --names
  $ waybill layout --json`,
  run: async (runtime, [name], options) => {
    const all =
      name === undefined ? await openLayouts(options.table, runtime) : [await openLayout(name, options.table, runtime)];
    const texts = all.map((layout) => {
      if (options.names) return options.json ? JSON.stringify({ name: layout.name }) : layout.name;
      return options.json ? JSON.stringify(plainOf(layout), asDeclared) : describe(layout, runtime.paint);
    });
    await runtime.print(`${texts.join(options.json || options.names ? "\n" : "\n\n")}\n`);
    return EXIT.ok;
  },
});

/** JSON has no bigint: a table writes it as a text. */
const asDeclared = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}` : value);

/** Text forms are code, so only their names are shown. */
const plainOf = ({ table, texts }: Layout): object => ({
  ...table,
  text: undefined,
  otherTexts: undefined,
  texts: texts.map(({ name }) => name),
});

const describe = (layout: Layout, paint: Runtime["paint"]): string => {
  const { name, table, texts } = layout;
  const stored = writtenForms(layout).flatMap((form) => (texts.includes(form) ? [] : [form.name]));
  const own = texts.map(({ prefix, name }) => (prefix === undefined ? name : `${prefix} ${name}`)).join(", ");
  const inDatabases = stored.length === 0 ? "" : `; in databases also: ${stored.join(", ")}`;
  const rows = table.rows.map((row) => [row.field, `${row.bits}`, row.role, noteOf(row)]);
  const lines = alignColumns([["field", "bits", "role", ""], ...rows]);
  return [
    table.title === name ? paint("bold", name) : `${paint("bold", name)}  ${table.title}`,
    paint("dim", `source: ${table.source}`),
    paint("dim", `texts: ${own}${inDatabases}`),
    "",
    diagram(table),
    "",
    ...lines,
  ].join("\n");
};

const noteOf = (row: Row): string => {
  if (row.role === "fixed") return `always ${row.value}, binary ${row.value.toString(2).padStart(row.bits, "0")}`;
  if (row.role === "time") return `in ${row.unit} since ${isoTime(row.epochMs) ?? `Unix millisecond ${row.epochMs}`}`;
  return row.max === undefined ? "" : `at most ${row.max}`;
};
