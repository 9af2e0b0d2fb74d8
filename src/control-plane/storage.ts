import { addColumn } from "../edge/columns.ts";
import type { MadeChange } from "../edge/events/table-changes.ts";
import type { AuditEntry, TableRevision } from "../formats/table-api.ts";
import type { PageQuery, RunningCanary } from "../ports/admin.ts";
import type { Publication } from "./publication.ts";

/** A stored form in KV, and when it was written, Unix ms. */
export type WrittenForm = Readonly<{ key: string; atMs: number }>;

/** State beside the revisions, as JSON on disk. A former version of the code may read it: what it needs stays. */
export interface ControlPlaneState {
  /** KV was compared with the revisions once. Before that the table in force is unknown. */
  readonly ownsKv?: boolean;
  readonly change: number;
  readonly canary: RunningCanary | undefined;
  /** The highest number that KV had from others; the next revision must be above it. */
  readonly foreign: number;
  readonly publication: Publication | undefined;
  /** The last start of a self-hosted gateway whose table was published, or was in force. */
  readonly start?: string;
  /** In KV by this object's word, for the sweep. */
  readonly forms?: readonly WrittenForm[];
}

const NEW_STATE = { change: 0, canary: undefined, foreign: 0, publication: undefined };

/** Revisions whose texts are retained. Their metadata is retained for ever. */
export const BODIES_RETAINED_MAX = 1_000;

/** Retained audit entries of rejected changes, in all and of one author. Entries of applied changes are retained for ever. */
export const REJECTIONS_RETAINED_MAX = 10_000;
export const REJECTIONS_RETAINED_MAX_EACH = 1_000;

/** Equal rejections within this time share one entry: a program in a loop makes one entry a minute. */
const ALIKE_MS = 60_000;

/** A row of SQLite in a Durable Object may have 2 MB. */
const PART_BYTES = 1024 * 1024;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS revisions (
    revision INTEGER PRIMARY KEY, digest TEXT NOT NULL, bytes INTEGER NOT NULL, author TEXT NOT NULL,
    time TEXT NOT NULL, note TEXT NOT NULL, kind TEXT NOT NULL, based_on INTEGER);
  CREATE TABLE IF NOT EXISTS bodies (digest TEXT NOT NULL, part INTEGER NOT NULL, octets BLOB NOT NULL, PRIMARY KEY (digest, part));
  CREATE TABLE IF NOT EXISTS audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, author TEXT NOT NULL, action TEXT NOT NULL,
    revision INTEGER, outcome TEXT NOT NULL, note TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS refusals ON audit (author, action, outcome, time) WHERE outcome <> 'done';
  CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 0), json TEXT NOT NULL);
