import type { TableDiff } from "../../routing/diff/diff.ts";
import type { KeyChange, KeyOutcome } from "../../routing/diff/key-changes.ts";
import {
  formatPlace,
  type OverrideChange,
  type OverridesDiff,
  type OverrideTarget,
  type Undone,
  type UndoneSteps,
} from "../../routing/diff/overrides.ts";
import type { Changed, PartDiff, RouteShare, ShareChange } from "../../routing/diff/parts.ts";
import type { Runtime } from "../runtime.ts";
import { alignColumns, countOf, escapeControls, formatCount, formatPercent } from "./output.ts";

/** The overridden entities that are routed differently, one per line. If truncated, with sums. */
export const formatOverrides = ({ changed, listed, changes }: OverridesDiff): readonly string[] => {
  const each = alignColumns(listed.map(overrideCells));
  if (changed === listed.length) return each;
  const sums = changes.map(({ entity = "(no entity)", from, to, entities }) => [
    entity,
    `${from} → ${to}`,
    countOf(entities, "entity", "entities"),
  ]);
  return [...alignColumns(sums), ...each, `… and ${formatCount(changed - listed.length)} more`];
};

const overrideCells = ({ id, entity = "(no entity)", before, after }: OverrideChange): readonly string[] => [
  id,
  entity,
  `${formatPlace(before)} → ${formatPlace(after)}`,
  `${formatReason(before)} → ${formatReason(after)}`,
];

/** `moved, epoch 3`. */
const formatReason = ({ by, epoch }: OverrideTarget): string => (epoch === undefined ? by : `${by}, epoch ${epoch}`);

/** Undone steps of one kind, with the first entities. Plain JSON. */
export const undoneCount = ({ kind, entities, listed }: UndoneSteps) => ({
  kind,
  entities,
  ids: listed.map(({ id }) => id),
});

export const formatUndone = ({ kind, entities, ids }: ReturnType<typeof undoneCount>): string => {
  const rest = entities > ids.length ? ", …" : "";
  const whose = `${countOf(entities, "entity", "entities")} (${ids.join(", ")}${rest})`;
  return escapeControls(`${whose}: ${WHAT[kind]}`);
};

const WHAT: Readonly<Record<Undone, string>> = {
  "move-lost": "the entry of a move is missing, so the routes decide again, and regions may reject requests",
  "epoch-falls": "the epoch decreases, so regions reject requests; undo a move by a new move",
  "epoch-stands": "two steps have the same epoch, so regions cannot distinguish them; increase it with each step",
  "no-longer-gone": "was permanently removed, and now is not",
};

type Paint = Runtime["paint"];

interface NamedPart {
  readonly name: string;
  /** A part with entries by name, or a part as a whole. */
  readonly entries?: PartDiff<unknown>;
  readonly whole?: Changed<unknown> | undefined;
}

/** The parts of a table, in the order in which both presentations show them. */
export const partsOf = (diff: TableDiff): readonly NamedPart[] => [
  { name: "gateway hosts", whole: diff.hosts },
  { name: "regions", entries: diff.regions },
  { name: "countries", entries: diff.countries },
  { name: "entities", entries: diff.entities },
  { name: "layouts", entries: diff.layouts },
  { name: "packs", entries: diff.packs },
  { name: "moved", entries: diff.moved },
  { name: "moves", entries: diff.moves },
  { name: "gone", entries: diff.gone },
  { name: "epoch floor", whole: diff.epochFloor },
  { name: "default", whole: diff.default },
  { name: "without ID", entries: diff.withoutId },
  { name: "sources", whole: diff.sources },
];

/** Differences for a terminal: `-` before, `+` after, and last the keys routed differently. */
export const formatDiff = (diff: TableDiff, paint: Paint): string => {
  const { routes, keys } = diff;
  const sections = [
    ...partsOf(diff).map(
      ({ name, entries, whole }) => [name, entries ? partLines(entries, paint) : changeLines(whole, paint)] as const,
    ),
    ["routes", routes.differ ? [`${routes.before} before, ${routes.after} after`] : []],
    ["canaries and shadows", alignColumns(diff.shares.map(shareCells))],
    ["keys routed differently", keys.length > 0 ? formatKeyChanges(keys) : noKeys(diff)],
    [`overridden entities routed differently: ${formatCount(diff.overrides.changed)}`, formatOverrides(diff.overrides)],
    ["undone steps of moves", diff.overrides.undone.map((steps) => formatUndone(undoneCount(steps)))],
  ] as const;
  return `${sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [paint("bold", title), ...lines.map((line) => `  ${line}`)].join("\n"))
    .join("\n\n")}\n`;
};

