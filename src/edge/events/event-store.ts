import type { LogEvent } from "../../formats/console-api.ts";
import type { Settled } from "./settled.ts";
import type { EventDraft } from "./watch-regions.ts";

/** Events that are kept, and for how long. A webhook's queue is no longer than the log. */
export const EVENTS_MAX = 1_000;
const EVENT_MS = 30 * 86_400_000;

/** A page of the log. */
export const PAGE_EVENTS_MAX = 100;

/** A former version of the gateway may read these after a rollback: only add columns and members. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY AUTOINCREMENT, ms INTEGER NOT NULL, event TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS watched (key TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS deliveries (
    event INTEGER PRIMARY KEY, tries INTEGER NOT NULL, since_ms INTEGER NOT NULL, due_ms INTEGER NOT NULL);
`;

/** An event that the webhook's receiver has not taken yet. */
export interface Delivery {
  readonly event: number;
  readonly tries: number;
  readonly since_ms: number;
  readonly due_ms: number;
}

type Row = { id: number; ms: number; event: string };

/** The log on the disk of its object: events, the states that are watched, and what is to be delivered. */
export class EventStore {
  readonly #sql: SqlStorage;
  #newest: number | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(SCHEMA);
    this.#newest = sql.exec<{ id: number | null }>("SELECT MAX(id) AS id FROM events").one().id ?? undefined;
  }

  /** ID of the newest event. */
  get newest(): number | undefined {
    return this.#newest;
  }

  /** `isDelivered`: also queues it. Gives how many deliveries found no room and are given up. */
  add({ atMs, ...event }: EventDraft, nowMs: number, isDelivered: boolean): number {
    const { id } = this.#sql
      .exec<{ id: number }>(
        "INSERT INTO events (ms, event) VALUES (?, ?) RETURNING id",
        Math.round(atMs),
        JSON.stringify(event),
      )
      .one();
    this.#newest = id;
    if (isDelivered) {
      const insert = "INSERT INTO deliveries (event, tries, since_ms, due_ms) VALUES (?, 0, ?, ?)";
      this.#sql.exec(insert, id, nowMs, nowMs);
    }
    this.#sql.exec("DELETE FROM events WHERE id <= ? OR ms < ?", id - EVENTS_MAX, nowMs - EVENT_MS);
    return this.#sql.exec("DELETE FROM deliveries WHERE event NOT IN (SELECT id FROM events) RETURNING event").toArray()
      .length;
  }

  /** Newest first. */
  page(before: number, limit: number, nowMs: number): readonly LogEvent[] {
    const rows = this.#sql.exec<Row>(
      "SELECT id, ms, event FROM events WHERE id < ? AND ms >= ? ORDER BY id DESC LIMIT ?",
      before,
      nowMs - EVENT_MS,
      limit,
    );
    return Array.from(rows, readRow);
  }

  event(id: number): LogEvent | undefined {
    const [row] = this.#sql.exec<Row>("SELECT id, ms, event FROM events WHERE id = ?", id).toArray();
    return row && readRow(row);
  }

  watched(): readonly (readonly [key: string, state: Settled])[] {
    const rows = this.#sql.exec("SELECT key, state FROM watched").raw<[string, string]>();
    return Array.from(rows, ([key, state]) => [key, JSON.parse(state) as Settled] as const);
  }

  saveWatched(changes: readonly (readonly [key: string, state: Settled | undefined])[]): void {
    for (const [key, state] of changes) {
      if (state === undefined) this.#sql.exec("DELETE FROM watched WHERE key = ?", key);
      else this.#sql.exec("INSERT OR REPLACE INTO watched (key, state) VALUES (?, ?)", key, JSON.stringify(state));
    }
  }

  /** The next one that is due: of those that were tried least, the oldest. */
  dueDelivery(nowMs: number): Delivery | undefined {
    const query =
      "SELECT event, tries, since_ms, due_ms FROM deliveries WHERE due_ms <= ? ORDER BY tries, event LIMIT 1";
    return this.#deliveries(query, nowMs)[0];
  }

  /** When the next one is due, Unix ms. */
  nextDueMs(): number | undefined {
    return this.#sql.exec<{ ms: number | null }>("SELECT MIN(due_ms) AS ms FROM deliveries").one().ms ?? undefined;
  }

  waiting(): number {
    return this.#sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM deliveries").one().n;
  }

  /** Before it is sent, so that it is sent again where its end stays unknown. */
  tryDelivery(event: number, dueMs: number): void {
    this.#sql.exec("UPDATE deliveries SET tries = tries + 1, due_ms = ? WHERE event = ?", Math.ceil(dueMs), event);
  }

  endDelivery(event: number): void {
    this.#sql.exec("DELETE FROM deliveries WHERE event = ?", event);
  }

  /** The receiver is back: nothing waits for its own turn. */
  deliverNow(nowMs: number): void {
    this.#sql.exec("UPDATE deliveries SET due_ms = ?1 WHERE due_ms > ?1", nowMs);
  }

  /** Deliveries that began before are given up. */
  giveUp(sinceMs: number): readonly Delivery[] {
    return this.#deliveries(
      "DELETE FROM deliveries WHERE since_ms < ? RETURNING event, tries, since_ms, due_ms",
      sinceMs,
    );
  }

  #deliveries(query: string, ...values: number[]): readonly Delivery[] {
    return this.#sql
      .exec<{ event: number; tries: number; since_ms: number; due_ms: number }>(query, ...values)
      .toArray();
  }
}

const readRow = ({ id, ms, event }: Row): LogEvent => ({
  id,
  time: new Date(ms).toISOString(),
  ...(JSON.parse(event) as Omit<LogEvent, "id" | "time">),
});
