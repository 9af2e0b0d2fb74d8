import { luuid } from "../../ids/index.ts";
import { fitsWith } from "../../ids/layout/compile.ts";
import type { CompileContext, TableFeature, TableParts } from "../feature.ts";
import { hasOtherWords, LUUID_SHORT } from "../identity.ts";
import { keyFieldOf, ownerKeyField } from "../layouts/fields.ts";
import { type IdPlan, type LayoutPlan, ownerKeyOf, sliceReader } from "../layouts/plan.ts";
import { conditionsOf } from "../lookup/choice.ts";
import { indexPaths } from "../lookup/path-index.ts";
import { type DeclaredPattern, patternsOf } from "../lookup/paths.ts";
import { type Search, type Searched, searchFinder } from "../lookup/searched.ts";
import { readersOf } from "../resolve/match.ts";
import type { Draft } from "../schema/draft.ts";
import type { CompiledTable, EnabledLayout, Entity, EntityId, Owner, Owners, Regions, SentSlices } from "../table.ts";
import { movedIndex, type OverrideIndex } from "./overrides.ts";
import type { Placed, RoutePlans } from "./route-plans.ts";
import {
  entityOf,
  overrideTargets,
  REMEMBER_MOVED_SECONDS,
  regionNamed,
  regionOf,
  targetOf,
  targetsOf,
} from "./targets.ts";
import { entityWithoutIds, indexWithoutId, membersOf } from "./without-id.ts";

/** Input of the compiled table: what was declared, with the indexes of its routes and overrides. */
export interface Assembly {
  readonly features: readonly TableFeature[];
  readonly draft: Draft;
  readonly routes: RoutePlans;
  readonly overrides: OverrideIndex;
}

/** The placements take more memory than the compiled table. */
export type Planned = Assembly & { readonly placed: Placed };

export const assemble = (assembly: Assembly, revision: number): CompiledTable => {
  const { draft, overrides, routes } = assembly;
  const ofFeatures = assembly.features.flatMap(({ region }) => region ?? []);
  const regions = new Map(
    [...draft.regions].map(([name, declared]) => [
      name,
      regionOf(
        name,
        declared,
        ofFeatures.map((of) => of(declared)),
      ),
    ]),
  );
  const features = new Map<string, TableParts>();
  const parts = () => [...features.values()];
  const context: CompileContext = {
    draft,
    plans: new Map([...routes].map(([name, { plan }]) => [name, plan])),
    regions,
    targetIn: (region, rule) => targetOf(regionNamed(regions, region), rule),
    standIn: (name, declared, paths) => entityWithoutIds(name, declared, draft, paths, parts()),
    headersRead: (table) => headersRead(table, parts()),
  };
  for (const { name, compile } of assembly.features) if (compile !== undefined) features.set(name, compile(context));
  const { layouts, entities } = compileEntities(assembly, regions, features);
  let table: CompiledTable = {
    revision,
    regions,
    entities,
    countries: draft.countries,
    layouts,
    readers: readersOf([...layouts.values()], ({ layout }) => layout),
    paths: indexPaths(entities.values()),
    hasConditions: [...draft.entities.values(), ...draft.withoutId.values()].some(conditionsOf),
    withoutId: indexWithoutId(draft, regions, [...entities.values()], parts()),
    moved: movedIndex(overrides, overrideTargets(draft, regions)),
    routeCount: draft.routes.length,
    verified: undefined,
    ownPaths: [],
  };
  for (const [name, feature] of features) {
    table = Object.assign({}, table, feature.table?.(table));
    const own = feature.ownPaths?.(table);
    if (own !== undefined) table = { ...table, ownPaths: [...table.ownPaths, { ...own, feature: name }] };
  }
  return table;
};

/** Request headers that a table makes the gateway read: without them a page could not send what decides. */
const headersRead = (table: CompiledTable, features: readonly TableParts[]): readonly string[] => [
  ...features.flatMap((feature) => feature.headersRead?.(table) ?? []),
  ...table.withoutId.entries.flatMap(({ sources }) =>
    sources.flatMap((source) => {
      if (source.kind === "headers") return source.conditions.map(({ header }) => header);
      return "header" in source ? source.header : [];
    }),
  ),
];

const sentSlicesOf = (ids: readonly EntityId[]): SentSlices => {
  const entries = ids.flatMap(({ enabled: { layout, slices } }) => {
    const key = keyFieldOf(layout);
    const own = [...slices.values()].flatMap((slice) =>
      key === undefined || slice.header === undefined ? [] : [{ header: slice.header, read: sliceReader(key, slice) }],
    );
    // A short key is its LUUID without the random bits.
    const names = layout === luuid ? [layout.name, LUUID_SHORT] : [layout.name];
    return own.length === 0 ? [] : names.map((name) => [name, own] as const);
  });
  const sent = new Map(entries);
  return sent.size === 0 ? undefined : sent;
};

