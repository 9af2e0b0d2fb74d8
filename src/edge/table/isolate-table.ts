import { waitUntil } from "cloudflare:workers";
import type { Pointer } from "../../formats/kv.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Entropy, ServedTable, Tables } from "../../ports/gateway.ts";
import type { TableError } from "../../problems/errors.ts";
import { ModuleUnavailable } from "../../problems/loadable.ts";
import type { LocationOptions } from "../origins/moved-memory.ts";
import { withTimeout } from "../platform.ts";
import { type ConfirmedPointer, edgeTableCache, type TableCache } from "./edge-cache.ts";
import { isOlder, type LoadedTable, nextLabelMs, tableFetcher, withLabels } from "./fetch.ts";
import { type LoadFailure, readPointer } from "./kv.ts";
import { compileBuilt, type VouchedTables } from "./restored.ts";
import { TableGate, type TableOpener } from "./table-gate.ts";
import type { ToldTables } from "./told-tables.ts";

/** The bundled table is the last resort. */
export interface IsolateTableOptions extends LocationOptions, VouchedTables {
  readonly kv: KVNamespace;
  readonly entropy: Entropy;
  readonly refreshMs: number;
  /** Receives every failed load; the table in memory stays. */
  readonly report: (failure: LoadFailure) => void;
  /** Without them tables are served before parts outside their text are known. */
  readonly openers?: readonly TableOpener[];
  readonly onServed?: (served: ServedTable) => void;
  readonly requestForm?: (digest: string) => Promise<void>;
}

/** The longest that a cold isolate's first requests wait for a table and its parts together. */
export const COLD_DEADLINE_MS = 900;

/** A cold isolate waits this long for KV before it uses the pointer in the location's cache. */
const COLD_READ_MS = 500;

/** How long a KV read waits for a newer table already cached in this location. */
const NEWER_MS = 300;

/** A refresh runs beside requests; it may take longer, but it must end. */
const REFRESH_DEADLINE_MS = 10_000;

/** Spreads the refreshes of isolates that started together: the share of the interval, either way. */
const JITTER = 0.1;

export const edgeTables = (options: Omit<IsolateTableOptions, "cache" | "waitUntil">): Tables & ToldTables =>
  new IsolateTable({ ...options, cache: caches.default, waitUntil });

/** Loaded once, then refreshed beside requests. A good table stays in force until a newer one is verified, whatever happens to KV. */
export class IsolateTable implements Tables, ToldTables {
  readonly #options: IsolateTableOptions;
  readonly #cache: TableCache;
  readonly #fetchTables: ReturnType<typeof tableFetcher>;
  readonly #gate: TableGate | undefined;
  #loaded: LoadedTable | undefined;
  /** The next read of KV. Set before the read, so that a refresh that died does not block the next. */
  #readDueMs = 0;
  /** Ends with the first table, or when there is none. */
  #coldStart: Promise<void> | undefined;
  #onFirst = (): void => undefined;
  /** Why the published table cannot be restored or compiled here: the bundled one would decide otherwise. */
  #moduleFault: ModuleUnavailable | undefined;
  #bundled: Promise<Result<LoadedTable, TableError>> | undefined;
  /** The last result of `peek`, and the time in which nothing of it changes. */
  #peeked: ServedTable | undefined;
  #sameFromMs = 0;
  #sameUntilMs = 0;

  constructor(options: IsolateTableOptions) {
    const { cache, namespace, clock, openers = [] } = options;
    this.#options = options;
    this.#cache = edgeTableCache(cache, namespace, clock);
    this.#fetchTables = tableFetcher({ ...options, cache: this.#cache, deadlineMs: REFRESH_DEADLINE_MS });
    this.#gate = openers.length === 0 ? undefined : new TableGate(openers, clock);
  }

