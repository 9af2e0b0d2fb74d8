import type { TableDiff } from "../routing/diff.ts";
import type { KeyChange } from "../routing/diff-changes.ts";
import type { PartDiff } from "../routing/diff-parts.ts";
import type { DeclaredRegion } from "../routing/schema.ts";
import { formatOutcome } from "./diff-text.ts";

/** Differences of two tables as numbers: how many entries of each part, and how much of each key space. Plain JSON. */
export interface DiffCounts {
  /** Parts that do not differ are left out. */
  readonly parts: Readonly<Record<string, PartCounts>>;
  /** Regions whose origins have other addresses. */
  readonly origins: readonly OriginChange[];
  readonly routes: TableDiff["routes"];
  readonly keys: readonly KeyCount[];
  readonly overrides: TableDiff["overrides"];
}

/** Addresses that a region has no longer, and those that it has now. */
export interface OriginChange {
  readonly region: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export interface PartCounts {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** The first of them, all kinds together. */
  readonly names: readonly string[];
}

/** Keys of one entity's layout that go from one place to another. */
export interface KeyCount {
  /** `order`, or `order → ride` where another entity gets them. */
  readonly entity: string;
  readonly layout: string;
  readonly from: string;
  readonly to: string;
  readonly mintedFrom: string | undefined;
  readonly mintedBefore: string | undefined;
  /** Decimal. */
  readonly keys: string;
  /** Of all keys that such IDs can carry; `undefined` where routes ask for what is no key. */
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

/** How much of the key space one change is, by the IDs of its keys. */
const percentOf = ({ percentOfSpace, percent = 100 }: KeyChange): number | undefined =>
  percentOfSpace === undefined ? undefined : (percentOfSpace * percent) / 100;