const noKeys = ({ routes, overrides }: TableDiff): readonly string[] =>
  routes.differ && overrides.changed === 0 ? ["none"] : [];

const partLines = <Value>({ added, removed, changed }: PartDiff<Value>, paint: Paint): readonly string[] => [
  ...Object.entries(removed).map(([name, value]) => minus(`${name}  ${JSON.stringify(value)}`, paint)),
  ...Object.entries(added).map(([name, value]) => plus(`${name}  ${JSON.stringify(value)}`, paint)),
  ...Object.entries(changed).flatMap(([name, { before, after }]) => [
    minus(`${name}  ${JSON.stringify(before)}`, paint),
    plus(`${name}  ${JSON.stringify(after)}`, paint),
  ]),
];

const changeLines = (change: Changed<unknown> | undefined, paint: Paint): readonly string[] =>
  change === undefined
    ? []
    : [
        ...(change.before === undefined ? [] : [minus(JSON.stringify(change.before), paint)]),
        ...(change.after === undefined ? [] : [plus(JSON.stringify(change.after), paint)]),
      ];

const minus = (text: string, paint: Paint): string => paint("red", `- ${text}`);
const plus = (text: string, paint: Paint): string => paint("green", `+ ${text}`);

export const formatKeyChanges = (changes: readonly KeyChange[]) => alignColumns(changes.map(keyCells));

/** `order (iuid)`, its condition, the two regions, and how many keys. */
const keyCells = (change: KeyChange): readonly string[] => {
  const { layout, where, before, after, percent, byPacks } = change;
  const conditions = [
    ...markOf(change),
    ...Object.entries(where).map(([name, values]) => `${name} ${values}`),
    ...formatMinted(change),
    ...(byPacks ? ["by packs"] : []),
  ];
  return [
    `${formatOwners(change)} (${layout})`,
    conditions.join(", ") || "all",
    `${formatOutcome(before)} → ${formatOutcome(after)}`,
    `${percent === undefined ? "" : `${percent} % of the IDs of `}${formatKeys(change)}`,
  ];
};

/** `order`, or `order → ride`. */
export const formatOwners = ({ before, after }: Pick<KeyChange, "before" | "after">): string =>
  [...new Set([before, after].flatMap((outcome) => (outcome === undefined ? [] : [outcome.entity])))].join(" → ");

export const formatMinted = ({ mintedFrom, mintedBefore }: Pick<KeyChange, "mintedFrom" | "mintedBefore">) => [
  ...(mintedFrom === undefined ? [] : [`minted from ${mintedFrom}`]),
  ...(mintedBefore === undefined ? [] : [`minted before ${mintedBefore}`]),
];

/** `1,204 keys, 12.5 % of the key space`. */
export const formatKeys = ({ keys, percentOfSpace }: { keys: string; percentOfSpace?: number | undefined }): string => {
  const part = percentOfSpace === undefined ? "" : `, ${formatPercent(percentOfSpace)} of the key space`;
  return `${keys === "1" ? "1 key" : `${formatCount(BigInt(keys))} keys`}${part}`;
};

/** With the canary's share, and after the packs that are looked up first. */
export const formatOutcome = (outcome: KeyOutcome | undefined): string => {
  const { region = "nowhere", canary, split, packs = [] } = outcome ?? {};
  const own = split === undefined ? region : `split ${split.join("|")}`;
  const shared = canary === undefined ? own : `${own} (${canary.percent} % ${canary.region})`;
  return [...packs.map((pack) => `pack ${pack.slice(0, pack.indexOf(" ") + 9)}`), shared].join(", else ");
};

/** `canary of /routes/3  us 5 % → us 25 %`. */
const shareCells = ({ part, before, after }: ShareChange): readonly string[] => {
  const text = (share: RouteShare | undefined) => (share === undefined ? "none" : `${share.region} ${share.percent} %`);
  return [`${part} of ${(after ?? before)?.route}`, `${text(before)} → ${text(after)}`];
};

/** The number of the entity, if the entity changes. */
const markOf = ({ service, group, before, after }: KeyChange): readonly string[] => {
  if (before?.entity === after?.entity) return [];
  if (service !== undefined) return [`service ${service}`];
  return group === undefined ? [] : [`group ${group}`];
};
