import { Argument, type Command } from "commander";
import { builtinLayouts, diagram, isoTime, type Layout, type Row } from "../ids/index.ts";
import type { Act } from "./action.ts";
import { alignColumns } from "./columns.ts";
import { EXIT } from "./world.ts";

/** `waybill layout`: how the built-in layouts put their fields into bits. */
export const addLayout = (parent: Command, act: Act): void => {
  parent
    .command("layout")
    .description("draw the built-in ID layouts, with their rows and where each is defined")
    .addArgument(new Argument("[name]", "a layout; all of them without a name").choices([...builtinLayouts.keys()]))
    .option("--json", "one JSON object a line: the layouts as tables")
    .addHelpText(
      "after",
      `
Examples:
  $ waybill layout iuid
  $ waybill layout --json`,
    )
    .action(
      act(async (world, [name], { json }: { readonly json?: boolean }) => {
        const layouts = [...builtinLayouts.values()].filter((layout) => name === undefined || layout.name === name);
        const texts = layouts.map((layout) => (json ? JSON.stringify(plainOf(layout)) : describe(layout, world.paint)));
        await world.print(`${texts.join(json ? "\n" : "\n\n")}\n`);
        return EXIT.ok;
      }),
    );
};

/** The table with the names of its text forms, which are code. */
const plainOf = ({ table, texts }: Layout): object => ({
  ...table,
  text: undefined,
  otherTexts: undefined,
  texts: texts.map(({ name }) => name),
});

type Paint = (style: "bold" | "dim", text: string) => string;

const describe = ({ name, table }: Layout, paint: Paint): string => {
  const rows = table.rows.map((row) => [row.field, `${row.bits}`, row.role, noteOf(row)]);
  const lines = alignColumns([["field", "bits", "role", ""], ...rows]);
  return [
    `${paint("bold", name)}  ${table.title}`,
    paint("dim", `source: ${table.source}`),
    "",
    diagram(table),
    "",
    ...lines,
  ].join("\n");
};

const noteOf = (row: Row): string => {
  if (row.role === "fixed") return `always ${row.value}, binary ${row.value.toString(2).padStart(row.bits, "0")}`;
  if (row.role === "time") return `in ${row.unit} since ${isoTime(row.epochMs) ?? `Unix millisecond ${row.epochMs}`}`;
  return "";
};