  peek(waitUntil: (work: Promise<unknown>) => void): ServedTable | undefined {
    const nowMs = this.#options.clock.nowMs();
    if (nowMs < this.#sameUntilMs && nowMs >= this.#sameFromMs) return this.#peeked;
    const loaded = this.#loaded;
    if (loaded === undefined) return undefined;
    if (this.#isDue()) waitUntil(this.#refresh());
    const named = withLabels(loaded, loaded.laterSource, nowMs);
    const served = this.#gate === undefined ? named : this.#gate.peek(named, waitUntil);
    this.#options.onServed?.(served);
    this.#peeked = served;
    this.#sameFromMs = nowMs;
    // While parts are awaited, each request asks whether they have come.
    this.#sameUntilMs = served === named ? Math.min(this.#readDueMs, nextLabelMs(loaded.confirmedAtMs, nowMs)) : 0;
    return served;
  }

  async load(): Promise<Result<ServedTable, TableError>> {
    const { clock, onServed } = this.#options;
    const deadlineMs = clock.nowMs() + COLD_DEADLINE_MS;
    // Each request has its own timer: the request that began the cold start may end, and its reads with it.
    if (this.#loaded === undefined) await withTimeout(this.#startCold(), COLD_DEADLINE_MS, () => undefined);
    if (this.#loaded === undefined && this.#moduleFault !== undefined) throw this.#moduleFault;
    const loaded: Result<LoadedTable, TableError> =
      this.#loaded === undefined ? await this.#useBundled() : ok(this.#loaded);
    if (!loaded.ok) return loaded;
    const named = withLabels(loaded.value, loaded.value.source, clock.nowMs());
    const served = this.#gate === undefined ? named : await this.#gate.load(named, deadlineMs - clock.nowMs());
    onServed?.(served);
    return ok(served);
  }

  /** Never throws. The caller is the object of this isolate, which has read the pointer from KV. */
  async tell(pointer: Pointer): Promise<void> {
    // Before its first table, an isolate reads KV anyway.
    if (this.#loaded === undefined && this.#coldStart === undefined) return;
    await this.#try(() => this.#takeFromKv(ok(pointer)));
    // Parts outside of its text are loaded now, and not by the next request.
    this.peek(this.#options.waitUntil);
  }

  #isDue(): boolean {
    const { clock, entropy, refreshMs } = this.#options;
    const nowMs = clock.nowMs();
    if (nowMs < this.#readDueMs) return false;
    this.#readDueMs = nowMs + refreshMs * (1 - JITTER + (2 * JITTER * entropy.word()) / 2 ** 32);
    return true;
  }

  #refresh(): Promise<void> {
    return this.#try(async () => {
      const read = readPointer(this.#options.kv, REFRESH_DEADLINE_MS);
      if (this.#loaded?.pointer === undefined) await this.#readCold(read);
      else await this.#takeFromKv(await read);
    });
  }

  /** Never throws: requests go on with the table in memory. */
  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof ModuleUnavailable) this.#moduleFault = error;
      this.#options.report({ reason: "store-failed", why: String(error) });
    }
  }

  #startCold(): Promise<void> {
    // A cold start that is still there at the next read died with its request: another replaces it.
    if (this.#isDue()) {
      const start = new Promise<void>((end) => {
        this.#onFirst = end;
        this.#options.waitUntil(this.#refresh().finally(end));
      }).finally(() => {
        if (this.#coldStart === start) this.#coldStart = undefined;
      });
      this.#coldStart = start;
    }
    return this.#coldStart ?? Promise.resolve();
  }

  /** KV may be slow, stale or empty where the location's cache has a newer pointer. Both are read at once. */
  async #readCold(read: Promise<Result<Pointer, LoadFailure>>): Promise<void> {
    const cached = this.#cache.pointer();
    const fromKv = await withTimeout(read, COLD_READ_MS, () => undefined);
    const seen = await cached;
    if (fromKv === undefined) {
      this.#options.report({ reason: "store-timeout", deadlineMs: COLD_READ_MS });
      await Promise.all([seen && this.#take(seen, false), read.then((late) => this.#takeFromKv(late))]);
      return;
    }
    if (seen === undefined) return this.#takeFromKv(fromKv);
    if (!fromKv.ok || isOlder(fromKv.value, seen.pointer)) {
      await withTimeout(this.#take(seen, false), NEWER_MS, () => undefined);
      return this.#takeFromKv(fromKv);
    }
    const taken = this.#takeFromKv(fromKv);
    await withTimeout(taken, NEWER_MS, () => undefined);
    // KV's table may be missing or faulty. The location's last table is closer to it than the bundled one.
    if (this.#loaded?.pointer === undefined) await this.#take(seen, false);
    await taken;
  }

  async #takeFromKv(read: Result<Pointer, LoadFailure>): Promise<void> {
    const { clock, report } = this.#options;
    if (read.ok) await this.#take({ pointer: read.value, confirmedAtMs: clock.nowMs() }, true);
    else report(read.error);
  }

  async #take(seen: ConfirmedPointer, isFromKv: boolean): Promise<void> {
    if (isOlder(seen.pointer, this.#loaded?.pointer)) return;
    const next = await this.#fetchTables(seen, this.#loaded, isFromKv);
    // A slower refresh must not undo a newer one.
    if (next === undefined || isOlder(seen.pointer, this.#loaded?.pointer)) return;
    this.#loaded = next;
    this.#sameUntilMs = 0;
    this.#onFirst();
    if (isFromKv) this.#options.waitUntil(this.#share(seen));
  }

  /** KV may show an older pointer to one isolate than to another. The location's pointer never goes back. */
  async #share(seen: ConfirmedPointer): Promise<void> {
    const cached = await this.#cache.pointer();
    if (!isOlder(seen.pointer, cached?.pointer)) await this.#cache.putPointer(seen);
  }

  #useBundled(): Promise<Result<LoadedTable, TableError>> {
    if (this.#bundled !== undefined) return this.#bundled;
    const loading = this.#loadBundled().finally(() => {
      this.#bundled = undefined;
    });
    this.#bundled = loading;
    // Other requests wait for it, though the one that began it may end.
    this.#options.waitUntil(loading.catch(() => undefined));
    return loading;
  }

  async #loadBundled(): Promise<Result<LoadedTable, TableError>> {
    const { clock } = this.#options;
    const table = await compileBuilt(this.#options, 0);
    if (table.ok) await this.#options.fit?.(table.value, undefined);
    // A published table may have come meanwhile.
    if (this.#loaded !== undefined) return ok(this.#loaded);
    if (!table.ok)
      return err({ reason: "table-unavailable", why: `the bundled table has ${table.error.length} faults` });
    const unpublished = { pointer: undefined, digest: undefined, canary: undefined };
    const source = "bundled";
    const confirmedAtMs = clock.nowMs();
    this.#loaded = { ...unpublished, table: table.value, source, laterSource: source, confirmedAtMs };
    return ok(this.#loaded);
  }
}
