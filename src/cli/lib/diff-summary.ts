import { diffTables, type TableDiff } from "../../routing/diff/diff.ts";
import type { KeyChange } from "../../routing/diff/key-changes.ts";
import type { PartDiff } from "../../routing/diff/parts.ts";
import type { DeclaredRegion } from "../../routing/schema/table.ts";
import type { Runtime } from "../runtime.ts";
import {
  formatKeyChanges,
  formatKeys,
  formatMinted,
  formatOutcome,
  formatOverrides,
  formatOwners,
  partsOf,
} from "./diff-text.ts";
import { alignColumns, formatCount, linesText } from "./output.ts";
import { formatMissing, missedBy, openPackFiles, withSlots } from "./packs.ts";
import type { NamedTable } from "./table-file.ts";

/** Differences of two tables as counts: entries of each part, and shares of each key space. Plain JSON. */
export type DiffCounts = ReturnType<typeof countDiff>;

type OriginChange = ReturnType<typeof originChanges>[number];

interface PartCounts {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** The first names, of all kinds. */
  readonly names: readonly string[];
}

/** Keys of one entity's layout with the same change. */
export interface KeyCount extends Pick<KeyChange, "layout" | "mintedFrom" | "mintedBefore"> {
  /** `order`, or `order → ride` if the entity changes. */
  readonly entity: string;
  readonly from: string;
  readonly to: string;
  /** Decimal. */
  readonly keys: string;
  /** Share of all keys of such IDs. `undefined`: routes depend on other fields. */
  readonly percentOfSpace: number | undefined;
}

const NAMES_MAX = 5;

/** At most this much is read before saying yes: lines, and characters of one list of values. */
const KEY_CHANGES_MAX = 50;
const VALUES_LENGTH_MAX = 200;

const countDiff = (diff: TableDiff) => {
  const parts = partsOf(diff).flatMap(({ name, entries, whole }) => {
    const counts = entries === undefined ? whole && CHANGED : countPart(entries);
    return counts === undefined || counts.added + counts.removed + counts.changed === 0
      ? []
      : [[name, counts] as const];
  });
  const routes = new Set(diff.shares.map(({ before, after }) => (after ?? before)?.route ?? ""));
  const shares = { ...CHANGED, changed: routes.size, names: [...routes].slice(0, NAMES_MAX) };
  return {
    parts: Object.fromEntries([...parts, ...(routes.size === 0 ? [] : [["canaries and shadows", shares] as const])]),
    origins: originChanges(diff.regions),
    routes: diff.routes,
    keys: countKeys(diff.keys),
    /** The first of these, exactly, as `waybill table diff` has them. */
    keyChanges: { changed: diff.keys.length, listed: diff.keys.slice(0, KEY_CHANGES_MAX).map(shorten) },
    overrides: diff.overrides,
  };
};

const shorten = (change: KeyChange): KeyChange => ({
  ...change,
  where: Object.fromEntries(
    Object.entries(change.where).map(([name, values]) => [
      name,
      values.length > VALUES_LENGTH_MAX ? `${values.slice(0, values.lastIndexOf(",", VALUES_LENGTH_MAX))}, …` : values,
    ]),
  ),
});

/** Regions with other origin URLs. */
const originChanges = ({ added, removed, changed }: TableDiff["regions"]) => {
  const sides = [
    ...Object.entries(removed).map(([region, before]) => ({ region, before, after: undefined })),
    ...Object.entries(added).map(([region, after]) => ({ region, before: undefined, after })),
    ...Object.entries(changed).map(([region, both]) => ({ region, ...both })),
  ];
  return sides.flatMap(({ region, before, after }) => {
    const [old, next] = [urlsOf(before), urlsOf(after)];
    const [gone, come] = [old.filter((url) => !next.includes(url)), next.filter((url) => !old.includes(url))];
    return gone.length + come.length === 0 ? [] : [{ region, removed: gone, added: come }];
  });
};

const urlsOf = (region: DeclaredRegion | undefined): readonly string[] => region?.origins.map(({ url }) => url) ?? [];

