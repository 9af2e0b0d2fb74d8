import { waitUntil } from "cloudflare:workers";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock, Entropy, Packs, ServedTable, Tables } from "../../ports.ts";
import type { TableError } from "../../problems/errors.ts";
import type { Pointer } from "../../published/kv.ts";
import { type CompiledTable, loadTable } from "../../routing/index.ts";
import type { EdgeCache } from "../origins/moved-memory.ts";
import { withTimeout } from "../platform.ts";
import { type ConfirmedPointer, edgeTableCache } from "./edge-cache.ts";
import { isOlder, type LoadedTable, refreshLabel, tableFetcher, tableLabels } from "./fetch.ts";
import { type LoadFailure, readPointer } from "./kv.ts";

export interface TablesOptions {
  readonly kv: KVNamespace;
  /** What the isolates of one location share; absent where the platform has no cache. */
  readonly cache: EdgeCache | undefined;
  /** Names the deployment: the cache may be shared with others. */
  readonly namespace: string;
  /** The declared table that was deployed with the code: the last resort. */
  readonly bundled: unknown;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly refreshMs: number;
  /** Told of every load that failed; the table in memory stays. */
  readonly report: (failure: LoadFailure) => void;
  /** Keeps a cold start going when the request that began it is over. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/**
 * A cold isolate lets its first requests wait this long at most, for a table and the headers of its packs together; then the
 * bundled copy answers, or what the table says without the packs.
 */
export const COLD_DEADLINE_MS = 900;

/** After so long without KV's word a cold isolate looks what others of its location had last. */
const COLD_READ_MS = 500;

/** So long KV's own word waits for the table of a newer pointer that others of the location have seen. */
const NEWER_MS = 300;

/** A refresh runs beside the requests, so it may take longer, but it must end. */
const REFRESH_DEADLINE_MS = 10_000;

/** Isolates that were started together drift apart by up to this share of the interval, either way. */
const JITTER = 0.1;

/** The table of an isolate on the platform. */
export const edgeTables = (options: Omit<TablesOptions, "cache" | "waitUntil">): Tables =>
  kvTables({ ...options, cache: caches.default, waitUntil });

/**
 * The table of this isolate: loaded once, then looked up again beside the requests when it has grown old. Whatever KV holds or
 * does, a table that was good stays in force until a better one has been verified, and KV is asked for the pointer once
 * in an interval at most: by a cold isolate, while KV fails and when it is back again.
 */
export function kvTables(options: TablesOptions): Tables {
  const { kv, clock, entropy, refreshMs, report } = options;
  const cache = edgeTableCache(options.cache, options.namespace, clock);
  const fetchTables = tableFetcher({
    ...{ kv, cache, report, deadlineMs: REFRESH_DEADLINE_MS, waitUntil: options.waitUntil },
  });
  const serve = tableLabels();
  let held: LoadedTable | undefined;
  /** When KV may be asked again. Set before it is asked, so that a dead refresh cannot block those after it. */
  let readDueMs = 0;
  /** Ends when there is a table, or when there is none to be had. */
  let coldStart: Promise<void> | undefined;
  let onFirst = (): void => undefined;

  const isDue = (): boolean => {
    const nowMs = clock.nowMs();
    if (nowMs < readDueMs) return false;
    readDueMs = nowMs + refreshMs * (1 - JITTER + (2 * JITTER * entropy.word()) / 2 ** 32);
    return true;
  };

  const take = async (seen: ConfirmedPointer, isFromKv: boolean): Promise<void> => {
    if (isOlder(seen.pointer, held?.pointer)) return;
    const next = await fetchTables(seen, held, isFromKv);
    // A slower refresh must not undo a newer one.
    if (next === undefined || isOlder(seen.pointer, held?.pointer)) return;
    held = next;
    onFirst();
    if (isFromKv) options.waitUntil(share(seen));
  };

  /** KV may show one isolate what it had before it showed another what came next: the location does not go back. */
  const share = async (seen: ConfirmedPointer): Promise<void> => {
    const near = await cache.pointer();
    if (!isOlder(seen.pointer, near?.pointer)) await cache.putPointer(seen);
  };

  const takeSaid = async (said: Result<Pointer, LoadFailure>): Promise<void> => {
    if (said.ok) await take({ pointer: said.value, confirmedAtMs: clock.nowMs() }, true);
    else report(said.error);
  };

  /**
   * KV may have lost what it had, or show what it had before, or say nothing in time: others of the location have seen better.
   * They are asked beside KV, so that a slow cache costs no more than its own deadline.
   */
  const lookCold = async (read: Promise<Result<Pointer, LoadFailure>>): Promise<void> => {
    const near = cache.pointer();
    const said = await withTimeout(read, COLD_READ_MS, () => undefined);
    const seen = await near;
    if (said === undefined) {
      report({ reason: "store-timeout", deadlineMs: COLD_READ_MS });
      await Promise.all([seen && take(seen, false), read.then(takeSaid)]);
      return;
    }
    if (seen === undefined) return takeSaid(said);
    if (!said.ok || isOlder(said.value, seen.pointer)) {
      await withTimeout(take(seen, false), NEWER_MS, () => undefined);
      return takeSaid(said);
    }
    const taken = takeSaid(said);
    await withTimeout(taken, NEWER_MS, () => undefined);
    // What KV names may not be there yet, or be faulty: the location's last table is nearer to it than that of the build.
    if (held?.pointer === undefined) await take(seen, false);
    await taken;
  };

  const look = async (): Promise<void> => {
    const read = readPointer(kv, REFRESH_DEADLINE_MS);
    if (held?.pointer === undefined) await lookCold(read);
    else await takeSaid(await read);
  };

  /** Nobody catches what a refresh throws: requests go on with what is held, whatever it was. */
  const refresh = async (): Promise<void> => {
    try {
      await look();
    } catch (error) {
      report({ reason: "store-failed", why: String(error) });
    }
  };

  const startCold = (): Promise<void> => {
    // One that is still there when KV may be asked again has died with its request: another takes its place.
    if (isDue()) {
      const start = new Promise<void>((end) => {
        onFirst = end;
        options.waitUntil(refresh().finally(end));
      }).finally(() => {
        if (coldStart === start) coldStart = undefined;
      });
      coldStart = start;
    }
    return coldStart ?? Promise.resolve();
  };

  const holdBundled = (): Result<LoadedTable, TableError> => {
    const table = loadTable(options.bundled, 0);
    if (!table.ok)
      return err({ reason: "table-unavailable", why: `the bundled table has ${table.error.length} faults` });
    const source = "bundled";
    const confirmedAtMs = clock.nowMs();
    held = { table: table.value, pointer: undefined, source, laterSource: source, confirmedAtMs, canary: undefined };
    return ok(held);
  };

  return {
    peek(waitUntil) {
      if (held === undefined) return undefined;
      if (isDue()) waitUntil(refresh());
      return serve(held, held.laterSource, clock.nowMs());
    },
    async load() {
      // Each waits by a timer of its own: the request that began the start may be gone, and its reads with it.
      if (held === undefined) await withTimeout(startCold(), COLD_DEADLINE_MS, () => undefined);
      const loaded: Result<LoadedTable, TableError> = held === undefined ? holdBundled() : ok(held);
      return loaded.ok ? ok<ServedTable>(serve(loaded.value, loaded.value.source, clock.nowMs())) : loaded;
    },
  };
}

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
