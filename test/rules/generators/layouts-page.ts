import type { Layout, LayoutTable } from "../../../src/ids/layout/layout.ts";
import { runsOf } from "../../../src/ids/layout/runs.ts";
import { isoTime, type TimeRow, ticksIn, timeRowOf, timeValue } from "../../../src/ids/layout/time.ts";
import { ofRole } from "../../../src/ids/layout/words.ts";
import { everyLayout } from "../../../src/ids/layouts/catalogue.ts";
import { textsOf } from "../../../src/ids/text/texts.ts";
import { diagram } from "../../../src/ids/tools/diagram.ts";
import { myLibrary } from "./my-library.ts";

/** `docs/reference/layouts.md`: all layouts, generated from their tables. */
export const layoutsPage = (): string =>
  [
    "# ID layouts",
    "",
    "Generated from the tables in `src/ids/` by `npm run generate`.",
    "",
    "- [My library](#my-library) says which layout reads the IDs of a library, by name.",
    "- `base32` is Crockford's alphabet in capitals, and small letters are read too. Other digits, prefixes and groups, such as those of",
    "  TypeID, are [alphabets](routing-table.md#alphabets) of a layout `like` one of these.",
    "- Fields are listed most significant bit first. `waybill layout NAME` draws any layout.",
    "- Routes depend on `key` fields and on the time. They depend on a `node` field only where the routing table names it.",
    "- A layout without fixed bits cannot be recognised by its text alone. The entity's path, a layout in the path's pattern, or",
    "  the request header `id-layout` identifies it.",
    "- Each section ends with the least ID minted at 2026-01-01T00:00:00Z, or the least of all. A character is a byte; as bytes an",
    "  ID has an eighth of its bits. [Databases](../guides/databases.md#column-types) has the sizes of columns.",
    "- Layout `uuid` reads every UUID text. It is for GUID libraries that set no version and no variant, such as npm `guid` and",
    "  `guid-typescript`: 63 in 64 of their IDs are no `uuid-v4`. It is meant only where a table or an option names it.",
    "",
    "```text",
    ...columns([["layout", "bits", "fixed", "time", "keys", "texts", "mints"], ...everyLayout.map(summaryOf)]),
    "```",
    "",
    ...myLibrary(),
    ...everyLayout.flatMap(section),
  ].join("\n");

const summaryOf = (layout: Layout): readonly string[] => [
  layout.name,
  `${layout.table.text.bits}`,
  `${layout.fixedBits}`,
  timeRowOf(layout.table)?.unit ?? "",
  keysOf(layout),
  layout.texts.map(({ name }) => name).join(","),
  MINTED[layout.table.minter ?? "general"],
];

const MINTED = { general: "yes", own: "own", none: "no" } as const;

/** Cells below each other, with two spaces between. */
const columns = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
};

const keysOf = ({ fields }: Layout): string =>
  ofRole(fields, "key")
    .map(({ name }) => name)
    .join(",");

/** Lines of a diagram that number the bits. */
const RULER_LINES = 2;

/** Whether each field is one piece of the text, in the order of the list, so that the list tells where its bits are. */
const isInOrder = (table: LayoutTable): boolean => {
  const runs = runsOf(table);
  return (
    runs.every((run, at) => at === 0 || (runs[at - 1]?.textBit ?? 0) < run.textBit) &&
    runs.length === new Set(runs.map(({ field }) => field)).size
  );
};

const section = (layout: Layout): readonly string[] => {
  const { table, name } = layout;
  return [
    `## ${name}`,
    "",
    `${table.title}. Source: ${table.source}.`,
    "",
    "```text",
    ...(isInOrder(table) ? [] : [...diagram(table).split("\n").slice(RULER_LINES), ""]),
    ...columns(layout.fields.map((field) => [field.name, `${field.bits}`, field.role, noteOf(layout, field.name)])),
    "```",
    "",
    ...notes(layout),
    ...Object.entries(textsOf(layout, sampleOf(layout))).map(([form, text]) => `- ${form}: \`${text}\``),
    "",
    `Characters: ${Object.entries(textsOf(layout, sampleOf(layout)))
      .map(([form, text]) => `${form} ${sizeOf(layout, form, text)}`)
      .join(", ")}.`,
    "",
  ];
};

const sizeOf = ({ texts }: Layout, name: string, text: string): string => {
  const max = texts.find((form) => form.name === name)?.lengthMax ?? text.length;
  return max === text.length ? `${max}` : `at most ${max}`;
};

const noteOf = (layout: Layout, name: string): string => {
  const field = layout.field(name);
  if (field === undefined) return "";
  if (field.role === "fixed") return `always ${field.read(layout.fixed.value)}`;
  const time = timeRowOf(layout.table);
  if (field.role === "time" && time !== undefined) {
    return `${unitName(time.unit)} since ${isoTime(time.epochMs) ?? time.epochMs}${time.max === undefined ? "" : `, at most ${field.max}`}`;
  }
  const declared = layout.table.rows.find((candidate) => candidate.field === name);
  return declared?.role !== "fixed" && declared?.max !== undefined ? `at most ${field.max}` : "";
};

const unitName = (unit: TimeRow["unit"]): string =>
  unit === "sql-datetime" ? "days, and 1/300 s in the last 32 bits," : /^[0-9]/.test(unit) ? unit : `1 ${unit}`;

const notes = ({ table }: Layout): readonly string[] => [
  ...(table.octetOrder === undefined ? [] : [`Byte order in the text: ${table.octetOrder.join(",")}.`, ""]),
  ...(table.least === undefined ? [] : [`The least ID is ${table.least}.`, ""]),
];

const SAMPLE_MS = Date.UTC(2026, 0, 1);

/** The smallest words of a layout at the sample time. */
const sampleOf = (layout: Layout): readonly number[] => {
  const words = layout.fixed.value.slice();
  const time = layout.fields.find(({ role }) => role === "time");
  const row = timeRowOf(layout.table);
  if (time !== undefined && row !== undefined) {
    time.write(words, timeValue(row.unit, ticksIn(row.unit, SAMPLE_MS - row.epochMs)));
  }
  return words;
};
