import * as v from "valibot";
import {
  ENTITIES_MAX,
  FAULTS_MAX,
  LAYOUTS_MAX,
  MOVED_MAX,
  PACKS_MAX,
  REGIONS_MAX,
  ROUTES_MAX,
  TABLE_DEPTH_MAX,
  VALUES_MAX,
  WITHOUT_ID_MAX,
} from "../limits.ts";
import type { FaultKind, Place, Report } from "./faults.ts";
import { layoutSchema } from "./layout.ts";
import { goneSchema, movedSchema, moveSchema, name, packSchema } from "./parts.ts";
import {
  countrySchema,
  type DeclaredRoute,
  type DeclaredTable,
  entitySchema,
  regionSchema,
  routeSchema,
  tableSchema,
} from "./table.ts";
import { withoutIdSchema } from "./without-id.ts";

/** Keys that mean something to JavaScript objects; a table that used them as names could not be trusted. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Keys whose value is an object that may be empty: to the schema an empty list would look the same. */
const OBJECT_KEYS: ReadonlySet<unknown> = new Set([
  "regions",
  "countries",
  "entities",
  "layouts",
  "withoutId",
  "moved",
  "moves",
  "gone",
  "gateway",
  "when",
  "fields",
  "slices",
  "deadlines",
]);

const isObjectPlace = (place: Place): boolean =>
  OBJECT_KEYS.has(place.at(-1)) || (place.length === 2 && place[0] === "layouts");

/** Reports nesting that is too deep, values that JSON does not have, lists in the place of objects, and forbidden keys. */
export const checkShape = (value: unknown, report: Report): void => visit(value, [], report);

/** Reports parts with more entries than may be; their entries are then not looked at. */
export const checkSizes = (value: unknown, report: Report): boolean => {
  if (typeof value !== "object" || value === null) return true;
  let fit = true;
  const counts = new Map<string, number>();
  for (const [part, max] of Object.entries(PART_SIZES)) {
    const count = countIn(value, part);
    counts.set(part, count);
    if (count <= max) continue;
    fit = false;
    report("size", [part], `At most ${max} entries may stand here; there are ${count}.`);
  }
  const overrides = OVERRIDE_PARTS.reduce((sum, part) => sum + (counts.get(part) as number), 0);
  if (fit && overrides > MOVED_MAX) {
    fit = false;
    const message = `At most ${MOVED_MAX} entries may stand in ${OVERRIDE_PARTS.join(", ")} together; there are ${overrides}.`;
    report("size", [OVERRIDE_PARTS.find((part) => counts.get(part) !== 0) as string], message);
  }
  if (fit) fit = checkValues(value, report);
  return fit;
};

/** Routes and single entities are held to the schema one by one, all the rest of a table at once. */
const checkValues = (table: object, report: Report): boolean => {
  const counts = valuesIn(table);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  if (total <= VALUES_MAX) return true;
  const [largest] = counts.toSorted(([, a], [, b]) => b - a);
  const message = `At most ${VALUES_MAX} values may stand in a table besides its routes and single entities; there are more.`;
  report("size", largest === undefined ? [] : [largest[0]], message);
  return false;
};

/** How many values each part has, those of the long parts apart; what is too many is not counted to its end. */
export const valuesIn = (table: object): readonly (readonly [part: string, count: number])[] =>
  Object.entries(table)
    .filter(([part]) => part !== "routes" && !OVERRIDE_PARTS.some((overrides) => overrides === part))
    .map(([part, value]) => [part, countValues(value)]);

const countValues = (value: unknown): number => {
  let count = 0;
  // A text may nest deeper than calls can.
  const open = [value];
  while (open.length > 0 && count <= VALUES_MAX) {
    const part = open.pop();
    count++;
    if (typeof part !== "object" || part === null) continue;
    for (const key in part) if (open.push((part as Readonly<Record<string, unknown>>)[key]) > VALUES_MAX) break;
  }
  return count + open.length;
};

const countIn = (table: object, part: string): number => {
  const entries = Object.hasOwn(table, part) ? (table as Readonly<Record<string, unknown>>)[part] : undefined;
  if (typeof entries !== "object" || entries === null) return 0;
  return Array.isArray(entries) ? entries.length : Object.keys(entries).length;
};

/** Parts with an entry for a single entity. They make one index. */
const OVERRIDE_PARTS = ["moved", "moves", "gone"] as const;

const PART_SIZES = {
  regions: REGIONS_MAX,
  entities: ENTITIES_MAX,
  layouts: LAYOUTS_MAX,
  packs: PACKS_MAX,
  routes: ROUTES_MAX,
  withoutId: WITHOUT_ID_MAX,
  moved: MOVED_MAX,
  moves: MOVED_MAX,
  gone: MOVED_MAX,
};

