import { alignColumns } from "./columns.ts";
import type { DiffCounts, KeyCount, OriginChange, PartCounts } from "./diff-counts.ts";
import { grouped } from "./grouped.ts";
import { percentText } from "./percent-text.ts";
import { printable } from "./printable.ts";
import { singlesLines } from "./singles-text.ts";

/** Counts for people: a line for each part that differs, and below it where keys go. */
export const diffCountsText = ({ parts, origins, routes, keys, overrides }: DiffCounts): string => {
  const rows = [
    ...Object.entries(parts).map(([name, counts]) => [name, partText(counts)]),
    ...(routes.differ ? [["routes", `${grouped(routes.before)} before, ${grouped(routes.after)} after`]] : []),
  ];
  const lines = alignColumns(rows.map((row) => row.map(printable)));
  const urls = alignColumns(origins.map((change) => originCells(change).map(printable)));
  const ways = alignColumns(keys.map((count) => keyCells(count).map(printable)));
  const isStill = keys.length === 0 && overrides.changed === 0;
  return [
    ...lines,
    ...section("origins", urls),
    ...(isStill ? ["no key goes elsewhere"] : section("keys that go elsewhere", ways)),
    ...section(`single entities that go elsewhere: ${grouped(overrides.changed)}`, singlesLines(overrides)),
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

const partText = ({ added, removed, changed, names }: PartCounts): string => {
  const counts = Object.entries({ added, removed, changed }).flatMap(([what, count]) =>
    count === 0 ? [] : [`${grouped(count)} ${what}`],
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
  const count = keys === "1" ? "1 key" : `${grouped(BigInt(keys))} keys`;
  const share = percentOfSpace === undefined ? "" : `, ${percentText(percentOfSpace)} of the key space`;
  return [`${entity} (${layout})`, `${from} → ${to}`, `${count}${share}`, minted.join(", ")];
};
