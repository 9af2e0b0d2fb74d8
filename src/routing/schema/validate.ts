import * as v from "valibot";
import { draftOf } from "../layouts/declared.ts";
import * as limits from "../limits.ts";
import type { TableSchemas } from "./compose.ts";
import type { Draft } from "./draft.ts";
import { nearest, type Place, type Report } from "./faults.ts";
import { formsAt, type Inside } from "./forms.ts";
import { name } from "./parts.ts";
import { entriesOf, FORBIDDEN_KEYS, isRecord, type Json, OVERRIDE_PARTS } from "./records.ts";
import type { DeclaredRoute, DeclaredTable } from "./table.ts";

/** Keys whose value is an object that may be empty: the schema would take an empty list for one. */
const OBJECT_KEYS: ReadonlySet<unknown> = new Set(
  "regions countries entities layouts withoutId directory moved moves gone gateway when fields slices deadlines".split(
    " ",
  ),
);

/** Maps whose keys may be any text: the schema would take a list for one with the keys 0, 1, … */
const MAP_KEYS: ReadonlySet<unknown> = new Set(["prefixes", "headers"]);

/** Those of a source: a region may have the same name, and a list of values. */
const isMapPlace = (place: Place): boolean => MAP_KEYS.has(place.at(-1)) && typeof place.at(-2) === "number";

const isObjectPlace = (place: Place) => OBJECT_KEYS.has(place.at(-1)) || (place.length === 2 && place[0] === "layouts");

/** Reports parts with more entries than the limit; their entries are then not checked. */
export const checkSizes = (value: unknown, report: Report, schemas: TableSchemas): boolean => {
  if (typeof value !== "object" || value === null) return true;
  const parts = Object.entries({ ...schemas.parts, routes: { max: limits.ROUTES_MAX } });
  const large = parts.filter(([part, { max }]) => countIn(value, part) > max);
  for (const [part, { max }] of large) {
    report("size", [part], `At most ${max} entries are allowed here; there are ${countIn(value, part)}.`);
  }
  if (large.length > 0) return false;
  const sum = OVERRIDE_PARTS.reduce((count, part) => count + countIn(value, part), 0);
  if (sum > limits.MOVED_MAX) {
    const first = OVERRIDE_PARTS.find((part) => countIn(value, part) > 0) as string;
    const message = `At most ${limits.MOVED_MAX} entries are allowed in ${OVERRIDE_PARTS.join(", ")} together; there are ${sum}.`;
    report("size", [first], message);
    return false;
  }
  const counts = valuesIn(value);
  if (counts.reduce((count, [, values]) => count + values, 0) <= limits.VALUES_MAX) return true;
  const [[largest] = [""]] = counts.toSorted(([, a], [, b]) => b - a);
  const message = `At most ${limits.VALUES_MAX} values are allowed in a table, apart from routes and overrides; there are more.`;
  report("size", [largest], message);
  return false;
};

/** How many values each part has, without routes and overrides. Counting stops soon after the limit. */
export const valuesIn = (table: object): readonly (readonly [part: string, count: number])[] =>
  Object.entries(table)
    .filter(([part]) => part !== "routes" && !OVERRIDE_PARTS.some((overrides) => overrides === part))
    .map(([part, value]) => [part, countValues(value, limits.VALUES_MAX)]);

/** Counts a value and all values in it. Above `max` the result is only some greater number. */
const countValues = (value: unknown, max: number): number => {
  let count = 0;
  // A loop, since a text can nest deeper than the call stack.
  const open = [value];
  while (open.length > 0 && count <= max) {
    const part = open.pop();
    count++;
    if (typeof part !== "object" || part === null) continue;
    for (const key in part) if (open.push((part as Json)[key]) > max) break;
  }
  return count + open.length;
};

const countIn = (table: object, part: string): number => {
  const entries = Object.hasOwn(table, part) ? (table as Json)[part] : undefined;
  if (typeof entries !== "object" || entries === null) return 0;
  return Array.isArray(entries) ? entries.length : Object.keys(entries).length;
};

