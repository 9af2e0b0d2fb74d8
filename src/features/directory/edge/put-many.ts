import type { BulkRow, PutMany } from "../port.ts";

/** Rows of one call to `putMany`, in parts and in sum. */

/** Conflicts that an answer names; it counts all. */
export const CONFLICTS_SHOWN = 20;

export const NOTHING_PUT: PutMany = {
  added: 0,
  unchanged: 0,
  replaced: 0,
  conflicts: 0,
  conflictKeys: [],
  conflictRows: [],
  isFull: false,
};

/** The sum with what the next rows came to. `done`: how many rows came before them. */
export const sumOf = (sum: PutMany, put: PutMany, done: number): PutMany => ({
  added: sum.added + put.added,
  unchanged: sum.unchanged + put.unchanged,
  replaced: sum.replaced + put.replaced,
  conflicts: sum.conflicts + put.conflicts,
  conflictKeys: [...sum.conflictKeys, ...put.conflictKeys].slice(0, CONFLICTS_SHOWN),
  conflictRows: [...(sum.conflictRows ?? []), ...(put.conflictRows ?? []).map((row) => done + row)].slice(
    0,
    CONFLICTS_SHOWN,
  ),
  isFull: false,
});

/** The rows in parts in which no key is repeated, in their order. */
export function withoutRepeats(rows: readonly BulkRow[]): readonly (readonly BulkRow[])[] {
  const parts: BulkRow[][] = [];
  let keys = new Set<string>();
  for (const row of rows) {
    if (parts.length === 0 || keys.has(row[0])) {
      parts.push([]);
      keys = new Set();
    }
    parts.at(-1)?.push(row);
    keys.add(row[0]);
  }
  return parts;
}

/** The value of work in a transaction that is rolled back. */
export function undone<Value>(transact: (work: () => never) => never, work: () => Value): Value {
  const undo = new Error("rolled back");
  let value: { readonly of: Value } | undefined;
  try {
    transact(() => {
      value = { of: work() };
      throw undo;
    });
  } catch (error) {
    if (error !== undo || value === undefined) throw error;
  }
  return (value as { readonly of: Value }).of;
}
