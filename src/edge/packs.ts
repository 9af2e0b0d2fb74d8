import { err, ok, type Result } from "../ids/result.ts";
import type { Clock, Packs } from "../ports.ts";
import type { TableError } from "../problems/port-errors.ts";
import { packFaultText } from "../routing/pack/fault-text.ts";
import type { Sha256 } from "../routing/pack/format.ts";
import type { PageInfo } from "../routing/pack/header.ts";
import { LoadedPack } from "../routing/pack/pack.ts";
import { entryFaultText, type MissingPage, type PackSlot } from "../routing/pack/slot.ts";
import { packKey, pageKey } from "../routing/pack/store.ts";
import { readHeader, readPage } from "../routing/pack/verify.ts";
import { keptPages } from "./kept-pages.ts";
import { type LoadFailure, within } from "./table-store.ts";

export interface PacksOptions {
  readonly kv: KVNamespace;
  readonly clock: Clock;
  /** Told of everything that could not be had. */
  readonly report: (failure: PackFailure) => void;
  readonly pageOctetsMax?: number;
}

export interface PackFailure {
  readonly pack: string;
  readonly page: number | undefined;
  readonly why: string;
}

/** How long a request waits for a page before it is answered 503. */
const DEADLINE_MS = 2_000;

/** Parts never change. */
const CACHE_SECONDS = 86_400;

/** KV's shortest: a part that is not there yet may come. */
const ABSENCE_CACHE_SECONDS = 30;

/** The memory of the pages, their buckets included. */
const PAGE_OCTETS_MAX_DEFAULT = 16 * 1024 * 1024;

/** Headers that are kept: those of the tables in force and of some before. */
const PACKS_KEPT_MAX = 64;

export const subtleSha256: Sha256 = async (octets) => new Uint8Array(await crypto.subtle.digest("SHA-256", octets));

/** The packs of this isolate: headers and pages from KV, each verified before anything is looked up in it. */
export function kvPacks(options: PacksOptions): Packs {
  const { kv, clock, report } = options;
  /** By the digest of the header: a pack may be in many revisions of the table. */
  const packs = new Map<string, LoadedPack>();
  const pages = keptPages(options.pageOctetsMax ?? PAGE_OCTETS_MAX_DEFAULT);
  const flights = new Map<string, { readonly sinceMs: number; readonly answer: Promise<Result<undefined, string>> }>();

  const read = async (key: string): Promise<Result<Uint8Array<ArrayBuffer>, string>> => {
    const ask = async (): Promise<ArrayBuffer | null> =>
      (await kv.get(key, { type: "arrayBuffer", cacheTtl: CACHE_SECONDS })) ??
      // That there is none may be remembered for as long as a part is.
      kv.get(key, { type: "arrayBuffer", cacheTtl: ABSENCE_CACHE_SECONDS });
    const octets = await within(ask, DEADLINE_MS);
    if (!octets.ok) return err(failureText(octets.error));
    return octets.value === null ? err(`KV has no ${key}`) : ok(new Uint8Array(octets.value));
  };

  const fetchHeader = async (sha256: string): Promise<Result<undefined, string>> => {
    const octets = await read(packKey(sha256));
    if (!octets.ok) return octets;
    const header = await readHeader(octets.value, subtleSha256, sha256);
    if (!header.ok) return err(packFaultText(header.error));
    if (packs.size >= PACKS_KEPT_MAX) {
      const [oldest] = packs.keys();
      if (oldest !== undefined) packs.delete(oldest);
    }
    packs.set(sha256, new LoadedPack(header.value));
    return ok(undefined);
  };

  const fetchPage = async (sha256: string, pack: LoadedPack, info: PageInfo): Promise<Result<undefined, string>> => {
    const octets = await read(pageKey(sha256, info.number));
    if (!octets.ok) return octets;
    const page = await readPage(pack.header, info, octets.value, subtleSha256);
    if (!page.ok) return err(packFaultText(page.error));
    pages.keep(pack, info.number, page.value);
    return ok(undefined);
  };

  /** Whoever comes while a part is on its way waits for the same answer; one that never comes blocks nobody for long. */
  const onceAtATime = (key: string, fetch: () => Promise<Result<undefined, string>>) => {
    const flight = flights.get(key);
    if (flight !== undefined && clock.nowMs() - flight.sinceMs < DEADLINE_MS) return flight.answer;
    const answer = fetch().finally(() => {
      if (flights.get(key)?.answer === answer) flights.delete(key);
    });
    flights.set(key, { sinceMs: clock.nowMs(), answer });
    return answer;
  };

  const attachOne = async (slot: PackSlot): Promise<Result<LoadedPack, string>> => {
    const { sha256 } = slot.declared;
    const known = slot.content ?? packs.get(sha256);
    const fetched = known === undefined ? await inTime(onceAtATime(sha256, () => fetchHeader(sha256))) : ok(undefined);
    if (!fetched.ok) return fetched;
    const pack = known ?? packs.get(sha256);
    if (pack === undefined) return err("its header was dropped again");
    const attached = slot.content === pack ? ok(undefined) : slot.attach(pack);
    return attached.ok ? ok(pack) : err(entryFaultText(attached.error));
  };

  const fail = (pack: string, page: number | undefined, why: string): Result<undefined, TableError> => {
    report({ pack, page, why });
    return err({ reason: "table-unavailable", why: `pack ${pack}: ${why}` });
  };

  return {
    async open(table) {
      for (const slot of table.packs.values()) {
        const attached = await attachOne(slot);
        if (!attached.ok) return fail(slot.name, undefined, attached.error);
      }
      return ok(undefined);
    },
    async load(table, { pack: name, page }: MissingPage) {
      const slot = table.packs.get(name);
      if (slot === undefined) return fail(name, page, "the table has no such pack");
      const pack = await attachOne(slot);
      if (!pack.ok) return fail(name, undefined, pack.error);
      const info = page === undefined ? undefined : pack.value.header.pages[page];
      if (info === undefined || pack.value.page(info.number) !== undefined) return ok(undefined);
      const { sha256 } = slot.declared;
      const loading = onceAtATime(pageKey(sha256, info.number), () => fetchPage(sha256, pack.value, info));
      const loaded = await inTime(loading);
      return loaded.ok ? loaded : fail(name, page, loaded.error);
    },
  };
}

/** A part that another request fetches may die with that request. */
async function inTime(answer: Promise<Result<undefined, string>>): Promise<Result<undefined, string>> {
  const timely = await within(() => answer, DEADLINE_MS);
  return timely.ok ? timely.value : err(failureText(timely.error));
}

export function failureText(failure: LoadFailure): string {
  if (failure.reason === "store-slow") return `KV did not answer within ${failure.deadlineMs} ms`;
  return failure.reason === "store-failed" ? `KV failed: ${failure.why}` : failure.reason;
}
