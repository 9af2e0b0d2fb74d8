import { type Field, luuid, type TextForm, type Words } from "../../ids/index.ts";
import { fitsWith } from "../../ids/layout/compile.ts";
import { hasOtherWords, LUUID_SHORT } from "../identity.ts";
import { keyFieldOf, ownerKeyField } from "../layouts/fields.ts";
import { ownerKeyOf } from "../layouts/plan.ts";
import type { RouteTargets, WordsMap } from "../lookup/id-index.ts";
import { type DeclaredPattern, patternsOf } from "../lookup/paths.ts";
import { type PackPlacement, type PackRoute, packFinder } from "../packs/route.ts";
import { fieldPathsOf, publicKindOf } from "../public-ids/entities.ts";
import { readersOf } from "../resolve/match.ts";
import type { Draft } from "../schema/draft.ts";
import type { EnabledLayout, Entity, EntityId, Found, LayoutHint, Owner, SentSlice, SentSlices } from "../table.ts";
import type { RoutePlan } from "./route-plans.ts";
import { deadlinesOf, REMEMBER_MOVED_SECONDS } from "./targets.ts";

/** The slices of its IDs' keys that an entity's origins receive. */
const sentSlicesOf = (ids: readonly EntityId[]): SentSlices => {
  const sent = new Map<string, readonly SentSlice[]>();
  for (const { enabled } of ids) {
    const slices = slicesOf(enabled);
    if (slices.length === 0) continue;
    sent.set(enabled.layout.name, slices);
    // A short key is its LUUID without the random bits.
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

/** Compiles the entities and the layouts, which refer to each other. */
export const compileEntities = (
  draft: Draft,
  routes: ReadonlyMap<string, RoutePlan>,
  targets: RouteTargets<Found | undefined>,
  packRouteOf: (placement: PackPlacement) => PackRoute,
  overrides: ReadonlyMap<TextForm, WordsMap>,
): Joined => {
  const layouts = new Map<string, EnabledLayout>();
  const idsByEntity = new Map<string, EntityId[]>([...draft.entities.keys()].map((name) => [name, []]));
  const ownersByLayout = new Map<string, Owners>();
  for (const [name, { plan, indexes, packs }] of routes) {
    const owners: Owners = { mark: ownerKeyField(plan.layout), marked: new Map(), unmarked: [] };
    ownersByLayout.set(name, owners);
    const { layout, slices, window } = plan;
    const { mark, marked, unmarked } = owners;
    const enabled: EnabledLayout = {
      layout,
      isOwn: draft.layouts.get(name)?.rows !== undefined,
      slices,
      window,
      overrides: overrides.get(layout.table.text),
      hasOtherWords: hasOtherWords(layout),
      ownersOf: (words) => (mark === undefined ? undefined : marked.get(mark.read(words))) ?? unmarked,
    };
    layouts.set(name, enabled);
    for (const [id, index] of indexes) {
      const ids = idsByEntity.get(id.entity);
      const own = packs.filter((placement) => placement.ids.has(id)).map(packRouteOf);
      // Without packs the index alone decides.
      const find = own.length === 0 ? index.targetFinder(targets) : packFinder(index, own, targets);
      const number = ownerKeyOf(id);
      const takes = mark === undefined || number === undefined ? layout.fits : fitsWith(layout, mark, number);
      const { service, group } = id;
      if (ids !== undefined) ids[id.place] = Object.freeze({ enabled, service, group, takes, find });
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

/** A name without a layout is `luuid-short`. */
const hintsOf = (
  patterns: readonly DeclaredPattern[],
  layouts: ReadonlyMap<string, EnabledLayout>,
): ReadonlyMap<string, LayoutHint> =>
  new Map(
    patterns.flatMap(({ pattern, layout }) =>
      layout === undefined ? [] : [[pattern, Object.freeze({ enabled: layouts.get(layout) })] as const],
    ),
  );

/** The entities of a layout's IDs, by the number that marks an entity. */
interface Owners {
  readonly mark: Field | undefined;
  readonly marked: Map<number, Owner[]>;
  readonly unmarked: Owner[];
}

const addOwner = (owners: Owners | undefined, owner: Owner): void => {
  const mark = ownerKeyOf(owner.id);
  if (mark === undefined) owners?.unmarked.push(owner);
  else owners?.marked.set(mark, [...(owners.marked.get(mark) ?? []), owner]);
};
