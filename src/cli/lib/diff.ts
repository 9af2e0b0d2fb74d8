import {
  formatKeys,
  formatMinted,
  formatOutcome,
  formatOwners,
  keyWords,
  partsOf,
  shareCells,
  UNDONE,
} from "../../formats/console/diff.ts";
import { diffTables, type TableDiff } from "../../routing/diff/diff.ts";
import type { KeyChange } from "../../routing/diff/key-changes.ts";
import type { OverridesDiff, OverrideTarget, UndoneSteps } from "../../routing/diff/overrides.ts";
import { formatPlace } from "../../routing/diff/overrides.ts";
import type { Changed, PartDiff } from "../../routing/diff/parts.ts";
import type { DeclaredRegion } from "../../routing/schema/table.ts";
import type { Runtime } from "../runtime.ts";
import { alignColumns, countOf, escapeControls, formatCount, linesText, section } from "./output.ts";
import { formatMissing, missedBy, openPackFiles, withSlots } from "./packs.ts";
import type { NamedTable } from "./table-file.ts";

/** The overridden entities that are routed differently, one per line. If truncated, with sums. */
const formatOverrides = ({ changed, listed, changes }: OverridesDiff): readonly string[] => {
  const each = alignColumns(
    listed.map(({ id, entity = "(no entity)", before, after }) => [
      id,
      entity,
      `${formatPlace(before)} → ${formatPlace(after)}`,
      `${formatReason(before)} → ${formatReason(after)}`,
    ]),
  );
  if (changed === listed.length) return each;
  const sums = changes.map(({ entity = "(no entity)", from, to, entities }) => [
    entity,
    `${from} → ${to}`,
    countOf(entities, "entity", "entities"),
  ]);
  return [...alignColumns(sums), ...each, `… and ${formatCount(changed - listed.length)} more`];
};

/** `moved, epoch 3`. */
const formatReason = ({ by, epoch }: OverrideTarget): string => (epoch === undefined ? by : `${by}, epoch ${epoch}`);

/** `ap (moved, epoch 3)`, before and after. */
export const formatReasons = (...targets: readonly OverrideTarget[]): readonly string[] =>
  targets.map((target) => `${formatPlace(target)} (${formatReason(target)})`);

/** Undone steps of one kind, with the first entities. Plain JSON. */
export const undoneCount = ({ kind, entities, listed }: UndoneSteps) => ({
  kind,
  entities,
  ids: listed.map(({ id }) => id),
});

export const formatUndone = ({ kind, entities, ids }: ReturnType<typeof undoneCount>): string => {
  const rest = entities > ids.length ? ", …" : "";
  const whose = `${countOf(entities, "entity", "entities")} (${ids.join(", ")}${rest})`;
  return escapeControls(`${whose}: ${UNDONE[kind]}`);
};

type Paint = Runtime["paint"];

/** Differences for a terminal: `-` before, `+` after, and last the keys routed differently. */
export const formatDiff = (diff: TableDiff, paint: Paint): string => {
  const { routes, keys, overrides } = diff;
  const isStill = routes.differ && overrides.changed === 0;
  const sections = [
    ...partsOf(diff).map(
      ({ name, entries, whole }) => [name, entries ? partLines(entries, paint) : changeLines(whole, paint)] as const,
    ),
    ["routes", routes.differ ? [`${routes.before} before, ${routes.after} after`] : []],
    ["canaries and shadows", alignColumns(diff.shares.map(shareCells))],
    ["keys routed differently", keys.length > 0 || !isStill ? formatKeyChanges(keys) : ["none"]],
    [`overridden entities routed differently: ${formatCount(overrides.changed)}`, formatOverrides(overrides)],
    ["undone steps of moves", overrides.undone.map((steps) => formatUndone(undoneCount(steps)))],
  ] as const;
  const texts = sections.map(([title, lines]) => section(paint("bold", title), lines).join("\n"));
  return `${texts.filter((text) => text !== "").join("\n\n")}\n`;
};

const partLines = (part: PartDiff<unknown>, paint: Paint): readonly string[] =>
  sidesOf(part).flatMap(({ name, before, after }) => changeLines({ before, after }, paint, `${name}  `));

/** The entries of a part that differ. */
const sidesOf = <Entry>({ added, removed, changed }: PartDiff<Entry>) => [
  ...Object.entries(removed).map(([name, before]) => ({ name, before, after: undefined })),
  ...Object.entries(added).map(([name, after]) => ({ name, before: undefined, after })),
  ...Object.entries(changed).map(([name, both]) => ({ name, ...both })),
];

const changeLines = ({ before, after }: Partial<Changed<unknown>> = {}, paint: Paint, name = ""): readonly string[] => [
  ...(before === undefined ? [] : [paint("red", `- ${name}${JSON.stringify(before)}`)]),
  ...(after === undefined ? [] : [paint("green", `+ ${name}${JSON.stringify(after)}`)]),
];

const formatKeyChanges = (changes: readonly KeyChange[]) => alignColumns(changes.map(keyCells));

