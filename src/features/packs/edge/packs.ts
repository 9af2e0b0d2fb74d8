import { waitUntil } from "cloudflare:workers";
import {
  CHUNK_DEADLINE_MS,
  type ChunkFailure,
  type ChunkSource,
  type ChunkStoreOptions,
  chunkStore,
} from "../../../edge/chunks/store.ts";
import { setLast, subtleSha256 } from "../../../edge/platform.ts";
import { COLD_DEADLINE_MS } from "../../../edge/table/isolate-table.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { TableError } from "../../../problems/errors.ts";
import type { Packs } from "../port.ts";
import type { PageInfo } from "../table/decode.ts";
import { formatPackFault } from "../table/format.ts";
import { formatEntryFault, LoadedPack, type PackSlot, packKey, pageKey, readHeader, readPage } from "../table/pack.ts";
import { slotsOf } from "../table/slots.ts";

export type PacksOptions = ChunkStoreOptions & { readonly report: (failure: PackFailure) => void };

export type PackFailure = Readonly<{ pack: string; page: number | undefined; why: string }>;

/** Headers of the tables in force and of some before. */
const HEADERS_MAX = 64;

export const edgePacks = (options: Omit<PacksOptions, "cache" | "waitUntil">): Packs =>
  kvPacks({ ...options, cache: caches.default, waitUntil });

export function kvPacks(options: PacksOptions): Packs {
  const store = chunkStore(options);
  /** By the digest of the header: several revisions of the table may name one pack. */
  const packs = new Map<string, LoadedPack>();

  const headerOf = (sha256: string): ChunkSource<LoadedPack> => ({
    key: packKey(sha256),
    // No longer than the first table may take.
    deadlineMs: COLD_DEADLINE_MS,
    async open(bytes) {
      const header = await readHeader(new Uint8Array(bytes), subtleSha256, sha256);
      if (!header.ok) return err(formatPackFault(header.error));
      const pack = new LoadedPack(header.value);
      for (const former of packs.values()) pack.adoptPages(former);
      setLast(packs, sha256, pack, HEADERS_MAX);
      return ok(pack);
    },
  });

  const pageOf = (sha256: string, pack: LoadedPack, info: PageInfo): ChunkSource<undefined> => ({
    key: pageKey(sha256, info.number),
    deadlineMs: options.chunkDeadlineMs ?? CHUNK_DEADLINE_MS,
    async open(bytes) {
      const page = await readPage(pack.header, info, new Uint8Array(bytes), subtleSha256);
      if (!page.ok) return err(formatPackFault(page.error));
      if (pack.pages[info.number] === undefined) {
        store.keep(page.value, () => {
          for (const each of [pack, ...packs.values()]) each.drop(page.value);
        });
        pack.pages[info.number] = page.value;
      }
      return ok(undefined);
    },
  });

  const attach = async (slot: PackSlot, waitMs?: number): Promise<Result<LoadedPack, TableError>> => {
    const { sha256 } = slot.declared;
    const known = slot.content ?? packs.get(sha256);
    // Packs in force stay among the last: their pages are dropped there too.
    if (known !== undefined) setLast(packs, sha256, known, HEADERS_MAX);
    const pack = known === undefined ? await store.load(headerOf(sha256), waitMs) : ok(known);
    if (!pack.ok) return fail(slot.name, undefined, pack.error);
    const attached = slot.content === pack.value ? pack : slot.attach(pack.value);
    if (attached.ok) return pack;
    const why = formatEntryFault(attached.error);
    return fail(slot.name, undefined, store.fail(`entry of ${sha256}`, { why, isOfStore: false }).error);
  };

  const fail = (pack: string, page: number | undefined, failure: ChunkFailure): Result<never, TableError> => {
    const { why, retryAfterMs, isNew } = failure;
    if (isNew) options.report({ pack, page, why });
    return err({ reason: "table-unavailable", why: `pack ${pack}: ${why}`, retryAfterMs });
  };

  return {
    async open(table, waitMs) {
      const opened = await Promise.all(Array.from(slotsOf(table).values(), (slot) => attach(slot, waitMs)));
      return opened.find((each) => !each.ok) ?? ok(undefined);
    },
    async load(table, { pack: name, page }) {
      const slot = slotsOf(table).get(name);
      if (slot === undefined) return err({ reason: "table-unavailable", why: `the table has no pack ${name}` });
      const pack = await attach(slot);
      if (!pack.ok) return pack;
      const info = page === undefined ? undefined : pack.value.header.pages[page];
      if (info === undefined || pack.value.pages[info.number] !== undefined) return ok(undefined);
      const loaded = await store.load(pageOf(slot.declared.sha256, pack.value, info));
      return loaded.ok ? loaded : fail(name, page, loaded.error);
    },
  };
}
