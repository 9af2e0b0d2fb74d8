import { everyLayout } from "./catalogue.ts";
import { diagram } from "./diagram.ts";
import type { Layout, Row } from "./layout.ts";
import { isoTime } from "./minted-at.ts";
import { textsOf } from "./texts.ts";
import { ticksIn, timeValue } from "./time-units.ts";

/** `docs/layouts.md`: every layout on one page, written from the tables. */
export const layoutsPage = (): string =>
  [
    "# ID layouts",
    "",
    "Every layout that Waybill knows, generated from the tables in `src/ids/` by `npm run generate`; a test fails when this page is",
    "stale. Bits stand most significant first, in the order of the text. `key` fields are what a route may depend on by contract, and",
    "so is the time; `node` fields only where the routing table says so. A layout without fixed bits proves nothing by its text:",
    "its entity's path, a layout named in the path's pattern, or the request field `id-layout` says that it is meant.",
    "",
    ...summary(),
    "",
    ...everyLayout.flatMap(section),
  ].join("\n");

const summary = (): readonly string[] => [
  "| layout | bits | fixed | time | keys | texts | minted |",
  "|---|--:|--:|---|---|---|---|",
  ...everyLayout.map((layout) =>
    row([
      `[${layout.name}](#${layout.name})`,
      `${layout.table.text.bits}`,
      `${layout.fixedBits}`,
      timeOf(layout)?.unit ?? "",
      fieldsOf(layout, "key"),
      layout.texts.map(({ name }) => name).join(", "),
      MINTED[layout.table.minter ?? "general"],
    ]),
  ),
];

const MINTED = { general: "yes", own: "by a minter of its own", none: "no" } as const;

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const fieldsOf = ({ fields }: Layout, role: Row["role"]): string =>
  fields
    .filter((field) => field.role === role)
    .map(({ name }) => name)
    .join(", ");

type TimeRow = Extract<Row, { readonly role: "time" }>;

const timeOf = ({ table }: Layout): TimeRow | undefined =>
  table.rows.find((candidate): candidate is TimeRow => candidate.role === "time");

const section = (layout: Layout): readonly string[] => {
  const { table, name } = layout;
  return [
    `## ${name}`,
    "",
    `${table.title}. Source: ${table.source}.`,
    "",
    "```text",
    diagram(table),
    "```",
    "",
    "| field | bits | role | |",
    "|---|--:|---|---|",
    ...layout.fields.map((field) => row([field.name, `${field.bits}`, field.role, noteOf(layout, field.name)])),
    "",
    ...notes(layout),
    "Least ID that says 2026-01-01T00:00:00Z, or the least of all where there is no time:",
    "",
    ...Object.entries(textsOf(layout, sampleOf(layout))).map(([form, text]) => `- ${form}: \`${text}\``),
    "",
  ];
};

const noteOf = (layout: Layout, name: string): string => {
  const field = layout.field(name);
  if (field === undefined) return "";
  if (field.role === "fixed") return `always ${field.read(layout.fixed.value)}`;
  const time = timeOf(layout);
  if (field.role === "time" && time !== undefined) {
    return `${unitName(time.unit)} since ${isoTime(time.epochMs) ?? time.epochMs}${time.max === undefined ? "" : `, at most ${field.max}`}`;
  }
  const declared = layout.table.rows.find((candidate) => candidate.field === name);
  return declared?.role !== "fixed" && declared?.max !== undefined ? `at most ${field.max}` : "";
};

const unitName = (unit: TimeRow["unit"]): string =>
  unit === "sql-datetime"
    ? "days, and 1/300 s in the last 32 bits,"
    : `units of ${/^[0-9]/.test(unit) ? unit : `1 ${unit}`}`;

const notes = ({ table }: Layout): readonly string[] => [
  ...(table.octetOrder === undefined
    ? []
    : [`The text has the octets of the rows in the places ${table.octetOrder.join(", ")}.`, ""]),
  ...(table.least === undefined ? [] : [`The least ID is ${table.least}.`, ""]),
];

const SAMPLE_MS = Date.UTC(2026, 0, 1);

/** The least words of a layout that bear the sample time. */
const sampleOf = (layout: Layout): readonly number[] => {
  const words = layout.fixed.value.slice();
  const time = layout.fields.find(({ role }) => role === "time");
  const row = timeOf(layout);
  if (time !== undefined && row !== undefined) {
    time.write(words, timeValue(row.unit, ticksIn(row.unit, SAMPLE_MS - row.epochMs)));
  }
  return words;
};
