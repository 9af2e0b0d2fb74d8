import { addColumn } from "../../../edge/columns.ts";
import type { DirectoryEntry } from "../port.ts";

/** The tables of one object, and a row as those who call it see it. */

/**
 * A former version of the gateway may read these after a rollback: only add columns. A key without a lease is confirmed. `totals`
 * are right after each statement, also of a former version: REPLACE deletes without a trigger, so insertions look what is there.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS self (
    id INTEGER PRIMARY KEY CHECK (id = 0), shard INTEGER NOT NULL, shards INTEGER NOT NULL, version INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS keys (
    directory TEXT NOT NULL, key TEXT NOT NULL, region TEXT NOT NULL, owner TEXT, operation TEXT,
    version INTEGER NOT NULL, changed_ms INTEGER NOT NULL, lease_until_ms INTEGER, missing_ms INTEGER, attempt TEXT,
    PRIMARY KEY (directory, key)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS changes (
    directory TEXT NOT NULL, key TEXT NOT NULL, noted_ms INTEGER NOT NULL, PRIMARY KEY (directory, key)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS changes_by_time ON changes (directory, noted_ms);
  CREATE INDEX IF NOT EXISTS leases ON keys (lease_until_ms) WHERE lease_until_ms IS NOT NULL;
  CREATE INDEX IF NOT EXISTS orphans ON keys (directory, key) WHERE lease_until_ms IS NOT NULL OR missing_ms IS NOT NULL;
  CREATE TABLE IF NOT EXISTS totals (directory TEXT PRIMARY KEY, keys INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS key_added BEFORE INSERT ON keys
    WHEN NOT EXISTS (SELECT 1 FROM keys WHERE directory = NEW.directory AND key = NEW.key) BEGIN
    UPDATE totals SET keys = keys + 1 WHERE directory = NEW.directory;
  END;
  CREATE TRIGGER IF NOT EXISTS key_removed AFTER DELETE ON keys BEGIN
    UPDATE totals SET keys = keys - 1 WHERE directory = OLD.directory;
  END;
`;

export function makeTables(sql: SqlStorage): void {
  sql.exec(SCHEMA);
  addColumn(sql, "keys", "attempt", "TEXT");
}

export type Row = {
  readonly key: string;
  readonly region: string;
  readonly owner: string | null;
  readonly operation: string | null;
  readonly version: number;
  readonly changed_ms: number;
  readonly lease_until_ms: number | null;
  readonly missing_ms: number | null;
  /** The call that reserved it, if it was one alone. */
  readonly attempt: string | null;
};

/** SQLite would take the primary key instead, and read every row. */
export const FROM_ORPHANS = "keys INDEXED BY orphans";
export const IN_ORPHANS = "(lease_until_ms IS NOT NULL OR missing_ms IS NOT NULL)";

const NAMES = [
  "key",
  "region",
  "owner",
  "operation",
  "version",
  "changed_ms",
  "lease_until_ms",
  "missing_ms",
  "attempt",
] as const;
export const COLUMNS = NAMES.join(", ");

export function writeRow(sql: SqlStorage, directory: string, row: Row): void {
  const values = NAMES.map((name) => row[name]);
  sql.exec(
    `INSERT OR REPLACE INTO keys (directory, ${COLUMNS}) VALUES (?${", ?".repeat(values.length)})`,
    directory,
    ...values,
  );
}

/** Whether another owner's reservation still holds; else `free`. */
export const heldOr = <Free>(free: Free, { lease_until_ms }: Row, nowMs: number) =>
  lease_until_ms !== null && lease_until_ms > nowMs
    ? ({ state: "held", retryAfterSeconds: Math.ceil((lease_until_ms - nowMs) / 1000) } as const)
    : free;

export const entryOf = (row: Row, nowMs: number): DirectoryEntry => ({
  key: row.key,
  region: row.region,
  owner: row.owner ?? undefined,
  state: row.lease_until_ms === null ? "confirmed" : row.lease_until_ms > nowMs ? "reserved" : "expired",
  version: row.version,
  changedAtMs: row.changed_ms,
  leaseUntilMs: row.lease_until_ms ?? undefined,
  missingSinceMs: row.missing_ms ?? undefined,
});
