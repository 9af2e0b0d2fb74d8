import type { Layout } from "../../ids/index.ts";
import { entriesOf, type Json, OVERRIDE_PARTS } from "./records.ts";
import type {
  DeclaredEntity,
  DeclaredGone,
  DeclaredMove,
  DeclaredMoved,
  DeclaredRoute,
  DeclaredTable,
} from "./table.ts";

/** Overrides by ID, side by side and never copied: there may be 100,000, and an object of that size is slow to walk. */
export type Overrides<Entry> = { readonly ids: readonly string[]; readonly entries: readonly Entry[] };

export const overrides = <Entry>(record: Readonly<Record<string, Entry>> = {}): Overrides<Entry> => ({
  ids: Object.keys(record),
  entries: Object.values(record),
});

export type Override =
  | { readonly part: "moved"; readonly text: string; readonly entry: DeclaredMoved }
  | { readonly part: "moves"; readonly text: string; readonly entry: DeclaredMove }
  | { readonly part: "gone"; readonly text: string; readonly entry: DeclaredGone };

/** All overrides: those of `moved`, then of `moves`, then of `gone`. */
export function* overridesIn(parts: Pick<Draft, (typeof OVERRIDE_PARTS)[number]>): Generator<Override> {
  for (const part of OVERRIDE_PARTS) {
    const { ids, entries } = parts[part];
    for (const [at, text] of ids.entries()) yield { part, text, entry: entries[at] } as Override;
  }
}

/** Equal for overrides with equal content, whatever the order of their keys. */
export const overrideKey = (override: Override): string => {
  if (override.part === "gone") return `gone ${override.entry.epoch}`;
  if (override.part === "moves") {
    const { from, to, state, epoch } = override.entry;
    return `moves ${from} ${to} ${state} ${epoch}`;
  }
  const { entry } = override;
  return typeof entry === "string" ? `moved ${entry}` : `moved ${entry.region} ${entry.epoch}`;
};

/** A declared table without the entries that do not fit the schema: the other rules can be checked as well. */
export type Draft = Readonly<ReturnType<typeof draftWith>>;

export type DraftRoute = { readonly index: number; readonly route: DeclaredRoute };

export type DraftRoutes = readonly DraftRoute[];

const mapOf = <Entry>(part: Readonly<Record<string, Entry>> = {}): ReadonlyMap<string, Entry> =>
  new Map(Object.entries(part));

export const layoutsIn = ({ layouts }: DeclaredTable) => mapOf(layouts);

/** `known`: the layouts that the table may name. `declared`: the table with those entries that do not fit the schema. */
export const draftWith = (
  known: ReadonlyMap<string, Layout>,
  table: DeclaredTable,
  declared: Json = { ...table },
  routes: DraftRoutes = table.routes.map((route, index) => ({ index, route })),
) => {
  const namesOf = (part: keyof DeclaredTable): ReadonlySet<string> => namesIn(declared, part);
  return {
    /** The table itself, for the members of features. */
    table,
    declared,
    hosts: table.gateway?.hosts ?? [],
    regions: mapOf(table.regions),
    countries: mapOf(table.countries),
    entities: withIds(mapOf(table.entities)),
    layouts: layoutsIn(table),
    /** Every layout that the table may name: the built-in ones, and its own ones without a fault. */
    known,
    routes,
    /** Routes, by index, whose directory does not decide yet: no ID is theirs. */
    idleRoutes: NONE,
    moved: overrides(table.moved),
    moves: overrides(table.moves),
    gone: overrides(table.gone),
    epochFloor: table.epochFloor,
    fallback: table.default,
    fields: table.fields,
    withoutId: mapOf(table.withoutId),
    /** First segments of paths that features reserve, and by which of them. */
    reserved: NONE_RESERVED,
    /** For entries of `withoutId` without a list of their own. Empty where the list does not fit the schema. */
    sources: table.sources,
    /** Every declared name. A reference to an entry that does not fit the schema is not a second fault. */
    names: {
      regions: namesOf("regions"),
      countries: namesOf("countries"),
      entities: namesOf("entities"),
      layouts: namesOf("layouts"),
    },
  };
};

/** The names of a part, those of entries that do not fit the schema as well. */
export const namesIn = (declared: Json, part: string): ReadonlySet<string> =>
  new Set(entriesOf(declared[part]).map(([key]) => key));

/** It also takes a table that the schema has not read. The schema gives an entity of keys an empty list of IDs. */
const withIds = (entities: ReadonlyMap<string, DeclaredEntity>): ReadonlyMap<string, DeclaredEntity> => {
  const isWhole = [...entities.values()].every((entity: Partial<DeclaredEntity>) => entity.ids !== undefined);
  return isWhole
    ? entities
    : new Map([...entities].map(([name, entity]) => [name, { ...entity, ids: entity.ids ?? [] }]));
};

const NONE: ReadonlySet<number> = new Set();

const NONE_RESERVED: ReadonlyMap<string, string> = new Map();
