import { type Field, type Layout, luuid, type Words } from "../../ids/index.ts";
import { LUUID_SHORT } from "../identity.ts";
import { keyFieldOf, ownerKeyField } from "../layouts/fields.ts";
import { type IdPlan, type LayoutPlan, ownerKeyOf } from "../layouts/plan.ts";
import { type DeclaredPattern, patternsOf } from "../lookup/paths.ts";
import { type PackPlacement, type PackRoute, packFinder } from "../packs/route.ts";
import { fieldPathsOf, publicKindOf } from "../public-ids/entities.ts";
import { readersOf } from "../resolve/match.ts";
import type { Draft } from "../schema/draft.ts";
import type { EnabledLayout, Entity, EntityId, Found, LayoutHint, Owner, SentSlice, SentSlices } from "../table.ts";
import { deadlinesOf, REMEMBER_MOVED_SECONDS } from "./regions.ts";
import type { RoutePlan } from "./route-plans.ts";

/** What the origins of an entity are told of its IDs' keys. */
export const sentSlicesOf = (ids: readonly EntityId[]): SentSlices => {
  const sent = new Map<string, readonly SentSlice[]>();
  for (const { enabled } of ids) {
    const slices = slicesOf(enabled);
    if (slices.length === 0) continue;
    sent.set(enabled.layout.name, slices);
    // A short key has the bits of its LUUID but for the random ones.
    if (enabled.layout === luuid) sent.set(LUUID_SHORT, slices);
  }
  return sent.size === 0 ? undefined : sent;
};

const slicesOf = ({ layout, slices }: EnabledLayout): readonly SentSlice[] => {
  const key = keyFieldOf(layout);
  if (key === undefined) return [];
  return [...slices.values()].flatMap(({ header, offset, bits }) => {
    if (header === undefined) return [];
    const below = BigInt(key.bits - offset - bits);
    const mask = (1n << BigInt(bits)) - 1n;
    return [{ header, read: (words: Words) => String((key.readBig(words) >> below) & mask) }];
  });
};

export interface Joined {
  readonly layouts: ReadonlyMap<string, EnabledLayout>;
  readonly entities: ReadonlyMap<string, Entity>;
}

/** Makes the entities and the layouts, which know each other. */
export const compileEntities = (
  draft: Draft,
  routes: ReadonlyMap<string, Omit<RoutePlan, "placements">>,
  targetOf: (ordinal: number) => Found | undefined,
  packRouteOf: (placement: PackPlacement) => PackRoute,
): Joined => {
  const layouts = new Map<string, EnabledLayout>();
  const idsByEntity = new Map<string, EntityId[]>([...draft.entities.keys()].map((name) => [name, []]));
  const ownersByLayout = new Map<string, Owners>();
  for (const [name, { plan, indexes, packs }] of routes) {
    const owners = newOwners(ownerKeyField(plan.layout));
    ownersByLayout.set(name, owners);
    const enabled = enable(plan, owners, draft.layouts.get(name)?.rows !== undefined);
    layouts.set(name, enabled);
    for (const [id, index] of indexes) {
      const ids = idsByEntity.get(id.entity);
      const own = packs.filter((placement) => placement.ids.has(id)).map(packRouteOf);
      // Without packs there is one index, and nothing is asked before it.
      const find = own.length === 0 ? index.targetFinder(targetOf) : packFinder(index, own, targetOf);
      if (ids !== undefined) ids[id.place] = entityIdOf(id, enabled, owners.mark, find);
    }
  }
  const entities = new Map<string, Entity>();
  for (const [name, declared] of draft.entities) {
    const ids = idsByEntity.get(name) ?? [];
    const { any = "proxy", otherBodies = "pass" } = declared;
    const patterns = patternsOf(declared.path);
    const fields = fieldPathsOf(name, declared);
    if (!fields.ok) throw new Error(`the fields of ${name} were not checked: ${fields.error.reason}`);
    const entity: Entity = Object.freeze({
      name,
      paths: patterns.map(({ pattern }) => pattern),
      pathHints: hintsOf(patterns, layouts),
      ids,
      readers: readersOf(ids, ({ enabled }) => enabled.layout),
      any,
      public: publicKindOf(declared.public),
      publicFields: fields.value,
      otherBodies,
      deadlines: deadlinesOf(declared.deadlines),
      replayBytesMax: declared.replayBytesMax ?? 0,
      rememberMovedSeconds: declared.rememberMovedSeconds ?? REMEMBER_MOVED_SECONDS,
      sentSlices: sentSlicesOf(ids),
    });
    entities.set(name, entity);
    for (const id of ids) addOwner(ownersByLayout.get(id.enabled.layout.name), { entity, id });
  }
  return { layouts, entities };
};

/** The one name that is not a layout's stands for short keys. */
const hintsOf = (
  patterns: readonly DeclaredPattern[],
  layouts: ReadonlyMap<string, EnabledLayout>,
): ReadonlyMap<string, LayoutHint> =>
  new Map(
    patterns.flatMap(({ pattern, layout }) =>
      layout === undefined ? [] : [[pattern, Object.freeze({ enabled: layouts.get(layout) })] as const],
    ),
  );

/** Who claims the IDs of a layout, by the number that marks an entity. */
interface Owners {
  readonly mark: Field | undefined;
  readonly marked: Map<number, Owner[]>;
  readonly unmarked: Owner[];
}

const newOwners = (mark: Field | undefined): Owners => ({ mark, marked: new Map(), unmarked: [] });

const addOwner = (owners: Owners | undefined, owner: Owner): void => {
  const mark = ownerKeyOf(owner.id);
  if (mark === undefined) owners?.unmarked.push(owner);
  else owners?.marked.set(mark, [...(owners.marked.get(mark) ?? []), owner]);
};

const enable = (
  { layout, slices, window }: LayoutPlan,
  { mark, marked, unmarked }: Owners,
  isOwn: boolean,
): EnabledLayout => ({
  layout,
  isOwn,
  slices,
  window,
  index: { find: (entity, words) => findIn(layout, entity, words) },
  ownersOf: (words) => (mark === undefined ? undefined : marked.get(mark.read(words))) ?? unmarked,
});

/** A loop instead of a search by callback: this is on the way of every look-up. */
const findIn = (layout: Layout, { ids }: Entity, words: Words): Found | undefined => {
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] as EntityId;
    if (id.enabled.layout === layout && id.claims(words)) return id.find(words);
  }
  return undefined;
};

const entityIdOf = (
  plan: IdPlan,
  enabled: EnabledLayout,
  markField: Field | undefined,
  find: EntityId["find"],
): EntityId => {
  const { service, group } = plan;
  const mark = ownerKeyOf(plan);
  return Object.freeze({
    enabled,
    service,
    group,
    claims:
      markField === undefined || mark === undefined ? () => true : (words: Words) => markField.read(words) === mark,
    find,
  });
};
