import { waitUntil } from "cloudflare:workers";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock, Entropy, Packs } from "../../ports.ts";
import type { TableError } from "../../problems/errors.ts";
import type { PageInfo } from "../../routing/packs/decode.ts";
import { formatPackFault, type Sha256 } from "../../routing/packs/format.ts";
import { formatEntryFault, LoadedPack, type MissingPage, type PackSlot } from "../../routing/packs/pack.ts";
import { packKey, pageKey, readHeader, readPage } from "../../routing/packs/verify.ts";
import type { EdgeCache } from "../origins/moved-memory.ts";
import { edgeTableCache } from "../table/edge-cache.ts";
import { COLD_DEADLINE_MS } from "../table/isolate-table.ts";
import { type OpenPart, type PartFailure, packParts, retryBackoff } from "./fetch.ts";
import { pageCache } from "./page-cache.ts";

export interface PacksOptions {
  readonly kv: KVNamespace;
  /** What the isolates of one location share; absent where the platform has no cache. */
  readonly cache: EdgeCache | undefined;
  /** Names the deployment: the cache may be shared with others. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly entropy: Entropy;
  /** The longest time for which a part that failed is not asked for again. */
  readonly retryMsMax: number;
  /** Told of each time that something could not be had. */
  readonly report: (failure: PackFailure) => void;
  /** Keeps a read going when the request that began it is over. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  readonly pageBytesMax?: number;
}

export interface PackFailure {
  readonly pack: string;
  readonly page: number | undefined;
  readonly why: string;
}

/** How long a request waits for a page before it is answered 503. For a header it is no longer than for a first table. */
const PAGE_DEADLINE_MS = 2_000;

/** The memory of the pages, their buckets included. */
const PAGE_BYTES_MAX_DEFAULT = 16 * 1024 * 1024;

/** Headers that are kept: those of the tables in force and of some before. */
const PACKS_RETAINED_MAX = 64;

export const subtleSha256: Sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

/** The packs of an isolate on the platform. */
export const edgePacks = (options: Omit<PacksOptions, "cache" | "waitUntil">): Packs =>
  kvPacks({ ...options, cache: caches.default, waitUntil });

/** The packs of this isolate: headers and pages from the edge's cache or KV, each verified before anything is looked up in it. */
export function kvPacks(options: PacksOptions): Packs {
  const { kv, clock, entropy, report } = options;
  /** By the digest of the header: a pack may be in many revisions of the table. */
  const packs = new Map<string, LoadedPack>();
  const pages = pageCache(options.pageBytesMax ?? PAGE_BYTES_MAX_DEFAULT);
  const waits = retryBackoff({ clock, entropy, intervalMs: options.retryMsMax, deadlineMs: PAGE_DEADLINE_MS });
  const cache = edgeTableCache(options.cache, options.namespace, clock);
  const loadPart = packParts({ kv, cache, clock, waits, waitUntil: options.waitUntil });

  const openHeader =
    (sha256: string): OpenPart =>
    async (bytes) => {
      const header = await readHeader(new Uint8Array(bytes), subtleSha256, sha256);
      if (!header.ok) return err(formatPackFault(header.error));
      if (packs.size >= PACKS_RETAINED_MAX) {
        const [oldest] = packs.keys();
        if (oldest !== undefined) packs.delete(oldest);
      }
      packs.set(sha256, new LoadedPack(header.value));
      return ok(undefined);
    };

  const openPage =
    (pack: LoadedPack, info: PageInfo): OpenPart =>
    async (bytes) => {
      const page = await readPage(pack.header, info, new Uint8Array(bytes), subtleSha256);
      if (!page.ok) return err(formatPackFault(page.error));
      pages.keep(pack, info.number, page.value);
      return ok(undefined);
    };

  /** What no read mends. */
  const broken = (key: string, why: string): Result<never, PartFailure> => {
    const isNew = waits.failed(key, why, false);
    return err({ why, retryAfterMs: waits.of(key)?.retryAfterMs ?? 0, isNew });
  };

  const attachOne = async (slot: PackSlot, waitMs?: number): Promise<Result<LoadedPack, PartFailure>> => {
    const { sha256 } = slot.declared;
    const known = slot.content ?? packs.get(sha256);
    const fetched =
      known === undefined
        ? await loadPart(packKey(sha256), openHeader(sha256), COLD_DEADLINE_MS, waitMs)
        : ok(undefined);
    if (!fetched.ok) return fetched;
    const pack = known ?? packs.get(sha256);
    if (pack === undefined) return broken(`dropped ${sha256}`, "its header was dropped again");
    const attached = slot.content === pack ? ok(undefined) : slot.attach(pack);
    return attached.ok ? ok(pack) : broken(`entry of ${sha256}`, formatEntryFault(attached.error));
  };

  const fail = (pack: string, page: number | undefined, failure: PartFailure): Result<undefined, TableError> => {
    const { why, retryAfterMs, isNew } = failure;
    if (isNew) report({ pack, page, why });
    return err({ reason: "table-unavailable", why: `pack ${pack}: ${why}`, retryAfterMs });
  };

  return {
    async open(table, waitMs) {
      const opened = await Promise.all(
        [...table.packs.values()].map(async (slot) => {
          const attached = await attachOne(slot, waitMs);
          return attached.ok ? ok(undefined) : fail(slot.name, undefined, attached.error);
        }),
      );
      return opened.find((each) => !each.ok) ?? ok(undefined);
    },
    async load(table, { pack: name, page }: MissingPage) {
      const slot = table.packs.get(name);
      if (slot === undefined) return err({ reason: "table-unavailable", why: `the table has no pack ${name}` });
      const pack = await attachOne(slot);
      if (!pack.ok) return fail(name, undefined, pack.error);
      const info = page === undefined ? undefined : pack.value.header.pages[page];
      if (info === undefined || pack.value.page(info.number) !== undefined) return ok(undefined);
      const loaded = await loadPart(
        pageKey(slot.declared.sha256, info.number),
        openPage(pack.value, info),
        PAGE_DEADLINE_MS,
      );
      return loaded.ok ? loaded : fail(name, page, loaded.error);
    },
  };
}
