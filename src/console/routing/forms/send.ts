import { type Edit, editText } from "../../../formats/console/edit.ts";
import { checkTable, diffTables, parseJson, plainJson } from "../../../routing/index.ts";
import { keysOfPointer } from "../../../routing/schema/faults.ts";
import { listOf } from "../../../routing/schema/records.ts";
import type {
  DeclaredConditions,
  DeclaredNumbers,
  DeclaredRoute,
  DeclaredTable,
} from "../../../routing/schema/table.ts";
import { textOf } from "../condition-words.ts";
import { timesOf } from "../owners.ts";
import { routeWords } from "../route-words.ts";
import { faultsAfter, type Planned, planEdits, refused } from "./planned.ts";

/** IDs that are to go elsewhere: a route before those that take them now. */

export interface Send {
  readonly when: DeclaredConditions;
  readonly region: string;
  /** After all routes: it takes the IDs that no other one takes. */
  readonly isLast?: boolean;
}

const FIELDS: Readonly<Record<string, string>> = {
  region: "region",
  layout: "values",
  entity: "entity",
  mintedFrom: "mintedFrom",
  mintedBefore: "mintedBefore",
};

export function planSend(text: string, table: DeclaredTable, { when, region, isLast = false }: Send): Planned {
  const same = table.routes.findIndex((route) => isSame(route.when, when));
  if (same !== -1 && !isLast && isFirst(table, same, when))
    return planEdits(text, { edits: toRegion(table, same, region), fieldOf });
  const found = isLast ? -1 : table.routes.findIndex((route) => mayOverlap(route.when, when));
  const at = found === -1 ? table.routes.length : found;
  const insert: Edit = { path: ["routes", at], value: { when, region }, isInsert: true };
  // Routes that it takes every ID from go: the table may have none that nothing reaches.
  const edits = isLast ? [insert] : [insert, ...covered(text, insert, at)];
  const planned = planEdits(text, {
    edits,
    fieldOf: (pointer) => (pointer.startsWith(`/routes/${at}`) ? fieldOf(pointer) : undefined),
  });
  return planned.ok && !isLast ? tidied(planned, at, when) : planned;
}

const fieldOf = (pointer: string): string | undefined => {
  const [, , ...place] = keysOfPointer(pointer);
  const member = place[0] === "when" ? place[1] : place[0];
  return member === undefined ? undefined : (FIELDS[member] ?? "values");
};

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const isFirst = (table: DeclaredTable, at: number, when: DeclaredConditions): boolean =>
  !table.routes.slice(0, at).some((route) => mayOverlap(route.when, when));

/** All that goes there: without a canary, and without a shadow of the region itself. */
function toRegion({ routes }: DeclaredTable, at: number, region: string): readonly Edit[] {
  const { directory, pack, split, canary, shadow } = routes[at] as DeclaredRoute;
  const gone = Object.entries({
    directory,
    pack,
    split,
    canary,
    shadow: shadow?.region === region ? shadow : undefined,
  });
  return [
    { path: ["routes", at, "region"], value: region },
    ...gone.flatMap(([name, value]) => (value === undefined ? [] : [{ path: ["routes", at, name], value: undefined }])),
  ];
}

const ROUNDS_MAX = 4;

function covered(text: string, insert: Edit, at: number): readonly Edit[] {
  const removals: Edit[] = [];
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const faults = faultsAfter(text, [insert, ...removals]);
    const places = faults.flatMap(({ kind, pointer }) => {
      const [part, index, ...rest] = keysOfPointer(pointer);
      return kind === "unreachable-route" && part === "routes" && rest.length === 0 && Number(index) > at
        ? [Number(index)]
        : [];
    });
    if (places.length === 0) return removals;
    // From the end, so that the places before stay.
    for (const index of places.sort((a, b) => b - a)) removals.push({ path: ["routes", index], value: undefined });
  }
  return removals;
}

/** Beyond so many routes the comparison would make one wait. */
const TIDIED_MAX = 2_000;

/** Countries that no longer come to later routes leave their lists, where that changes nothing else. */
function tidied(planned: Extract<Planned, { ok: true }>, at: number, when: DeclaredConditions): Planned {
  const { country, ...others } = when;
  const isPlain = Object.keys(others).every((name) => name === "layout" || name === "entity");
  if (country === undefined || !isPlain || planned.table.routes.length > TIDIED_MAX) return planned;
  const edits = planned.table.routes.flatMap((route, index): readonly Edit[] => {
    const listed = route.when.country;
    if (index <= at || listed === undefined || !Array.isArray(listed)) return [];
    const kept = listed.filter((code) => !listOf(country).includes(code));
    if (kept.length === 0 || kept.length === listed.length) return [];
    const gone = [...listed.keys()].filter((place) => !kept.includes(listed[place] ?? ""));
    // From the end, so that the places before stay.
    return gone.reverse().map((place) => ({ path: ["routes", index, "when", "country", place], value: undefined }));
  });
  if (edits.length === 0) return planned;
  const text = editText(planned.text, edits);
  const checked = checkTable(parseJson(plainJson(text)));
  if (!checked.ok || diffTables(planned.table, checked.value).keys.length > 0) return planned;
  return { ...planned, text, table: checked.value };
}

/** `new`: only IDs that are minted from `now` on, ISO 8601. */
export interface SendRegion {
  readonly from: string;
  readonly to: string;
  readonly ids: "all" | "new";
  readonly now: string;
}

