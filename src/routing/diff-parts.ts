import { canonical } from "./canonical.ts";

/** Comparing what two tables say, part by part. */

export interface Changed<Value> {
  readonly before: Value;
  readonly after: Value;
}

/** Named entries of one part of the table. */
export interface PartDiff<Value> {
  readonly added: Readonly<Record<string, Value>>;
  readonly removed: Readonly<Record<string, Value>>;
  readonly changed: Readonly<Record<string, Changed<Value>>>;
}

export const diffValue = <Value>(before: Value, after: Value): Changed<Value> | undefined =>
  isSame(before, after) ? undefined : { before, after };

export const diffPart = <Value>(
  before: ReadonlyMap<string, Value>,
  after: ReadonlyMap<string, Value>,
): PartDiff<Value> => {
  const added: [string, Value][] = [];
  const removed: [string, Value][] = [];
  const changed: [string, Changed<Value>][] = [];
  for (const [name, value] of after) {
    const old = before.get(name);
    if (old === undefined) added.push([name, value]);
    else if (!isSame(old, value)) changed.push([name, { before: old, after: value }]);
  }
  for (const [name, value] of before) if (!after.has(name)) removed.push([name, value]);
  return {
    added: Object.fromEntries(added),
    removed: Object.fromEntries(removed),
    changed: Object.fromEntries(changed),
  };
};

/** Whether two JSON values are equal; the order of keys does not matter, that of arrays does. Most are equal as they stand. */
export const isSame = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b) || canonical(a) === canonical(b);
