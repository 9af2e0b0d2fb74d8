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
import { brokenKey, checkShape, checkSizes, matchSchema, reportIssues } from "./validate.ts";
import type { DeclaredSource, DeclaredWithoutId } from "./without-id.ts";

/** What the table says of single entities, in its parts. There may be 100,000 of them, so the parts are never copied. */

/** Entries by ID, side by side: an object with so many keys is slow to go through. */
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

/** An entry with the part that it stands in. */
export type Override =
  | { readonly part: "moved"; readonly text: string; readonly entry: DeclaredMoved }
  | { readonly part: "moves"; readonly text: string; readonly entry: DeclaredMove }
  | { readonly part: "gone"; readonly text: string; readonly entry: DeclaredGone };

/** All entries: those of `moved`, then of `moves`, then of `gone`. */
export function* overridesIn({ moved, moves, gone }: OverrideParts): Generator<Override> {
  for (const [at, text] of moved.ids.entries()) {
    yield { part: "moved", text, entry: moved.entries[at] as DeclaredMoved };
  }
  for (const [at, text] of moves.ids.entries()) {
    yield { part: "moves", text, entry: moves.entries[at] as DeclaredMove };
  }
  for (const [at, text] of gone.ids.entries()) {
    yield { part: "gone", text, entry: gone.entries[at] as DeclaredGone };
  }
}

/** Equal for entries that say the same, in whatever order they say it. */
export const overrideKey = (override: Override): string => {
  if (override.part === "gone") return `gone ${override.entry.epoch}`;
  if (override.part === "moves") {
    const { from, to, state, epoch } = override.entry;
    return `moves ${from} ${to} ${state} ${epoch}`;
  }
  const { entry } = override;
  return typeof entry === "string" ? `moved ${entry}` : `moved ${entry.region} ${entry.epoch}`;
};

/**
 * A declared table whose every part fits the schema. Where some parts of a table do not, the draft holds the rest, so
 * that the other rules can be checked all the same.
 */
export interface Draft extends OverrideParts {
  readonly hosts: readonly string[];
  readonly regions: ReadonlyMap<string, DeclaredRegion>;
  readonly countries: ReadonlyMap<string, number>;
  readonly entities: ReadonlyMap<string, DeclaredEntity>;
  readonly layouts: ReadonlyMap<string, DeclaredLayout>;
  /** Every layout that the table may name: ours, and those of its own without a fault. */
  readonly known: ReadonlyMap<string, Layout>;
  readonly packs: ReadonlyMap<string, DeclaredPack>;
  readonly routes: readonly DraftRoute[];
  readonly epochFloor: number | undefined;
  readonly fallback: string | undefined;
  readonly withoutId: ReadonlyMap<string, DeclaredWithoutId>;
  /** For entries of `withoutId` without a list of their own. `undefined`: none is declared; empty: it does not fit the schema. */
  readonly sources: readonly DeclaredSource[] | undefined;
  /** Every declared name, those of parts that do not fit included: a reference to them is no second fault. */
  readonly names: {
    readonly regions: ReadonlySet<string>;
    readonly countries: ReadonlySet<string>;
    readonly entities: ReadonlySet<string>;
    readonly layouts: ReadonlySet<string>;
    readonly packs: ReadonlySet<string>;
  };
}

export interface DraftRoute {
  /** Place in the declared `routes`. */
  readonly index: number;
  readonly route: DeclaredRoute;
}