/** Compiles the entities and the layouts, which refer to each other. */
const compileEntities = (
  { features: all, draft, routes, overrides }: Assembly,
  regions: Regions,
  features: ReadonlyMap<string, TableParts>,
) => {
  const parts = [...features.values()];
  const plain = all.flatMap((feature) => feature.plain ?? []);
  const targets = targetsOf(draft, regions, (route) => firstOf(parts, ({ target }) => target?.(route)));
  const layouts = new Map<string, EnabledLayout>();
  const idsByEntity = new Map<string, EntityId[]>([...draft.entities.keys()].map((name) => [name, []]));
  const ownersByLayout = new Map<string, OwnersInMaking>();
  for (const [name, { plan, indexes, searched }] of routes) {
    const owners: OwnersInMaking = { mark: ownerKeyField(plan.layout), marked: new Map(), unmarked: [] };
    ownersByLayout.set(name, owners);
    const enabled = enabledLayout(plan, owners, draft, overrides);
    layouts.set(name, enabled);
    for (const [id, index] of indexes) {
      const ids = idsByEntity.get(id.entity);
      const own = searched.filter(({ ids: taken }) => taken.has(id)).map((one) => searchOf(one, features));
      // Without searches the index alone decides.
      const find = own.length === 0 ? index.targetFinder(targets) : searchFinder(index, own, targets);
      const takes = takesOf(enabled, id);
      const { service, group } = id;
      if (ids !== undefined) ids[id.place] = Object.freeze({ enabled, service, group, takes, find });
    }
  }
  const entities = new Map<string, Entity>();
  for (const [name, declared] of draft.entities) {
    const ids = idsByEntity.get(name) ?? [];
    const patterns = patternsOf(declared.path);
    const core = {
      paths: patterns.map(({ pattern }) => pattern),
      pathHints: hintsOf(patterns, layouts),
      closedPaths: closedOf(patterns),
      conditions: conditionsOf(declared),
      ids,
      readers: readersOf(ids, ({ enabled }) => enabled.layout),
      any: declared.any ?? "proxy",
      rememberMovedSeconds: declared.rememberMovedSeconds ?? REMEMBER_MOVED_SECONDS,
      sentSlices: sentSlicesOf(ids),
      plain,
    };
    const entity = entityOf(name, declared, draft, core, membersOf(parts, name, declared, declared));
    entities.set(name, entity);
    for (const id of ids) addOwner(ownersByLayout.get(id.enabled.layout.name), { entity, id });
  }
  return { layouts, entities };
};

const enabledLayout = (
  { layout, slices, window }: LayoutPlan,
  owners: Owners,
  draft: Draft,
  overrides: OverrideIndex,
): EnabledLayout => ({
  layout,
  isOwn: draft.layouts.get(layout.name)?.rows !== undefined,
  slices,
  window,
  overrides: overrides.byForm.get(layout.table.text),
  hasOtherWords: hasOtherWords(layout),
  owners,
});

/** Whether words are an ID of the entity: where a number marks its entity, by that number too. */
const takesOf = ({ layout, owners: { mark } }: EnabledLayout, id: IdPlan): EntityId["takes"] => {
  const number = ownerKeyOf(id);
  return mark === undefined || number === undefined ? layout.fits : fitsWith(layout, mark, number);
};

const firstOf = <Item, Value>(items: readonly Item[], of: (item: Item) => Value | undefined): Value | undefined => {
  for (const item of items) {
    const value = of(item);
    if (value !== undefined) return value;
  }
  return undefined;
};

const searchOf = (searched: Searched, features: ReadonlyMap<string, TableParts>): Search => {
  const find = features.get(searched.feature)?.find?.(searched);
  if (find === undefined) throw new Error(`${searched.feature} does not search`);
  return { ordinal: searched.ordinal, find };
};

const closedOf = (patterns: readonly DeclaredPattern[]): Entity["closedPaths"] => {
  const closed = patterns.flatMap(({ pattern, below }) => (below === false ? [pattern] : []));
  return closed.length === 0 ? undefined : new Set(closed);
};

/** A name without a layout is `luuid-short`. */
const hintsOf = (patterns: readonly DeclaredPattern[], layouts: ReadonlyMap<string, EnabledLayout>) =>
  new Map(
    patterns.flatMap(({ pattern, layout }) =>
      layout === undefined ? [] : [[pattern, Object.freeze({ enabled: layouts.get(layout) })] as const],
    ),
  );

type OwnersInMaking = Owners & { readonly marked: Map<number, Owner[]>; readonly unmarked: Owner[] };

const addOwner = (owners: OwnersInMaking | undefined, owner: Owner): void => {
  const mark = ownerKeyOf(owner.id);
  if (mark === undefined) owners?.unmarked.push(owner);
  else owners?.marked.set(mark, [...(owners.marked.get(mark) ?? []), owner]);
};
