import type { Place } from "./faults.ts";

/** Keys with a meaning for JavaScript objects. As names they would allow prototype pollution. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Names of regions, entities and what else a table names. */
export const NAME_FORM = /^[A-Za-z][A-Za-z0-9_-]*$/;

export type Json = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Own entries of an object without the keys that the schema skips. */
export const entriesOf = (value: unknown): readonly [string, unknown][] =>
  isRecord(value) ? Object.entries(value).filter(([key]) => !FORBIDDEN_KEYS.has(key)) : [];

/** Parts with an entry for each override. They share one index and one limit. */
export const OVERRIDE_PARTS = ["moved", "moves", "gone"] as const;

/** A member that is one item, or a list of them. */
export const listOf = <Item>(value: Item | readonly Item[]): readonly Item[] =>
  Array.isArray(value) ? value : [value as Item];

/** A map of values in a source. */
export type DeclaredValues = Readonly<Record<string, string | readonly string[]>>;

export interface DeclaredValue {
  readonly value: string;
  readonly region: string;
  /** Its place in the map. */
  readonly at: Place;
}

/** Each value with its region. A loop: a table may have 250,000. */
export const valuesOf = (map: DeclaredValues = {}): readonly DeclaredValue[] => {
  const values: DeclaredValue[] = [];
  for (const [key, entry] of Object.entries(map)) {
    if (typeof entry === "string") values.push({ value: key, region: entry, at: [key] });
    else for (const [index, value] of entry.entries()) values.push({ value, region: key, at: [key, index] });
  }
  return values;
};
