import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../../edge/env.ts";
import { isLate } from "../../../edge/machines/late.ts";
import { systemClock } from "../../../edge/platform.ts";
import { SweepAlarm } from "../../../edge/sweep-alarm.ts";
import type { BeginCall, Begun, CreateRecord, FinishCall, KeptAnswer, KeyEntry } from "../port.ts";
import { type BegunInTime, type IdempotencyRpc, sizeOf, type TimedBegin } from "./keys.ts";

/**
 * Keys of one object. A key takes 0.45 kB on disk with its indexes. 64 objects hold the keys of 740 creates a second, all day.
 */
export const KEYS_MAX = 1_000_000;

/** Keys of one caller in one object: a quarter, so that one caller alone cannot refuse all others. */
export const SCOPE_KEYS_MAX = 250_000;

/** Kept answers of one object, 1 KiB a key. The platform's limit is 10 GB; 64 objects of a self-hosted gateway share one disk. */
export const BYTES_MAX = 2 ** 30;

/** Kept answers of one caller in one object. */
export const SCOPE_BYTES_MAX = 2 ** 28;

/** A twin that is under way ends soon, or else its lease does. */
const RUNNING_RETRY_SECONDS_MAX = 5;

/** Keys that have ended are swept together: each alarm is a request that costs money. */
const SWEEP_MS = 600_000;

/** Keys removed at once: 6 ms and their bodies, for which all other calls wait. */
const SWEEP_KEYS = 1_000;

/** The row of `totals` for all callers. A caller's is hex or empty. */
const ALL = "all";

/** A former version of the gateway may read these after a rollback: only add columns. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS keys (
    key TEXT NOT NULL, scope TEXT NOT NULL, fingerprint TEXT NOT NULL,
    entity TEXT NOT NULL, id TEXT NOT NULL, region TEXT NOT NULL, revision INTEGER NOT NULL,
    started_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL,
    attempt TEXT, attempts INTEGER NOT NULL, lease_until_ms INTEGER NOT NULL,
    status INTEGER, fields_json TEXT, bytes INTEGER NOT NULL, body BLOB,
    PRIMARY KEY (key, scope));
  CREATE INDEX IF NOT EXISTS ends ON keys (until_ms);
  CREATE TABLE IF NOT EXISTS totals (
    scope TEXT PRIMARY KEY, keys INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS key_added AFTER INSERT ON keys BEGIN
    INSERT INTO totals (scope, keys, bytes) VALUES (NEW.scope, 1, NEW.bytes), ('${ALL}', 1, NEW.bytes)
      ON CONFLICT (scope) DO UPDATE SET keys = keys + 1, bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER IF NOT EXISTS key_answered AFTER UPDATE OF bytes ON keys WHEN NEW.bytes <> OLD.bytes BEGIN
    UPDATE totals SET bytes = bytes + NEW.bytes - OLD.bytes WHERE scope IN (NEW.scope, '${ALL}');
  END;
  CREATE TRIGGER IF NOT EXISTS key_removed AFTER DELETE ON keys BEGIN
    UPDATE totals SET keys = keys - 1, bytes = bytes - OLD.bytes WHERE scope IN (OLD.scope, '${ALL}');
    DELETE FROM totals WHERE scope IN (OLD.scope, '${ALL}') AND keys = 0;
  END;
`;

type Row = {
  readonly scope: string;
  readonly fingerprint: string;
  readonly entity: string;
  readonly id: string;
  readonly region: string;
  readonly revision: number;
  readonly started_ms: number;
  readonly until_ms: number;
  /** The attempt that has the key; of a key that a begin made done, the one that did. */
  readonly attempt: string | null;
  readonly attempts: number;
  readonly lease_until_ms: number;
  readonly status: number | null;
  readonly bytes: number;
};

const COLUMNS = `scope, fingerprint, entity, id, region, revision, started_ms, until_ms, attempt, attempts, lease_until_ms,
  status, bytes`;

/**
 * Some of the keys: which, a hash of the key says, so that support finds a key without its caller. Each key is a row.
 *
 * | state   | row                         | `begin`, same request      | `begin`, other request | `finish`, its attempt | time      |
 * |---------|-----------------------------|----------------------------|------------------------|-----------------------|-----------|
 * | absent  | none, or ended              | → running, or done (mints) | the same               | -                     | -         |
 * | running | attempt, lease not over     | refused; its own: again    | mismatch               | → done or open        | lease: open |
 * | open    | no attempt, or lease over   | → running, with the old ID | mismatch               | -                     | → absent  |
 * | done    | status, fields, body        | gives the answer           | mismatch               | -                     | → absent  |
 *
 * A `begin` that comes after its caller gave up changes nothing in any state. A `finish` that is void makes a running key absent, unless an earlier attempt may have reached its origin: then it is open.
 *
 * Each call is one transaction, and nothing in it waits. A crash leaves one of these states, and each leads on by a retry.
 */
