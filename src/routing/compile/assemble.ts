import { copiesOf } from "../../features/copies/table/compile.ts";
import { compileCors } from "../../features/cors/table.ts";
import { indexCreates } from "../../features/create/table/compile.ts";
import type { KeySource } from "../../features/create/table/types.ts";
import { planDirectories } from "../../features/directory/table/compile.ts";
import { compileGraphql } from "../../features/graphql/table/compile.ts";
import { indexLists } from "../../features/lists/table/compile.ts";
import { PackSlot } from "../../features/packs/table/pack.ts";
import { type PackPlacement, type PackRoute, packFinder } from "../../features/packs/table/route.ts";
import { placesOf } from "../../features/places/table/compile.ts";
import type { IdPlaces } from "../../features/places/table/types.ts";
import { publicKindOf } from "../../features/public-ids/table/entities.ts";
import { luuid } from "../../ids/index.ts";
import { fitsWith } from "../../ids/layout/compile.ts";
import { hasOtherWords, LUUID_SHORT } from "../identity.ts";
import { keyFieldOf, ownerKeyField } from "../layouts/fields.ts";
import { ownerKeyOf, sliceReader } from "../layouts/plan.ts";
import { conditionsOf } from "../lookup/choice.ts";
import { indexPaths } from "../lookup/path-index.ts";
import { type DeclaredPattern, patternsOf } from "../lookup/paths.ts";
import { readersOf } from "../resolve/match.ts";
import type { RegionSource } from "../resolve/region-sources.ts";
import type { Draft } from "../schema/draft.ts";
import type {
  CompiledTable,
  Create,
  EnabledLayout,
  Entity,
  EntityId,
  Owner,
  Owners,
  Regions,
  SentSlices,
} from "../table.ts";
import { movedIndex, type OverrideIndex } from "./overrides.ts";
import type { RoutePlans } from "./route-plans.ts";
import {
  forwardingOf,
  overrideTargets,
  packTargets,
  REMEMBER_MOVED_SECONDS,
  regionNamed,
  regionOf,
  targetOf,
  targetsOf,
} from "./targets.ts";
import { indexWithoutId } from "./without-id.ts";

/** Input of the compiled table: what was declared, with the indexes of its routes and overrides. */
export interface Assembly {
  readonly draft: Draft;
  readonly routes: RoutePlans;
  readonly overrides: OverrideIndex;
}

export const assemble = (assembly: Assembly, revision: number): CompiledTable => {
  const { draft, overrides } = assembly;
  const regions = new Map([...draft.regions].map(([name, declared]) => [name, regionOf(name, declared)]));
  const packs = new Map([...draft.packs].map(([name, declared]) => [name, new PackSlot(name, declared)]));
  const packRouteOf: PackRouteOf = ({ ordinal, pack, declared, dimension }) => {
    const slot = packs.get(pack);
    if (slot === undefined) throw new Error(`pack ${pack} was not checked`);
    return { ordinal, slot, read: dimension.read, targets: packTargets(ordinal, pack, declared, regions) };
  };
  const directories = planDirectories(draft, regions, (region, rule) => targetOf(regionNamed(regions, region), rule));
  const { layouts, entities } = compileEntities(assembly, regions, directories, packRouteOf);
  const paths = indexPaths(entities.values());
  const withoutId = indexWithoutId(draft, regions, [...entities.values()]);
  const creates = indexCreates(draft, entities);
  const table = {
    revision,
    regions,
    entities,
    countries: draft.countries,
    layouts,
    readers: readersOf([...layouts.values()], ({ layout }) => layout),
    paths,
    hasConditions: [...draft.entities.values(), ...draft.withoutId.values()].some(conditionsOf),
    withoutId,
    creates,
    cors: draft.cors && compileCors(draft.cors, headersRead({ creates, entities, withoutId })),
    lists: indexLists(draft, new Map([...assembly.routes].map(([name, { plan }]) => [name, plan])), entities, regions),
    graphql: draft.graphql && compileGraphql(draft.graphql, draft),
    moved: movedIndex(overrides, overrideTargets(draft, regions)),
    packs,
    routeCount: draft.routes.length,
    directories,
    verified: undefined,
    withoutPublic: undefined,
  };
  return { ...table, withoutPublic: viewOf(table) };
};

