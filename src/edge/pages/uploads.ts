import type { PackReceipt, PackStatus } from "../../admin-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock } from "../../ports.ts";
import type { PackChangeError, TableHistoryError } from "../../problems/errors.ts";
import type { PackHeader, PageInfo } from "../../routing/packs/decode.ts";
import { formatPackFault, type PackFault } from "../../routing/packs/format.ts";
import { entryFault, formatEntryFault, type PackSlot } from "../../routing/packs/pack.ts";
import { packKey, pageKey, readHeader, readPage } from "../../routing/packs/verify.ts";
import { KV_CACHE_SECONDS, within } from "../table/kv.ts";
import { subtleSha256 } from "./packs.ts";
import { formatFailure } from "./store.ts";

/** An evicted header is read from KV again when it is needed. */
const HEADERS_MAX = 256;

/** A client waits for the last page and the header behind it. */
const WRITE_DEADLINE_MS = 4_000;

/** For one part. A publisher waits for all of them. */
const READ_DEADLINE_MS = 1_500;

/** A Worker's invocation has six connections at once. */
const READS_AT_ONCE = 6;

/** A read soon after a write may miss it, so a written part is not read for this long. Later it may have been deleted. */
const SURE_MS = 600_000;

/** A page that KV was found to have without being written here. */
const FOUND_MS = 0;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS packs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, sha256 TEXT NOT NULL UNIQUE, header BLOB NOT NULL, taken_ms INTEGER);
  CREATE TABLE IF NOT EXISTS pack_pages (
    sha256 TEXT NOT NULL, page INTEGER NOT NULL, taken_ms INTEGER NOT NULL, PRIMARY KEY (sha256, page));