`;

/** Columns added later. A former version sends clients every column it finds, so their names must differ from members. */
const ADDED_COLUMNS = [
  ["revisions", "audience_json", "TEXT"],
  ["audit", "audience_json", "TEXT"],
  ["audit", "times_alike", "INTEGER"],
  ["audit", "pack_sha256", "TEXT"],
] as const;

type NewEntry = Omit<AuditEntry, "id" | "times">;

/** The tables on disk. Revisions and audit entries are append-only, except for the count of equal rejections. */
export class RevisionStore {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#sql.exec(SCHEMA);
    for (const [table, column, type] of ADDED_COLUMNS) addColumn(this.#sql, table, column, type);
  }

  atomically<Value>(change: () => Value): Value {
    return this.#storage.transactionSync(change);
  }

  state(): ControlPlaneState {
    const [row] = this.#sql.exec<{ json: string }>("SELECT json FROM state").toArray();
    return row === undefined ? NEW_STATE : { ...NEW_STATE, ...(JSON.parse(row.json) as Partial<ControlPlaneState>) };
  }

  save(state: ControlPlaneState): void {
    this.#sql.exec("INSERT OR REPLACE INTO state (id, json) VALUES (0, ?)", JSON.stringify(state));
  }

  /** The highest number in use, canaries included; 0 without revisions. */
  head(): number {
    return this.#sql.exec<{ head: number | null }>("SELECT MAX(revision) AS head FROM revisions").one().head ?? 0;
  }

  lastStable(): TableRevision | undefined {
    return this.#revisions("WHERE kind <> 'canary' ORDER BY revision DESC LIMIT 1")[0];
  }

  revision(revision: number): TableRevision | undefined {
    return this.#revisions("WHERE revision = ?", revision)[0];
  }

  revisions({ before = Number.MAX_SAFE_INTEGER, limit }: PageQuery): readonly TableRevision[] {
    return this.#revisions("WHERE revision < ? ORDER BY revision DESC LIMIT ?", before, limit);
  }

  /** Adds a revision and its text. Drops the text of the oldest revision unless another revision has the same. */
  add(revision: TableRevision, content: Uint8Array): void {
    const { digest, time = "", basedOn: based_on, audience, ...rest } = revision;
    this.#insert("revisions", { ...rest, digest, time, based_on, audience_json: audience && JSON.stringify(audience) });
    for (let part = 0; part * PART_BYTES < content.byteLength; part++) {
      const bytesOfPart = content.slice(part * PART_BYTES, (part + 1) * PART_BYTES);
      this.#sql.exec("INSERT OR IGNORE INTO bodies (digest, part, octets) VALUES (?, ?, ?)", digest, part, bytesOfPart);
    }
    this.#sql.exec(
      `DELETE FROM bodies WHERE digest = (SELECT digest FROM revisions ORDER BY revision DESC LIMIT 1 OFFSET ?1)
       AND digest NOT IN (SELECT digest FROM revisions ORDER BY revision DESC LIMIT ?1)
       AND digest <> (SELECT digest FROM revisions WHERE kind <> 'canary' ORDER BY revision DESC LIMIT 1)`,
      BODIES_RETAINED_MAX,
    );
  }

  body(digest: string): Uint8Array | undefined {
    const parts = this.#sql
      .exec<{ octets: ArrayBuffer }>("SELECT octets FROM bodies WHERE digest = ? ORDER BY part", digest)
      .toArray();
    if (parts.length === 0) return undefined;
    const whole = new Uint8Array(parts.reduce((sum, { octets }) => sum + octets.byteLength, 0));
    for (const [part, { octets }] of parts.entries()) whole.set(new Uint8Array(octets), part * PART_BYTES);
    return whole;
  }

  note(entry: NewEntry): void {
    const isRefused = entry.outcome !== "done";
    if (isRefused && this.#countWithAlike(entry)) return;
    const { audience, pack: pack_sha256, ...rest } = entry;
    this.#insert("audit", { ...rest, audience_json: audience && JSON.stringify(audience), pack_sha256 });
    if (isRefused) this.#dropOldRefusals(entry.author);
  }

  audit({ before = Number.MAX_SAFE_INTEGER, limit }: PageQuery): readonly AuditEntry[] {
    const columns = `id, time, author, outcome, note, action, revision, audience_json AS audience, pack_sha256 AS pack,
      times_alike AS times`;
    return this.#entries(`SELECT ${columns} FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?`, before, limit);
  }

  /** Changes that were made, oldest first: after an entry of the audit or, without one, since a time. */
  changesAfter(id: number | undefined, since: string, limit: number): readonly MadeChange[] {
    return this.#entries(
      `SELECT id, audit.time, audit.author, action, audit.revision, audit.note, audit.audience_json AS audience,
       revisions.based_on AS basedOn FROM audit LEFT JOIN revisions ON revisions.revision = audit.revision
       WHERE outcome = 'done' AND id > ?1 AND (?1 >= 0 OR audit.time >= ?2) ORDER BY id LIMIT ?3`,
      id ?? -1,
      since,
      limit,
    );
  }

  /** Whether there is an entry for it already. */
  #countWithAlike({ time, author, action, outcome }: NewEntry): boolean {
    const since = new Date(Date.parse(time) - ALIKE_MS).toISOString();
    const counted = this.#sql.exec(
      `UPDATE audit SET times_alike = COALESCE(times_alike, 1) + 1 WHERE id = (SELECT MAX(id) FROM audit
       WHERE outcome <> 'done' AND author = ? AND action = ? AND outcome = ? AND time > ?) RETURNING id`,
      author,
      action,
      outcome,
      since,
    );
    return counted.toArray().length > 0;
  }

  #dropOldRefusals(author: string): void {
    const drop = (kept: number, whose: string, ...values: string[]) =>
      this.#sql.exec(
        `DELETE FROM audit WHERE ${whose} AND id <= (SELECT id FROM audit WHERE ${whose} ORDER BY id DESC LIMIT 1 OFFSET ${kept})`,
        ...values,
        ...values,
      );
    drop(REJECTIONS_RETAINED_MAX_EACH, "outcome <> 'done' AND author = ?", author);
    drop(REJECTIONS_RETAINED_MAX, "outcome <> 'done'");
  }

  #revisions(where: string, ...values: number[]): readonly TableRevision[] {
    const columns = "revision, digest, bytes, author, time, note, kind, based_on AS basedOn, audience_json AS audience";
    return this.#entries(`SELECT ${columns} FROM revisions ${where}`, ...values);
  }

  /** Rows with columns of an entry's names; `undefined` for null. */
  #entries<Entry>(query: string, ...values: (number | string)[]): readonly Entry[] {
    const read = (name: string, value: SqlStorageValue) =>
      name === "audience" && value !== null ? JSON.parse(String(value)) : (value ?? undefined);
    return Array.from(this.#sql.exec(query, ...values), (row) => {
      return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, read(name, value)])) as Entry;
    });
  }

  #insert(table: string, row: Readonly<Record<string, SqlStorageValue | undefined>>): void {
    const columns = Object.keys(row);
    this.#sql.exec(
      `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => "?").join()})`,
      ...Object.values(row).map((value) => value ?? null),
    );
  }
}
