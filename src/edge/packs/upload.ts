import type { PackReceipt, PackStatus } from "../../admin-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { PackChangeError, TableHistoryError } from "../../problems/errors.ts";
import type { PackHeader } from "../../routing/packs/decode.ts";
import { formatPackFault, type PackFault } from "../../routing/packs/format.ts";
import { entryFault, formatEntryFault, type PackSlot } from "../../routing/packs/pack.ts";
import { packKey, pageKey, readHeader, readPage } from "../../routing/packs/verify.ts";
import { within } from "../table/kv.ts";
import { formatFailure } from "./fetch.ts";
import { subtleSha256 } from "./isolate-packs.ts";
import { type Bytes, PackInventory, type PackUploadsDeps } from "./kv-state.ts";

/** Of a part that KV has: `isNew`, whether it was put now; `wasMissing`, whether it was known not to be there. */
interface PutPart {
  readonly isNew: boolean;
  readonly wasMissing: boolean;
}

/** The last page of a pack is followed by its header, and a client waits for both. */
const WRITE_DEADLINE_MS = 4_000;

/**
 * The packs in KV, as the one place knows them that all uploads pass through. Each part is verified here before KV gets it, by the
 * header on disk: nothing depends on reading from KV what was just written. The header goes to KV when KV has every page, so that who
 * sees it sees them all, and nobody asks KV for a page that is not there yet.
 */
export class PackUploads {
  readonly #deps: PackUploadsDeps;
  readonly #inventory: PackInventory;

  constructor(deps: PackUploadsDeps) {
    this.#deps = deps;
    this.#inventory = new PackInventory(deps);
  }

  async status(sha256: string): Promise<Result<PackStatus, TableHistoryError>> {
    const found = await this.#inventory.header(sha256);
    if (!found.ok) return unavailable(found.error);
    const { header, isInKv } = found.value;
    if (header === undefined) return ok({ sha256, parts: undefined, isWhole: false });
    const pages = await this.#inventory.pages(sha256, header, isInKv);
    if (!pages.ok) return unavailable(pages.error);
    return ok(statusOf(sha256, header, pages.value.missing, isInKv));
  }

  async putHeader(sha256: string, bytes: Bytes): Promise<Result<PackReceipt, PackChangeError>> {
    const header = await readHeader(bytes, subtleSha256, sha256);
    if (!header.ok) return invalid("header", header.error);
    const { headerBytes } = header.value;
    if (bytes.length > headerBytes) {
      return invalid("header", { reason: "trailing-octets", bytes: bytes.length, needed: headerBytes });
    }
    const isNew = this.#deps.rows.keepHeader(sha256, bytes);
    return this.#finish(sha256, header.value, { isNew, wasMissing: isNew });
  }

  async putPage(sha256: string, number: number, bytes: Bytes): Promise<Result<PackReceipt, PackChangeError>> {
    const { rows, clock } = this.#deps;
    const known = await this.#knownHeader(sha256);
    if (!known.ok) return unavailable(known.error);
    const header = known.value;
    if (header === undefined) return unknown(sha256, "its header has to come before its pages");
    const info = header.pages[number];
    if (info === undefined) return unknown(sha256, `the numbers of its pages are 0 to ${header.pages.length - 1}`);
    const page = await readPage(header, info, bytes, subtleSha256);
    if (!page.ok) return invalid(number, page.error);
    const isNew = !this.#inventory.isSure(rows.pages(sha256).get(number));
    if (!isNew) return this.#finish(sha256, header, { isNew, wasMissing: false });
    const put = await this.#put(pageKey(sha256, number), bytes);
    if (!put.ok) return put;
    // Others may have brought it meanwhile.
    const wasMissing = !rows.hasPage(sha256, number);
    rows.takePage(sha256, number, clock.nowMs());
    return this.#finish(sha256, header, { isNew, wasMissing });
  }

  /** What is wrong with the pack that a table names: it must be there, whole and as the table says, before that table comes into force. */
  async faultOf(slot: PackSlot): Promise<string | undefined> {
    const { sha256 } = slot.declared;
    const found = await this.#inventory.header(sha256);
    if (!found.ok) return found.error;
    const { header, isInKv, why } = found.value;
    if (header === undefined) return why;
    const entry = entryFault(slot.declared, header);
    if (entry !== undefined) return formatEntryFault(entry);
    const pages = await this.#inventory.pages(sha256, header, isInKv);
    if (!pages.ok) return pages.error;
    if (pages.value.missing.length > 0) return pages.value.why;
    return isInKv ? undefined : why;
  }

  /** Puts the header as well when no page is missing. */
  async #finish(
    sha256: string,
    header: PackHeader,
    { isNew, wasMissing }: PutPart,
  ): Promise<Result<PackReceipt, PackChangeError>> {
    const { rows, clock } = this.#deps;
    const known = rows.pages(sha256);
    const missing = header.pages.map(({ number }) => number).filter((number) => !known.has(number));
    const kept = rows.header(sha256);
    if (kept === undefined) return unknown(sha256, "its header is no longer kept, and has to come again");
    const isHeld = this.#inventory.isSure(kept.takenMs);
    if (missing.length > 0 || isHeld) {
      const completes = missing.length === 0 && wasMissing;
      return ok({ status: statusOf(sha256, header, missing, isHeld), isNew, completes });
    }
    const put = await this.#put(packKey(sha256), kept.bytes);
    if (!put.ok) return put;
    // Another part that came at the same time may have put it as well.
    const completes = kept.takenMs === undefined ? rows.header(sha256)?.takenMs === undefined : wasMissing;
    rows.takeHeader(sha256, clock.nowMs());
    return ok({ status: statusOf(sha256, header, missing, true), isNew: true, completes });
  }

  /** The header on disk, or else the one in KV. */
  async #knownHeader(sha256: string): Promise<Result<PackHeader | undefined, string>> {
    const kept = await this.#inventory.stored(sha256);
    if (kept !== undefined) return ok(kept);
    const found = await this.#inventory.header(sha256);
    return found.ok ? ok(found.value.header) : found;
  }

  async #put(key: string, bytes: Bytes): Promise<Result<undefined, TableHistoryError>> {
    const put = await within(() => this.#deps.kv.put(key, bytes), WRITE_DEADLINE_MS);
    return put.ok ? ok(undefined) : unavailable(`KV did not take ${key}: ${formatFailure(put.error)}`);
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
