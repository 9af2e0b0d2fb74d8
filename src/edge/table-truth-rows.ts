import type { AuditEntry, RevisionKind, RunningCanary, Stretch, TableRevision } from "../table-ports.ts";
import type { Publication } from "./table-publication.ts";

/** What the truth knows beside its revisions. JSON on disk: a former version may read it, so that members are only ever added. */
export interface TruthState {
  /** Whether KV has been read once: before that, nobody knows what is in force. */
  readonly isBegun: boolean;
  /** Changes made so far. */
  readonly change: number;
  readonly canary: RunningCanary | undefined;
  /** The highest number that KV named and that could not be imported: the next one must be above it. */
  readonly foreign: number;
  readonly publication: Publication | undefined;
}

const NEW_STATE: TruthState = { isBegun: false, change: 0, canary: undefined, foreign: 0, publication: undefined };

/** Texts kept: of so many last revisions. What is known of a revision is kept for ever. */
export const BODIES_KEPT = 1_000;

/** Refused tries kept; what was done is kept for ever. */
const REFUSALS_KEPT = 10_000;

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
  CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 0), json TEXT NOT NULL);
`;

type RevisionRow = {
  revision: number;
  digest: string;
  bytes: number;
  author: string;
  time: string;
  note: string;
  kind: string;
  based_on: number | null;
};

type AuditRow = {
  id: number;
  time: string;
  author: string;
  action: string;
  revision: number | null;
  outcome: string;
  note: string;
};

/** The truth on disk. Revisions and audit entries are added and never changed. */
export class TruthRows {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#sql.exec(SCHEMA);
  }

  /** All that `change` writes, or nothing of it. */
  atomically<Value>(change: () => Value): Value {
    return this.#storage.transactionSync(change);
  }

  state(): TruthState {
    const [row] = this.#sql.exec<{ json: string }>("SELECT json FROM state").toArray();
    return row === undefined ? NEW_STATE : { ...NEW_STATE, ...(JSON.parse(row.json) as Partial<TruthState>) };
  }

  save(state: TruthState): void {
    this.#sql.exec("INSERT OR REPLACE INTO state (id, json) VALUES (0, ?)", JSON.stringify(state));
  }

  /** The highest number given, of a canary too; 0 before the first. */
  head(): number {
    return this.#sql.exec<{ head: number | null }>("SELECT MAX(revision) AS head FROM revisions").one().head ?? 0;
  }

  /** The last one that is no canary. */
  current(): TableRevision | undefined {
    return this.#revisions("WHERE kind <> 'canary' ORDER BY revision DESC LIMIT 1")[0];
  }

  revision(revision: number): TableRevision | undefined {
    return this.#revisions("WHERE revision = ?", revision)[0];
  }

  /** Whether any revision has this text. */
  hasDigest(digest: string): boolean {
    return this.#revisions("WHERE digest = ? LIMIT 1", digest).length > 0;
  }

  revisions({ before = Number.MAX_SAFE_INTEGER, limit }: Stretch): readonly TableRevision[] {
    return this.#revisions("WHERE revision < ? ORDER BY revision DESC LIMIT ?", before, limit);
  }

  /** Adds a revision and its text. The text of one that is too old by now goes, unless another one has the same. */
  add(revision: TableRevision, octets: Uint8Array): void {
    const { digest, bytes, author, time = "", note, kind, basedOn = null } = revision;
    this.#sql.exec(
      "INSERT INTO revisions (revision, digest, bytes, author, time, note, kind, based_on) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ...[revision.revision, digest, bytes, author, time, note, kind, basedOn],
    );
    for (let part = 0; part * PART_BYTES < octets.byteLength; part++) {
      const octetsOfPart = octets.slice(part * PART_BYTES, (part + 1) * PART_BYTES);
      this.#sql.exec(
        "INSERT OR IGNORE INTO bodies (digest, part, octets) VALUES (?, ?, ?)",
        digest,
        part,
        octetsOfPart,
      );
    }
    this.#dropOldBody();
  }

  body(digest: string): Uint8Array | undefined {
    const parts = this.#sql
      .exec<{ octets: ArrayBuffer }>("SELECT octets FROM bodies WHERE digest = ? ORDER BY part", digest)
      .toArray()
      .map(({ octets }) => new Uint8Array(octets));
    if (parts.length === 0) return undefined;
    const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.byteLength;
    }
    return whole;
  }

  note({
    time,
    author,
    action,
    revision = null,
    outcome,
    note,
  }: Omit<AuditEntry, "id" | "revision"> & { readonly revision: number | undefined | null }): void {
    this.#sql.exec(
      "INSERT INTO audit (time, author, action, revision, outcome, note) VALUES (?, ?, ?, ?, ?, ?)",
      ...[time, author, action, revision, outcome, note],
    );
    if (outcome === "done") return;
    this.#sql.exec(
      "DELETE FROM audit WHERE id = (SELECT id FROM audit WHERE outcome <> 'done' ORDER BY id DESC LIMIT 1 OFFSET ?)",
      REFUSALS_KEPT,
    );
  }

  audit({ before = Number.MAX_SAFE_INTEGER, limit }: Stretch): readonly AuditEntry[] {
    return this.#sql
      .exec<AuditRow>("SELECT * FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit)
      .toArray()
      .map((row) => ({ ...row, action: row.action as AuditEntry["action"], revision: row.revision ?? undefined }));
  }

  #revisions(where: string, ...values: (number | string)[]): readonly TableRevision[] {
    return this.#sql
      .exec<RevisionRow>(`SELECT * FROM revisions ${where}`, ...values)
      .toArray()
      .map(({ based_on, kind, ...row }) => ({ ...row, kind: kind as RevisionKind, basedOn: based_on ?? undefined }));
  }

  #dropOldBody(): void {
    this.#sql.exec(
      `DELETE FROM bodies WHERE digest = (SELECT digest FROM revisions ORDER BY revision DESC LIMIT 1 OFFSET ?1)
       AND digest NOT IN (SELECT digest FROM revisions ORDER BY revision DESC LIMIT ?1)
       AND digest <> (SELECT digest FROM revisions WHERE kind <> 'canary' ORDER BY revision DESC LIMIT 1)`,
      BODIES_KEPT,
    );
  }
}