/** Reports nesting that is too deep, values that JSON does not have, lists in place of objects, and forbidden keys. */
export const checkShape = (value: unknown, report: Report, place: Place = []): void => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) report("schema", place, "JSON has no such number; write a finite one.");
    return;
  }
  if (typeof value !== "object") {
    report("schema", place, `JSON has no ${typeof value}; remove it.`);
    return;
  }
  if (place.length >= limits.TABLE_DEPTH_MAX) {
    report("size", place, `A table is nested at most ${limits.TABLE_DEPTH_MAX} levels deep; remove this level.`);
    return;
  }
  if (Array.isArray(value)) {
    if (isMapPlace(place) || (value.length === 0 && isObjectPlace(place)))
      report("schema", place, "Expected an object, found a list; correct it.");
    for (const [index, item] of value.entries()) checkPart(item, place, index, report);
    return;
  }
  for (const key of Object.keys(value)) {
    if (FORBIDDEN_KEYS.has(key))
      report("schema", [...place, key], `${JSON.stringify(key)} is not allowed as a name; choose another.`);
    else checkPart((value as Json)[key], place, key, report);
  }
};

/** Makes no place for the many values that cannot be at fault. */
const checkPart = (value: unknown, place: Place, key: string | number, report: Report): void => {
  if (typeof value !== "string" && typeof value !== "boolean") checkShape(value, report, [...place, key]);
};

/** Reports an issue of a schema as a fault that says how to fix it. `prefix`: the place of its value. */
export const reportIssue = (
  issue: v.BaseIssue<unknown>,
  report: Report,
  schema: object,
  prefix: Place = [],
  strange: StrangeKey = () => undefined,
): void => {
  const inner = innerIssues(issue);
  for (const each of inner) {
    const inside = [...(issue.path ?? []), ...(each === issue ? [] : (each.path ?? []))];
    const place = [...prefix, ...inside.map(({ key }) => (typeof key === "number" ? key : String(key)))];
    const above = place.slice(0, -1);
    const parent = inside.at(-1)?.input;
    const known = isRecord(parent) ? keysAt(schema, above) : [];
    const key = String(place.at(-1));
    // A misspelled key is not a missing one as well.
    const typo =
      isMissing(each) &&
      Object.keys(parent ?? {}).find((name) => !known.includes(name) && nearest(name, known) === key);
    const kind = SIZE_TYPES.has(each.type) ? "size" : "schema";
    if (typo) report("schema", [...above, typo], strangeKey(typo, known));
    else
      report(
        kind,
        place,
        isStrange(each)
          ? (strange(place) ?? strangeKey(key, known))
          : (unionSentence(each, schema, place) ?? sentenceOf(each)),
      );
  }
};

/** Why a key that the schema does not have is none; `undefined` if nothing more is known of it. */
type StrangeKey = (place: Place) => string | undefined;

/** Features that the build leaves out have their members nevertheless: they are no misspelling. */
const leftOut =
  ({ owners }: TableSchemas): StrangeKey =>
  (place) => {
    const [part, , member] = place;
    const level = LEVELS[String(part)];
    const [at, key] = place.length === 1 ? (["table", part] as const) : ([level, member] as const);
    const owner =
      at === undefined || place.length === 2 || place.length > 3 ? undefined : owners[at][String(key)]?.feature;
    return (
      owner &&
      `${JSON.stringify(key)} is of the feature ${owner}, which this build leaves out; remove it, or build with ${owner}.`
    );
  };

const LEVELS: Readonly<Record<string, "region" | "entity" | "withoutId" | "route">> = {
  regions: "region",
  entities: "entity",
  withoutId: "withoutId",
  routes: "route",
};

/** Where the type of a value selects an arm of a union, the issues of that arm say more than "none of these". */
const innerIssues = (issue: v.BaseIssue<unknown>): readonly v.BaseIssue<unknown>[] => {
  if (issue.type !== "union" || issue.issues === undefined) return [issue];
  const deeper = issue.issues.filter((each) => each.kind === "validation" || isInside(issue.input, each));
  if (deeper.length === 0) return [issue];
  return deeper.flatMap((each) =>
    innerIssues(each).map((leaf) => (leaf === each ? leaf : { ...leaf, path: joinPaths(each.path, leaf.path) })),
  );
};

/** Ignores what an arm for objects says of the keys of a list. */
const isInside = (input: unknown, { path }: v.BaseIssue<unknown>): boolean =>
  path !== undefined && (!Array.isArray(input) || typeof path[0]?.key === "number");

type IssuePath = v.BaseIssue<unknown>["path"];

const joinPaths = (outer: IssuePath, inner: IssuePath): IssuePath => {
  const [first, ...rest] = [...(outer ?? []), ...(inner ?? [])];
  return first === undefined ? undefined : [first, ...rest];
};

const SIZE_TYPES: ReadonlySet<string> = new Set(["max_length", "max_entries"]);

/** Valibot's own messages start like this; messages of the schema are used as they are. */
const LIBRARY_SENTENCE = /^Invalid /;

const isStrange = ({ type, expected }: v.BaseIssue<unknown>) => type === "strict_object" && expected === "never";