const CHANGED: PartCounts = { added: 0, removed: 0, changed: 1, names: [] };

const countPart = ({ added, removed, changed }: PartDiff<unknown>): PartCounts => {
  const count = (entries: object): number => Object.keys(entries).length;
  const names = [added, removed, changed].flatMap((entries) => Object.keys(entries)).slice(0, NAMES_MAX);
  return { added: count(added), removed: count(removed), changed: count(changed), names };
};

const countKeys = (changes: readonly KeyChange[]): readonly KeyCount[] => {
  const groups = new Map<string, KeyCount>();
  for (const change of changes) {
    const { layout, mintedFrom, mintedBefore, service, group, percent = 100, percentOfSpace: space } = change;
    const [from, to] = [formatOutcome(change.before), formatOutcome(change.after)];
    const counted = { entity: formatOwners(change), layout, from, to, mintedFrom, mintedBefore };
    const key = JSON.stringify([counted, service, group]);
    const { keys, percentOfSpace: sum } = groups.get(key) ?? { keys: "0", percentOfSpace: 0 };
    // Weighted by the share of the IDs of its keys.
    const percentOfSpace = sum === undefined || space === undefined ? undefined : sum + (space * percent) / 100;
    groups.set(key, { ...counted, keys: `${BigInt(keys) + BigInt(change.keys)}`, percentOfSpace });
  }
  return [...groups.values()].map(({ percentOfSpace: sum, ...count }) => ({
    ...count,
    percentOfSpace: sum === undefined ? undefined : Number(sum.toPrecision(6)),
  }));
};

/** Counts for a terminal: one line per part that differs, then the changed keys. */
export const formatDiffCounts = ({ parts, origins, routes, keys, keyChanges, overrides }: DiffCounts): string => {
  const rows = [
    ...Object.entries(parts).map(([name, counts]) => [name, formatPart(counts)]),
    ...(routes.differ ? [["routes", `${formatCount(routes.before)} before, ${formatCount(routes.after)} after`]] : []),
  ];
  const lines = alignColumns(rows);
  const urls = alignColumns(origins.map(originCells));
  const { changed, listed } = keyChanges;
  const isCut = listed.length < changed;
  const sums = isCut ? alignColumns(keys.map(keyCells)) : [];
  const rest = `… and ${formatCount(changed - listed.length)} more, which \`waybill table diff\` lists`;
  const kinds = [...sums, ...formatKeyChanges(listed), ...(isCut ? [rest] : [])];
  const isStill = keys.length === 0 && overrides.changed === 0;
  return linesText([
    ...lines,
    ...section("origins", urls),
    ...(isStill ? ["no key is routed differently"] : section("keys routed differently", kinds)),
    ...section(`overridden entities routed differently: ${formatCount(overrides.changed)}`, formatOverrides(overrides)),
  ]);
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

const keyCells = (count: KeyCount): readonly string[] => {
  const { entity, layout, from, to } = count;
  return [`${entity} (${layout})`, `${from} → ${to}`, formatKeys(count), formatMinted(count).join(", ")];
};

/** `notes`: for stderr, about missing packs, whose keys count as changed. */
type CountedChanges = Awaited<ReturnType<typeof countChanges>>;

/** Counts the changes between two valid tables, with packs beside `path`, by default the current folder. */
export const countChanges = async (
  before: NamedTable,
  after: NamedTable,
  path: string | undefined,
  runtime: Pick<Runtime, "readFile" | "fileExists" | "nowMs">,
) => {
  const tables = [before, after].map(({ name, table }) => ({ name, table: withSlots(table) }));
  const { missing, contents } = await openPackFiles([path], tables, runtime);
  const diff = diffTables(before.table, after.table, contents, runtime.nowMs());
  return { counts: diff.isEmpty ? undefined : countDiff(diff), notes: formatMissing(missedBy(diff, missing)) };
};

/** For stderr: it belongs to a question, and stdout is for the outcome. */
export const formatChanges = ({ counts, notes }: CountedChanges): string =>
  (counts === undefined ? "no differences except in the text\n" : formatDiffCounts(counts)) + notes;
