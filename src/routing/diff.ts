import { canonical } from "./canonical.ts";
import { planChecked } from "./compile.ts";
import type { KeyChange } from "./diff-changes.ts";
import { diffKeys } from "./diff-keys.ts";
import type { PackContents } from "./diff-packs.ts";
import { diffShares, type ShareChange } from "./diff-shares.ts";
import type { Draft } from "./draft.ts";
import type {
  DeclaredEntity,
  DeclaredGone,
  DeclaredLayout,
  DeclaredMove,
  DeclaredMoved,
  DeclaredPack,
  DeclaredRegion,
  DeclaredSource,
  DeclaredTable,
  DeclaredWithoutId,
} from "./schema.ts";
import type { Singles } from "./singled.ts";

/** What differs between two tables: in what they say, and in where IDs go because of it. Plain JSON. */
export interface TableDiff {
  /** Whether the tables say the same and treat every ID alike. */
  readonly isEmpty: boolean;
  readonly hosts: Changed<readonly string[]> | undefined;
  /** With their origins and failover. */
  readonly regions: PartDiff<DeclaredRegion>;
  readonly countries: PartDiff<number>;
  readonly entities: PartDiff<DeclaredEntity>;
  readonly layouts: PartDiff<DeclaredLayout>;
  /** What the table says of them. Packs with other digests have other ranges. */
  readonly packs: PartDiff<DeclaredPack>;
  /** By ID, as the two that follow. */
  readonly moved: PartDiff<DeclaredMoved>;
  readonly moves: PartDiff<DeclaredMove>;
  readonly gone: PartDiff<DeclaredGone>;
  readonly epochFloor: Changed<number | undefined> | undefined;
  readonly default: Changed<string | undefined> | undefined;
  /** Requests without an ID, and the sources of a region that those without any of their own have. */
  readonly withoutId: PartDiff<DeclaredWithoutId>;
  readonly sources: Changed<readonly DeclaredSource[] | undefined> | undefined;
  /** How many routes each table has, and whether the lists differ at all. */
  readonly routes: { readonly before: number; readonly after: number; readonly differ: boolean };
  /** Canaries and shadows that differ from those of the route with the same conditions. */
  readonly shares: readonly ShareChange[];
  /** Keys whose IDs go to another entity or region, or go nowhere where they did not; entities in the parts above aside. */
  readonly keys: readonly KeyChange[];
}

export interface Changed<Value> {
  readonly before: Value;
  readonly after: Value;
}

/** Named entries of one part of the table. */
export interface PartDiff<Value> {
  readonly added: Readonly<Record<string, Value>>;
  readonly removed: Readonly<Record<string, Value>>;
  readonly changed: Readonly<Record<string, Changed<Value>>>;
}

/**
 * Compares two tables that `checkTable` has found to be without fault. Keys that packs assign are counted one by one where
 * `contents` has all packs that stand before them; else a change of a pack is one of all keys that come to it.
 */
export const diffTables = (
  before: DeclaredTable,
  after: DeclaredTable,
  contents: PackContents = () => undefined,
): TableDiff => {
  const [left, right] = [planChecked(before), planChecked(after)];
  const parts = diffParts(left.draft, right.draft);
  const keys = diffKeys(left, right, contents);
  const isEmpty = keys.length === 0 && !parts.routes.differ && !anyChange(parts);
  return { isEmpty, ...parts, shares: diffShares(left.draft, right.draft), keys };
};

type Parts = Omit<TableDiff, "isEmpty" | "shares" | "keys">;

const entriesOf = <Entry>({ ids, entries }: Singles<Entry>): ReadonlyMap<string, Entry> =>
  new Map(ids.map((id, at) => [id, entries[at] as Entry]));

const diffParts = (before: Draft, after: Draft): Parts => ({
  hosts: diffValue(before.hosts, after.hosts),
  regions: diffPart(before.regions, after.regions),
  countries: diffPart(before.countries, after.countries),
  entities: diffPart(before.entities, after.entities),
  layouts: diffPart(before.layouts, after.layouts),
  packs: diffPart(before.packs, after.packs),
  moved: diffPart(entriesOf(before.moved), entriesOf(after.moved)),
  moves: diffPart(entriesOf(before.moves), entriesOf(after.moves)),
  gone: diffPart(entriesOf(before.gone), entriesOf(after.gone)),
  epochFloor: diffValue(before.epochFloor, after.epochFloor),
  default: diffValue(before.fallback, after.fallback),
  withoutId: diffPart(before.withoutId, after.withoutId),
  sources: diffValue(before.sources, after.sources),
  routes: {
    before: before.routes.length,
    after: after.routes.length,
    differ:
      before.routes.length !== after.routes.length ||
      before.routes.some(({ route }, at) => !isSame(route, after.routes[at]?.route)),
  },
});

const anyChange = ({ hosts, epochFloor, default: fallback, sources, routes: _, ...parts }: Parts): boolean =>
  [hosts, epochFloor, fallback, sources].some((changed) => changed !== undefined) ||
  Object.values(parts).some((part) =>
    [part.added, part.removed, part.changed].some((entries) => Object.keys(entries).length > 0),
  );

const diffValue = <Value>(before: Value, after: Value): Changed<Value> | undefined =>
  isSame(before, after) ? undefined : { before, after };

const diffPart = <Value>(before: ReadonlyMap<string, Value>, after: ReadonlyMap<string, Value>): PartDiff<Value> => {
  const added: [string, Value][] = [];
  const removed: [string, Value][] = [];
  const changed: [string, Changed<Value>][] = [];
  for (const [name, value] of after) {
    const old = before.get(name);
    if (old === undefined) added.push([name, value]);
    else if (!isSame(old, value)) changed.push([name, { before: old, after: value }]);
  }
  for (const [name, value] of before) if (!after.has(name)) removed.push([name, value]);
  return {
    added: Object.fromEntries(added),
    removed: Object.fromEntries(removed),
    changed: Object.fromEntries(changed),
  };
};

/** Whether two JSON values are equal; the order of keys does not matter, that of arrays does. Most are equal as they stand. */
const isSame = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b) || canonical(a) === canonical(b);
