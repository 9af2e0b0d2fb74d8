import type { Words } from "../../ids/index.ts";
import { hintName, isReadByPattern, primaryPattern } from "../lookup/paths.ts";
import { shownOf } from "../resolve/reading.ts";
import type { CompiledTable, EnabledLayout, Entity } from "../table.ts";
import { ownerKeyField, ownersOf, readingsOf } from "./fields.ts";
import { bothReadings, overlapOf } from "./overlap.ts";

/** Two kinds of IDs whose texts are ambiguous, and what would separate them. Plain JSON. */
export interface LayoutAmbiguity {
  /** The entity on whose paths both are read; `undefined` for `/any/:id`. */
  readonly entity: string | undefined;
  /** Twice the same where several entities share a layout without a number that marks the entity. */
  readonly layouts: readonly [string, string];
  readonly entities: readonly [readonly string[], readonly string[]];
  /** Whether such IDs are rejected there. On an entity's paths both readings have one region, or the table has a fault. */
  readonly isRefused: boolean;
  /** One sentence. */
  readonly reason: string;
  /** A text that both can parse, where the search found one. */
  readonly example: string | undefined;
  /** Each of them is enough. */
  readonly hints: readonly Hint[];
}

export type Hint =
  | { readonly by: "path"; readonly paths: readonly string[] }
  /** Name one of the layouts in every pattern of the entity; `paths` name one already. */
  | { readonly by: "pattern"; readonly layouts: readonly string[]; readonly paths: readonly string[] }
  | { readonly by: "header"; readonly header: "id-layout"; readonly values: readonly string[] }
  /** Declare these layouts of your own with a prefix. */
  | { readonly by: "prefix"; readonly layouts: readonly string[] };

/** Ambiguous texts on the paths of each entity, and on `/any`. IDs that an entity hides are never read: not included. */
export const findAmbiguities = (whole: CompiledTable): readonly LayoutAmbiguity[] => {
  const table = shownOf(whole);
  const layouts = [...table.layouts.values()];
  const hasIds = (entity: Entity, enabled: EnabledLayout) => entity.ids.some((id) => id.enabled === enabled);
  const entitiesOf = (enabled: EnabledLayout) => [...table.entities.values()].filter((each) => hasIds(each, enabled));
  const owners = new Map(layouts.map((enabled) => [enabled, entitiesOf(enabled)]));
  return layouts.flatMap((a, at) => [
    ...sharedBy(a, owners.get(a) ?? []),
    ...layouts.slice(at + 1).flatMap((b) => compare(a, b, owners.get(a) ?? [], owners.get(b) ?? [])),
  ]);
};

/** Entities that share a layout, without a number that marks the entity. */
const sharedBy = ({ layout }: EnabledLayout, owners: readonly Entity[]): readonly LayoutAmbiguity[] => {
  const all = owners.filter(({ ids }) =>
    ids.some(({ enabled, service, group }) => enabled.layout === layout && (service ?? group) === undefined),
  );
  // The method or the host tells apart those that share the path to which `/any` leads.
  const unmarked = [...new Map(all.map((entity) => [primaryPattern(entity, layout.name), entity])).values()];
  const [first, ...others] = unmarked;
  if (first === undefined || others.length === 0) return [];
  return [
    {
      entity: undefined,
      layouts: [layout.name, layout.name],
      entities: [[first.name], others.map(({ name }) => name)],
      isRefused: true,
      reason: `IDs of ${layout.name} do not say which of ${unmarked.map(({ name }) => name).join(", ")} they are of`,
      example: undefined,
      hints: [byPath(unmarked.map((entity) => primaryPattern(entity, layout.name)))],
    },
  ];
};

const compare = (a: EnabledLayout, b: EnabledLayout, ownersOfA: readonly Entity[], ownersOfB: readonly Entity[]) => {
  const overlap = overlapOf(a, b);
  if (overlap === undefined) return [];
  const both = ownersOfA.filter((entity) => ownersOfB.includes(entity));
  const onlyA = ownersOfA.filter((entity) => !both.includes(entity));
  const onlyB = ownersOfB.filter((entity) => !both.includes(entity));
  const names: readonly [string, string] = [a.layout.name, b.layout.name];
  const found = {
    layouts: names,
    reason: `no bit and no time tells every text of ${names[0]} from one of ${names[1]}`,
    example: overlap.example && ownedExample(a, b, [...onlyA, ...onlyB, ...both], overlap.example),
  };
  const separated = both.filter(isReadByPattern);
  const onPaths = both
    .filter((entity) => !separated.includes(entity))
    .map(
      (entity): LayoutAmbiguity => ({
        ...found,
        entity: entity.name,
        entities: [[entity.name], [entity.name]],
        isRefused: false,
        hints: [byPattern(entity, names), byHeader(names), ...byPrefix(a, b)],
      }),
    );
  const isOneEntity = ownersOfA.length === 1 && ownersOfB.length === 1 && both.length === 1;
  if (isOneEntity && separated.length === 0) return onPaths;
  const apart = [
    ...[...onlyA, ...separated].map((entity) => primaryPattern(entity, names[0])),
    ...[...onlyB, ...separated].map((entity) => primaryPattern(entity, names[1])),
  ];
  const onAny: LayoutAmbiguity = {
    ...found,
    entity: undefined,
    entities: [namesOf(ownersOfA), namesOf(ownersOfB)],
    isRefused: true,
    hints: [...(apart.length === 0 ? [] : [byPath(apart)]), byHeader(names), ...byPrefix(a, b)],
  };
  return [...onPaths, onAny];
};

/** The text with the number of an owner in it, so that both layouts have an entity for it; else the text as it is. */
const ownedExample = (a: EnabledLayout, b: EnabledLayout, owners: readonly Entity[], text: string): string => {
  const marked = owners.flatMap(({ ids }) =>
    ids.flatMap(({ enabled, service, group }) => {
      const mark = service ?? group;
      const field = ownerKeyField(enabled.layout);
      const words = wordsOf(enabled, text);
      if (mark === undefined || field === undefined || words === undefined) return [];
      const copy = [...words];
      field.write(copy, mark);
      return [enabled.layout.format(copy)];
    }),
  );
  const isOwned = (each: string) => (enabled: EnabledLayout) =>
    ownersOf(enabled, wordsOf(enabled, each) ?? []).length > 0;
  return marked.find((each) => bothReadings(a, b, each) && [a, b].every(isOwned(each))) ?? text;
};

const wordsOf = ({ layout }: EnabledLayout, text: string): Words | undefined => readingsOf(layout, text)[0]?.words;

const namesOf = (entities: readonly Entity[]): readonly string[] => entities.map(({ name }) => name);

const byPath = (paths: readonly (string | undefined)[]): Hint => ({
  by: "path",
  paths: paths.filter((path) => path !== undefined),
});

const byPattern = ({ pathHints }: Entity, layouts: readonly string[]): Hint => ({
  by: "pattern",
  layouts,
  paths: [...pathHints].flatMap(([path, hint]) => (layouts.includes(hintName(hint)) ? [path] : [])),
});

const byHeader = (values: readonly string[]): Hint => ({ by: "header", header: "id-layout", values });

/** Only a layout of the table can have a prefix, which separates it from all without that prefix. */
const byPrefix = (a: EnabledLayout, b: EnabledLayout): readonly Hint[] => {
  const layouts = [a, b].filter(({ isOwn, layout }) => isOwn && layout.table.text.prefix === undefined);
  return layouts.length === 0 ? [] : [{ by: "prefix", layouts: layouts.map(({ layout }) => layout.name) }];
};
