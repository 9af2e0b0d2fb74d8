import type { PartStoreFeature } from "../../../control-plane/feature.ts";
import { formatFailure } from "../../../edge/chunks/store.ts";
import { subtleSha256 } from "../../../edge/platform.ts";
import { KV_CACHE_SECONDS, within } from "../../../edge/table/kv.ts";
import type { StoredPack } from "../../../formats/table-api.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { Clock } from "../../../ports/gateway.ts";
import type { TableHistoryError } from "../../../problems/errors.ts";
import type { Fault } from "../../../routing/index.ts";
import type { PackChangeError, PackPartRequest, PackReceipt } from "../port.ts";
import type { PackHeader } from "../table/decode.ts";
import { formatPackFault, type PackFault } from "../table/format.ts";
import { entryFault, formatEntryFault, packKey, pageKey, readHeader, readPage } from "../table/pack.ts";
import type { DeclaredPack } from "../table/schema.ts";
import { declaredPacks } from "../table/schema.ts";

/** An evicted header is read from KV again when it is needed. */
const HEADERS_MAX = 256;

const DEADLINES = {
  /** For one part. A publisher waits for all of them. */
  readDeadlineMs: 1_500,
  /** A client waits for the last page and the header behind it. */
  writeDeadlineMs: 4_000,
};

/** A Worker's invocation has six connections at once. */
const READS_AT_ONCE = 6;

/** A read soon after a write may miss it, so a written part is not read for this long. Later it may have been deleted. */
const SURE_MS = 600_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS packs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, sha256 TEXT NOT NULL UNIQUE, header BLOB NOT NULL, taken_ms INTEGER);
  CREATE TABLE IF NOT EXISTS pack_pages (
    sha256 TEXT NOT NULL, page INTEGER NOT NULL, taken_ms INTEGER NOT NULL, PRIMARY KEY (sha256, page));
