import { alignColumns } from "./columns.ts";
import type { DiffCounts, KeyCount, OriginChange, PartCounts } from "./diff-counts.ts";
import { formatCount } from "./grouped.ts";
import { formatPercent } from "./percent-text.ts";
import { escapeControls } from "./printable.ts";
import { formatOverrides } from "./singles-text.ts";

/** Counts for people: a line for each part that differs, and below it where keys go. */
export const formatDiffCounts = ({ parts, origins, routes, keys, overrides }: DiffCounts): string => {
  const rows = [
    ...Object.entries(parts).map(([name, counts]) => [name, formatPart(counts)]),
    ...(routes.differ ? [["routes", `${formatCount(routes.before)} before, ${formatCount(routes.after)} after`]] : []),
  ];
  const lines = alignColumns(rows.map((row) => row.map(escapeControls)));
  const urls = alignColumns(origins.map((change) => originCells(change).map(escapeControls)));
  const kinds = alignColumns(keys.map((count) => keyCells(count).map(escapeControls)));
  const isStill = keys.length === 0 && overrides.changed === 0;
  return [
    ...lines,
    ...section("origins", urls),
    ...(isStill ? ["no key goes elsewhere"] : section("keys that go elsewhere", kinds)),
    ...section(`single entities that go elsewhere: ${formatCount(overrides.changed)}`, formatOverrides(overrides)),
  ]
    .map((line) => `${line}\n`)
    .join("");
};

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];

const originCells = ({ region, removed, added }: OriginChange): readonly string[] => {
  const [from, to] = [removed, added].map((urls) => (urls.length === 0 ? "none" : urls.join(", ")));
  return [region, `${from} → ${to}`];
};

const formatPart = ({ added, removed, changed, names }: PartCounts): string => {
  const counts = Object.entries({ added, removed, changed }).flatMap(([what, count]) =>
    count === 0 ? [] : [`${formatCount(count)} ${what}`],
  );
  if (names.length === 0) return "changed";
  const isMore = added + removed + changed > names.length;
  return `${counts.join(", ")}: ${names.join(", ")}${isMore ? ", …" : ""}`;
};

const keyCells = ({
  entity,
  layout,
  from,
  to,
  mintedFrom,
  mintedBefore,
  keys,
  percentOfSpace,
}: KeyCount): readonly string[] => {
  const minted = [
    ...(mintedFrom === undefined ? [] : [`minted from ${mintedFrom}`]),
    ...(mintedBefore === undefined ? [] : [`minted before ${mintedBefore}`]),
  ];
  const count = keys === "1" ? "1 key" : `${formatCount(BigInt(keys))} keys`;
  const share = percentOfSpace === undefined ? "" : `, ${formatPercent(percentOfSpace)} of the key space`;
  return [`${entity} (${layout})`, `${from} → ${to}`, `${count}${share}`, minted.join(", ")];
};
