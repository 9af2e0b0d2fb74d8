import * as v from "valibot";
import { FORBIDDEN_KEYS } from "./check/shape.ts";
import { goneSchema, movedSchema, moveSchema } from "./move-schema.ts";
import { type DeclaredRoute, type DeclaredTable, routeSchema, tableSchema } from "./schema.ts";

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
