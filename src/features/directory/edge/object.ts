import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../../edge/env.ts";
import { isLate } from "../../../edge/machines/late.ts";
import { systemClock } from "../../../edge/platform.ts";
import { SweepAlarm } from "../../../edge/sweep-alarm.ts";
import type {
  ChangeOutcome,
  Claim,
  ClaimOutcome,
  DirectoryEntry,
  DirectoryKey,
  KeyChanges,
  KeyCounts,
  PutMany,
  Reservation,
  Rows,
} from "../port.ts";
import { type DirectoryRpc, LATE, PUT_ROWS_MAX, SCAN_ROWS_MAX, type ShardOf } from "./keys.ts";
import { CONFLICTS_SHOWN, NOTHING_PUT, sumOf, undone, withoutRepeats } from "./put-many.ts";
import { COLUMNS, entryOf, FROM_ORPHANS, heldOr, IN_ORPHANS, makeTables, type Row, writeRow } from "./rows.ts";

/** The platform's limit is 10 GB an object. New keys beyond this are refused; existing ones can still be changed. */
export const BYTES_MAX = 8 * 2 ** 30;

/** How long a reservation that nothing ended stays in the orphan report after its lease. */
export const ORPHAN_MS = 30 * 86_400_000;

/** Old reservations are swept together: each alarm is a request that costs money. */
const SWEEP_MS = 3_600_000;

/** Keys removed at once: all other calls wait for them. */
const SWEEP_KEYS = 1_000;

/** Changed keys that are named, of one directory: an isolate reads them once a minute. More make all copies of before void. */
const CHANGES_MAX = 4_000;

type Page = Readonly<{ from: string; directory: string; after: string; limit: number; nowMs: number }>;

/**
 * Some of the keys of all directories: which, a hash of the key says. Each key is a row.
 *
 * | state     | row                 | `reserve` by its owner  | by another owner        | `confirm`, its operation | `release`, its operation |
 * |-----------|---------------------|-------------------------|-------------------------|--------------------------|--------------------------|
 * | absent    | none                | → reserved              | → reserved              | lost                     | done                     |
 * | reserved  | lease not over      | → reserved, new lease   | held                    | → confirmed              | → absent                 |
 * | expired   | lease over          | → reserved              | → reserved, its own     | → confirmed              | → absent                 |
 * | confirmed | no lease            | done                    | taken                   | done                     | taken                    |
 *
 * A reservation, move or removal that comes after its caller gave up changes nothing, and is `late`. Each call is one
 * transaction, and nothing in it waits. A reservation is extended for its owner under another operation too: after
 * a crash it goes on at once, and what the first operation still sends is lost. The release of an attempt without an
 * answer takes nothing from a retry: once two attempts have reserved a key, it waits for its client or its lease.
 */
export class DirectoryKeys extends DurableObject<Env> implements DirectoryRpc {
  readonly #sql: SqlStorage;
  readonly #alarm: SweepAlarm;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.#sql = context.storage.sql;
    makeTables(this.#sql);
    this.#alarm = new SweepAlarm(context, SWEEP_MS);
  }

  async get(of: ShardOf, at: DirectoryKey): Promise<DirectoryEntry | undefined> {
    this.#check(of);
    const row = this.#row(at);
    return row === undefined ? undefined : entryOf(row, systemClock.nowMs());
  }

  async reserve(of: ShardOf, claim: Reservation): Promise<ClaimOutcome | typeof LATE> {
    const nowMs = systemClock.nowMs();
    if (isLate(of.notAfterMs, nowMs)) return LATE;
    const outcome = this.#transact(of, () => this.#reserve(claim, nowMs, of.attempt));
    if (outcome.state === "done") await this.#alarm.wakeAfter(nowMs + claim.leaseMs + ORPHAN_MS, nowMs);
    return outcome;
  }