const isMissing = ({ received, path, message }: v.BaseIssue<unknown>): boolean =>
  received === "undefined" && path !== undefined && LIBRARY_SENTENCE.test(message);

const strangeKey = (key: string, known: readonly string[]): string => {
  const near = nearest(key, known);
  const remedy =
    near === undefined ? "remove it or correct its spelling" : `write ${JSON.stringify(near)}, or remove it`;
  return `${JSON.stringify(key)} is not allowed here; ${remedy}.`;
};

/** The library names the types of a union's arms alone. */
const unionSentence = (issue: v.BaseIssue<unknown>, schema: object, place: Place): string | undefined => {
  if (issue.type !== "union" || !LIBRARY_SENTENCE.test(issue.message) || isMissing(issue)) return undefined;
  const forms = formsAt(schema, place);
  return forms && `Expected ${forms}, found ${issue.received}; correct the value.`;
};

const sentenceOf = (issue: v.BaseIssue<unknown>): string => {
  if (!LIBRARY_SENTENCE.test(issue.message)) return issue.message;
  if (isMissing(issue)) return `${JSON.stringify(issue.path?.at(-1)?.key)} is missing; add it.`;
  if (SIZE_TYPES.has(issue.type))
    return `At most ${issue.expected?.slice(2)} are allowed here; there are ${issue.received}.`;
  return `Expected ${issue.expected ?? "another value"}, found ${issue.received}; correct the value.`;
};

const keysAt = ({ wrapped, entries = {}, options = [], ...inside }: Inside, place: Place): readonly string[] => {
  if (wrapped !== undefined) return keysAt(wrapped, place);
  const [key, ...rest] = place;
  const next = key === undefined ? undefined : (entries[key] ?? inside.item ?? inside.value);
  const own = key === undefined ? Object.keys(entries) : [];
  return [
    ...own,
    ...(next ? keysAt(next, rest) : []),
    ...options.flatMap((option) => (typeof option === "string" ? [] : keysAt(option, place))),
  ];
};

/** Parses the parts of a table, reports what does not fit the schema, and counts it. */
class Fitting {
  found = 0;
  readonly #report: Report;
  readonly #schemas: TableSchemas;
  readonly #strange: StrangeKey;

  constructor(report: Report, schemas: TableSchemas) {
    this.#report = report;
    this.#schemas = schemas;
    this.#strange = leftOut(schemas);
  }

  /** Whether a report lists no more. */
  get isFull(): boolean {
    return this.found >= limits.FAULTS_MAX;
  }

