import { type CompiledTable, selectorTest, servesEntity } from "../routing/index.ts";
import type { ServedCanary, ServedTable, TableSource } from "../table-ports.ts";
import type { Pointer, PointerCanary } from "./table-store.ts";

/** The table that an isolate holds. */
export interface LoadedTable {
  readonly table: CompiledTable;
  /** What names it; `undefined` for the bundled copy. */
  readonly pointer: Pointer | undefined;
  /** The layer that it came from, and what it is said to come from later on. */
  readonly source: TableSource;
  readonly laterSource: TableSource;
  readonly confirmedAtMs: number;
  readonly canary: LoadedCanary | undefined;
}

export interface LoadedCanary extends Pick<ServedCanary, "table" | "matches" | "ownsEntity"> {
  readonly named: PointerCanary;
}

export const loadedCanary = (named: PointerCanary, table: CompiledTable, stable: CompiledTable): LoadedCanary => ({
  named,
  table,
  matches: selectorTest(stable, named.audience),
  ownsEntity: (entity) => servesEntity(named.audience, entity),
});

/** Whether a pointer names something that is older than what is held: an edge of KV may still have it. */
export function isOlder(pointer: Pointer, held: Pointer | undefined): boolean {
  if (held === undefined) return false;
  const { revision, change } = held;
  return pointer.revision < revision || (pointer.revision === revision && pointer.change < change);
}

/** What `waybill-table` says of a table, or of a canary of one. */
const labelOf = (revision: number, source: TableSource, seconds: number, isCanary = false): string =>
  `rev=${revision}${isCanary ? "; canary" : ""}; source=${source}; age=${seconds}`;

const secondsSince = (confirmedAtMs: number, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - confirmedAtMs) / 1000));

/** What was served before, and is served on from memory: as old as it is now, the canary beside it too. */
export function refreshLabel(served: ServedTable, nowMs: number): ServedTable {
  const { table, canary, confirmedAtMs } = served;
  const seconds = secondsSince(confirmedAtMs, nowMs);
  return {
    ...served,
    source: "memory",
    label: labelOf(table.revision, "memory", seconds),
    canary: canary && { ...canary, label: labelOf(canary.table.revision, "memory", seconds, true) },
  };
}

/** Serves a table with its label. A label is good for a second, and most requests find that of the one before. */
export function tableLabels(): (loaded: LoadedTable, source: TableSource, nowMs: number) => ServedTable {
  let last: { readonly loaded: LoadedTable; readonly source: TableSource; readonly second: number } | undefined;
  let label = "";
  let canary: ServedCanary | undefined;
  return (loaded, source, nowMs) => {
    const second = secondsSince(loaded.confirmedAtMs, nowMs);
    if (last?.loaded !== loaded || last.source !== source || last.second !== second) {
      last = { loaded, source, second };
      label = labelOf(loaded.table.revision, source, second);
      canary = loaded.canary && {
        table: loaded.canary.table,
        digest: loaded.canary.named.digest,
        audience: loaded.canary.named.audience,
        matches: loaded.canary.matches,
        ownsEntity: loaded.canary.ownsEntity,
        label: labelOf(loaded.canary.table.revision, source, second, true),
      };
    }
    const { table, pointer, confirmedAtMs } = loaded;
    return { table, source, digest: pointer?.digest, confirmedAtMs, label, canary };
  };
}