export class IdempotencyKeys extends DurableObject<Env> implements IdempotencyRpc {
  readonly #sql: SqlStorage;
  readonly #alarm: SweepAlarm;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.#sql = context.storage.sql;
    this.#sql.exec(SCHEMA);
    this.#alarm = new SweepAlarm(context, SWEEP_MS);
  }

  async begin({ notAfterMs, ...call }: TimedBegin): Promise<BegunInTime> {
    const nowMs = systemClock.nowMs();
    if (isLate(notAfterMs, nowMs)) return { state: "late", nowMs };
    const begun = this.ctx.storage.transactionSync(() => this.#begin(call, nowMs));
    if (begun.state === "started") await this.#alarm.wakeAfter(begun.untilMs, nowMs);
    return begun;
  }

  async finish({ scope, key, attempt, answer, isVoid }: FinishCall): Promise<void> {
    if (isVoid === true) {
      this.#sql.exec(
        "DELETE FROM keys WHERE key = ? AND scope = ? AND attempt = ? AND status IS NULL AND attempts = 1",
        key,
        scope,
        attempt,
      );
    }
    this.#sql.exec(
      `UPDATE keys SET attempt = NULL, status = ?, fields_json = ?, bytes = ?, body = ?
        WHERE key = ? AND scope = ? AND attempt = ? AND status IS NULL`,
      ...(answer === undefined ? NO_ANSWER : valuesOf(answer)),
      key,
      scope,
      attempt,
    );
  }

  async show(key: string): Promise<readonly KeyEntry[]> {
    const nowMs = systemClock.nowMs();
    const rows = this.#sql.exec<Row>(
      `SELECT ${COLUMNS} FROM keys WHERE key = ? AND until_ms > ? ORDER BY started_ms DESC, scope LIMIT ?`,
      key,
      nowMs,
      SHOWN_MAX,
    );
    return Array.from(rows, (row) => ({
      scope: row.scope.slice(0, SHOWN_SCOPE_DIGITS),
      state: row.status !== null ? "done" : isRunning(row, nowMs) ? "running" : "open",
      record: recordOf(row),
      fingerprint: row.fingerprint,
      attempts: row.attempts,
      startedAtMs: row.started_ms,
      untilMs: row.until_ms,
      answer: row.status === null ? undefined : { status: row.status, bytes: row.bytes },
    }));
  }

  override async alarm(): Promise<void> {
    this.#alarm.hasFired();
    const nowMs = systemClock.nowMs();
    const isAll = this.#sweep(nowMs);
    const { next } = this.#sql.exec<{ next: number | null }>("SELECT MIN(until_ms) AS next FROM keys").one();
    if (!isAll) await this.#alarm.wakeAt(nowMs);
    else if (next !== null) await this.#alarm.wakeAfter(next, nowMs);
  }

  #begin(call: BeginCall, nowMs: number): Begun {
    const { scope, key, fingerprint, attempt, leaseMs } = call;
    const row = this.#row(key, scope);
    if (row === undefined || row.until_ms <= nowMs) {
      if (row !== undefined) this.#sql.exec("DELETE FROM keys WHERE key = ? AND scope = ?", key, scope);
      return this.#full(scope, nowMs) ?? this.#insert(call, nowMs);
    }
    const untilMs = row.until_ms;
    if (row.fingerprint !== fingerprint) return { state: "mismatch", untilMs };
    const isOwn = row.attempt === attempt;
    if (row.status !== null) {
      const record = recordOf(row);
      // Made done by this begin, which is repeated because its caller did not hear so.
      if (isOwn) return { state: "started", record, isResumed: row.attempts > 1, untilMs };
      return { state: "done", record, answer: this.#answer(key, scope, row.status), untilMs };
    }
    if (isRunning(row, nowMs) && !isOwn) {
      const leftSeconds = Math.ceil((row.lease_until_ms - nowMs) / 1000);
      return { state: "running", retryAfterSeconds: Math.min(leftSeconds, RUNNING_RETRY_SECONDS_MAX), untilMs };
    }
    if (!isRunning(row, nowMs)) {
      // The key must not end before the attempt: a retry would get another ID meanwhile.
      this.#sql.exec(
        `UPDATE keys SET attempt = ?, attempts = attempts + 1, lease_until_ms = ?, until_ms = MAX(until_ms, ?)
          WHERE key = ? AND scope = ?`,
        attempt,
        nowMs + leaseMs,
        nowMs + leaseMs,
        key,
        scope,
      );
    }
    if (call.answer !== undefined) this.#settle(call, call.answer);
    const taken = this.#row(key, scope) ?? row;
    return { state: "started", record: recordOf(taken), isResumed: taken.attempts > 1, untilMs: taken.until_ms };
  }

  /** A key that ends at once is not written: its begin was a look-up. */
  #insert(call: BeginCall, nowMs: number): Begun {
    const { scope, key, fingerprint, attempt, proposal, answer, ttlMs, leaseMs } = call;
    const { entity, id, region, revision } = proposal;
    const untilMs = nowMs + (ttlMs > 0 ? Math.max(ttlMs, leaseMs) : 0);
    if (ttlMs > 0) {
      this.#sql.exec(
        `INSERT INTO keys (key, scope, fingerprint, entity, id, region, revision, started_ms, until_ms, attempt, attempts,
          lease_until_ms, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, 0)`,
        key,
        scope,
        fingerprint,
        entity,
        id,
        region,
        revision,
        nowMs,
        untilMs,
        attempt,
        nowMs + leaseMs,
      );
      if (answer !== undefined) this.#settle(call, answer);
    }
    return { state: "started", record: proposal, isResumed: false, untilMs };
  }

  /** An answer that is known at the begin brings its own record: no other ID of the key has been seen. */
  #settle({ key, scope, proposal: { entity, id, region, revision } }: BeginCall, answer: KeptAnswer): void {
    this.#sql.exec(
      `UPDATE keys SET status = ?, fields_json = ?, bytes = ?, body = ?, entity = ?, id = ?, region = ?, revision = ?
        WHERE key = ? AND scope = ?`,
      ...valuesOf(answer),
      entity,
      id,
      region,
      revision,
      key,
      scope,
    );
  }

  /** Why no key may be added. Answers of attempts under way may go beyond the limit of bytes: they have begun. */
  #full(scope: string, nowMs: number): Begun | undefined {
    const refusal = () => {
      const totals = this.#sql.exec<{ scope: string; keys: number; bytes: number }>(
        "SELECT scope, keys, bytes FROM totals WHERE scope IN (?, ?)",
        scope,
        ALL,
      );
      for (const total of totals) {
        const [keysMax, bytesMax] = total.scope === ALL ? [KEYS_MAX, BYTES_MAX] : [SCOPE_KEYS_MAX, SCOPE_BYTES_MAX];
        if (total.keys >= keysMax) return { state: "full", max: keysMax, which: "keys" } as const;
        if (total.bytes >= bytesMax) return { state: "full", max: bytesMax, which: "bytes" } as const;
      }
      return undefined;
    };
    if (refusal() === undefined) return undefined;
    // Rows that have ended and are not swept yet make room.
    this.#sweep(nowMs);
    return refusal();
  }

  #row(key: string, scope: string): Row | undefined {
    return this.#sql.exec<Row>(`SELECT ${COLUMNS} FROM keys WHERE key = ? AND scope = ?`, key, scope).toArray()[0];
  }

  #answer(key: string, scope: string, status: number): KeptAnswer {
    const { fields_json, body } = this.#sql
      .exec<{ fields_json: string; body: ArrayBuffer }>(
        "SELECT fields_json, body FROM keys WHERE key = ? AND scope = ?",
        key,
        scope,
      )
      .one();
    return { status, fields: JSON.parse(fields_json), body: new Uint8Array(body) };
  }

  /** Whether no ended key is left. */
  #sweep(nowMs: number): boolean {
    const { rowsWritten } = this.#sql.exec(
      "DELETE FROM keys WHERE rowid IN (SELECT rowid FROM keys WHERE until_ms <= ? ORDER BY until_ms LIMIT ?)",
      nowMs,
      SWEEP_KEYS,
    );
    if (rowsWritten === 0) return true;
    return this.#sql.exec("SELECT 1 FROM keys WHERE until_ms <= ? LIMIT 1", nowMs).toArray().length === 0;
  }
}

/** Entries that one page shows: a key that many callers use is a key of a bad generator. */
const SHOWN_MAX = 100;

const SHOWN_SCOPE_DIGITS = 12;

const isRunning = ({ attempt, lease_until_ms }: Row, nowMs: number): boolean =>
  attempt !== null && lease_until_ms > nowMs;

const recordOf = ({ entity, id, region, revision }: Row): CreateRecord => ({ entity, id, region, revision });

const valuesOf = (answer: KeptAnswer) =>
  [answer.status, JSON.stringify(answer.fields), sizeOf(answer), answer.body] as const;

const NO_ANSWER = [null, null, 0, null] as const;