/** The draft of a table that fits the schema. */
export const draftOf = (table: DeclaredTable): Draft => {
  const regions = new Map(Object.entries(table.regions));
  const countries = new Map(Object.entries(table.countries ?? {}));
  const entities = new Map(Object.entries(table.entities));
  const layouts = new Map(Object.entries(table.layouts ?? {}));
  const packs = new Map(Object.entries(table.packs ?? {}));
  return {
    hosts: table.gateway?.hosts ?? [],
    regions,
    countries,
    entities,
    layouts,
    known: knownLayouts(layouts),
    packs,
    routes: table.routes.map((route, index) => ({ index, route })),
    moved: overrides(table.moved),
    moves: overrides(table.moves),
    gone: overrides(table.gone),
    epochFloor: table.epochFloor,
    fallback: table.default,
    withoutId: new Map(Object.entries(table.withoutId ?? {})),
    sources: table.sources,
    names: {
      regions: new Set(regions.keys()),
      countries: new Set(countries.keys()),
      entities: new Set(entities.keys()),
      layouts: new Set(layouts.keys()),
      packs: new Set(packs.keys()),
    },
  };
};

export interface DraftReading {
  readonly draft: Draft;
  /** The table as the schema types it; `undefined` when it does not fit. */
  readonly declared: DeclaredTable | undefined;
}

/** Holds any value to the schema, reports what does not fit, and keeps what does. */
export const readDraft = (value: unknown, report: Report): DraftReading => {
  if (!checkSizes(value, report)) return { draft: salvage({}, new Set()), declared: undefined };
  checkShape(value, report);
  const declared = matchSchema(value);
  if (declared !== undefined) return { draft: draftOf(declared), declared };
  // Which parts do not fit is sought with care: one value can have millions of issues.
  const broken = reportIssues(value, report);
  return { draft: broken === undefined ? salvage({}, new Set()) : salvage(value, broken), declared: undefined };
};

/** Keeps every entry that no issue points at. What is kept has passed the schema, which the casts rely on. */
const salvage = (value: unknown, broken: ReadonlySet<string>): Draft => {
  const parts = recordOf(value);
  const sound = <Entry>(part: string): ReadonlyMap<string, Entry> =>
    new Map(entriesOf(parts[part]).filter(([key]) => !broken.has(brokenKey(part, key))) as [string, Entry][]);
  const names = (part: string): ReadonlySet<string> => new Set(entriesOf(parts[part]).map(([key]) => key));
  const routes = Array.isArray(parts["routes"]) ? (parts["routes"] as readonly DeclaredRoute[]) : [];
  const isBroken = (part: string): boolean =>
    [...broken].some((place) => place === part || place.startsWith(brokenKey(part, "")));
  const gateway = recordOf(parts["gateway"]);
  const layouts = sound<DeclaredLayout>("layouts");
  return {
    hosts: broken.has(brokenKey("gateway", "hosts")) ? [] : ((gateway["hosts"] ?? []) as readonly string[]),
    regions: sound("regions"),
    countries: sound("countries"),
    entities: sound("entities"),
    layouts,
    known: knownLayouts(layouts),
    packs: sound("packs"),
    routes: routes.flatMap((route, index) => (broken.has(brokenKey("routes", `${index}`)) ? [] : [{ index, route }])),
    moved: overridesOf(sound<DeclaredMoved>("moved")),
    moves: overridesOf(sound<DeclaredMove>("moves")),
    gone: overridesOf(sound<DeclaredGone>("gone")),
    epochFloor: broken.has("epochFloor") ? undefined : (parts["epochFloor"] as number | undefined),
    fallback: broken.has("default") ? undefined : (parts["default"] as string | undefined),
    withoutId: sound("withoutId"),
    sources: isBroken("sources") ? [] : (parts["sources"] as readonly DeclaredSource[] | undefined),
    names: {
      regions: names("regions"),
      countries: names("countries"),
      entities: names("entities"),
      layouts: names("layouts"),
      packs: names("packs"),
    },
  };
};

const overridesOf = <Entry>(sound: ReadonlyMap<string, Entry>): Overrides<Entry> => ({
  ids: [...sound.keys()],
  entries: [...sound.values()],
});

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** Own entries without the keys that the schema passes over. */
const entriesOf = (value: unknown): [string, unknown][] =>
  Object.entries(recordOf(value)).filter(
    ([key]) => key !== "__proto__" && key !== "constructor" && key !== "prototype",
  );
