/** Headers kept: those of the packs in use and of many before. What is dropped is read from KV again when it is needed. */
const PACKS_RETAINED_MAX = 256;

/** Of a part that KV was found to hold, and that did not come through here. */
const NOT_TAKEN_MS = 0;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS packs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, sha256 TEXT NOT NULL UNIQUE, header BLOB NOT NULL, taken_ms INTEGER);
  CREATE TABLE IF NOT EXISTS pack_pages (
    sha256 TEXT NOT NULL, page INTEGER NOT NULL, taken_ms INTEGER NOT NULL, PRIMARY KEY (sha256, page));
`;

export interface StoredHeader {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** When KV took it last, Unix ms; `undefined` where it did not, or lost it. */
  readonly takenMs: number | undefined;
}

/** What is known on disk of packs in KV: verified headers, and when KV took each part. */
export class PackRows {
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
    this.#sql.exec(SCHEMA);
  }

  header(sha256: string): StoredHeader | undefined {
    const [row] = this.#sql
      .exec<{ header: ArrayBuffer; taken_ms: number | null }>(
        "SELECT header, taken_ms FROM packs WHERE sha256 = ?",
        sha256,
      )
      .toArray();
    return row && { bytes: new Uint8Array(row.header), takenMs: row.taken_ms ?? undefined };
  }

  /** Whether it was not known before. */
  keepHeader(sha256: string, bytes: Uint8Array): boolean {
    const isNew = this.header(sha256) === undefined;
    this.#sql.exec("INSERT OR IGNORE INTO packs (sha256, header) VALUES (?, ?)", sha256, bytes);
    const [oldest] = this.#sql
      .exec<{ sha256: string }>("SELECT sha256 FROM packs ORDER BY id DESC LIMIT 1 OFFSET ?", PACKS_RETAINED_MAX)
      .toArray();
    if (oldest !== undefined) {
      this.#sql.exec("DELETE FROM packs WHERE sha256 = ?", oldest.sha256);
      this.#sql.exec("DELETE FROM pack_pages WHERE sha256 = ?", oldest.sha256);
    }
    return isNew;
  }

  takeHeader(sha256: string, takenMs: number): void {
    this.#sql.exec("UPDATE packs SET taken_ms = ? WHERE sha256 = ?", takenMs, sha256);
  }

  /** Does nothing where KV took it at another time than `knownMs`: what was read before tells nothing of that. */
  loseHeader(sha256: string, knownMs: number | undefined): void {
    this.#sql.exec("UPDATE packs SET taken_ms = NULL WHERE sha256 = ? AND taken_ms IS ?", ...[sha256, knownMs ?? null]);
  }

  /** The pages that KV holds as far as is known: when it took each, by number. */
  pages(sha256: string): ReadonlyMap<number, number> {
    const rows = this.#sql
      .exec<{ page: number; taken_ms: number }>("SELECT page, taken_ms FROM pack_pages WHERE sha256 = ?", sha256)
      .toArray();
    return new Map(rows.map(({ page, taken_ms }) => [page, taken_ms]));
  }

  hasPage(sha256: string, page: number): boolean {
    const rows = this.#sql.exec("SELECT 1 FROM pack_pages WHERE sha256 = ? AND page = ?", sha256, page).toArray();
    return rows.length > 0;
  }

  /** Of a pack whose header is kept: pages go when their header goes, and one that came later would stay for ever. */
  takePage(sha256: string, page: number, takenMs: number): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO pack_pages (sha256, page, taken_ms) SELECT sha256, ?, ? FROM packs WHERE sha256 = ?",
      ...[page, takenMs, sha256],
    );
  }

  /** As `takePage`, where nothing is known of the page. */
  findPage(sha256: string, page: number): void {
    this.#sql.exec(
      "INSERT OR IGNORE INTO pack_pages (sha256, page, taken_ms) SELECT sha256, ?, ? FROM packs WHERE sha256 = ?",
      ...[page, NOT_TAKEN_MS, sha256],
    );
  }

  /** As `loseHeader`. */
  dropPage(sha256: string, page: number, knownMs: number | undefined): void {
    this.#sql.exec(
      "DELETE FROM pack_pages WHERE sha256 = ? AND page = ? AND taken_ms IS ?",
      ...[sha256, page, knownMs ?? null],
    );
  }
}
