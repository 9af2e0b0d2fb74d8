import { ok, type Result } from "../../ids/index.ts";
import { diffTables, type TableDiff } from "../../routing/diff/diff.ts";
import type { KeyChange } from "../../routing/diff/key-changes.ts";
import type { PartDiff } from "../../routing/diff/parts.ts";
import type { DeclaredRegion, DeclaredTable } from "../../routing/schema/table.ts";
import type { Runtime } from "../runtime.ts";
import { formatOutcome, formatOverrides } from "./diff-text.ts";
import { alignColumns, escapeControls, formatCount, formatPercent } from "./output.ts";
import { formatMissing, type MissingPack, missedBy, openPackFiles, withSlots } from "./packs.ts";
import type { TableFile } from "./table-file.ts";

/** Differences of two tables as counts: entries of each part, and shares of each key space. Plain JSON. */
export interface DiffCounts {
  /** Only parts that differ. */
  readonly parts: Readonly<Record<string, PartCounts>>;
  /** Regions with other origin URLs. */
  readonly origins: readonly OriginChange[];
  readonly routes: TableDiff["routes"];
  readonly keys: readonly KeyCount[];
  readonly overrides: TableDiff["overrides"];
}

/** Origin URLs removed from and added to a region. */
export interface OriginChange {
  readonly region: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export interface PartCounts {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** The first names, of all kinds. */
  readonly names: readonly string[];
}

/** Keys of one entity's layout with the same change. */
export interface KeyCount {
  /** `order`, or `order → ride` if the entity changes. */
  readonly entity: string;
  readonly layout: string;
  readonly from: string;
  readonly to: string;
  readonly mintedFrom: string | undefined;
  readonly mintedBefore: string | undefined;
  /** Decimal. */
  readonly keys: string;
  /** Share of all keys of such IDs. `undefined`: routes depend on other fields. */
  readonly percentOfSpace: number | undefined;
}

const NAMES_MAX = 5;

export const countDiff = (diff: TableDiff): DiffCounts => {
  const { regions, countries, entities, layouts, packs, moved, moves, gone, withoutId, shares } = diff;
  const named = { regions, countries, entities, layouts, packs, moved, moves, gone, "without ID": withoutId };
  const parts = Object.entries(named).flatMap(([name, part]) => {
    const counts = countPart(part);
    return counts.names.length === 0 ? [] : [[name, counts] as const];
  });
  const whole = {
    "gateway hosts": diff.hosts,
    "epoch floor": diff.epochFloor,
    default: diff.default,
    sources: diff.sources,
  };
  const single = Object.entries(whole).flatMap(([name, change]) =>
    change === undefined ? [] : [[name, CHANGED] as const],
  );
  const shared = shares.map(({ before, after }) => (after ?? before)?.route ?? "");
  const canaries: (readonly [string, PartCounts])[] =
    shared.length === 0
      ? []
      : [["canaries and shadows", countPart({ added: {}, removed: {}, changed: byName(shared) })]];
  return {
    parts: Object.fromEntries([...parts, ...single, ...canaries]),
    origins: originChanges(regions),
    routes: diff.routes,
    keys: countKeys(diff.keys),
    overrides: diff.overrides,
  };
};

const originChanges = ({ added, removed, changed }: TableDiff["regions"]): readonly OriginChange[] => {
  const sides = [
    ...Object.entries(removed).map(([region, before]) => ({ region, before, after: undefined })),
    ...Object.entries(added).map(([region, after]) => ({ region, before: undefined, after })),
    ...Object.entries(changed).map(([region, both]) => ({ region, ...both })),
  ];
  return sides.flatMap(({ region, before, after }) => {
    const [old, next] = [urlsOf(before), urlsOf(after)];
    const change = {
      region,
      removed: old.filter((url) => !next.includes(url)),
      added: next.filter((url) => !old.includes(url)),
    };
    return change.removed.length + change.added.length === 0 ? [] : [change];
  });
};

const urlsOf = (region: DeclaredRegion | undefined): readonly string[] => region?.origins.map(({ url }) => url) ?? [];

const CHANGED: PartCounts = { added: 0, removed: 0, changed: 1, names: [] };

const byName = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { before: name, after: name }]));