/** Request headers that a table makes the gateway read: without them a page could not send what decides. */
function headersRead({
  creates,
  entities,
  withoutId,
}: Pick<CompiledTable, "creates" | "entities" | "withoutId">): readonly string[] {
  const inSource = (source: RegionSource | KeySource) => {
    if (source.kind === "headers") return source.conditions.map(({ header }) => header);
    return "header" in source ? source.header : [];
  };
  const inPlaces = (places: IdPlaces | undefined) =>
    (places?.places ?? []).flatMap((place) => (place.kind === "header" ? place.name : []));
  const inCreate = ({ key, clientId }: Create) => [
    ...[...key.values()].flat().flatMap(inSource),
    ...[clientId?.header, clientId?.createFlag, clientId?.clock?.header].filter((name) => name !== undefined),
  ];
  return [
    ...[...(creates?.byEntity.values() ?? [])].flatMap(inCreate),
    ...[...entities.values()].flatMap(({ idIn }) => inPlaces(idIn)),
    ...withoutId.entries.flatMap(({ sources, idIn }) => [...sources.flatMap(inSource), ...inPlaces(idIn)]),
  ];
}

/** The table without entities whose IDs are public; `undefined` where it has none. */
const viewOf = (table: CompiledTable): CompiledTable | undefined => {
  const entities = new Map([...table.entities].filter(([, entity]) => entity.public === undefined));
  if (entities.size === table.entities.size) return undefined;
  const used = new Set([...entities.values()].flatMap(({ ids }) => ids.map(({ enabled }) => enabled)));
  const own = [...table.layouts].filter(([, enabled]) => used.has(enabled));
  const layouts = new Map(own.map(([name, enabled]) => [name, ownedByOthers(enabled)]));
  return { ...table, entities, layouts, readers: readersOf([...layouts.values()], ({ layout }) => layout) };
};

const ownedByOthers = (enabled: EnabledLayout): EnabledLayout => {
  const others = (owners: readonly Owner[]) => owners.filter(({ entity }) => entity.public === undefined);
  const { mark, marked, unmarked } = enabled.owners;
  const ofMarks = new Map([...marked].map(([number, of]) => [number, others(of)]));
  return { ...enabled, owners: { mark, marked: ofMarks, unmarked: others(unmarked) } };
};

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

type PackRouteOf = (placement: PackPlacement) => PackRoute;

/** Compiles the entities and the layouts, which refer to each other. */
const compileEntities = (
  { draft, routes, overrides }: Assembly,
  regions: Regions,
  directories: CompiledTable["directories"],
  packRouteOf: PackRouteOf,
) => {
  const targets = targetsOf(draft, regions, directories);
  const layouts = new Map<string, EnabledLayout>();
  const idsByEntity = new Map<string, EntityId[]>([...draft.entities.keys()].map((name) => [name, []]));
  const ownersByLayout = new Map<string, OwnersInMaking>();
  for (const [name, { plan, indexes, packs }] of routes) {
    const owners: OwnersInMaking = { mark: ownerKeyField(plan.layout), marked: new Map(), unmarked: [] };
    ownersByLayout.set(name, owners);
    const { layout, slices, window } = plan;
    const enabled: EnabledLayout = {
      layout,
      isOwn: draft.layouts.get(name)?.rows !== undefined,
      slices,
      window,
      overrides: overrides.byForm.get(layout.table.text),
      hasOtherWords: hasOtherWords(layout),
      owners,
    };
    layouts.set(name, enabled);
    for (const [id, index] of indexes) {
      const ids = idsByEntity.get(id.entity);
      const own = packs.filter((placement) => placement.ids.has(id)).map(packRouteOf);
      // Without packs the index alone decides.
      const find = own.length === 0 ? index.targetFinder(targets) : packFinder(index, own, targets);
      const number = ownerKeyOf(id);
      const { mark } = enabled.owners;
      const takes = mark === undefined || number === undefined ? layout.fits : fitsWith(layout, mark, number);
      const { service, group } = id;
      if (ids !== undefined) ids[id.place] = Object.freeze({ enabled, service, group, takes, find });
    }
  }
  const entities = new Map<string, Entity>();
  for (const [name, declared] of draft.entities) {
    const ids = idsByEntity.get(name) ?? [];
    const patterns = patternsOf(declared.path);
    const entity: Entity = Object.freeze({
      ...forwardingOf(name, declared, draft),
      paths: patterns.map(({ pattern }) => pattern),
      pathHints: hintsOf(patterns, layouts),
      closedPaths: closedOf(patterns),
      conditions: conditionsOf(declared),
      ids,
      readers: readersOf(ids, ({ enabled }) => enabled.layout),
      directory: declared.directory === undefined ? undefined : directories?.get(declared.directory),
      regionsInstead: declared.regionsInstead && new Map(Object.entries(declared.regionsInstead)),
      any: declared.any ?? "proxy",
      public: publicKindOf(declared.public),
      rememberMovedSeconds: declared.rememberMovedSeconds ?? REMEMBER_MOVED_SECONDS,
      sentSlices: sentSlicesOf(ids),
      copies: copiesOf(declared.readCopies, regions),
      idIn: placesOf(declared.idIn, name),
    });
    entities.set(name, entity);
    for (const id of ids) addOwner(ownersByLayout.get(id.enabled.layout.name), { entity, id });
  }
  return { layouts, entities };
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
