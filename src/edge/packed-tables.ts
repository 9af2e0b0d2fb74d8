import { err, ok, type Result } from "../ids/result.ts";
import type { Clock, Packs, ServedTable, Tables } from "../ports.ts";
import type { CompiledTable } from "../routing/index.ts";

/** How soon a table whose packs could not be had is tried again. */
const RETRY_MS = 5_000;

/**
 * Tables with their packs: a table comes into force when the header of each of its packs is verified. Until then the one
 * before it answers; where there is none, the table answers what needs no pack.
 */
export function packedTables(tables: Tables, packs: Packs, clock: Clock): Tables {
  let good: ServedTable | undefined;
  let opened: CompiledTable | undefined;
  let retryDueMs = Number.NEGATIVE_INFINITY;

  const open = async (served: ServedTable): Promise<Result<ServedTable, undefined>> => {
    retryDueMs = clock.nowMs() + RETRY_MS;
    const answer = await packs.open(served.table);
    if (!answer.ok) return err(undefined);
    opened = served.table;
    good = served;
    return ok(served);
  };

  const isOpen = ({ table }: ServedTable): boolean => table.packs.size === 0 || table === opened;

  /** The last table that was whole, as old as it is. */
  const lastGood = (instead: ServedTable): ServedTable => {
    if (good === undefined) return instead;
    const { table, confirmedAtMs } = good;
    const age = Math.max(0, Math.floor((clock.nowMs() - confirmedAtMs) / 1000));
    return { ...good, source: "memory", label: `rev=${table.revision}; source=memory; age=${age}` };
  };

  return {
    peek(waitUntil) {
      const served = tables.peek(waitUntil);
      if (served === undefined) return undefined;
      if (isOpen(served)) {
        good = served;
        return served;
      }
      if (clock.nowMs() >= retryDueMs) waitUntil(open(served));
      return lastGood(served);
    },
    async load() {
      const loaded = await tables.load();
      if (!loaded.ok || isOpen(loaded.value)) return loaded;
      const whole = await open(loaded.value);
      return ok(whole.ok ? whole.value : lastGood(loaded.value));
    },
  };
}
