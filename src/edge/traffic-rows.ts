import type { OriginState } from "./traffic-origins.ts";
import type { MetricsTotals } from "./traffic-store.ts";

/**
 * What the Durable Object keeps on disk. A former version of the gateway may read it after a roll-back, so that columns and
 * members are only ever added.
 * - `since`: one row, when counting began, Unix ms.
 * - `sums`: a series and its sum.
 * - `origins`: an origin's URL and its `OriginState` as JSON.
 */
export class MetricsStorage {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec("CREATE TABLE IF NOT EXISTS since (id INTEGER PRIMARY KEY CHECK (id = 0), ms INTEGER NOT NULL)");
    sql.exec("CREATE TABLE IF NOT EXISTS sums (key TEXT PRIMARY KEY, sum REAL NOT NULL) WITHOUT ROWID");
    sql.exec("CREATE TABLE IF NOT EXISTS origins (url TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID");
  }

  load(nowMs: number): MetricsTotals {
    this.#sql.exec("INSERT OR IGNORE INTO since (id, ms) VALUES (0, ?)", nowMs);
    const sinceMs = this.#sql.exec<{ ms: number }>("SELECT ms FROM since").one().ms;
    const sums = this.#sql.exec<{ key: string; sum: number }>("SELECT key, sum FROM sums").toArray();
    const origins = this.#sql.exec<{ url: string; state: string }>("SELECT url, state FROM origins").toArray();
    return {
      sinceMs,
      sums: new Map(sums.map(({ key, sum }) => [key, sum])),
      origins: new Map(origins.map(({ url, state }) => [url, JSON.parse(state) as OriginState])),
    };
  }

  saveSum(key: string, sum: number): void {
    this.#sql.exec("INSERT OR REPLACE INTO sums (key, sum) VALUES (?, ?)", key, sum);
  }

  saveOrigin(url: string, state: OriginState): void {
    this.#sql.exec("INSERT OR REPLACE INTO origins (url, state) VALUES (?, ?)", url, JSON.stringify(state));
  }

  dropOrigin(url: string): void {
    this.#sql.exec("DELETE FROM origins WHERE url = ?", url);
  }
}
