import { joinDigits, type KeySegment } from "./atoms.ts";
import { canonical } from "./canonical.ts";
import { type Counted, isKey, type KeyOutcome, type Space } from "./diff-changes.ts";
import type { LayoutSide } from "./diff-owners.ts";
import { countPackedKeys, type PackContents, type PackedKeys } from "./diff-packs.ts";
import type { OutcomeChange } from "./diff-space.ts";
import { keyFieldOf } from "./layout-fields.ts";
import type { LayoutPlan } from "./layout-plans.ts";
import type { PackRanges } from "./pack/ranges.ts";
import type { PackPlacement } from "./pack-plans.ts";
import { countOf, type Ranges } from "./ranges.ts";
import type { DeclaredPack } from "./way-schema.ts";

/** Changes behind packs, told by what the packs hold. */

/** A pack of a layout's routes whose contents are at hand. */
interface KnownPack {
  readonly ranges: PackRanges;
  /** The number of an ID that its ranges are of. */
  readonly dimension: string;
  /** The bits of the key that these are; `undefined` for another field. */
  readonly run: KeySegment | undefined;
}

/** By the name that goals have for them. */
export type KnownPacks = ReadonlyMap<string, KnownPack>;

/** Two packs of one name and digest are one. */
export const packName = ({ pack, declared }: Pick<PackPlacement, "pack" | "declared">): string =>
  `${pack} ${declared.sha256}`;

export const packsOf = (sides: readonly LayoutSide[], contents: PackContents): KnownPacks => {
  const known = new Map<string, KnownPack>();
  for (const { routePlan } of sides) {
    for (const placement of routePlan?.packs ?? []) {
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
export const slicesOfPacks = (packs: KnownPacks): readonly KeySegment[] =>
  [...packs.values()].flatMap(({ run }) => run ?? []);

/** Many entities ask the same of the same packs. */
export type PackedCounter = (
  names: readonly (readonly string[])[],
  set: Ranges,
  packs: KnownPacks,
) => readonly PackedKeys[];

export const packedCounter = (): PackedCounter => {
  const counted = new Map<string, readonly PackedKeys[]>();
  return (names, set, packs) => {
    const key = JSON.stringify([names, set]);
    const [before = [], after = []] = names.map((side) => side.flatMap((name) => packs.get(name)?.ranges ?? []));
    const found = counted.get(key) ?? countPackedKeys(set, before, after);
    counted.set(key, found);
    return found;
  };
};

/** A change of the keys in a box, or of some of them alone. */
export type CountedChange = OutcomeChange<KeyOutcome> & { readonly counted?: Counted };

/** What becomes of a change behind packs: one for each way that its keys go, and none where the packs make no difference. */
export const expandPacks = (
  change: OutcomeChange<KeyOutcome>,
  packs: KnownPacks,
  plan: LayoutPlan,
  space: Space,
  count: PackedCounter,
): readonly CountedChange[] => {
  const names = [change.before?.packs ?? [], change.after?.packs ?? []] as const;
  const place = commonPlace(names.flat(), packs, plan, space);
  const set = place && valuesAt(change, place, space);
  if (place === undefined || set === undefined) return [change];
  const changes = new Map<string, OutcomeChange<KeyOutcome> & { counted: Counted }>();
  for (const held of count(names, set, packs)) {
    const [before, after] = [outcomeOf(change.before, held.before), outcomeOf(change.after, held.after)];
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

/** Dimensions of a space from `from` to before `to`. */
type Place = Omit<Counted, "keys">;

/** What all packs are of; `undefined` where one is not at hand, or where they are of several numbers. */
const commonPlace = (
  names: readonly string[],
  packs: KnownPacks,
  plan: LayoutPlan,
  space: Space,
): Place | undefined => {
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
