import type { Layout } from "../../ids/index.ts";
import { knownLayouts } from "../layouts/declared.ts";
import type { Report } from "./faults.ts";
import type {
  DeclaredEntity,
  DeclaredGone,
  DeclaredLayout,
  DeclaredMove,
  DeclaredMoved,
  DeclaredPack,
  DeclaredRegion,
  DeclaredRoute,
  DeclaredTable,
} from "./table.ts";
import { checkShape, checkSizes, entriesOf, isRecord, type Json, keepFitting, OVERRIDE_PARTS } from "./validate.ts";
import type { DeclaredSource, DeclaredWithoutId } from "./without-id.ts";

/** Overrides by ID, side by side and never copied: there may be 100,000, and an object of that size is slow to walk. */
export interface Overrides<Entry> {
  readonly ids: readonly string[];
  readonly entries: readonly Entry[];
}

export const overrides = <Entry>(record: Readonly<Record<string, Entry>> = {}): Overrides<Entry> => ({
  ids: Object.keys(record),
  entries: Object.values(record),
});

export interface OverrideParts {
  readonly moved: Overrides<DeclaredMoved>;
  readonly moves: Overrides<DeclaredMove>;
  readonly gone: Overrides<DeclaredGone>;
}

/** An override with the part of the table that it is in. */
export type Override =
  | { readonly part: "moved"; readonly text: string; readonly entry: DeclaredMoved }
  | { readonly part: "moves"; readonly text: string; readonly entry: DeclaredMove }
  | { readonly part: "gone"; readonly text: string; readonly entry: DeclaredGone };

/** All overrides: those of `moved`, then of `moves`, then of `gone`. */
export function* overridesIn(parts: OverrideParts): Generator<Override> {
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

/** A declared table without the entries that do not fit the schema, so that the other rules can be checked as well. */
export interface Draft extends OverrideParts {
  readonly hosts: readonly string[];
  readonly regions: ReadonlyMap<string, DeclaredRegion>;
  readonly countries: ReadonlyMap<string, number>;
  readonly entities: ReadonlyMap<string, DeclaredEntity>;
  readonly layouts: ReadonlyMap<string, DeclaredLayout>;
  /** Every layout that the table may name: the built-in ones, and its own ones without a fault. */
  readonly known: ReadonlyMap<string, Layout>;
  readonly packs: ReadonlyMap<string, DeclaredPack>;
  readonly routes: readonly DraftRoute[];
  readonly epochFloor: number | undefined;
  readonly fallback: string | undefined;
  readonly withoutId: ReadonlyMap<string, DeclaredWithoutId>;
  /** For entries of `withoutId` without a list of their own. Empty where the list does not fit the schema. */
  readonly sources: readonly DeclaredSource[] | undefined;
  /** Every declared name. A reference to an entry that does not fit the schema is not a second fault. */
  readonly names: Readonly<Record<NamedPart, ReadonlySet<string>>>;
}

type NamedPart = "regions" | "countries" | "entities" | "layouts" | "packs";

export interface DraftRoute {
  /** Place in the declared `routes`. */
  readonly index: number;
  readonly route: DeclaredRoute;
}

/** The draft of a table that fits the schema. `declared`: the table with those entries that do not. */
export const draftOf = (table: DeclaredTable, declared: Json = table): Draft => {
  const layouts = new Map(Object.entries(table.layouts ?? {}));
  const namesOf = (part: NamedPart): ReadonlySet<string> => new Set(entriesOf(declared[part]).map(([key]) => key));
  return {
    hosts: table.gateway?.hosts ?? [],
    regions: new Map(Object.entries(table.regions)),
    countries: new Map(Object.entries(table.countries ?? {})),
    entities: new Map(Object.entries(table.entities)),
    layouts,
    known: knownLayouts(layouts),
    packs: new Map(Object.entries(table.packs ?? {})),
    routes: table.routes.map((route, index) => ({ index, route })),
    moved: overrides(table.moved),
    moves: overrides(table.moves),
    gone: overrides(table.gone),
    epochFloor: table.epochFloor,
    fallback: table.default,
    withoutId: new Map(Object.entries(table.withoutId ?? {})),
    sources: table.sources,
    names: {
      regions: namesOf("regions"),
      countries: namesOf("countries"),
      entities: namesOf("entities"),
      layouts: namesOf("layouts"),
      packs: namesOf("packs"),
    },
  };
};

export interface DraftReading {
  readonly draft: Draft;
  /** The table as the schema types it; `undefined` when it does not fit. */
  readonly declared: DeclaredTable | undefined;
}

const EMPTY: DeclaredTable = { regions: {}, entities: {}, routes: [] };

/** Validates any value against the schema, reports what does not fit, and keeps what does. */
export const readDraft = (value: unknown, report: Report): DraftReading => {
  const isShort = checkSizes(value, report);
  if (isShort) checkShape(value, report);
  const fitting = isShort ? keepFitting(value, report) : undefined;
  if (fitting === undefined) return { draft: draftOf(EMPTY), declared: undefined };
  const { routes, isWhole } = fitting;
  // What is kept has passed the schema.
  const table = fitting.table as DeclaredTable;
  const draft = { ...draftOf(table, isRecord(value) ? value : {}), routes };
  return { draft, declared: isWhole ? table : undefined };
};