`;

type Bytes = Uint8Array<ArrayBuffer>;

/** A page's number, or `HEADER`. */
type Part = number;

const HEADER: Part = -1;

const keyOf = (sha256: string, part: Part): string => (part === HEADER ? packKey(sha256) : pageKey(sha256, part));

export interface PackUploadsOptions extends Partial<typeof DEADLINES> {
  readonly storage: DurableObjectStorage;
  readonly kv: KVNamespace;
  readonly clock: Clock;
}

/** The packs of the tables of a deployment: a pack is in KV before its table comes into force. */
export const packStore: PartStoreFeature = {
  name: "packs",
  open({ storage, kv, clock, record }) {
    const uploads = new PackUploads({ storage, kv, clock });
    const put = async ({ sha256: pack, part, author }: PackPartRequest, bytes: Bytes) => {
      const receipt = await (part === "header" ? uploads.putHeader(pack, bytes) : uploads.putPage(pack, part, bytes));
      const outcome = receipt.ok ? receipt.value.completes && "done" : receipt.error.reason;
      if (outcome) record({ author, action: "pack", outcome, pack });
      return receipt;
    };
    return {
      async faultsOf(text) {
        const faults: Fault[] = [];
        for (const [name, declared] of declaredPacks(text)) {
          // A pack that cannot be read is a fault too.
          const why = await uploads.faultOf(declared);
          if (why === undefined) continue;
          faults.push({ pointer: `/packs/${name}`, kind: "pack", message: `The pack cannot be used: ${why}.` });
        }
        return faults;
      },
      async take(text, readFile, author) {
        for (const [, { sha256 }] of declaredPacks(text)) {
          const stored = await uploads.status(sha256);
          if (!stored.ok || stored.value.complete) continue;
          const header = await readFile(packKey(sha256));
          const begun = header && (await put({ sha256, part: "header", author }, header));
          for (const part of begun?.ok ? (begun.value.pack.missing ?? []) : []) {
            const page = await readFile(pageKey(sha256, part));
            if (page !== undefined) await put({ sha256, part, author }, page);
          }
        }
      },
      calls: {
        packStatus: (sha256: string) => uploads.status(sha256),
        putPackPart: put,
      },
    };
  },
};

/** Parts are verified by the header on disk. KV gets the header after the last page: a reader that has it finds every page. */
export class PackUploads {
  readonly #sql: SqlStorage;
  readonly #options: Required<PackUploadsOptions>;

  constructor(options: PackUploadsOptions) {
    this.#options = { ...DEADLINES, ...options };
    this.#sql = options.storage.sql;
    this.#sql.exec(SCHEMA);
  }

  async status(sha256: string): Promise<Result<StoredPack, TableHistoryError>> {
    const inventory = await this.#inventory(sha256);
    if (!inventory.ok) return unavailable(inventory.error);
    return ok(storedPack(sha256, inventory.value.header, [...inventory.value.missing.keys()]));
  }

  /** The fault of a pack that a table names. Before the table comes into force, KV must have all of it. */
  async faultOf(declared: DeclaredPack): Promise<string | undefined> {
    const inventory = await this.#inventory(declared.sha256);
    if (!inventory.ok) return inventory.error;
    const { header, missing } = inventory.value;
    const entry = header && entryFault(declared, header);
    const [why] = missing.values();
    return entry === undefined ? why : formatEntryFault(entry);
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
    const found = this.#headerBytes(sha256) === undefined ? await this.#findHeader(sha256) : ok(undefined);
    if (!found.ok) return unavailable(found.error);
    const header = await this.#header(sha256);
    if (header === undefined) return unknown(sha256, "its header must be sent before its pages");
    const info = header.pages[number];
    if (info === undefined) return unknown(sha256, `the numbers of its pages are 0 to ${header.pages.length - 1}`);
    const page = await readPage(header, info, bytes, subtleSha256);
    if (!page.ok) return invalid(number, page.error);
    if (this.#isSure(this.#taken(sha256).get(number))) return this.#finish(sha256, header, false, false);
    const put = await this.#put(sha256, number, bytes);
    return put.ok ? this.#finish(sha256, header, true, put.value) : put;
  }

  /** Writes the header to KV when no page is missing. `isNew`: a part was written; `wasMissing`: it was not there before. */
  async #finish(sha256: string, header: PackHeader, isNew: boolean, wasMissing: boolean) {
    const bytes = this.#headerBytes(sha256);
    if (bytes === undefined) return unknown(sha256, "its header is no longer stored; send it again");
    const taken = this.#taken(sha256);
    const missing = header.pages.flatMap(({ number }) => (taken.has(number) ? [] : [number]));
    const isHeaderSure = this.#isSure(taken.get(HEADER));
    if (missing.length > 0 || isHeaderSure) {
      const pack = storedPack(sha256, header, isHeaderSure ? missing : [...missing, HEADER]);
      return ok({ pack, isNew, completes: pack.complete && wasMissing });
    }
    const put = await this.#put(sha256, HEADER, bytes);
    if (!put.ok) return put;
    // A part that came at the same time may have completed the pack.
    const completes = taken.has(HEADER) ? wasMissing : put.value;
    return ok({ pack: storedPack(sha256, header, []), isNew: true, completes });
  }

  /** The parts that KV has, as known on disk, or else read and verified. `missing`: why each is, pages first. An error is of KV. */
  async #inventory(sha256: string) {
    const headerFault = await this.#findHeader(sha256);
    if (!headerFault.ok) return headerFault;
    const header = await this.#header(sha256);
    const missing = new Map<Part, string>();
    const failures: string[] = [];
    const queue = (header?.pages ?? []).values();
    const isHeaderInKv = headerFault.value === undefined;
    const findAll = async (): Promise<void> => {
      for (const info of queue) {
        if (failures.length > 0) return;
        // A page that was not written here is in KV only if the header is: every writer writes that last.
        const mayBeThere = isHeaderInKv || this.#taken(sha256).has(info.number);
        const read = (bytes: Bytes) => readPage(header as PackHeader, info, bytes, subtleSha256);
        const absent = `KV has no ${pageKey(sha256, info.number)}`;
        const fault = mayBeThere ? await this.#find(sha256, info.number, read) : ok(absent);
        if (!fault.ok) failures.push(fault.error);
        else if (fault.value !== undefined) missing.set(info.number, fault.value);
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, findAll));
    if (failures[0] !== undefined) return err(failures[0]);
    const sorted = new Map([...missing].sort(([a], [b]) => a - b));
    if (headerFault.value !== undefined) sorted.set(HEADER, headerFault.value);
    return ok({ header, missing: sorted });
  }

  #findHeader(sha256: string): Promise<Result<string | undefined, string>> {
    return this.#find(sha256, HEADER, async (bytes) => {
      const header = await readHeader(bytes, subtleSha256, sha256);
      if (header.ok) this.#storeHeader(sha256, bytes.slice(0, header.value.headerBytes));
      return header;
    });
  }

  /** Why KV does not have a part; `undefined` when it has it. A part that it takes during the read is there. */
  async #find(sha256: string, part: Part, read: (bytes: Bytes) => Promise<Result<unknown, PackFault>>) {
    const knownMs = this.#taken(sha256).get(part);
    if (this.#isSure(knownMs)) return ok(undefined);
    const { kv, readDeadlineMs } = this.#options;
    const key = keyOf(sha256, part);
    const options = { type: "arrayBuffer", cacheTtl: KV_CACHE_SECONDS } as const;
    const bytes = await within(() => kv.get(key, options), readDeadlineMs);
    if (!bytes.ok) return err(`KV did not give ${key}: ${formatFailure(bytes.error)}`);
    const found = bytes.value === null ? undefined : await read(new Uint8Array(bytes.value));
    const nowMs = this.#taken(sha256).get(part);
    if (found?.ok) {
      // Without a write here, so not at a known time.
      if (nowMs === undefined) this.#record(sha256, part, 0);
      return ok(undefined);
    }
    if (nowMs !== undefined && nowMs !== knownMs) return ok(undefined);
    this.#record(sha256, part, undefined);
    return ok(found === undefined ? `KV has no ${key}` : formatPackFault(found.error));
  }

  /** Whether KV was not known to have the part when it took it. */
  async #put(sha256: string, part: Part, bytes: Bytes | ArrayBuffer): Promise<Result<boolean, TableHistoryError>> {
    const { kv, clock, writeDeadlineMs } = this.#options;
    const key = keyOf(sha256, part);
    const put = await within(() => kv.put(key, bytes), writeDeadlineMs);
    if (!put.ok) return unavailable(`KV did not store ${key}: ${formatFailure(put.error)}`);
    const wasMissing = !this.#taken(sha256).has(part);
    this.#record(sha256, part, clock.nowMs());
    return ok(wasMissing);
  }

  #isSure(takenMs: number | undefined): boolean {
    const nowMs = this.#options.clock.nowMs();
    return takenMs !== undefined && nowMs >= takenMs && nowMs < takenMs + SURE_MS;
  }

  #headerBytes(sha256: string): ArrayBuffer | undefined {
    const rows = this.#sql.exec<{ header: ArrayBuffer }>("SELECT header FROM packs WHERE sha256 = ?", sha256).toArray();
    return rows[0]?.header;
  }

  async #header(sha256: string): Promise<PackHeader | undefined> {
    const bytes = this.#headerBytes(sha256);
    const header = bytes && (await readHeader(new Uint8Array(bytes), subtleSha256, sha256));
    return header?.ok ? header.value : undefined;
  }

  /** Whether it was not known before. */
  #storeHeader(sha256: string, bytes: Bytes): boolean {
    if (this.#headerBytes(sha256) !== undefined) return false;
    this.#sql.exec("INSERT INTO packs (sha256, header) VALUES (?, ?)", sha256, bytes);
    const oldest = "SELECT id FROM packs ORDER BY id DESC LIMIT 1 OFFSET ?";
    this.#sql.exec(`DELETE FROM packs WHERE id <= (${oldest})`, HEADERS_MAX);
    this.#sql.exec("DELETE FROM pack_pages WHERE sha256 NOT IN (SELECT sha256 FROM packs)");
    return true;
  }

  /** When KV took each part that it has as far as is known, Unix ms. */
  #taken(sha256: string): ReadonlyMap<Part, number> {
    const rows = this.#sql.exec(
      `SELECT page, taken_ms FROM pack_pages WHERE sha256 = ?1
       UNION ALL SELECT ${HEADER}, taken_ms FROM packs WHERE sha256 = ?1 AND taken_ms IS NOT NULL`,
      sha256,
    );
    return new Map(rows.raw<[Part, number]>());
  }

  /** `undefined`: KV does not have it. A page without a stored header is not recorded: its row would stay for ever. */
  #record(sha256: string, part: Part, takenMs: number | undefined): void {
    if (part === HEADER) {
      this.#sql.exec("UPDATE packs SET taken_ms = ? WHERE sha256 = ?", takenMs ?? null, sha256);
    } else if (takenMs === undefined) {
      this.#sql.exec("DELETE FROM pack_pages WHERE sha256 = ? AND page = ?", sha256, part);
    } else {
      this.#sql.exec(
        "INSERT OR REPLACE INTO pack_pages (sha256, page, taken_ms) SELECT sha256, ?, ? FROM packs WHERE sha256 = ?",
        part,
        takenMs,
        sha256,
      );
    }
  }
}

const storedPack = (sha256: string, header: PackHeader | undefined, missing: readonly Part[]): StoredPack => ({
  sha256,
  header: header !== undefined,
  pages: header?.pages.length ?? null,
  missing: header ? missing.filter((part) => part !== HEADER) : null,
  complete: header !== undefined && missing.length === 0,
});

const unavailable = (why: string) => err({ reason: "control-plane-unavailable" as const, why });

const unknown = (sha256: string, why: string) => err({ reason: "unknown-pack" as const, sha256, why });

const invalid = (part: "header" | number, fault: PackFault) =>
  err({ reason: "invalid-pack" as const, part, fault: fault.reason, why: formatPackFault(fault) });