`;

type Bytes = Uint8Array<ArrayBuffer>;

interface HeaderRow {
  readonly header: ArrayBuffer;
  /** When KV took it, Unix ms; null when it did not, or lost it. */
  readonly taken_ms: number | null;
}

/** What KV has of a pack. */
interface Inventory {
  /** `undefined`: known neither here nor in KV. */
  readonly header: PackHeader | undefined;
  /** Why each page that is missing is missing, by rising number. */
  readonly missing: ReadonlyMap<number, string>;
  /** Why the header is not in KV; `undefined` when it is. */
  readonly headerFault: string | undefined;
}

export interface PackUploadsDeps {
  readonly storage: DurableObjectStorage;
  readonly kv: KVNamespace;
  readonly clock: Clock;
}

/**
 * Uploads of packs to KV, and what KV has of them. Every upload passes through this one object and is verified by the header
 * on disk, never by what KV shows just after a write. The header is written to KV after the last page, so that a reader
 * that has the header finds every page.
 */
export class PackUploads {
  readonly #sql: SqlStorage;
  readonly #kv: KVNamespace;
  readonly #clock: Clock;

  constructor({ storage, kv, clock }: PackUploadsDeps) {
    this.#sql = storage.sql;
    this.#kv = kv;
    this.#clock = clock;
    this.#sql.exec(SCHEMA);
  }

  async status(sha256: string): Promise<Result<PackStatus, TableHistoryError>> {
    const inventory = await this.#inventory(sha256);
    if (!inventory.ok) return unavailable(inventory.error);
    const { header, missing, headerFault } = inventory.value;
    if (header === undefined) return ok({ sha256, parts: undefined, isWhole: false });
    return ok(statusOf(sha256, header, [...missing.keys()], headerFault === undefined));
  }

  /** What is wrong with a pack that a table names. Before the table comes into force, KV must have all of it. */
  async faultOf({ declared }: PackSlot): Promise<string | undefined> {
    const inventory = await this.#inventory(declared.sha256);
    if (!inventory.ok) return inventory.error;
    const { header, missing, headerFault } = inventory.value;
    const entry = header && entryFault(declared, header);
    if (entry !== undefined) return formatEntryFault(entry);
    const [why] = missing.values();
    return why ?? headerFault;
  }

  async putHeader(sha256: string, bytes: Bytes): Promise<Result<PackReceipt, PackChangeError>> {
    const header = await readHeader(bytes, subtleSha256, sha256);
    if (!header.ok) return invalid("header", header.error);
    const { headerBytes } = header.value;
    if (bytes.length > headerBytes) {
      return invalid("header", { reason: "trailing-octets", bytes: bytes.length, needed: headerBytes });
    }
    const isNew = this.#storeHeader(sha256, bytes);
    return this.#finish(sha256, header.value, isNew, isNew);
  }

  async putPage(sha256: string, number: number, bytes: Bytes): Promise<Result<PackReceipt, PackChangeError>> {
    const stored = await this.#storedHeader(sha256);
    const found = stored === undefined ? await this.#readHeader(sha256) : ok({ header: stored });
    if (!found.ok) return unavailable(found.error);
    const { header } = found.value;
    if (header === undefined) return unknown(sha256, "its header has to come before its pages");
    const info = header.pages[number];
    if (info === undefined) return unknown(sha256, `the numbers of its pages are 0 to ${header.pages.length - 1}`);
    const page = await readPage(header, info, bytes, subtleSha256);
    if (!page.ok) return invalid(number, page.error);
    if (this.#isSure(this.#pages(sha256).get(number))) return this.#finish(sha256, header, false, false);
    const put = await this.#put(pageKey(sha256, number), bytes);
    if (!put.ok) return put;
    // Another upload of the page may have ended meanwhile.
    const wasMissing = !this.#pages(sha256).has(number);
    this.#takePage("REPLACE", sha256, number, this.#clock.nowMs());
    return this.#finish(sha256, header, true, wasMissing);
  }

  /** Writes the header to KV when no page is missing. `isNew`: a part was written; `wasMissing`: it was not in KV before. */
  async #finish(
    sha256: string,
    header: PackHeader,
    isNew: boolean,
    wasMissing: boolean,
  ): Promise<Result<PackReceipt, PackChangeError>> {
    const pages = this.#pages(sha256);
    const missing = header.pages.flatMap(({ number }) => (pages.has(number) ? [] : [number]));
    const row = this.#headerRow(sha256);
    if (row === undefined) return unknown(sha256, "its header is no longer kept, and has to come again");
    const isInKv = this.#isSure(row.taken_ms);
    if (missing.length > 0 || isInKv) {
      const completes = missing.length === 0 && wasMissing;
      return ok({ status: statusOf(sha256, header, missing, isInKv), isNew, completes });
    }
    const put = await this.#put(packKey(sha256), row.header);
    if (!put.ok) return put;
    // A part that came at the same time may have written it as well.
    const completes = row.taken_ms === null ? this.#headerRow(sha256)?.taken_ms === null : wasMissing;
    this.#sql.exec("UPDATE packs SET taken_ms = ? WHERE sha256 = ?", this.#clock.nowMs(), sha256);
    return ok({ status: statusOf(sha256, header, missing, true), isNew: true, completes });
  }

  /**
   * By what is known on disk, or else read and verified. An error says what KV failed to do. A part that KV takes during
   * the read is there, whatever the read finds.
   */
  async #inventory(sha256: string): Promise<Result<Inventory, string>> {
    const found = await this.#readHeader(sha256);
    if (!found.ok) return found;
    const { header, headerFault } = found.value;
    const missing = new Map<number, string>();
    if (header === undefined) return ok({ header, missing, headerFault });
    const known = this.#pages(sha256);
    const toRead = header.pages.filter(({ number }) => {
      const takenMs = known.get(number);
      // A page that was not written here is in KV only if the header is: every writer writes that last.
      if (takenMs !== undefined || headerFault === undefined) return !this.#isSure(takenMs);
      missing.set(number, `KV has no ${pageKey(sha256, number)}`);
      return false;
    });
    const failures: string[] = [];
    const queue = toRead.values();
    const readAll = async (): Promise<void> => {
      for (const info of queue) {
        const fault = await this.#faultOfPage(sha256, header, info, known.get(info.number));
        if (!fault.ok) failures.push(fault.error);
        else if (fault.value !== undefined) missing.set(info.number, fault.value);
        if (failures.length > 0) return;
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, readAll));
    if (failures[0] !== undefined) return err(failures[0]);
    return ok({ header, missing: new Map([...missing].sort(([a], [b]) => a - b)), headerFault });
  }

  async #readHeader(sha256: string): Promise<Result<Pick<Inventory, "header" | "headerFault">, string>> {
    const stored = await this.#storedHeader(sha256);
    const knownMs = this.#headerRow(sha256)?.taken_ms ?? null;
    if (stored !== undefined && this.#isSure(knownMs)) return ok({ header: stored, headerFault: undefined });
    const bytes = await this.#get(packKey(sha256));
    if (!bytes.ok) return bytes;
    const read = bytes.value && (await readHeader(bytes.value, subtleSha256, sha256));
    if (read?.ok) {
      this.#storeHeader(sha256, (bytes.value as Bytes).slice(0, read.value.headerBytes));
      return ok({ header: read.value, headerFault: undefined });
    }
    // Only if KV has not taken it since the read began.
    this.#sql.exec("UPDATE packs SET taken_ms = NULL WHERE sha256 = ? AND taken_ms IS ?", sha256, knownMs);
    const header = await this.#storedHeader(sha256);
    const why = read === undefined ? `KV has no ${packKey(sha256)}` : formatPackFault(read.error);
    return ok({ header, headerFault: (this.#headerRow(sha256)?.taken_ms ?? null) === null ? why : undefined });
  }

  /** `undefined`: KV has the page. `knownMs`: when it took it, as known before the read. */
  async #faultOfPage(
    sha256: string,
    header: PackHeader,
    info: PageInfo,
    knownMs: number | undefined,
  ): Promise<Result<string | undefined, string>> {
    const { number } = info;
    const key = pageKey(sha256, number);
    const bytes = await this.#get(key);
    if (!bytes.ok) return bytes;
    const page = bytes.value && (await readPage(header, info, bytes.value, subtleSha256));
    if (page?.ok) {
      this.#takePage("IGNORE", sha256, number, FOUND_MS);
      return ok(undefined);
    }
    // Only if KV has not taken it since the read began.
    this.#sql.exec(
      "DELETE FROM pack_pages WHERE sha256 = ? AND page = ? AND taken_ms IS ?",
      ...[sha256, number, knownMs ?? null],
    );
    if (this.#pages(sha256).has(number)) return ok(undefined);
    return ok(page === undefined ? `KV has no ${key}` : formatPackFault(page.error));
  }

  async #get(key: string): Promise<Result<Bytes | undefined, string>> {
    const options = { type: "arrayBuffer", cacheTtl: KV_CACHE_SECONDS } as const;
    const bytes = await within(() => this.#kv.get(key, options), READ_DEADLINE_MS);
    if (!bytes.ok) return err(`KV did not give ${key}: ${formatFailure(bytes.error)}`);
    return ok(bytes.value === null ? undefined : new Uint8Array(bytes.value));
  }

  async #put(key: string, bytes: Bytes | ArrayBuffer): Promise<Result<undefined, TableHistoryError>> {
    const put = await within(() => this.#kv.put(key, bytes), WRITE_DEADLINE_MS);
    return put.ok ? ok(undefined) : unavailable(`KV did not take ${key}: ${formatFailure(put.error)}`);
  }

  #isSure(takenMs: number | null | undefined): boolean {
    const nowMs = this.#clock.nowMs();
    return typeof takenMs === "number" && nowMs >= takenMs && nowMs < takenMs + SURE_MS;
  }

  #headerRow(sha256: string): HeaderRow | undefined {
    const rows = this.#sql.exec("SELECT header, taken_ms FROM packs WHERE sha256 = ?", sha256).toArray();
    return rows[0] as HeaderRow | undefined;
  }

  async #storedHeader(sha256: string): Promise<PackHeader | undefined> {
    const row = this.#headerRow(sha256);
    const header = row && (await readHeader(new Uint8Array(row.header), subtleSha256, sha256));
    return header?.ok ? header.value : undefined;
  }

  /** Whether it was not known before. */
  #storeHeader(sha256: string, bytes: Bytes): boolean {
    const isNew = this.#headerRow(sha256) === undefined;
    this.#sql.exec("INSERT OR IGNORE INTO packs (sha256, header) VALUES (?, ?)", sha256, bytes);
    const oldest = "SELECT id FROM packs ORDER BY id DESC LIMIT -1 OFFSET ?";
    this.#sql.exec(
      `DELETE FROM pack_pages WHERE sha256 IN (SELECT sha256 FROM packs WHERE id IN (${oldest}))`,
      HEADERS_MAX,
    );
    this.#sql.exec(`DELETE FROM packs WHERE id IN (${oldest})`, HEADERS_MAX);
    return isNew;
  }

  /** When KV took each page that it has as far as is known, by number. */
  #pages(sha256: string): ReadonlyMap<number, number> {
    const rows = this.#sql.exec<{ page: number; taken_ms: number }>(
      "SELECT page, taken_ms FROM pack_pages WHERE sha256 = ?",
      sha256,
    );
    return new Map(Array.from(rows, ({ page, taken_ms }) => [page, taken_ms]));
  }

  /** Only while the header is stored: pages are deleted with it, and a later row would stay for ever. */
  #takePage(onConflict: "REPLACE" | "IGNORE", sha256: string, page: number, takenMs: number): void {
    this.#sql.exec(
      `INSERT OR ${onConflict} INTO pack_pages (sha256, page, taken_ms) SELECT sha256, ?, ? FROM packs WHERE sha256 = ?`,
      ...[page, takenMs, sha256],
    );
  }
}

const statusOf = (
  sha256: string,
  { pages }: PackHeader,
  missing: readonly number[],
  isHeaderInKv: boolean,
): PackStatus => ({
  sha256,
  parts: { pages: pages.length, missing },
  isWhole: isHeaderInKv && missing.length === 0,
});

const unavailable = (why: string) => err({ reason: "control-plane-unavailable" as const, why });

const unknown = (sha256: string, why: string) => err({ reason: "unknown-pack" as const, sha256, why });

const invalid = (part: "header" | number, fault: PackFault) =>
  err({ reason: "invalid-pack" as const, part, fault: fault.reason, why: formatPackFault(fault) });
