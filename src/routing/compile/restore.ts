import { builtinLayouts, type Layout } from "../../ids/index.ts";
import { type Deciding, decidedBy, searchesOf, type TableFeature } from "../feature.ts";
import { type IdPlan, type LayoutPlan, planLayouts } from "../layouts/plan.ts";
import { IdIndex, NO_ROUTE, type SegmentIndex, Segments, WordsMap } from "../lookup/id-index.ts";
import type { Searched } from "../lookup/searched.ts";
import { type Draft, draftWith, layoutsIn, type Overrides } from "../schema/draft.ts";
import { isRecord, OVERRIDE_PARTS } from "../schema/records.ts";
import type { DeclaredLayout, DeclaredRoute, DeclaredTable } from "../schema/table.ts";
import type { CompiledTable } from "../table.ts";
import { type Assembly, assemble } from "./assemble.ts";
import type { RoutePlan, Searching } from "./route-plans.ts";

/**
 * A table with the indexes that take longest to build, as `store.ts` writes it: a JSON text and numbers. One version of the code
 * reads only what the same version wrote.
 */
export interface StoredForm {
  /** A `StoredTable`. */
  readonly text: string;
  /** Those of 64 bits, then those of 32. */
  readonly numbers: Uint8Array;
}

export interface StoredTable {
  /** Without its routes and overrides, if those are set. */
  readonly declared: DeclaredTable;
  /** Each kind of route once, without conditions. `undefined`: the routes are as declared, and so are the overrides. */
  readonly routes: readonly DeclaredRoute[] | undefined;
  /** Each kind of override once, without IDs; and their number. */
  readonly overrides: readonly (readonly [kinds: readonly unknown[], count: number])[];
  readonly routeCount: number;
  /** The table that decides; and the one whose decisions are compared, if there is one. */
  readonly plans: readonly StoredPlans[];
  /** How many numbers of 64 bits there are. */
  readonly doubles: number;
  /** Whether it names a layout that is not one of `builtinLayouts`. */
  readonly needsLayouts: boolean;
  /** Names of the features that it uses. */
  readonly features: readonly string[];
}

export interface StoredPlans {
  readonly layouts: readonly StoredLayout[];
  /** Overrides in the text form of a layout. */
  readonly forms: readonly (readonly [layout: string, ...StoredMap])[];
  readonly short: StoredMap;
}

export type StoredMap = readonly [width: number, rows: number, starts: number];

export interface StoredLayout {
  readonly name: string;
  readonly segments: number;
  /** `root`: -1 for none. */
  readonly indexes: readonly (readonly [first: number, slots: readonly number[], root: number])[];
  /** The places of each ID's indexes, in the order of the plan's IDs. */
  readonly ids: readonly (readonly number[])[];
  readonly searched: readonly (readonly [ordinal: number, ids: readonly number[]])[];
}

/** The layouts that a table may name, by those that it declares. */
export type KnownLayouts = (declared: ReadonlyMap<string, DeclaredLayout>) => ReadonlyMap<string, Layout>;

export interface RestoreParts {
  /** Loads the layouts that few tables name. Rejects where they cannot be loaded. */
  readonly loadLayouts: () => Promise<KnownLayouts>;
  /** In the order in which tables are compiled. */
  readonly loadFeatures: (names: readonly string[]) => Promise<readonly TableFeature[]>;
}

/** The compiled table; `undefined` for a form that is not as this version writes them. */
export const restoreTable = async (
  form: StoredForm,
  revision: number,
  { loadLayouts, loadFeatures }: RestoreParts,
): Promise<CompiledTable | undefined> => {
  const stored = storedIn(form);
  if (stored === undefined) return undefined;
  const { needsLayouts, features: used } = stored;
  const [knownLayouts, features] = await Promise.all([
    needsLayouts ? loadLayouts() : () => builtinLayouts,
    used.length === 0 ? [] : loadFeatures(used),
  ]);
  return restoreStored(stored, form.numbers, revision, { knownLayouts, features });
};

const storedIn = ({ text }: StoredForm): StoredTable | undefined => {
  try {
    const stored: unknown = JSON.parse(text);
    return isRecord(stored) && Array.isArray(stored["features"]) ? (stored as unknown as StoredTable) : undefined;
  } catch {
    return undefined;
  }
};

