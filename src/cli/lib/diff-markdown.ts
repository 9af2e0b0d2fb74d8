import { formatKeys, keyWords } from "../../formats/console/diff.ts";
import { type DiffCounts, formatPart, formatReasons } from "./diff.ts";
import { escapeControls, formatCount, linesText } from "./output.ts";
import { formatWarning, type PlanWarning } from "./warnings.ts";

/** A difference of two tables for a comment on a pull request (GitHub Flavored Markdown). Of bounded size. */

const TABLE_ROWS_MAX = 50;
const CELL_LENGTH_MAX = 300;

/** `counts`: undefined where nothing but the text differs. */
export function markdownOf(counts: DiffCounts | undefined, warnings: readonly PlanWarning[]): string {
  if (counts === undefined) return "### Routing table\n\nNo ID and no request goes elsewhere.\n";
  const { parts, origins, routes, keyChanges, overrides } = counts;
  const listed = keyChanges.listed.map((change) => {
    const { whose, which, from, to } = keyWords(change);
    return [whose, which, from, to, formatKeys(change)];
  });
  const entities = overrides.listed.map(({ id, entity = "(no entity)", before, after }) => [
    id,
    entity,
    ...formatReasons(before, after),
  ]);
  const differing = [
    ...Object.entries(parts).map(([name, part]) => [name, formatPart(part)]),
    ...(routes.differ ? [["routes", `${formatCount(routes.before)} before, ${formatCount(routes.after)} after`]] : []),
    ...origins.map(({ region, removed, added }) => [
      `origins of ${region}`,
      `${removed.join(", ") || "none"} → ${added.join(", ") || "none"}`,
    ]),
  ];
  const isStill = keyChanges.changed === 0 && overrides.changed === 0;
  return linesText([
    "### Routing table",
    ...warnings.flatMap((warning) => ["", `> ⚠️ ${code(formatWarning(warning))}`]),
    ...grid("", ["part", "change"], differing, differing.length),
    ...(isStill ? ["", "No key is routed differently."] : []),
    ...grid("Keys routed differently", ["IDs", "keys", "from", "to", "share"], listed, keyChanges.changed),
    ...grid("Entities routed differently", ["ID", "entity", "from", "to"], entities, overrides.changed),
  ]);
}

function grid(title: string, heads: readonly string[], rows: readonly (readonly string[])[], count: number) {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const shown = rows.slice(0, TABLE_ROWS_MAX);
  const rest = count - shown.length;
  return [
    ...(title === "" ? [] : ["", `**${title}**`]),
    "",
    line(heads),
    line(heads.map(() => "---")),
    ...shown.map((row) => line(row.map(code))),
    ...(rest > 0 ? ["", `… and ${formatCount(rest)} more, which \`waybill table diff BEFORE AFTER\` lists.`] : []),
  ];
}

/** A span of code: a table's text makes no mention, link, image or markup in it, and ends no cell. */
function code(text: string): string {
  if (text === "") return "";
  const plain = escapeControls(text).replaceAll("`", "'");
  const short = plain.length > CELL_LENGTH_MAX ? `${plain.slice(0, CELL_LENGTH_MAX)} …` : plain;
  // Renderers disagree on a bar behind backslashes: some would end the cell.
  return `\`${short.replaceAll(/(?<=\\)\|/g, "¦").replaceAll("|", "\\|")}\``;
}
