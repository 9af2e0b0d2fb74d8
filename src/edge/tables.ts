import { err, ok, type Result } from "../ids/result.ts";
import type { Clock, ServedTable, Tables } from "../ports.ts";
import type { TableError } from "../problems/port-errors.ts";
import { type CompiledTable, loadTable } from "../routing/index.ts";
import { compileBody, type LoadFailure, type Pointer, readBody, readPointer } from "./table-store.ts";

export interface TablesOptions {
  readonly kv: KVNamespace;
  /** The declared table that was deployed with the code: the last resort. */
  readonly bundled: unknown;
  readonly clock: Clock;
  readonly refreshMs: number;
  /** Told of every load that failed; the table in memory stays. */
  readonly report: (failure: LoadFailure) => void;
}

/** A cold isolate makes its first requests wait for KV this long at most; then the bundled copy answers. */
const COLD_DEADLINE_MS = 800;

/** How soon a failed load is tried again, when that is sooner than the next refresh. */
const RETRY_MS = 5_000;

/** A refresh runs beside the requests, so it may take longer, but it must end. */
const REFRESH_DEADLINE_MS = 10_000;

interface Held {
  readonly table: CompiledTable;
  /** `undefined` for the bundled copy. */
  readonly digest: string | undefined;
  readonly source: ServedTable["source"];
  readonly confirmedAtMs: number;
}

/**
 * The table of this isolate: loaded from KV once, then looked up again beside the requests when it has grown old.
 * Whatever KV holds or does, a table that was good stays in force until a better one has been verified.
 */
export function kvTables(options: TablesOptions): Tables {
  const { kv, clock, refreshMs, report } = options;
  let held: Held | undefined;
  /** When the next refresh may begin. Set before one begins, so that a dead one cannot block those after it. */
  let refreshDueMs = 0;
  /** A body never changes: one that was found faulty is not read and checked again. */
  let refused: Extract<LoadFailure, { reason: "table-faulty" }> | undefined;
  let label = { second: -1, table: undefined as Held | undefined, text: "" };

  const hold = (next: Held): ServedTable => {
    held = next;
    refreshDueMs = clock.nowMs() + refreshMs;
    return serve(next, next.source);
  };

  const serve = (from: Held, source: ServedTable["source"]): ServedTable => {
    const second = Math.max(0, Math.floor((clock.nowMs() - from.confirmedAtMs) / 1000));
    if (label.second !== second || label.table !== from || source === "kv") {
      const text = `rev=${from.table.revision}; source=${source}; age=${second}`;
      label = { second: source === "kv" ? -1 : second, table: from, text };
    }
    return { table: from.table, source, confirmedAtMs: from.confirmedAtMs, label: label.text };
  };

  const fetchTable = async (deadlineMs: number): Promise<Result<Held, LoadFailure>> => {
    const pointer = await readPointer(kv, deadlineMs);
    if (!pointer.ok) return pointer;
    const confirmedAtMs = clock.nowMs();
    if (held !== undefined && isSame(held, pointer.value)) return ok({ ...held, confirmedAtMs });
    if (refused?.digest === pointer.value.digest) return err(refused);
    const octets = await readBody(kv, pointer.value.digest, deadlineMs);
    const table = octets.ok ? compileBody(octets.value, pointer.value.digest, pointer.value.revision) : octets;
    if (!table.ok) {
      if (table.error.reason === "table-faulty") refused = table.error;
      return table;
    }
    return ok({ table: table.value, digest: pointer.value.digest, source: "kv", confirmedAtMs });
  };

  const refresh = async (): Promise<void> => {
    const next = await fetchTable(REFRESH_DEADLINE_MS);
    if (!next.ok) {
      refreshDueMs = clock.nowMs() + Math.min(RETRY_MS, refreshMs);
      return report(next.error);
    }
    // A slower refresh must not undo a newer one, nor may an edge cache take the table back.
    if (held === undefined || held.digest === undefined || next.value.table.revision >= held.table.revision) {
      hold(next.value);
    }
  };

  return {
    peek(waitUntil) {
      if (held === undefined) return undefined;
      const now = clock.nowMs();
      if (now >= refreshDueMs) {
        refreshDueMs = now + refreshMs;
        waitUntil(refresh());
      }
      return serve(held, held.source === "kv" ? "memory" : held.source);
    },
    async load() {
      const loaded = await fetchTable(COLD_DEADLINE_MS);
      if (loaded.ok) return ok(hold(loaded.value));
      report(loaded.error);
      if (held !== undefined) return ok(serve(held, held.source));
      const bundled = bundledTable(options.bundled, clock, hold);
      refreshDueMs = clock.nowMs() + Math.min(RETRY_MS, refreshMs);
      return bundled;
    },
  };
}

function isSame(held: Held, pointer: Pointer): boolean {
  return held.digest === pointer.digest && held.table.revision === pointer.revision;
}

function bundledTable(
  bundled: unknown,
  clock: Clock,
  hold: (next: Held) => ServedTable,
): Result<ServedTable, TableError> {
  const table = loadTable(bundled, 0);
  if (!table.ok) return err({ reason: "table-unavailable", why: `the bundled table has ${table.error.length} faults` });
  return ok(hold({ table: table.value, digest: undefined, source: "bundled", confirmedAtMs: clock.nowMs() }));
}