interface LoadedParts {
  readonly knownLayouts: KnownLayouts;
  readonly features: readonly TableFeature[];
}

const restoreStored = (
  stored: StoredTable,
  bytes: Uint8Array,
  revision: number,
  { knownLayouts, features }: LoadedParts,
): CompiledTable | undefined => {
  try {
    const numbers = new Numbers(bytes, stored.doubles * 8);
    const draft = draftIn(stored, numbers, knownLayouts(layoutsIn(stored.declared)));
    const [served, verified] = stored.plans.map((plans, at) =>
      assemblyIn(plans, draft, at === 0 ? "serve" : "verify", numbers, features),
    );
    numbers.end();
    if (served === undefined) return undefined;
    const table = assemble(served, revision);
    return verified === undefined ? table : { ...table, verified: assemble(verified, revision) };
  } catch {
    // It does not fit. The table is compiled from its text.
    return undefined;
  }
};

/** Numbers in the order in which they were written. */
class Numbers {
  private readonly doubles: Float64Array;
  private readonly integers: Uint32Array;
  private nextDouble = 0;
  private nextInteger = 0;

  constructor(bytes: Uint8Array, integersFrom: number) {
    // Copies are aligned, and do not keep what stood before the numbers.
    this.doubles = new Float64Array(bytes.slice(0, integersFrom).buffer);
    this.integers = new Uint32Array(bytes.slice(integersFrom).buffer);
  }

  takeDoubles(count: number): Float64Array {
    const end = this.nextDouble + within(count, this.doubles.length - this.nextDouble + 1);
    const taken = this.doubles.subarray(this.nextDouble, end);
    this.nextDouble = end;
    return taken;
  }

  takeIntegers(count: number): Uint32Array {
    const end = this.nextInteger + within(count, this.integers.length - this.nextInteger + 1);
    const taken = this.integers.subarray(this.nextInteger, end);
    this.nextInteger = end;
    return taken;
  }

  end(): void {
    if (this.nextDouble !== this.doubles.length || this.nextInteger !== this.integers.length) {
      throw new Error("numbers are left");
    }
  }
}

/** A whole number from 0 below a bound. */
const within = (value: number | undefined, bound: number): number => {
  if (value === undefined || !Number.isInteger(value) || value < 0 || value >= bound) throw new Error("out of range");
  return value;
};

const itemAt = <Item>(items: readonly Item[], place: number | undefined): Item =>
  items[within(place, items.length)] as Item;

const draftIn = (
  { declared, routes, overrides, routeCount }: StoredTable,
  numbers: Numbers,
  known: ReadonlyMap<string, Layout>,
): Draft => {
  if (routes === undefined) return sizedAs(draftWith(known, declared), routeCount);
  const own = Array.from(numbers.takeIntegers(routeCount), (kind) => itemAt(routes, kind));
  const [moved, moves, gone] = OVERRIDE_PARTS.map((_, part): Overrides<never> => {
    const [kinds = [], count = 0] = overrides[part] ?? [];
    const entries = Array.from(numbers.takeIntegers(count), (kind) => itemAt(kinds, kind) as never);
    // No ID is asked for again: they are in the index.
    return { ids: new Array<string>(count).fill(""), entries };
  });
  const draft = draftWith(known, { ...declared, routes: own });
  if (moved === undefined || moves === undefined || gone === undefined) throw new Error("a part of overrides is gone");
  return { ...draft, moved, moves, gone };
};

const sizedAs = (draft: Draft, routeCount: number): Draft => {
  if (draft.routes.length !== routeCount) throw new Error("the number of routes is another");
  return draft;
};

