import type { FeatureDiff } from "../../routing/diff/feature.ts";
import type { KeyChange, KeyOutcome } from "../../routing/diff/key-changes.ts";
import type { Undone } from "../../routing/diff/overrides.ts";
import type { Changed, PartDiff, RouteShare, ShareChange } from "../../routing/diff/parts.ts";
import type { TableDiff } from "../../routing/index.ts";

/** The difference of two tables in words and numbers: the same for the command and the console. Names may be untrusted. */

/** `1,204`. */
export const formatCount = (count: number | bigint): string => count.toLocaleString("en-US");

/** `12.5 %`; a part is never shown as 0 % or 100 %. */
export const formatPercent = (percent: number): string => {
  if (percent > 0 && percent < 0.01) return "less than 0.01 %";
  if (percent < 100 && percent > 99.99) return "more than 99.99 %";
  return `${Number(percent.toFixed(2))} %`;
};

export interface NamedPart {
  readonly name: string;
  /** A part with entries by name, or a part as a whole. */
  readonly entries?: PartDiff<unknown> | undefined;
  readonly whole?: Changed<unknown> | undefined;
}

/** The parts of a table, in the order in which all presentations show them. A feature's part has its key as its name. */
export const partsOf = (diff: TableDiff): readonly NamedPart[] => {
  const { isEmpty, keys, overrides, routes, shares, ...parts } = diff;
  const { hosts, regions, countries, entities, layouts, ...others } = parts;
  const { moved, moves, gone, epochFloor, default: fallback, fields, withoutId, sources, ...features } = others;
  const own = Object.entries(features).map(([name, part]) => namedPart(name, part));
  return [
    { name: "gateway hosts", whole: hosts },
    { name: "regions", entries: regions },
    { name: "countries", entries: countries },
    { name: "entities", entries: entities },
    { name: "layouts", entries: layouts },
    ...own.filter(({ entries }) => entries !== undefined),
    { name: "moved", entries: moved },
    { name: "moves", entries: moves },
    { name: "gone", entries: gone },
    { name: "epoch floor", whole: epochFloor },
    { name: "default", whole: fallback },
    { name: "fields", whole: fields },
    { name: "without ID", entries: withoutId },
    ...own.filter(({ entries }) => entries === undefined),
    { name: "sources", whole: sources },
  ];
};

const namedPart = (name: string, part: FeatureDiff[keyof FeatureDiff]): NamedPart =>
  part !== undefined && "added" in part ? { name, entries: part } : { name, whole: part };

/** Effects of undone steps of moves. */
export const UNDONE: Readonly<Record<Undone, string>> = {
  "move-lost": "the entry of a move is missing, so the routes decide again, and regions may reject requests",
  "epoch-falls": "the epoch decreases, so regions reject requests; undo a move by a new move",
  "epoch-stands": "two steps have the same epoch, so regions cannot distinguish them; increase it with each step",
  "no-longer-gone": "was permanently removed, and now is not",
};

/** `order (iuid)`, its condition, and the two regions. */
export interface KeyWords {
  readonly whose: string;
  readonly which: string;
  readonly from: string;
  readonly to: string;
}

export function keyWords(change: KeyChange): KeyWords {
  const { layout, where, before, after, byPacks } = change;
  const conditions = [
    ...markOf(change),
    ...Object.entries(where).map(([name, values]) => `${name} ${values}`),
    ...formatMinted(change),
    ...(byPacks ? ["by packs"] : []),
  ];
  return {
    whose: `${formatOwners(change)} (${layout})`,
    which: conditions.join(", ") || "all",
    from: formatOutcome(before),
    to: formatOutcome(after),
  };
}

/** `order`, or `order → ride`. */
export const formatOwners = ({ before, after }: Pick<KeyChange, "before" | "after">): string =>
  [...new Set([before, after].flatMap((outcome) => (outcome === undefined ? [] : [outcome.entity])))].join(" → ");

export const formatMinted = ({ mintedFrom, mintedBefore }: Pick<KeyChange, "mintedFrom" | "mintedBefore">) => [
  ...(mintedFrom === undefined ? [] : [`minted from ${mintedFrom}`]),
  ...(mintedBefore === undefined ? [] : [`minted before ${mintedBefore}`]),
];

type KeysShown = Pick<KeyChange, "keys" | "mintedFrom" | "mintedBefore" | "countries" | "percent"> & {
  readonly percentOfSpace?: number | undefined;
};

/** Numbers of one change; absent where they are not known. */
export interface KeyNumbers {
  /** Such as `1,204`. */
  readonly keys: string;
  /** `keys` says in words that these are all. */
  readonly isAll: boolean;
  /** Such as `12.5 %`. */
  readonly ofSpace: string | undefined;
  readonly ofTheirIds: string | undefined;
  /** Such as `1 of 249`. */
  readonly ofCountries: string | undefined;
}

export function keyNumbers({ keys, percentOfSpace, percent, countries, ...minted }: KeysShown): KeyNumbers {
  // A layout without fields that routes read has one key.
  const isAll = keys === "1" && percentOfSpace === 100;
  return {
    keys: isAll
      ? `all ${formatMinted(minted).length === 0 ? "IDs of the layout" : "such IDs"}`
      : formatCount(BigInt(keys)),
    isAll,
    ofSpace: isAll || percentOfSpace === undefined ? undefined : formatPercent(percentOfSpace),
    ofTheirIds: percent === undefined ? undefined : `${percent} %`,
    ofCountries: isAll || countries === undefined ? undefined : `${countries.count} of ${countries.of}`,
  };
}

/** `1 key, 0.4 % of the key space, 1 of 249 countries`. */
export function formatKeys(change: KeysShown): string {
  const { keys, isAll, ofSpace, ofTheirIds, ofCountries } = keyNumbers(change);
  const share = ofTheirIds === undefined ? "" : `${ofTheirIds} of `;
  if (isAll) return share + keys;
  const count = `${share && `${share}the IDs of `}${keys} ${keys === "1" ? "key" : "keys"}`;
  const part = ofSpace === undefined ? "" : `, ${ofSpace} of the key space`;
  return count + part + (ofCountries === undefined ? "" : `, ${ofCountries} countries`);
}

/** With the canary's share, and after the packs that are looked up first. */
export const formatOutcome = (outcome: KeyOutcome | undefined): string => {
  const { canary, split, directory, packs = [] } = outcome ?? {};
  const region = outcome?.region ?? (directory === undefined ? "nowhere" : `directory ${directory}`);
  const own = split === undefined ? region : `split ${split.join("|")}`;
  const shared = canary === undefined ? own : `${own} (${canary.percent} % ${canary.region})`;
  return [...packs.map((pack) => `pack ${pack.slice(0, pack.indexOf(" ") + 9)}`), shared].join(", else ");
};

/** `canary of /routes/3  us 5 % → us 25 %`. */
export const shareCells = ({ part, before, after }: ShareChange): readonly string[] => {
  const text = (share: RouteShare | undefined) => (share === undefined ? "none" : `${share.region} ${share.percent} %`);
  return [`${part} of ${(after ?? before)?.route}`, `${text(before)} → ${text(after)}`];
};

const markOf = ({ service, group, before, after }: KeyChange): readonly string[] => {
  if (before?.entity === after?.entity) return [];
  if (service !== undefined) return [`service ${service}`];
  return group === undefined ? [] : [`group ${group}`];
};
