import type { SearchedDiff, TableDiffs } from "../../../routing/diff/feature.ts";
import type { Counted, CountedChange, KeyOutcome, LayoutSide, Space } from "../../../routing/diff/key-changes.ts";
import { isKey } from "../../../routing/diff/key-changes.ts";
import { canonical, joinDigits, type KeySegment, type OutcomeChange } from "../../../routing/diff/key-space.ts";
import { diffPart, type PartDiff } from "../../../routing/diff/parts.ts";
import { keyFieldOf } from "../../../routing/layouts/fields.ts";
import type { LayoutPlan } from "../../../routing/layouts/plan.ts";
import { countOf, firstNotBelow, pairsOf, type Ranges } from "../../../routing/lookup/ranges.ts";
import type { Searched } from "../../../routing/lookup/searched.ts";
import type { PackRanges } from "./pack.ts";
import { type PackPlacement, packsIn } from "./route.ts";
import type { DeclaredPack } from "./schema.ts";

/** Comparing what lists of packs hold, in one pass over their ranges. */

/** The contents of a pack by its digest, as far as they are at hand. */
export type PackContents = (sha256: string) => PackRanges | undefined;

declare module "../../../routing/diff/feature.ts" {
  interface FeatureDiff {
    /** Their entries in the table. Packs with other digests have other ranges. */
    readonly packs: PartDiff<DeclaredPack>;
  }

  interface DiffContents {
    /** Without the contents of a pack, a change of it is one of all its keys. */
    readonly packs?: PackContents;
  }
}

/**
 * Counts the keys of a set by where the packs of either side send them: `undefined` where no pack of a side holds them,
 * and they come to the route behind. The first pack that holds a key counts.
 */
export const countPackedKeys = (set: Ranges, before: readonly PackRanges[], after: readonly PackRanges[]) => {
  const names = [...new Set([...before, ...after].flatMap(({ regions }) => regions))];
  const cursorsOf = (side: readonly PackRanges[]) => side.map((pack) => new Cursor(pack, names));
  const left = cursorsOf(before);
  const right = cursorsOf(after);
  const cursors = [...left, ...right];
  // Place 0 is for keys that no pack holds.
  const width = names.length + 1;
  const counts = new Float64Array(width * width);
  for (const [low, high] of pairsOf(set)) {
    for (let at = low; at <= high; ) {
      let end = high;
      for (const cursor of cursors) end = Math.min(end, cursor.goTo(at));
      const change = regionAt(left) * width + regionAt(right);
      counts[change] = (counts[change] as number) + (end - at + 1);
      at = end + 1;
    }
  }
  return [...counts].flatMap((keys, change) =>
    keys === 0 ? [] : [{ before: names[Math.floor(change / width) - 1], after: names[(change % width) - 1], keys }],
  );
};

const regionAt = (cursors: readonly Cursor[]): number => {
  for (let at = 0; at < cursors.length; at++) {
    const { region } = cursors[at] as Cursor;
    if (region !== 0) return region;
  }
  return 0;
};

/** A place in the ranges of a pack that only rises. */
class Cursor {
  /** The region of the key it was sent to: place of its name among all, from 1; 0 where the pack does not hold it. */
  region = 0;
  private readonly bounds: PackRanges["bounds"];
  private readonly numbers: Uint8Array;
  private readonly places: readonly number[];
  private at = 0;

  constructor({ bounds, numbers, regions }: PackRanges, names: readonly string[]) {
    this.bounds = bounds;
    this.numbers = numbers;
    this.places = regions.map((region) => names.indexOf(region) + 1);
  }

  /** Goes on to a key, not below the last one; tells how far what holds for it holds. */
  goTo(key: number): number {
    const { bounds, numbers } = this;
    if (this.at < numbers.length && (bounds[this.at * 2 + 1] as number) < key) this.pass(key);
    if (this.at === numbers.length) {
      this.region = 0;
      return Number.POSITIVE_INFINITY;
    }
    const first = bounds[this.at * 2] as number;
    this.region = first > key ? 0 : (this.places[numbers[this.at] as number] as number);
    return first > key ? first - 1 : (bounds[this.at * 2 + 1] as number);
  }

  /** To the first range that ends at the key or above: most often the next one, else found by halving. */
  private pass(key: number): void {
    const isBelow = (at: number): boolean => (this.bounds[at * 2 + 1] as number) < key;
    this.at++;
    if (isBelow(this.at)) this.at = firstNotBelow(this.numbers.length, isBelow, this.at + 1);
  }
}

interface KnownPack {
  readonly ranges: PackRanges;
  /** The number of an ID that its ranges are of. */
  readonly dimension: string;
  /** The bits of the key that these are; `undefined` for another field. */
  readonly run: KeySegment | undefined;
}

/** By the name that outcomes have for them. */
type KnownPacks = ReadonlyMap<string, KnownPack>;

const isPack = (searched: Searched): searched is PackPlacement => searched.feature === "packs";

/** Two packs of one name and digest are one. */
const packName = ({ pack, declared }: Pick<PackPlacement, "pack" | "declared">): string => `${pack} ${declared.sha256}`;