/** All that leads to one region leads to another. Single entities, directories and packs name the region themselves. */
export function planSendRegion(text: string, table: DeclaredTable, { from, to, ids, now }: SendRegion): Planned {
  if (from === to) return refused("to", `They are in ${from} already: choose another region.`);
  const [edits, stays] = ids === "all" ? allOf(table, from, to) : newOf(table, from, to, now);
  if (edits.length === 0) return refused(undefined, stays[0] ?? `No route leads to ${from}.`);
  const moved = Object.values(table.moved ?? {}).filter(
    (entry) => (typeof entry === "string" ? entry : entry.region) === from,
  );
  const single =
    moved.length === 0
      ? []
      : [
          `${moved.length === 1 ? "One single entity" : `${moved.length} single entities`} with an entry of their own stay in ${from}.`,
        ];
  return planEdits(text, { edits, notes: [...stays, ...single], fieldOf: () => undefined });
}

type Found = readonly [edits: readonly Edit[], stays: readonly string[]];

function allOf(table: DeclaredTable, from: string, to: string): Found {
  const edits = table.routes.flatMap(({ region, canary, split, shadow }, at): readonly Edit[] => {
    const path = ["routes", at] as const;
    const goes = region === from ? to : region;
    const canaryTo = canary?.region === from ? to : canary?.region;
    const shadowTo = shadow?.region === from ? to : shadow?.region;
    return [
      ...(region === from ? [{ path: [...path, "region"], value: to }] : []),
      ...(split === undefined || !Object.values(split.regions).includes(from)
        ? []
        : [{ path: [...path, "split", "regions"], value: renamed(split.regions, from, to) }]),
      ...change([...path, "canary"], canary, canaryTo, goes),
      ...change([...path, "shadow"], shadow, shadowTo, goes),
    ];
  });
  return [table.default === from ? [...edits, { path: ["default"], value: to }] : edits, []];
}

/** A share that would go to the route's own region ends. */
function change(
  path: readonly (string | number)[],
  share: { readonly region: string } | undefined,
  to: string | undefined,
  goes: string | undefined,
): readonly Edit[] {
  if (share === undefined) return [];
  if (to === goes) return [{ path, value: undefined }];
  return to === share.region ? [] : [{ path: [...path, "region"], value: to }];
}

type SplitRegions = NonNullable<DeclaredRoute["split"]>["regions"];

const renamed = (regions: SplitRegions, from: string, to: string): SplitRegions => {
  const next = (region: string): string => (region === from ? to : region);
  return Array.isArray(regions)
    ? regions.map(next)
    : Object.fromEntries(Object.entries(regions).map(([parts, region]) => [parts, next(region)]));
};

function newOf(table: DeclaredTable, from: string, to: string, now: string): Found {
  const stays: string[] = [];
  const edits: Edit[] = [];
  for (const [at, route] of [...table.routes.entries()].reverse()) {
    const { when, region, split } = route;
    if (region !== from && !(split && Object.values(split.regions).includes(from))) continue;
    const words = routeWords(table, `/routes/${at}`);
    if (region !== from) {
      stays.unshift(`Route ${at + 1} parts its IDs: they stay.`);
    } else if (timesOf(when, table) === "none") {
      stays.unshift(
        `Route ${at + 1}, ${textOf(words?.takes ?? [])}: these IDs do not say when they were minted, and stay.`,
      );
    } else if (when.mintedBefore === undefined || Date.parse(when.mintedBefore) > Date.parse(now)) {
      const isWhole = when.mintedFrom !== undefined && Date.parse(when.mintedFrom) >= Date.parse(now);
      if (isWhole) edits.push(...toRegion(table, at, to));
      else
        edits.push({ path: ["routes", at], value: { when: { ...when, mintedFrom: now }, region: to }, isInsert: true });
    }
  }
  if (table.default === from && timesOf({}, table) !== "none")
    edits.unshift({
      path: ["routes", table.routes.length],
      value: { when: { mintedFrom: now }, region: to },
      isInsert: true,
    });
  return [edits, stays];
}

/** Whether one ID could fulfil both. Where that is not plain it is so: then the new route only stands earlier than it must. */
function mayOverlap(a: DeclaredConditions, b: DeclaredConditions): boolean {
  const names = ["layout", "entity", "country", "class"] as const;
  if (names.some((name) => areApart(a[name], b[name]))) return false;
  const keys = ["service", "shardKey", "primaryKey", "group"] as const;
  if (keys.some((name) => areNumbersApart(a[name], b[name]))) return false;
  const fields = Object.keys(a.fields ?? {});
  if (fields.some((name) => areNumbersApart(a.fields?.[name], b.fields?.[name]))) return false;
  return !isOver(a, b) && !isOver(b, a);
}

const areApart = <Value>(a: Value | readonly Value[] | undefined, b: Value | readonly Value[] | undefined): boolean =>
  a !== undefined && b !== undefined && !listOf(a).some((each) => listOf(b).includes(each));

const areNumbersApart = (a: DeclaredNumbers | undefined, b: DeclaredNumbers | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  !listOf(a).some((one) => listOf(b).some((other) => touch(boundsOf(one), boundsOf(other))));

type Bounds = readonly [from: number, to: number];

const boundsOf = (item: number | string): Bounds => {
  const [from = "", to = from] = String(item).split("-");
  return [Number(from), Number(to)];
};

const touch = ([from, to]: Bounds, [start, end]: Bounds): boolean => from <= end && start <= to;

/** Whether the first ends before the other begins. */
const isOver = ({ mintedBefore }: DeclaredConditions, { mintedFrom }: DeclaredConditions): boolean =>
  mintedBefore !== undefined && mintedFrom !== undefined && Date.parse(mintedBefore) <= Date.parse(mintedFrom);
