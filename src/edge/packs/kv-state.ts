import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock } from "../../ports.ts";
import type { PackHeader, PageInfo } from "../../routing/packs/decode.ts";
import { formatPackFault } from "../../routing/packs/format.ts";
import { packKey, pageKey, readHeader, readPage } from "../../routing/packs/verify.ts";
import { within } from "../table/kv.ts";
import { formatFailure } from "./fetch.ts";
import { subtleSha256 } from "./isolate-packs.ts";

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

export interface PackUploadsDeps {
  readonly rows: PackRows;
  readonly kv: KVNamespace;
  readonly clock: Clock;
}

/** For one part; whoever publishes waits for all of them. */
const READ_DEADLINE_MS = 1_500;

/** A Worker's invocation has six connections at once. */
const READS_AT_ONCE = 6;

/**
 * What KV has taken is not read for so long, since a read soon after a write may find nothing. Later KV shows what it
 * holds, and is asked: keys can be deleted.
 */
const SURE_MS = 600_000;

/** KV's shortest. What is not there is remembered too, and may come soon. */
const CACHE_SECONDS = 30;

export type Bytes = Uint8Array<ArrayBuffer>;

export interface HeaderState {
  readonly header: PackHeader | undefined;
  readonly isInKv: boolean;
  /** Why it is not. */
  readonly why: string;
}

export interface PagesState {
  /** Their numbers, rising. */
  readonly missing: readonly number[];
  /** Of the first one. */
  readonly why: string;
}

/**
 * What KV holds of packs: by what is known on disk, or else read and verified. Errors say what KV did not do. KV may take
 * a part while it is read, and not show it: what was taken since the read began is there, whatever the read found.
 */
export class PackInventory {
  readonly #rows: PackRows;
  readonly #kv: KVNamespace;
  readonly #clock: Clock;

  constructor({ rows, kv, clock }: PackUploadsDeps) {
    this.#rows = rows;
    this.#kv = kv;
    this.#clock = clock;
  }

  /** The header on disk, which may not be in KV yet. */
  async stored(sha256: string): Promise<PackHeader | undefined> {
    const kept = this.#rows.header(sha256);
    const read = kept && (await readHeader(kept.bytes, subtleSha256, sha256));
    return read?.ok ? read.value : undefined;
  }

  async header(sha256: string): Promise<Result<HeaderState, string>> {
    const kept = await this.stored(sha256);
    const knownMs = this.#rows.header(sha256)?.takenMs;
    if (kept !== undefined && this.isSure(knownMs)) {
      return ok({ header: kept, isInKv: true, why: "" });
    }
    const bytes = await this.#get(packKey(sha256));
    if (!bytes.ok) return bytes;
    if (bytes.value === undefined) return ok(await this.#absent(sha256, knownMs, `KV has no ${packKey(sha256)}`));
    const read = await readHeader(bytes.value, subtleSha256, sha256);
    if (!read.ok) return ok(await this.#absent(sha256, knownMs, formatPackFault(read.error)));
    this.#rows.keepHeader(sha256, bytes.value.slice(0, read.value.headerBytes));
    return ok({ header: read.value, isInKv: true, why: "" });
  }

  /** Pages that nobody sent through here are there only if the header is: whoever writes to KV writes it last. */
  async pages(sha256: string, header: PackHeader, isHeaderInKv: boolean): Promise<Result<PagesState, string>> {
    const known = this.#rows.pages(sha256);
    const whys = new Map<number, string>();
    const toRead: PageInfo[] = [];
    for (const info of header.pages) {
      const takenMs = known.get(info.number);
      if (this.isSure(takenMs)) continue;
      if (takenMs !== undefined || isHeaderInKv) toRead.push(info);
      else whys.set(info.number, `KV has no ${pageKey(sha256, info.number)}`);
    }
    const failure = await severalAtOnce(toRead, async (info) => {
      const why = await this.#faultOfPage(sha256, header, info, known.get(info.number));
      if (!why.ok) return why.error;
      if (why.value !== undefined) whys.set(info.number, why.value);
      return undefined;
    });
    if (failure !== undefined) return err(failure);
    const missing = [...whys.keys()].toSorted((a, b) => a - b);
    return ok({ missing, why: whys.get(missing[0] ?? 0) ?? "" });
  }

  isSure(takenMs: number | undefined): boolean {
    const nowMs = this.#clock.nowMs();
    return takenMs !== undefined && nowMs >= takenMs && nowMs < takenMs + SURE_MS;
  }

  /** Of a header that a read did not give. `knownMs`: when KV had taken it, as the read began. */
  async #absent(sha256: string, knownMs: number | undefined, why: string): Promise<HeaderState> {
    this.#rows.loseHeader(sha256, knownMs);
    const header = await this.stored(sha256);
    return { header, isInKv: this.#rows.header(sha256)?.takenMs !== undefined, why };
  }

  /** `undefined`: KV holds it. `knownMs`: when KV had taken it, before the read. */
  async #faultOfPage(
    sha256: string,
    header: PackHeader,
    info: PageInfo,
    knownMs: number | undefined,
  ): Promise<Result<string | undefined, string>> {
    const key = pageKey(sha256, info.number);
    const bytes = await this.#get(key);
    if (!bytes.ok) return bytes;
    const page = bytes.value && (await readPage(header, info, bytes.value, subtleSha256));
    if (page?.ok) {
      this.#rows.findPage(sha256, info.number);
      return ok(undefined);
    }
    this.#rows.dropPage(sha256, info.number, knownMs);
    if (this.#rows.hasPage(sha256, info.number)) return ok(undefined);
    return ok(page === undefined ? `KV has no ${key}` : formatPackFault(page.error));
  }

  async #get(key: string): Promise<Result<Bytes | undefined, string>> {
    const options = { type: "arrayBuffer", cacheTtl: CACHE_SECONDS } as const;
    const part = await within(() => this.#kv.get(key, options), READ_DEADLINE_MS);
    if (!part.ok) return err(`KV did not give ${key}: ${formatFailure(part.error)}`);
    return ok(part.value === null ? undefined : new Uint8Array(part.value));
  }
}

/** Does the work for each item. The first failure ends it. */
async function severalAtOnce<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<string | undefined>,
): Promise<string | undefined> {
  const queue = items.values();
  const failures: string[] = [];
  const runners = Array.from({ length: READS_AT_ONCE }, async () => {
    for (const item of queue) {
      const failure = await work(item);
      if (failure !== undefined) failures.push(failure);
      if (failures.length > 0) return;
    }
  });
  await Promise.all(runners);
  return failures[0];
}