  parse<Schema extends v.GenericSchema>(schema: Schema, part: unknown, place: Place) {
    const quick = v.safeParse(schema, part, { abortEarly: true });
    if (quick.success) return quick;
    const isListed = countValues(part, LISTED_VALUES_MAX) <= LISTED_VALUES_MAX;
    const issues = isListed ? v.safeParse(schema, part).issues : quick.issues;
    this.found += issues?.length ?? 0;
    for (const issue of issues ?? []) reportIssue(issue, this.#report, this.#schemas.table, place, this.#strange);
    return { success: false, issues, output: undefined } as const;
  }
}

/**
 * The parts and entries that fit the schema. Routes keep their places in the declared list. `undefined` where there are
 * more faults than a report lists. Overrides and most routes are not copied: there may be 100,000.
 */
export const keepFitting = (value: unknown, report: Report, schemas: TableSchemas) => {
  const given = isRecord(value) ? value : {};
  const fitting = new Fitting(report, schemas);
  const rest = fitting.parse(schemas.table, isRecord(value) ? withStandIns(value, schemas) : value, []);
  const table: Record<string, unknown> = rest.success
    ? { ...rest.output }
    : soundRest(given, rest.issues ?? [], schemas);
  for (const [part, { entry }] of Object.entries(schemas.parts)) {
    const entries = given[part];
    if (!isRecord(entries)) continue;
    const isOverride = OVERRIDE_PARTS.some((each) => each === part);
    const kept = isOverride
      ? fittingOverrides(fitting, part, entries, entry)
      : fittingEntries(fitting, part, entries, entry);
    if (kept === undefined) return undefined;
    table[part] = kept;
  }
  const routes = fittingRoutes(fitting, given["routes"], schemas);
  if (routes === undefined) return undefined;
  return { table: { ...table, routes: routes.map(({ route }) => route) }, routes, isWhole: fitting.found === 0 };
};

type EntrySchema = TableSchemas["parts"][string]["entry"];

/** Copies of the entries that fit. */
const fittingEntries = (fitting: Fitting, part: string, entries: Json, entry: EntrySchema): Json | undefined => {
  const copies: Record<string, unknown> = {};
  for (const each of Object.keys(entries)) {
    if (fitting.isFull) return undefined;
    if (FORBIDDEN_KEYS.has(each)) continue;
    Object.assign(copies, fitting.parse(v.record(name, entry), { [each]: entries[each] }, [part]).output);
  }
  return copies;
};

const fittingOverrides = (fitting: Fitting, part: string, entries: Json, entry: EntrySchema): Json | undefined => {
  const dropped = new Set<string>();
  // Most overrides are the name of one of a few regions.
  const known = new Set<unknown>();
  for (const each of Object.keys(entries)) {
    if (fitting.isFull) return undefined;
    const value = entries[each];
    if (FORBIDDEN_KEYS.has(each)) dropped.add(each);
    else if (known.has(value)) continue;
    else if (!fitting.parse(entry, value, [part, each]).success) dropped.add(each);
    else if (typeof value === "string") known.add(value);
  }
  return dropped.size === 0 ? entries : Object.fromEntries(entriesOf(entries).filter(([each]) => !dropped.has(each)));
};

const fittingRoutes = (fitting: Fitting, given: unknown, { route: schema }: TableSchemas) => {
  const routes: { index: number; route: DeclaredRoute }[] = [];
  for (const [index, route] of Array.isArray(given) ? given.entries() : []) {
    if (fitting.isFull) return undefined;
    const parsed = fitting.parse(schema, route, ["routes", index]);
    // The library's copy has its keys in one order, which matters where a route has more than a region.
    const { when: _, region: __, ...more } = parsed.output ?? {};
    const isSimple = Object.keys(more).length === 0;
    if (parsed.success) routes.push({ index, route: isSimple ? route : parsed.output });
  }
  return routes;
};

/** The parts beside the entries, of a table in which something does not fit. */
const soundRest = (
  given: Json,
  issues: readonly v.BaseIssue<unknown>[],
  { parts, whole }: TableSchemas,
): Record<string, unknown> => {
  const places = issues.map(({ path = [] }) => path.map(({ key }) => String(key)).join("/"));
  const isBroken = (place: string): boolean => places.some((each) => `${each}/`.startsWith(`${place}/`));
  const sound = (part: string): unknown => (isBroken(part) ? undefined : given[part]);
  return {
    ...Object.fromEntries(Object.keys(parts).map((part) => [part, {}])),
    ...Object.fromEntries(whole.map((member) => [member, sound(member)])),
    epochFloor: sound("epochFloor"),
    default: sound("default"),
    gateway: places.includes("gateway") || isBroken("gateway/hosts") ? undefined : given["gateway"],
    // Absent, it would be a fault of each entry without sources of its own.
    sources: isBroken("sources") ? [] : given["sources"],
  };
};

/** The value with valid entries in place of those that are validated one by one. */
const withStandIns = (value: Json, schemas: TableSchemas): Json => {
  const parts: Record<string, unknown> = { ...value };
  for (const [part, { standIn }] of Object.entries(schemas.parts)) {
    const entries = parts[part];
    if (isRecord(entries) && Object.keys(entries).length > 0) parts[part] = standIn;
  }
  if (Array.isArray(parts["routes"])) parts["routes"] = [];
  return parts;
};

/** An entry with more values has only its first issue listed. */
const LISTED_VALUES_MAX = 2_000;

/** Whether none of the parts is declared. */
export const hasNone = ({ declared }: Draft, parts: readonly string[]): boolean =>
  parts.every((part) => isNothing(declared[part]));

const isNothing = (part: unknown): boolean => part === undefined || (isRecord(part) && Object.keys(part).length === 0);

const EMPTY: DeclaredTable = { regions: {}, routes: [] };

/** Validates any value, reports what does not fit the schema, and keeps what does. `declared`: `undefined` when it does not fit. */
export const readDraft = (value: unknown, report: Report, schemas: TableSchemas) => {
  const isShort = checkSizes(value, report, schemas);
  if (isShort) checkShape(value, report);
  const fitting = isShort ? keepFitting(value, report, schemas) : undefined;
  if (fitting === undefined) return { draft: draftOf(EMPTY), declared: undefined, isRead: false };
  const { routes, isWhole } = fitting;
  // The kept parts have passed the schema.
  const table = fitting.table as DeclaredTable;
  const draft = draftOf(table, isRecord(value) ? value : {}, routes);
  // A value that is no object at all is the fault.
  return { draft, declared: isWhole ? table : undefined, isRead: isRecord(value) };
};
