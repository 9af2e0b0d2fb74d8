import { ok } from "../ids/result.ts";
import type { Clock, Packs, ServedTable, Tables } from "../ports.ts";
import type { CompiledTable } from "../routing/index.ts";
import { refreshLabel } from "./held-table.ts";
import { COLD_DEADLINE_MS } from "./tables.ts";

/** How soon headers are asked for again, where nothing better is known, and where they never come. */
const RETRY_MS = 5_000;

/**
 * Tables with their packs: a table comes into force when the header of each of its packs is verified. Until then the one
 * before it answers; where there is none, the table answers what needs no pack, and nobody decides about the rest. The table
 * of the build is none: it is served while nothing better is known, and of what was published it knows nothing. A canary is
 * left out until its packs are there.
 */
export function packedTables(tables: Tables, packs: Packs, clock: Clock): Tables {
  let good: ServedTable | undefined;
  /** What was named last: headers that came too late for it bring nothing back. */
  let latest: ServedTable | undefined;
  const opened = new WeakSet<CompiledTable>();
  const retryDueMs = new WeakMap<CompiledTable, number>();

  const isOpen = (table: CompiledTable): boolean => table.packs.size === 0 || opened.has(table);

  const open = async (table: CompiledTable, waitMs?: number): Promise<void> => {
    retryDueMs.set(table, clock.nowMs() + RETRY_MS);
    const answer = await packs.open(table, waitMs);
    if (answer.ok) opened.add(table);
    else if ("retryAfterMs" in answer.error) retryDueMs.set(table, clock.nowMs() + answer.error.retryAfterMs);
  };

  const closedOf = ({ table, canary }: ServedTable): readonly CompiledTable[] =>
    (canary === undefined ? [table] : [table, canary.table]).filter((each) => !isOpen(each));

  const isDue = (table: CompiledTable): boolean => clock.nowMs() >= (retryDueMs.get(table) ?? 0);

  /** As much as is whole of what is named now, or the last that was, as old as it is. */
  const wholeOf = (served: ServedTable): ServedTable => {
    const { canary } = served;
    const shown = canary === undefined || isOpen(canary.table) ? served : { ...served, canary: undefined };
    if (isOpen(served.table)) {
      good = shown.source === "bundled" ? undefined : shown;
      return shown;
    }
    return good === undefined ? shown : refreshLabel(good, clock.nowMs());
  };

  return {
    peek(waitUntil) {
      const served = tables.peek(waitUntil);
      if (served === undefined) return undefined;
      latest = served;
      for (const table of closedOf(served)) if (isDue(table)) waitUntil(open(table));
      return wholeOf(served);
    },
    async load() {
      const sinceMs = clock.nowMs();
      const loaded = await tables.load();
      if (!loaded.ok) return loaded;
      latest = loaded.value;
      const restMs = sinceMs + COLD_DEADLINE_MS - clock.nowMs();
      await Promise.all(closedOf(loaded.value).map((table) => open(table, restMs)));
      return ok(wholeOf(latest));
    },
  };
}
