import type { Checked } from "../origins/active-checks.ts";
import { seriesKey } from "./catalogue.ts";
import { SeriesTotals } from "./counters.ts";
import {
  applyUpdate,
  hintOf,
  type MetricsReport,
  type MetricsTotals,
  type OriginHint,
  type OriginState,
  withCheck,
} from "./store.ts";

/** Limit of series. A sum costs about 200 bytes of memory and a row on disk. */
export const SERIES_MAX = 20_000;

/** Limit of origins, and how long they are retained after their last update. */
const ORIGINS_MAX = 4_096;
const ORIGIN_DAYS = 1;

const DAY_MS = 86_400_000;

/**
 * The reports of all isolates, in memory, with the changes since the last write to disk. Unwritten changes are lost when the
 * object ends. Totals are written before they are shown, so a shown counter never decreases.
 *
 * A former version of the gateway may read the tables after a rollback: only add columns and members.
 * - `since`: one row, when counting began, Unix ms.
 * - `sums`: a series and its sum.
 * - `origins`: an origin's URL and its `OriginState` as JSON.
 */
export class MetricsAggregate {
  readonly #sql: SqlStorage;
  readonly #sinceMs: number;
  readonly #sums: SeriesTotals;
  readonly #origins: Map<string, OriginState>;
  readonly #changedSums = new Set<string>();
  readonly #changedOrigins = new Set<string>();

  constructor(sql: SqlStorage, nowMs: number) {
    this.#sql = sql;
    sql.exec("CREATE TABLE IF NOT EXISTS since (id INTEGER PRIMARY KEY CHECK (id = 0), ms INTEGER NOT NULL)");
    sql.exec("CREATE TABLE IF NOT EXISTS sums (key TEXT PRIMARY KEY, sum REAL NOT NULL) WITHOUT ROWID");
    sql.exec("CREATE TABLE IF NOT EXISTS origins (url TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID");
    sql.exec("INSERT OR IGNORE INTO since (id, ms) VALUES (0, ?)", nowMs);
    this.#sinceMs = sql.exec<{ ms: number }>("SELECT ms FROM since").one().ms;
    this.#sums = new SeriesTotals(SERIES_MAX, sql.exec("SELECT key, sum FROM sums").raw<[string, number]>());
    const origins = sql.exec("SELECT url, state FROM origins").raw<[string, string]>();
    this.#origins = new Map(Array.from(origins, ([url, state]) => [url, JSON.parse(state)]));
  }

  enter({ sums, origins }: MetricsReport, nowMs: number): void {
    for (const [key, by] of sums) this.#changedSums.add(this.#sums.add(key, by));
    this.#changedSums.add(this.#sums.add(seriesKey("reports_total"), 1));
    for (const update of origins) this.#turn(update.url, applyUpdate(this.#origins.get(update.url), update, nowMs));
  }

  enterCheck({ url, path, check }: Checked): void {
    this.#turn(url, withCheck(this.#origins.get(url), path, check));
  }

  hints(): readonly OriginHint[] {
    return [...this.#origins].flatMap(([url, state]) => hintOf(url, state) ?? []);
  }

  /** Writes to disk first. */
  totals(nowMs: number): MetricsTotals {
    this.save(nowMs);
    return { sinceMs: this.#sinceMs, sums: new Map(this.#sums), origins: this.#origins };
  }

  save(nowMs: number): void {
    this.#dropOld(nowMs);
    for (const key of this.#changedSums)
      this.#sql.exec("INSERT OR REPLACE INTO sums (key, sum) VALUES (?, ?)", key, this.#sums.get(key));
    for (const url of this.#changedOrigins) {
      const state = this.#origins.get(url);
      if (state === undefined) continue;
      this.#sql.exec("INSERT OR REPLACE INTO origins (url, state) VALUES (?, ?)", url, JSON.stringify(state));
    }
    this.#changedSums.clear();
    this.#changedOrigins.clear();
  }

  #turn(url: string, state: OriginState): void {
    // Map order: the last updated origin is last.
    this.#origins.delete(url);
    this.#origins.set(url, state);
    this.#changedOrigins.add(url);
  }

  #dropOld(nowMs: number): void {
    for (const [url, { heardAtMs }] of this.#origins) {
      if (this.#origins.size <= ORIGINS_MAX && nowMs - heardAtMs < ORIGIN_DAYS * DAY_MS) continue;
      this.#origins.delete(url);
      this.#sql.exec("DELETE FROM origins WHERE url = ?", url);
    }
  }
}