const visit = (value: unknown, place: Place, report: Report): void => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) report("schema", place, "JSON has no such number; write a finite one.");
    return;
  }
  if (typeof value !== "object") {
    report("schema", place, `JSON has no ${typeof value}; remove it.`);
    return;
  }
  if (place.length >= TABLE_DEPTH_MAX) {
    report("size", place, `Nothing in a table is nested deeper than ${TABLE_DEPTH_MAX} levels; remove this level.`);
    return;
  }
  if (Array.isArray(value)) {
    if (value.length === 0 && isObjectPlace(place))
      report("schema", place, "Expected an object, found a list; correct it.");
    for (const [index, item] of value.entries()) visitPart(item, place, index, report);
    return;
  }
  for (const key of Object.keys(value)) {
    if (FORBIDDEN_KEYS.has(key))
      report("schema", [...place, key], `${JSON.stringify(key)} cannot be a name; choose another.`);
    else visitPart((value as Readonly<Record<string, unknown>>)[key], place, key, report);
  }
};

/** Spares the place of the many values that cannot be at fault. */
const visitPart = (value: unknown, place: Place, key: string | number, report: Report): void => {
  if (typeof value !== "string" && typeof value !== "boolean") visit(value, [...place, key], report);
};

/** Turns an issue of the schema into a fault with a sentence that says how to mend it. `prefix`: where its value stands. */
export const reportIssue = (issue: v.BaseIssue<unknown>, report: Report, prefix: Place = []): void => {
  const inner = innerIssues(issue);
  for (const each of inner) {
    const inside = [...(issue.path ?? []), ...(each === issue ? [] : (each.path ?? []))];
    report(kindOf(each), [...prefix, ...inside.map(({ key }) => keyOf(key))], sentenceOf(each));
  }
};

const keyOf = (key: unknown): string | number => (typeof key === "number" ? key : String(key));

/** A union that has one fitting arm by its type reports the issues of that arm: they say more than "none of these". */
const innerIssues = (issue: v.BaseIssue<unknown>): readonly v.BaseIssue<unknown>[] => {
  if (issue.type !== "union" || issue.issues === undefined) return [issue];
  const deeper = issue.issues.filter((each) => each.kind === "validation" || isInside(issue.input, each));
  if (deeper.length === 0) return [issue];
  return deeper.flatMap((each) =>
    innerIssues(each).map((leaf) => (leaf === each ? leaf : { ...leaf, path: joinPaths(each.path, leaf.path) })),
  );
};

/** An arm for objects looks for its keys in a list too, and what it says of those is of no use. */
const isInside = (input: unknown, { path }: v.BaseIssue<unknown>): boolean =>
  path !== undefined && (!Array.isArray(input) || typeof path[0]?.key === "number");

type IssuePath = v.BaseIssue<unknown>["path"];

const joinPaths = (outer: IssuePath, inner: IssuePath): IssuePath => {
  const [first, ...rest] = [...(outer ?? []), ...(inner ?? [])];
  return first === undefined ? undefined : [first, ...rest];
};

const SIZE_TYPES: ReadonlySet<string> = new Set(["max_length", "max_entries"]);

const kindOf = (issue: v.BaseIssue<unknown>): FaultKind => (SIZE_TYPES.has(issue.type) ? "size" : "schema");

/** The library's own sentences start like this; a sentence of the schema's own is passed on as it is. */
const LIBRARY_SENTENCE = /^Invalid /;

const sentenceOf = (issue: v.BaseIssue<unknown>): string => {
  if (!LIBRARY_SENTENCE.test(issue.message)) return issue.message;
  const key = issue.path?.at(-1)?.key;
  if (issue.type === "strict_object" && issue.expected === "never") {
    return `${JSON.stringify(key)} is not a key that may stand here; remove it or correct its spelling.`;
  }
  if (issue.received === "undefined" && issue.path !== undefined) return `${JSON.stringify(key)} is missing; add it.`;
  if (SIZE_TYPES.has(issue.type))
    return `At most ${issue.expected?.slice(2)} may stand here; there are ${issue.received}.`;
  return `Expected ${issue.expected ?? "another value"}, found ${issue.received}; correct the value.`;
};

/** Parts with an entry for a single entity. */
const OVERRIDES = { moved: movedSchema, moves: moveSchema, gone: goneSchema } as const;

type Json = Readonly<Record<string, unknown>>;

/**
 * The table as the schema types it; `undefined` where it does not fit. Of the long parts, whose sizes were checked, every entry
 * is held to the schema by itself and stays what it is: the library would make a second table of them.
 */
export const matchSchema = (value: unknown): DeclaredTable | undefined => {
  if (typeof value !== "object" || value === null) return undefined;
  const given = value as Json;
  const long: Record<string, unknown> = {};
  for (const [part, schema] of Object.entries(OVERRIDES)) {
    const entries = given[part];
    if (!isPlainRecord(entries)) continue;
    if (!areFitting(entries, schema)) return undefined;
    long[part] = entries;
  }
  const { routes } = given;
  const fitting = Array.isArray(routes) ? matchRoutes(routes) : undefined;
  if (fitting === undefined) return undefined;
  const rest = v.safeParse(tableSchema, { ...given, ...emptied(long), routes: [] }, { abortEarly: true });
  return rest.success ? { ...rest.output, ...long, routes: fitting } : undefined;
};