const packsOf = (sides: readonly LayoutSide[], contents: PackContents): KnownPacks => {
  const known = new Map<string, KnownPack>();
  for (const { routePlan } of sides) {
    for (const placement of routePlan?.searched ?? []) {
      if (!isPack(placement)) continue;
      const { declared, dimension } = placement;
      const ranges = contents(declared.sha256);
      if (ranges === undefined || routePlan === undefined) continue;
      known.set(packName(placement), { ranges, dimension: dimension.name, run: runOf(declared, routePlan.plan) });
    }
  }
  return known;
};

const runOf = ({ field, slice }: DeclaredPack, { layout, slices }: LayoutPlan): KeySegment | undefined => {
  if (slice !== undefined) return slices.get(slice);
  const key = keyFieldOf(layout);
  return key !== undefined && (field ?? key.name) === key.name ? { offset: 0, bits: key.bits } : undefined;
};

/** Where the key must be cut so that what a pack is of stands apart. */
const slicesOfPacks = (packs: KnownPacks): readonly KeySegment[] => [...packs.values()].flatMap(({ run }) => run ?? []);

type PackedCounter = ReturnType<typeof packedCounter>;

/** Many entities ask the same of the same packs. */
const packedCounter = () => {
  const counted = new Map<string, ReturnType<typeof countPackedKeys>>();
  return (names: readonly (readonly string[])[], set: Ranges, packs: KnownPacks) => {
    const key = JSON.stringify([names, set]);
    const [before = [], after = []] = names.map((side) => side.flatMap((name) => packs.get(name)?.ranges ?? []));
    const found = counted.get(key) ?? countPackedKeys(set, before, after);
    counted.set(key, found);
    return found;
  };
};

type Change = OutcomeChange<KeyOutcome>;

/** A change behind packs becomes one for each way that its keys go, and none where the packs make no difference. */
const expandPacks = (change: Change, packs: KnownPacks, plan: LayoutPlan, space: Space, count: PackedCounter) => {
  const names = [change.before?.packs ?? [], change.after?.packs ?? []] as const;
  const place = commonPlace(names.flat(), packs, plan, space);
  const set = place && valuesAt(change, place, space);
  if (place === undefined || set === undefined) return [change] as readonly CountedChange[];
  const changes = new Map<string, Change & { counted: Counted }>();
  for (const held of count(names, set, packs)) {
    const before = outcomeOf(change.before, held.before);
    const after = outcomeOf(change.after, held.after);
    if (canonical(before ?? null) === canonical(after ?? null)) continue;
    const counted = canonical([before ?? null, after ?? null]);
    const keys = (changes.get(counted)?.counted.keys ?? 0) + held.keys;
    changes.set(counted, { sets: change.sets, before, after, counted: { ...place, keys } });
  }
  const all = countOf(set);
  return [...changes.values()].map(({ counted, ...whole }) => (counted.keys === all ? whole : { ...whole, counted }));
};

const outcomeOf = (outcome: KeyOutcome | undefined, region: string | undefined): KeyOutcome | undefined => {
  if (outcome === undefined) return undefined;
  const { packs: _, ...behind } = outcome;
  return region === undefined ? behind : { entity: outcome.entity, region };
};

type Place = Omit<Counted, "keys">;

/** The number that all packs are of; `undefined` where one is not at hand, or where they differ in it. */
const commonPlace = (names: readonly string[], packs: KnownPacks, plan: LayoutPlan, space: Space) => {
  const [first, ...others] = names.map((name) => packs.get(name));
  if (first === undefined || others.some((pack) => pack?.dimension !== first.dimension)) return undefined;
  const fieldsFrom = space.minted === undefined ? 0 : 1;
  if (first.run === undefined) {
    const at = space.fields.findIndex(({ name }) => name === first.dimension && isKey(plan, name));
    return at === -1 ? undefined : { from: fieldsFrom + at, to: fieldsFrom + at + 1 };
  }
  const { offset, bits } = first.run;
  const atomsFrom = fieldsFrom + space.fields.length;
  return {
    from: atomsFrom + space.atoms.findIndex((atom) => atom.offset === offset),
    to: atomsFrom + space.atoms.findIndex((atom) => atom.offset + atom.bits === offset + bits) + 1,
  };
};

/** A slice at the end of the key cuts a range of keys into as many as the rest has values; more are not worth their time. */
const PAIRS_MAX = 65_536;

const valuesAt = ({ sets }: OutcomeChange<KeyOutcome>, { from, to }: Place, space: Space): Ranges | undefined => {
  const atomsFrom = sets.length - space.atoms.length;
  const widths = space.atoms.slice(Math.max(0, from - atomsFrom), Math.max(0, to - atomsFrom)).map(({ bits }) => bits);
  return to - from === 1 ? sets[from] : joinDigits(sets.slice(from, to), widths, PAIRS_MAX);
};

const comparePacks = (contents: PackContents = () => undefined): SearchedDiff => {
  const count = packedCounter();
  return {
    nameOf: (searched) => packName(searched as PackPlacement),
    compare: (sides) => {
      const packs = packsOf(sides, contents);
      const cuts = slicesOfPacks(packs);
      return { cuts, expand: (change, plan, space) => expandPacks(change, packs, plan, space, count) };
    },
  };
};

export const packsDiffs: TableDiffs = {
  name: "packs",
  diff: (before, after) => ({ packs: diffPart(packsIn(before), packsIn(after)) }),
  diffSearched: ({ packs }) => comparePacks(packs),
};
