import { readFileSync } from "node:fs";
import { layoutOf, tableFor } from "../../libraries/compare.ts";
import { ENTRIES, type Entry, KINDS, type Library } from "../../libraries/libraries.ts";

/** The section "My library" of `docs/reference/layouts.md`: what a table says of the IDs of each library. */

const HEAD = ["library", "layout", "route by", "read alike", "reads ours", "what to know"];

export const myLibrary = (): readonly string[] => [
  "## My library",
  "",
  "Find the library, and name its layout in the entity's `ids`. A layout with an asterisk is an entry: copy it from",
  "[the list below](#entries) into `layouts`. Names, epochs and prefixes are yours to change.",
  "",
  "```json",
  '"entities": { "message": { "path": "/messages/:id", "ids": [{ "layout": "unix-snowflake" }] } },',
  '"layouts": {',
  ...entryLines("unix-snowflake", ENTRIES["unix-snowflake"] ?? {}, true),
  "},",
  '"routes": [',
  '  { "when": { "layout": "unix-snowflake", "fields": { "machine": "0-511" } }, "region": "eu" },',
  '  { "when": { "layout": "unix-snowflake", "mintedBefore": "2026-06-01T00:00:00Z" }, "region": "us" }',
  "]",
  "```",
  "",
  "- **Route by**: `fields` of a route, and `time`: `mintedFrom` and `mintedBefore`. IDs with neither need a",
  "  [directory](directory.md), or a region that other parts of the request say.",
  "- **Read alike**: fields with one value for both, by the library's own decoder, else by the clock and by what it was told.",
  "  `bits` are all of a UUID.",
  "- **Reads ours**: whether the library reads all that Waybill mints. Empty: it has no parser, or Waybill mints none.",
  "",
  "`test/libraries/libraries.slow.test.ts` runs each of these versions: Waybill reads 200 of its IDs on an entity's path, and it",
  "reads 200 that Waybill mints.",
  "",
  ...KINDS.flatMap(({ title, libraries }) => [`### ${title}`, "", ...table([HEAD, ...libraries.map(rowOf)]), ""]),
  "### Entries",
  "",
  "```json",
  '"layouts": {',
  ...Object.entries(ENTRIES).flatMap(([name, entry], at, all) => entryLines(name, entry, at === all.length - 1)),
  "}",
  "```",
  "",
];

const versions: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../../libraries/package.json", import.meta.url), "utf8"),
).dependencies;

const rowOf = (library: Library): readonly string[] => {
  const { name, layout, alike, reads, note } = library;
  const [npm = "", ...variant] = name.split(" ");
  return [
    `\`${npm}\` ${versions[npm]}${variant.length === 0 ? "" : `, ${variant.join(" ")}`}`,
    layout === undefined ? "none" : `\`${layout}\`${layout in ENTRIES ? " \\*" : ""}`,
    routesBy(library),
    alike.join(", "),
    reads ?? "",
    note ?? "",
  ];
};

const routesBy = (library: Library): string => {
  const layout = layoutOf(tableFor(library));
  const keys = layout?.fields.filter(({ role }) => role === "key").map(({ name }) => name) ?? [];
  const all = layout?.mintedAtMs === undefined ? keys : [...keys, "time"];
  return all.length === 0 ? "[directory](directory.md)" : all.join(", ");
};

const table = ([head = [], ...rows]: readonly (readonly string[])[]): readonly string[] => [
  line(head),
  line(head.map(() => "---")),
  ...rows.map(line),
];

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`.replaceAll(/ +\|/g, " |");

const LINE_CHARACTERS_MAX = 120;

/** An entry on one line, or a line for each member, and for each row. */
const entryLines = (name: string, entry: Entry, isLast: boolean): readonly string[] => {
  const end = isLast ? "" : ",";
  const short = `  ${JSON.stringify(name)}: ${spaced(entry)}${end}`;
  if (short.length <= LINE_CHARACTERS_MAX) return [short];
  const members = Object.entries(entry).map(([key, value]) =>
    key === "rows" && Array.isArray(value)
      ? `    "rows": [\n${value.map((row) => `      ${spaced(row)}`).join(",\n")}\n    ]`
      : `    ${JSON.stringify(key)}: ${spaced(value)}`,
  );
  return [`  ${JSON.stringify(name)}: {`, ...members.join(",\n").split("\n"), `  }${end}`];
};

/** JSON on one line, with spaces as the formatter sets them. */
const spaced = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${spaced(member)}`);
  return `{ ${members.join(", ")} }`;
};
