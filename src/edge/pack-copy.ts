import { err, ok, type Result } from "../ids/result.ts";
import type { PackChangeError, TableHistoryError } from "../problems/port-errors.ts";
import { packFaultText } from "../routing/pack/fault-text.ts";
import type { PackFault } from "../routing/pack/format.ts";
import type { PackHeader } from "../routing/pack/header.ts";
import { entryFault, entryFaultText, type PackSlot } from "../routing/pack/slot.ts";
import { packKey, pageKey } from "../routing/pack/store.ts";
import { readHeader, readPage } from "../routing/pack/verify.ts";
import type { PackReceipt, PackSight } from "../table-ports.ts";
import { type Octets, type PackCopyWorld, PackLooks } from "./pack-looks.ts";
import { failureText } from "./pack-parts.ts";
import { subtleSha256 } from "./packs.ts";
import { within } from "./table-store.ts";

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
export class PackCopy {
  readonly #world: PackCopyWorld;
  readonly #looks: PackLooks;

  constructor(world: PackCopyWorld) {
    this.#world = world;
    this.#looks = new PackLooks(world);
  }

  async sight(sha256: string): Promise<Result<PackSight, TableHistoryError>> {
    const look = await this.#looks.header(sha256);
    if (!look.ok) return unavailable(look.error);
    const { header, isInKv } = look.value;
    if (header === undefined) return ok({ sha256, parts: undefined, isWhole: false });
    const pages = await this.#looks.pages(sha256, header, isInKv);
    if (!pages.ok) return unavailable(pages.error);
    return ok(sightOf(sha256, header, pages.value.missing, isInKv));
  }

  async putHeader(sha256: string, octets: Octets): Promise<Result<PackReceipt, PackChangeError>> {
    const header = await readHeader(octets, subtleSha256, sha256);
    if (!header.ok) return invalid("header", header.error);
    const { headerOctets } = header.value;
    if (octets.length > headerOctets) {
      return invalid("header", { reason: "trailing-octets", octets: octets.length, needed: headerOctets });
    }
    const isNew = this.#world.rows.keepHeader(sha256, octets);
    return this.#finish(sha256, header.value, { isNew, wasMissing: isNew });
  }

  async putPage(sha256: string, number: number, octets: Octets): Promise<Result<PackReceipt, PackChangeError>> {
    const { rows, clock } = this.#world;
    const known = await this.#knownHeader(sha256);
    if (!known.ok) return unavailable(known.error);
    const header = known.value;
    if (header === undefined) return unknown(sha256, "its header has to come before its pages");
    const info = header.pages[number];
    if (info === undefined) return unknown(sha256, `the numbers of its pages are 0 to ${header.pages.length - 1}`);
    const page = await readPage(header, info, octets, subtleSha256);
    if (!page.ok) return invalid(number, page.error);
    const isNew = !this.#looks.isSure(rows.pages(sha256).get(number));
    if (!isNew) return this.#finish(sha256, header, { isNew, wasMissing: false });
    const put = await this.#put(pageKey(sha256, number), octets);
    if (!put.ok) return put;
    // Others may have brought it meanwhile.
    const wasMissing = !rows.hasPage(sha256, number);
    rows.takePage(sha256, number, clock.nowMs());
    return this.#finish(sha256, header, { isNew, wasMissing });
  }

  /** What is wrong with the pack that a table names: it must be there, whole and as the table says, before that table comes into force. */
  async faultOf(slot: PackSlot): Promise<string | undefined> {
    const { sha256 } = slot.declared;
    const look = await this.#looks.header(sha256);
    if (!look.ok) return look.error;
    const { header, isInKv, why } = look.value;
    if (header === undefined) return why;
    const entry = entryFault(slot.declared, header);
    if (entry !== undefined) return entryFaultText(entry);
    const pages = await this.#looks.pages(sha256, header, isInKv);
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
    const { rows, clock } = this.#world;
    const known = rows.pages(sha256);
    const missing = header.pages.map(({ number }) => number).filter((number) => !known.has(number));
    const kept = rows.header(sha256);
    if (kept === undefined) return unknown(sha256, "its header is no longer kept, and has to come again");
    const isHeld = this.#looks.isSure(kept.takenMs);
    if (missing.length > 0 || isHeld) {
      const completes = missing.length === 0 && wasMissing;
      return ok({ sight: sightOf(sha256, header, missing, isHeld), isNew, completes });
    }
    const put = await this.#put(packKey(sha256), kept.octets);
    if (!put.ok) return put;
    // Another part that came at the same time may have put it as well.
    const completes = kept.takenMs === undefined ? rows.header(sha256)?.takenMs === undefined : wasMissing;
    rows.takeHeader(sha256, clock.nowMs());
    return ok({ sight: sightOf(sha256, header, missing, true), isNew: true, completes });
  }

  /** The header on disk, or else the one in KV. */
  async #knownHeader(sha256: string): Promise<Result<PackHeader | undefined, string>> {
    const kept = await this.#looks.kept(sha256);
    if (kept !== undefined) return ok(kept);
    const look = await this.#looks.header(sha256);
    return look.ok ? ok(look.value.header) : look;
  }

  async #put(key: string, octets: Octets): Promise<Result<undefined, TableHistoryError>> {
    const put = await within(() => this.#world.kv.put(key, octets), WRITE_DEADLINE_MS);
    return put.ok ? ok(undefined) : unavailable(`KV did not take ${key}: ${failureText(put.error)}`);
  }
}

const sightOf = (
  sha256: string,
  { pages }: PackHeader,
  missing: readonly number[],
  isHeaderInKv: boolean,
): PackSight => ({
  sha256,
  parts: { pages: pages.length, missing },
  isWhole: isHeaderInKv && missing.length === 0,
});

const unavailable = (why: string) => err({ reason: "control-plane-unavailable" as const, why });

const unknown = (sha256: string, why: string) => err({ reason: "unknown-pack" as const, sha256, why });

const invalid = (part: "header" | number, fault: PackFault) =>
  err({ reason: "invalid-pack" as const, part, fault: fault.reason, why: packFaultText(fault) });
