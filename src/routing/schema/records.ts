/** Keys with a meaning for JavaScript objects. As names they would allow prototype pollution. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

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