  async confirm(of: ShardOf, claim: Claim): Promise<ClaimOutcome> {
    const nowMs = systemClock.nowMs();
    return this.#transact(of, () => {
      const row = this.#row(claim);
      if (row === undefined) return { state: "lost" };
      if (row.lease_until_ms === null) {
        return row.owner === claim.owner ? { state: "done", entry: entryOf(row, nowMs) } : { state: "taken" };
      }
      if (row.owner !== claim.owner || row.operation !== claim.operation) return heldOr({ state: "lost" }, row, nowMs);
      return this.#write(claim, { ...row, lease_until_ms: null, missing_ms: null }, nowMs);
    });
  }

  async release(of: ShardOf, claim: Claim): Promise<"done" | "taken"> {
    return this.#transact(of, () => {
      const row = this.#row(claim);
      if (row === undefined || row.owner !== claim.owner || row.operation !== claim.operation) return "done";
      if (row.lease_until_ms === null) return "taken";
      if (of.attempt !== undefined && of.attempt !== row.attempt) return "done";
      this.#delete(claim);
      return "done";
    });
  }

  async register(of: ShardOf, { region, ...claim }: Omit<Reservation, "leaseMs">): Promise<ClaimOutcome> {
    const nowMs = systemClock.nowMs();
    return this.#transact(of, () => {
      const reserved = this.#reserve({ ...claim, region, leaseMs: 0 }, nowMs);
      if (reserved.state !== "done" || reserved.entry.state === "confirmed") return reserved;
      const row = this.#row(claim) as Row;
      return this.#write(claim, { ...row, lease_until_ms: null }, nowMs);
    });
  }

  async move(of: ShardOf, at: DirectoryKey, region: string, version: number): Promise<ChangeOutcome | typeof LATE> {
    return this.#change(
      of,
      at,
      version,
      (row, nowMs) => this.#write(at, { ...row, region, missing_ms: null }, nowMs).entry,
    );
  }

  async remove(of: ShardOf, at: DirectoryKey, version: number): Promise<ChangeOutcome | typeof LATE> {
    return this.#change(of, at, version, () => void this.#delete(at));
  }

  async reportMissing(of: ShardOf, at: DirectoryKey, version: number): Promise<ChangeOutcome | typeof LATE> {
    return this.#change(of, at, version, (row, nowMs) =>
      row.lease_until_ms === null && row.missing_ms === null
        ? this.#write(at, { ...row, missing_ms: nowMs }, nowMs).entry
        : entryOf(row, nowMs),
    );
  }

  async learn(of: ShardOf, at: DirectoryKey, from: string, region: string): Promise<void> {
    const nowMs = systemClock.nowMs();
    this.#transact(of, () => {
      const row = this.#row(at);
      if (row?.lease_until_ms === null && row.region === from) this.#write(at, { ...row, region }, nowMs);
    });
  }

  async orphans(of: ShardOf, directory: string, after: string, limit: number): Promise<Rows> {
    this.#check(of);
    const page = { from: FROM_ORPHANS, directory, after, limit, nowMs: systemClock.nowMs() };
    return this.#rows(`${IN_ORPHANS} AND (lease_until_ms IS NULL OR lease_until_ms <= ?)`, [page.nowMs], page);
  }

  async scan(of: ShardOf, directory: string, after: string, limit: number): Promise<Rows> {
    this.#check(of);
    return this.#rows("TRUE", [], { from: "keys", directory, after, limit, nowMs: systemClock.nowMs() });
  }

  /** Its first call reads all rows. Before that, the triggers write nothing: an import pays for a total only where one is looked at. */
  async count(of: ShardOf, directory: string): Promise<KeyCounts> {
    return this.#transact(of, () => {
      this.#sql.exec(
        `INSERT INTO totals SELECT ?1, (SELECT count(*) FROM keys WHERE directory = ?1)
          WHERE NOT EXISTS (SELECT 1 FROM totals WHERE directory = ?1)`,
        directory,
      );
      // Leases end without a statement: what has one is counted again, in an index with few rows.
      const { rows, ...others } = this.#sql
        .exec<Omit<KeyCounts, "confirmed"> & { readonly rows: number }>(
          `SELECT (SELECT keys FROM totals WHERE directory = ?1) AS rows, count(missing_ms) AS missing,
              count(*) FILTER (WHERE lease_until_ms > ?2) AS reserved, count(*) FILTER (WHERE lease_until_ms <= ?2) AS expired
            FROM ${FROM_ORPHANS} WHERE directory = ?1 AND ${IN_ORPHANS}`,
          directory,
          systemClock.nowMs(),
        )
        .one();
      return { confirmed: rows - others.reserved - others.expired, ...others };
    });
  }

  async putMany(of: ShardOf, directory: string, rows: string, replace: boolean): Promise<PutMany> {
    const nowMs = systemClock.nowMs();
    return this.#transact(of, () => this.#putInOrder(directory, rows, replace, nowMs));
  }

  /** As `putMany`, and its changes are rolled back. */
  async tryMany(of: ShardOf, directory: string, rows: string, replace: boolean): Promise<PutMany> {
    const nowMs = systemClock.nowMs();
    const put = () => this.#putInOrder(directory, rows, replace, nowMs);
    return undone((work) => this.#transact(of, work), put);
  }

  async noteChange(of: ShardOf, { directory, key }: DirectoryKey): Promise<void> {
    const nowMs = systemClock.nowMs();
    this.#transact(of, () => {
      this.#sql.exec(
        "INSERT OR REPLACE INTO changes (directory, key, noted_ms) VALUES (?, ?, ?)",
        directory,
        key,
        nowMs,
      );
      if (key === "") this.#sql.exec("DELETE FROM changes WHERE directory = ? AND key <> ''", directory);
      const [oldest] = this.#sql
        .exec<{ noted_ms: number }>(
          "SELECT noted_ms FROM changes WHERE directory = ? AND key <> '' ORDER BY noted_ms DESC LIMIT 1 OFFSET ?",
          directory,
          CHANGES_MAX,
        )
        .toArray();
      if (oldest === undefined) return;
      this.#sql.exec("DELETE FROM changes WHERE directory = ? AND noted_ms <= ?", directory, oldest.noted_ms);
      this.#sql.exec("INSERT OR REPLACE INTO changes VALUES (?, '', ?)", directory, oldest.noted_ms);
    });
  }

  async changesSince(of: ShardOf, directory: string, sinceMs: number): Promise<KeyChanges> {
    this.#check(of);
    const rows = this.#sql
      .exec<{ key: string }>("SELECT key FROM changes WHERE directory = ? AND noted_ms >= ?", directory, sinceMs)
      .toArray();
    return rows.some(({ key }) => key === "") ? undefined : rows.map(({ key }) => key);
  }

  override async alarm(): Promise<void> {
    this.#alarm.hasFired();
    const nowMs = systemClock.nowMs();
    this.#sql.exec(
      `DELETE FROM keys WHERE (directory, key) IN
        (SELECT directory, key FROM keys WHERE lease_until_ms <= ? ORDER BY lease_until_ms LIMIT ?)`,
      nowMs - ORPHAN_MS,
      SWEEP_KEYS,
    );
    const { next } = this.#sql
      .exec<{ next: number | null }>("SELECT MIN(lease_until_ms) AS next FROM keys WHERE lease_until_ms IS NOT NULL")
      .one();
    // More than are removed at once: the other calls get their turn first.
    if (next !== null && next + ORPHAN_MS <= nowMs) await this.#alarm.wakeAt(nowMs + 1_000);
    else if (next !== null) await this.#alarm.wakeAfter(next + ORPHAN_MS, nowMs);
  }

  #reserve(claim: Reservation, nowMs: number, attempt: string | null = null): ClaimOutcome {
    const { leaseMs, region, owner, operation, ...at } = claim;
    const row = this.#row(at);
    if (row === undefined) {
      if (this.#sql.databaseSize >= BYTES_MAX) return { state: "full" };
    } else if (row.lease_until_ms === null) {
      // Its own key in another region is no retry: that is a move.
      const isSame = row.owner === owner && row.region === region;
      return isSame ? { state: "done", entry: entryOf(row, nowMs) } : { state: "taken" };
    } else if (row.owner !== owner) {
      const held = heldOr(undefined, row, nowMs);
      if (held !== undefined) return held;
    }
    const isRetry = row?.owner === owner && row.operation === operation && row.attempt !== attempt;
    const lease = { lease_until_ms: nowMs + leaseMs, attempt: isRetry ? null : attempt };
    return this.#write(at, { region, owner, operation, missing_ms: null, ...lease }, nowMs);
  }

  /** A statement meets each key once: rows that repeat one come in a statement of their own after it. */
  #putInOrder(directory: string, rows: string, replace: boolean, nowMs: number): PutMany {
    const [counted] = this.#sql
      .exec<{ count: number; keys: number }>(
        "SELECT count(*) AS count, count(DISTINCT value ->> 0) AS keys FROM json_each(?)",
        rows,
      )
      .toArray();
    const { count = 0, keys = 0 } = counted ?? {};
    if (count > PUT_ROWS_MAX) throw new RangeError(`${count} rows are more than ${PUT_ROWS_MAX}`);
    if (this.#sql.databaseSize >= BYTES_MAX) return { ...NOTHING_PUT, isFull: true };
    if (count === keys) return this.#putMany(directory, rows, replace, nowMs);
    let sum = NOTHING_PUT;
    let done = 0;
    for (const part of withoutRepeats(JSON.parse(rows))) {
      sum = sumOf(sum, this.#putMany(directory, JSON.stringify(part), replace, nowMs), done);
      done += part.length;
    }
    return sum;
  }

  #putMany(directory: string, rows: string, replace: boolean, nowMs: number): PutMany {
    const count = this.#count("SELECT count(*) AS count FROM json_each(?)", rows);
    const differing = "k.region <> r.value ->> 1 OR (r.value ->> 2 IS NOT NULL AND k.owner IS NOT r.value ->> 2)";
    const joined = "json_each(?) AS r CROSS JOIN keys AS k ON k.directory = ? AND k.key = r.value ->> 0";
    const replaced = replace
      ? this.#count(
          `SELECT count(*) AS count FROM ${joined} WHERE k.lease_until_ms IS NULL AND (${differing})`,
          rows,
          directory,
        )
      : 0;
    const version = this.#nextVersion();
    this.#sql.exec(
      `INSERT INTO keys (directory, key, region, owner, version, changed_ms)
          SELECT ?, value ->> 0, value ->> 1, value ->> 2, ?, ? FROM json_each(?) WHERE TRUE
        ON CONFLICT (directory, key) DO UPDATE SET region = excluded.region, owner = coalesce(excluded.owner, owner),
          operation = NULL, version = excluded.version, changed_ms = excluded.changed_ms, lease_until_ms = NULL, missing_ms = NULL
        WHERE lease_until_ms <= ? OR (? AND lease_until_ms IS NULL AND version < excluded.version
          AND (region <> excluded.region OR (excluded.owner IS NOT NULL AND owner IS NOT excluded.owner)))`,
      directory,
      version,
      nowMs,
      rows,
      nowMs,
      replace ? 1 : 0,
    );
    const changed = this.#count("SELECT changes() AS count");
    const refused = `FROM ${joined} WHERE k.lease_until_ms IS NOT NULL OR ${differing}`;
    // Where every row changed something, none was refused.
    const conflicts = changed === count ? 0 : this.#count(`SELECT count(*) AS count ${refused}`, rows, directory);
    const shown = `SELECT k.key AS key, r.key AS row ${refused} ORDER BY r.key LIMIT ?`;
    const found =
      conflicts === 0
        ? []
        : this.#sql.exec<{ key: string; row: number }>(shown, rows, directory, CONFLICTS_SHOWN).toArray();
    return {
      added: changed - replaced,
      unchanged: count - changed - conflicts,
      replaced,
      conflicts,
      conflictKeys: found.map(({ key }) => key),
      conflictRows: found.map(({ row }) => row),
      isFull: false,
    };
  }

  #count(query: string, ...values: readonly (string | number)[]): number {
    return this.#sql.exec<{ count: number }>(query, ...values).one().count;
  }

  #change(
    of: ShardOf,
    at: DirectoryKey,
    version: number,
    apply: (row: Row, nowMs: number) => DirectoryEntry | undefined,
  ): ChangeOutcome | typeof LATE {
    const nowMs = systemClock.nowMs();
    if (isLate(of.notAfterMs, nowMs)) return LATE;
    return this.#transact(of, (): ChangeOutcome => {
      const row = this.#row(at);
      if (row === undefined) return { state: "absent" };
      if (row.version !== version) return { state: "stale", version: row.version };
      return { state: "done", entry: apply(row, nowMs) };
    });
  }

  #transact<Value>(of: ShardOf, work: () => Value): Value {
    return this.ctx.storage.transactionSync(() => {
      this.#check(of);
      return work();
    });
  }

  /** A call for another shard or number of shards would read and write keys where no later call finds them. */
  #check({ shard, shards }: ShardOf): void {
    const [self] = this.#sql.exec<{ shard: number; shards: number }>("SELECT shard, shards FROM self").toArray();
    if (self === undefined) {
      this.#sql.exec("INSERT INTO self (id, shard, shards, version) VALUES (0, ?, ?, 0)", shard, shards);
    } else if (self.shard !== shard || self.shards !== shards) {
      throw new Error(`this object is shard ${self.shard} of ${self.shards}, not shard ${shard} of ${shards}`);
    }
  }

  #nextVersion(): number {
    return this.#sql.exec<{ version: number }>("UPDATE self SET version = version + 1 RETURNING version").one().version;
  }

  #row({ directory, key }: DirectoryKey): Row | undefined {
    return this.#sql
      .exec<Row>(`SELECT ${COLUMNS} FROM keys WHERE directory = ? AND key = ?`, directory, key)
      .toArray()[0];
  }

  #write(at: DirectoryKey, values: Omit<Row, "key" | "version" | "changed_ms">, nowMs: number) {
    const row: Row = { ...values, key: at.key, version: this.#nextVersion(), changed_ms: nowMs };
    writeRow(this.#sql, at.directory, row);
    return { state: "done", entry: entryOf(row, nowMs) } as const;
  }

  #delete({ directory, key }: DirectoryKey): void {
    this.#sql.exec("DELETE FROM keys WHERE directory = ? AND key = ?", directory, key);
  }

  #rows(where: string, values: readonly number[], { from, directory, after, limit, nowMs }: Page): Rows {
    const most = Math.min(limit, SCAN_ROWS_MAX);
    const rows = this.#sql
      .exec<Row>(
        `SELECT ${COLUMNS} FROM ${from} WHERE directory = ? AND key > ? AND ${where} ORDER BY key LIMIT ?`,
        directory,
        after,
        ...values,
        most,
      )
      .toArray();
    return { rows: rows.map((row) => entryOf(row, nowMs)), next: rows.length < most ? undefined : rows.at(-1)?.key };
  }
}