const assemblyIn = (
  stored: StoredPlans,
  whole: Draft,
  deciding: Deciding,
  numbers: Numbers,
  features: readonly TableFeature[],
): Assembly => {
  const draft = decidedBy(whole, deciding, features);
  const plans = planLayouts(draft);
  if (plans.size !== stored.layouts.length) throw new Error("the number of layouts is another");
  const planOf = (name: string): LayoutPlan => {
    const plan = plans.get(name);
    if (plan === undefined) throw new Error("the layout is another");
    return plan;
  };
  const routes = new Map(
    stored.layouts.map((layout) => [
      layout.name,
      routePlanIn(layout, planOf(layout.name), { draft, searches: searchesOf(features) }, numbers),
    ]),
  );
  const overrideCount = OVERRIDE_PARTS.reduce((sum, part) => sum + draft[part].entries.length, 0);
  const byForm = stored.forms.map(([name, ...sizes]) => {
    const { layout } = planOf(name);
    return [layout.table.text, mapIn(sizes, overrideCount, numbers)] as const;
  });
  const byShort = mapIn(stored.short, overrideCount, numbers);
  return { features, draft, routes, overrides: { byForm: new Map(byForm), byShort, isDistinct: true } };
};

const routePlanIn = (stored: StoredLayout, plan: LayoutPlan, searching: Searching, numbers: Numbers): RoutePlan => {
  const { draft, searches } = searching;
  const routeCount = draft.routes.length;
  const segments = segmentsIn(stored.segments, routeCount, numbers);
  const indexes = stored.indexes.map(([first, slots, root]): SegmentIndex => {
    for (const slot of slots) within(slot, plan.dimensions.length);
    const node = root === -1 ? undefined : itemAt(segments, root);
    if ((node?.depth ?? 0) > slots.length) throw new Error("segments are deeper than their dimensions");
    return { first: within(first, routeCount), slots, root: node?.segments };
  });
  if (stored.ids.length !== plan.ids.length) throw new Error("the number of IDs is another");
  const values = new Float64Array(plan.dimensions.length);
  const ofIds = stored.ids.map((places, at) => {
    const own = places.map((place) => itemAt(indexes, place));
    return [itemAt(plan.ids, at), new IdIndex(plan.dimensions, own, values)] as const;
  });
  const searched = stored.searched.map(([ordinal, ids]): Searched => {
    const route = itemAt(draft.routes, ordinal);
    const own = ids.map((place): IdPlan => itemAt(plan.ids, place));
    const search = searches.find((each) => each.takes(route.route));
    const placed = search?.placeFor(plan, route, own, draft);
    if (placed === undefined) throw new Error("a searched route is another");
    return placed;
  });
  return { plan, indexes: new Map(ofIds), searched };
};

/** Each segments stand after those that they lead to. `depth`: how many dimensions they have at most. */
const segmentsIn = (count: number, routeCount: number, numbers: Numbers) => {
  const all: { readonly segments: Segments; readonly depth: number }[] = [];
  for (let place = 0; place < count; place++) {
    const [isNarrow, size = 0, nextCount = 0] = numbers.takeIntegers(3);
    const next = Array.from(numbers.takeIntegers(nextCount), (at) => itemAt(all, at));
    const cells = isNarrow === 1 ? numbers.takeIntegers(size * 2) : numbers.takeDoubles(size * 2);
    const bound = nextCount === 0 ? routeCount : nextCount;
    for (let at = 0; at < cells.length; at += 2) {
      const lead = cells[at + 1] as number;
      const isLead = lead < bound || (lead === NO_ROUTE && nextCount === 0);
      const isRising = at === 0 || (cells[at] as number) > (cells[at - 2] as number);
      if (!isLead || !isRising) throw new Error("segments are out of order");
    }
    const depth = 1 + next.reduce((deepest, inner) => Math.max(deepest, inner.depth), 0);
    all.push({
      segments: new Segments(
        cells,
        next.map((inner) => inner.segments),
      ),
      depth,
    });
  }
  return all;
};

const mapIn = ([width, count, startCount]: StoredMap, overrideCount: number, numbers: Numbers): WordsMap => {
  const rows = numbers.takeIntegers(count * width);
  const values = numbers.takeIntegers(count);
  const starts = numbers.takeIntegers(startCount);
  const buckets = startCount - 1;
  const isWhole = buckets > 0 && (buckets & (buckets - 1)) === 0 && starts[0] === 0 && starts[buckets] === count;
  if (!isWhole || !starts.every((start, at) => at === 0 || start >= (starts[at - 1] as number))) {
    throw new Error("buckets are out of order");
  }
  for (const value of values) within(value, overrideCount);
  return new WordsMap({ width, rows, values, starts });
};