const countPart = (part: PartDiff<unknown>): PartCounts => {
  const [added, removed, changed] = [part.added, part.removed, part.changed].map((entries) => Object.keys(entries));
  return {
    added: added?.length ?? 0,
    removed: removed?.length ?? 0,
    changed: changed?.length ?? 0,
    names: [...(added ?? []), ...(removed ?? []), ...(changed ?? [])].slice(0, NAMES_MAX),
  };
};

const countKeys = (changes: readonly KeyChange[]): readonly KeyCount[] => {
  const groups = new Map<string, KeyCount & { cells: bigint; weighed: number | undefined }>();
  for (const change of changes) {
    const { layout, mintedFrom, mintedBefore } = change;
    const owners = new Set(
      [change.before, change.after].flatMap((target) => (target === undefined ? [] : [target.entity])),
    );
    const counted = {
      entity: [...owners].join(" → "),
      layout,
      from: formatOutcome(change.before),
      to: formatOutcome(change.after),
    };
    const key = JSON.stringify([counted, mintedFrom, mintedBefore, change.service, change.group]);
    const before = groups.get(key) ?? {
      ...counted,
      mintedFrom,
      mintedBefore,
      keys: "0",
      percentOfSpace: 0,
      cells: 0n,
      weighed: 0,
    };
    const share = percentOf(change);
    const cells = before.cells + BigInt(change.keys);
    const weighed = before.weighed === undefined || share === undefined ? undefined : before.weighed + share;
    groups.set(key, { ...before, cells, weighed });
  }
  return [...groups.values()].map(({ cells, weighed, ...count }) => ({
    ...count,
    keys: cells.toString(),
    percentOfSpace: weighed === undefined ? undefined : Number(weighed.toPrecision(6)),
  }));
};

/** The share of the key space, weighted by the IDs of its keys. */
const percentOf = ({ percentOfSpace, percent = 100 }: KeyChange): number | undefined =>
  percentOfSpace === undefined ? undefined : (percentOfSpace * percent) / 100;

/** Counts for a terminal: one line per part that differs, then the changed keys. */
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
    ...(isStill ? ["no key is routed differently"] : section("keys routed differently", kinds)),
    ...section(`overridden entities routed differently: ${formatCount(overrides.changed)}`, formatOverrides(overrides)),
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

export interface CountedChanges {
  /** `undefined`: no difference. */
  readonly counts: DiffCounts | undefined;
  /** Lines for stderr about missing packs, whose keys count as changed. */
  readonly notes: string;
}

type Named = Pick<TableFile<DeclaredTable>, "name" | "table">;

/** Counts the changes between two valid tables, with packs beside `path`, by default the current folder. The error is for stderr. */
export const countChanges = async (
  before: Named,
  after: Named,
  path: string | undefined,
  runtime: Pick<Runtime, "readFile" | "fileExists" | "nowMs">,
): Promise<Result<CountedChanges, string>> => {
  const packFiles = openPackFiles([path], runtime);
  const missing: MissingPack[] = [];
  for (const { name, table } of [before, after]) {
    const filled = await packFiles.load({ name, table: withSlots(table) });
    if (!filled.ok) return filled;
    missing.push(...filled.value);
  }
  const diff = diffTables(before.table, after.table, packFiles.contents, runtime.nowMs());
  const counts = diff.isEmpty ? undefined : countDiff(diff);
  return ok({ counts, notes: formatMissing(missedBy(diff, missing)) });
};

/** For stderr: it belongs to a question, and stdout is for the outcome. */
export const formatChanges = ({ counts, notes }: CountedChanges): string =>
  (counts === undefined ? "no differences except in the text\n" : formatDiffCounts(counts)) + notes;