/** The schema passes over some keys; what has one of them is left to it. */
const isPlainRecord = (part: unknown): part is Json =>
  typeof part === "object" &&
  part !== null &&
  !Array.isArray(part) &&
  ![...FORBIDDEN_KEYS].some((key) => Object.hasOwn(part, key));

const emptied = (parts: Json): Json => Object.fromEntries(Object.keys(parts).map((part) => [part, {}]));

const areFitting = (entries: Json, schema: v.GenericSchema): boolean => {
  // Most entries are the name of one of a few regions.
  const known = new Set<unknown>();
  for (const id of Object.keys(entries)) {
    const entry = entries[id];
    if (known.has(entry)) continue;
    if (!v.safeParse(schema, entry, { abortEarly: true }).success) return false;
    if (typeof entry === "string") known.add(entry);
  }
  return true;
};

const matchRoutes = (routes: readonly unknown[]): DeclaredRoute[] | undefined => {
  const fitting: DeclaredRoute[] = [];
  for (const route of routes) {
    const parsed = v.safeParse(routeSchema, route, { abortEarly: true });
    if (!parsed.success) return undefined;
    // The order of keys must say nothing, and it could where a route has more than a region.
    fitting.push(isSimple(parsed.output) ? (route as DeclaredRoute) : parsed.output);
  }
  return fitting;
};

const isSimple = ({ canary, shadow, split, pack }: DeclaredRoute): boolean =>
  (canary ?? shadow ?? split ?? pack) === undefined;

/** Parts whose entries are held to the schema one by one, with what stands for them while the rest is. */
const RECORD_PARTS = {
  regions: { schema: v.record(name, regionSchema), standIn: { a: { origins: [{ url: "a" }] } } },
  countries: { schema: v.record(name, countrySchema), standIn: {} },
  entities: { schema: v.record(name, entitySchema), standIn: { a: { path: "/a/:id", ids: [{ layout: "a" }] } } },
  layouts: { schema: v.record(name, layoutSchema), standIn: {} },
  packs: { schema: v.record(name, packSchema), standIn: {} },
  withoutId: { schema: v.record(name, withoutIdSchema), standIn: {} },
  moved: { schema: v.record(v.string(), movedSchema), standIn: {} },
  moves: { schema: v.record(v.string(), moveSchema), standIn: {} },
  gone: { schema: v.record(v.string(), goneSchema), standIn: {} },
} as const;

/**
 * Reports what does not fit the schema, and returns the places of the parts and entries at fault: `routes/7`, `default`.
 * `undefined`: there is more at fault than a report lists, and not everything was looked at.
 */
export const reportIssues = (value: unknown, report: Report): ReadonlySet<string> | undefined => {
  const broken = new Set<string>();
  let found = 0;
  const note = (issues: readonly v.BaseIssue<unknown>[], prefix: readonly (string | number)[]): void => {
    found += issues.length;
    for (const issue of issues) {
      const [part, entry] = [...prefix, ...(issue.path ?? []).map(({ key }) => String(key))];
      if (part !== undefined) broken.add(entry === undefined ? `${part}` : brokenKey(`${part}`, `${entry}`));
      reportIssue(issue, report, prefix);
    }
  };
  const parts = isRecord(value) ? value : {};
  note(issuesOf(tableSchema, isRecord(value) ? withStandIns(value) : value), []);
  for (const [part, { schema }] of Object.entries(RECORD_PARTS)) {
    const entries = parts[part];
    if (!isRecord(entries)) continue;
    for (const key of Object.keys(entries)) {
      if (found >= FAULTS_MAX) return undefined;
      note(issuesOf(schema, { [key]: entries[key] }), [part]);
    }
  }
  const routes = parts["routes"];
  for (const [index, route] of Array.isArray(routes) ? routes.entries() : []) {
    if (found >= FAULTS_MAX) return undefined;
    note(issuesOf(routeSchema, route), ["routes", index]);
  }
  return broken;
};

export const brokenKey = (part: string, entry: string): string => `${part}/${entry}`;

const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value with fitting entries in place of those that are looked at one by one. */
const withStandIns = (value: Json): Json => {
  const parts: Record<string, unknown> = { ...value };
  for (const [part, { standIn }] of Object.entries(RECORD_PARTS)) {
    const entries = parts[part];
    if (isRecord(entries) && Object.keys(entries).length > 0) parts[part] = standIn;
  }
  if (Array.isArray(parts["routes"])) parts["routes"] = [];
  return parts;
};

/** Values in one entry whose issues are all listed; of a greater entry only the first is. */
const LISTED_VALUES_MAX = 2_000;

const issuesOf = (schema: v.GenericSchema, value: unknown): readonly v.BaseIssue<unknown>[] =>
  v.safeParse(schema, value, { abortEarly: countNested(value, LISTED_VALUES_MAX) > LISTED_VALUES_MAX }).issues ?? [];

/** How many values there are inside of one, up to a number soon after `max`; nothing deeper is looked into. */
const countNested = (value: unknown, max: number): number => {
  if (max <= 0 || typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const key in value) {
    count += countNested((value as Json)[key], max - count);
    if (count > max) break;
  }
  return count;
};
