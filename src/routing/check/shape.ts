import type { Place, Report } from "../faults.ts";
import {
  ENTITIES_MAX,
  LAYOUTS_MAX,
  MOVED_MAX,
  PACKS_MAX,
  REGIONS_MAX,
  ROUTES_MAX,
  TABLE_DEPTH_MAX,
  VALUES_MAX,
  WITHOUT_ID_MAX,
} from "../limits.ts";

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
