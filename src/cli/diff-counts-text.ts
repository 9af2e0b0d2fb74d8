import { alignColumns } from "./columns.ts";
import type { DiffCounts, KeyCount, PartCounts } from "./diff-counts.ts";
import { percentText } from "./percent-text.ts";
import { printable } from "./printable.ts";

/** Counts for people: a line for each part that differs, and below it where keys go. */
export const diffCountsText = ({ parts, routes, keys }: DiffCounts): string => {
  const rows = [
    ...Object.entries(parts).map(([name, counts]) => [name, partText(counts)]),
    ...(routes.differ ? [["routes", `${grouped(routes.before)} before, ${grouped(routes.after)} after`]] : []),
  ];
  const lines = alignColumns(rows.map((row) => row.map(printable)));
  const ways = alignColumns(keys.map((count) => keyCells(count).map(printable)));
  const moved =
    keys.length === 0 ? ["no key goes elsewhere"] : ["keys that go elsewhere", ...ways.map((way) => `  ${way}`)];
  return [...lines, ...moved].map((line) => `${line}\n`).join("");
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
  percent,
}: KeyCount): readonly string[] => {
  const minted = [
    ...(mintedFrom === undefined ? [] : [`minted from ${mintedFrom}`]),
    ...(mintedBefore === undefined ? [] : [`minted before ${mintedBefore}`]),
  ];
  const count = keys === "1" ? "1 key" : `${grouped(BigInt(keys))} keys`;
  const share = percent === undefined ? "" : `, ${percentText(percent)} of its key space`;
  return [`${entity} (${layout})`, `${from} → ${to}`, `${count}${share}`, minted.join(", ")];
};

/** `1,204`. */
export const grouped = (count: number | bigint): string => count.toLocaleString("en-US");
