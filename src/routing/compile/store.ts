import { TABLE_FEATURES } from "../../features/compiling.ts";
import { MEMBERS } from "../../features/members.ts";
import { builtinLayouts } from "../../ids/index.ts";
import { hasVerified } from "../feature.ts";
import { draftOf } from "../layouts/declared.ts";
import type { IdPlan } from "../layouts/plan.ts";
import type { SegmentIndex, Segments, WordsMap } from "../lookup/id-index.ts";
import type { Draft } from "../schema/draft.ts";
import { OVERRIDE_PARTS } from "../schema/records.ts";
import type { DeclaredRoute, DeclaredTable } from "../schema/table.ts";
import type { Assembly } from "./assemble.ts";
import { planChecked } from "./compile.ts";
import type { StoredForm, StoredLayout, StoredMap, StoredPlans, StoredTable } from "./restore.ts";
import type { RoutePlan } from "./route-plans.ts";

/** Compiles a table that passed `checkTable` to the form that `restoreTable` reads. */
export const storeTable = (declared: DeclaredTable): StoredForm => {
  const numbers: NumbersInMaking = { doubles: [], integers: [] };
  const parts = partsOf(declared, numbers);
  const draft = draftOf(declared);
  const plans = [plansOf(planChecked(declared), numbers)];
  if (hasVerified(draft, TABLE_FEATURES)) plans.push(plansOf(planChecked(declared, "verify"), numbers));
  const doubles = numbers.doubles.reduce((sum, { length }) => sum + length, 0);
  const needs = { needsLayouts: namesOtherLayouts(declared, draft), features: featuresIn(declared) };
  const stored: StoredTable = { ...parts, routeCount: declared.routes.length, plans, doubles, ...needs };
  return { text: JSON.stringify(stored), numbers: joined([...numbers.doubles, ...numbers.integers]) };
};

/** Whether IDs, or texts of features, have a layout that is not one of the few that every isolate has. */
const namesOtherLayouts = (declared: DeclaredTable, { entities, known }: Draft): boolean => {
  const ofIds = [...entities.values()].flatMap(({ ids }) => ids.map(({ layout }) => layout));
  const ofFeatures = TABLE_FEATURES.flatMap(({ layouts }) => layouts?.(declared) ?? []);
  return [...ofIds, ...ofFeatures].some((name) => known.get(name) !== builtinLayouts.get(name));
};

/** Names of the features whose members the table has. */
const featuresIn = ({ regions, entities = {}, withoutId = {}, routes, ...table }: DeclaredTable): readonly string[] => {
  const parts = {
    table: [table],
    region: Object.values(regions),
    entity: Object.values(entities),
    withoutId: Object.values(withoutId),
    route: routes,
  };
  const owners = Object.entries(parts).flatMap(([part, all]) =>
    Object.entries(MEMBERS[part as keyof typeof parts]).flatMap(([member, { feature }]) =>
      all.some((one) => member in one) ? feature : [],
    ),
  );
  return [...new Set(owners)];
};

type Cells = Uint32Array | Float64Array;

/** In the order in which they are read. */
type NumbersInMaking = Readonly<{ doubles: Cells[]; integers: Cells[] }>;

const addIntegers = ({ integers }: NumbersInMaking, values: Iterable<number>): void => {
  integers.push(Uint32Array.from(values));
};

/** The rest of a table whose conditions are in indexes. Some features read conditions and IDs again. */
const partsOf = (
  declared: DeclaredTable,
  numbers: NumbersInMaking,
): Pick<StoredTable, "declared" | "routes" | "overrides"> => {
  if (TABLE_FEATURES.some(({ readsRoutes }) => readsRoutes?.(declared)))
    return { declared, routes: undefined, overrides: [] };
  const { moved, moves, gone, ...rest } = declared;
  const routes = kindsOf(
    declared.routes.map(({ when: _, ...route }) => route),
    numbers,
  );
  const parts = { moved, moves, gone };
  const overrides = OVERRIDE_PARTS.map((part) => {
    const entries = Object.values<unknown>(parts[part] ?? {});
    return [kindsOf(entries, numbers), entries.length] as const;
  });
  return { declared: { ...rest, routes: [] }, routes: routes as readonly DeclaredRoute[], overrides };
};

/** Each different value once; where each of them stands among those goes to the numbers. */
const kindsOf = <Value>(values: readonly Value[], numbers: NumbersInMaking): readonly Value[] => {
  const places = new Map<string, number>();
  const kinds: Value[] = [];
  addIntegers(
    numbers,
    values.map((value) => {
      const key = JSON.stringify(value);
      const known = places.get(key);
      if (known !== undefined) return known;
      places.set(key, kinds.length);
      return kinds.push(value) - 1;
    }),
  );
  return kinds;
};

const plansOf = ({ routes, overrides }: Assembly, numbers: NumbersInMaking): StoredPlans => ({
  layouts: [...routes].map(([name, plan]) => layoutOf(name, plan, numbers)),
  forms: [...overrides.byForm].map(([form, map]) => {
    const named = [...routes].find(([, { plan }]) => plan.layout.table.text === form);
    if (named === undefined) throw new Error("overrides have the text form of no layout");
    return [named[0], ...mapOf(map, numbers)] as const;
  }),
  short: mapOf(overrides.byShort, numbers),
});

const layoutOf = (name: string, { plan, indexes, searched }: RoutePlan, numbers: NumbersInMaking): StoredLayout => {
  const segments = new Map<Segments, number>();
  const places = new Map<SegmentIndex, number>();
  const stored: StoredLayout["indexes"][number][] = [];
  const ids = [...indexes.values()].map((index) =>
    index.indexes.map((each) => {
      const known = places.get(each);
      if (known !== undefined) return known;
      const { first, slots, root } = each;
      places.set(each, stored.length);
      return stored.push([first, slots, root === undefined ? -1 : placeOf(root, segments, numbers)]) - 1;
    }),
  );
  const numberOf = new Map(plan.ids.map((id, at): [IdPlan, number] => [id, at]));
  return {
    name,
    segments: segments.size,
    indexes: stored,
    ids,
    searched: searched.map(({ ordinal, ids: own }) => [ordinal, [...own.keys()].map((id) => numberOf.get(id) ?? -1)]),
  };
};

/** Writes segments once, after those that they lead to. */
const placeOf = (segments: Segments, known: Map<Segments, number>, numbers: NumbersInMaking): number => {
  const before = known.get(segments);
  if (before !== undefined) return before;
  const { cells, next } = segments;
  const inner = next.map((each) => placeOf(each, known, numbers));
  const isNarrow = cells instanceof Uint32Array;
  addIntegers(numbers, [isNarrow ? 1 : 0, cells.length / 2, inner.length]);
  addIntegers(numbers, inner);
  (isNarrow ? numbers.integers : numbers.doubles).push(cells);
  known.set(segments, known.size);
  return known.size - 1;
};

const mapOf = ({ width, rows, values, starts }: WordsMap, { integers }: NumbersInMaking): StoredMap => {
  integers.push(rows, values, starts);
  return [width, values.length, starts.length];
};

const joined = (parts: readonly Cells[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let next = 0;
  for (const part of parts) {
    bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), next);
    next += part.byteLength;
  }
  return bytes;
};