const keyCells = (change: KeyChange): readonly string[] => {
  const { whose, which, from, to } = keyWords(change);
  return [whose, which, `${from} → ${to}`, formatKeys(change)];
};

/** Differences of two tables as counts: entries of each part, and shares of each key space. Plain JSON. */
export type DiffCounts = ReturnType<typeof countDiff>;

type PartCounts = typeof CHANGED;

/**
 * Keys of one entity's layout with the same change. `entity`: `order`, or `order → ride` if it changes. `keys`: decimal.
 * `percentOfSpace`: of all keys of such IDs; `undefined`: routes depend on other fields.
 */
export interface KeyCount
  extends Pick<KeyChange, "layout" | "mintedFrom" | "mintedBefore">,
    Readonly<Record<"entity" | "from" | "to" | "keys", string>> {
  readonly percentOfSpace: number | undefined;
}

const NAMES_MAX = 5;

/** At most this much is read before saying yes: lines, and characters of one list of values. */
const KEY_CHANGES_MAX = 50;
const VALUES_LENGTH_MAX = 200;

export const countDiff = (diff: TableDiff) => {
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

const originChanges = (regions: TableDiff["regions"]) =>
  sidesOf(regions).flatMap(({ name: region, before, after }) => {
    const old = urlsOf(before);
    const next = urlsOf(after);
    const gone = old.filter((url) => !next.includes(url));
    const come = next.filter((url) => !old.includes(url));
    return gone.length + come.length === 0 ? [] : [{ region, removed: gone, added: come }];
  });

const urlsOf = (region: DeclaredRegion | undefined): readonly string[] => region?.origins.map(({ url }) => url) ?? [];

const CHANGED = { added: 0, removed: 0, changed: 1, names: [] as readonly string[] };

const countPart = ({ added, removed, changed }: PartDiff<unknown>): PartCounts => {
  const count = (entries: object): number => Object.keys(entries).length;
  const names = [added, removed, changed].flatMap((entries) => Object.keys(entries)).slice(0, NAMES_MAX);
  return { added: count(added), removed: count(removed), changed: count(changed), names };
};

const countKeys = (changes: readonly KeyChange[]): readonly KeyCount[] => {
  const groups = new Map<string, KeyCount>();
  for (const change of changes) {
    const { layout, mintedFrom, mintedBefore, service, group, percent = 100, percentOfSpace: space } = change;
    const from = formatOutcome(change.before);
    const to = formatOutcome(change.after);
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
  const listOf = (urls: readonly string[]): string => urls.join(", ") || "none";
  const urls = origins.map(({ region, removed, added }) => [region, `${listOf(removed)} → ${listOf(added)}`]);
  const { changed, listed } = keyChanges;
  const isCut = listed.length < changed;
  const sums = isCut ? alignColumns(keys.map(countCells)) : [];
  const rest = `… and ${formatCount(changed - listed.length)} more, which \`waybill table diff BEFORE AFTER\` lists`;
  const kinds = [...sums, ...formatKeyChanges(listed), ...(isCut ? [rest] : [])];
  const isStill = keys.length === 0 && overrides.changed === 0;
  return linesText([
    ...alignColumns(rows),
    ...section("origins", alignColumns(urls)),
    ...(isStill ? ["no key is routed differently"] : section("keys routed differently", kinds)),
    ...section(`overridden entities routed differently: ${formatCount(overrides.changed)}`, formatOverrides(overrides)),
  ]);
};

export const formatPart = ({ added, removed, changed, names }: PartCounts): string => {
  const counts = Object.entries({ added, removed, changed }).flatMap(([what, count]) =>
    count === 0 ? [] : [`${formatCount(count)} ${what}`],
  );
  if (names.length === 0) return "changed";
  const isMore = added + removed + changed > names.length;
  return `${counts.join(", ")}: ${names.join(", ")}${isMore ? ", …" : ""}`;
};

const countCells = (count: KeyCount): readonly string[] => {
  const { entity, layout, from, to } = count;
  return [`${entity} (${layout})`, `${from} → ${to}`, formatKeys(count), formatMinted(count).join(", ")];
};

/**
 * Counts the changes between two valid tables, with packs beside `path`, by default the current folder. `notes`: for
 * stderr, about missing packs, whose keys count as changed.
 */
export const countChanges = async (
  before: NamedTable,
  after: NamedTable,
  path: string | undefined,
  runtime: Pick<Runtime, "readFile" | "fileExists" | "nowMs">,
) => {
  const tables = [before, after].map(({ name, table }) => ({ name, table: withSlots(table) }));
  const { missing, contents } = await openPackFiles([path], tables, runtime);
  const diff = diffTables(before.table, after.table, { packs: contents }, runtime.nowMs());
  return { counts: diff.isEmpty ? undefined : countDiff(diff), notes: formatMissing(missedBy(diff, missing)) };
};

/** For stderr: it belongs to a question, and stdout is for the outcome. */
export const formatChanges = ({ counts, notes }: Awaited<ReturnType<typeof countChanges>>): string =>
  (counts === undefined ? "no differences except in the text\n" : formatDiffCounts(counts)) + notes;
