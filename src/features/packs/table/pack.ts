import { err, ok, type Result } from "../../../ids/result.ts";
import { type Bytes, hexOf, type Sha256 } from "../../../routing/bytes.ts";
import type { Missing } from "../../../routing/resolve/reading.ts";
import type { PackHeader, PackPage, PageInfo } from "./decode.ts";
import { decodeHeader, decodePage, headerBytesOf, NOT_FOUND, NOT_LOADED, wrongLength } from "./decode.ts";
import type { Keys, PackFault } from "./format.ts";
import type { DeclaredPack } from "./schema.ts";

export { NOT_LOADED };

export class LoadedPack {
  readonly header: PackHeader;
  /** First key of each page, then infinity as a sentinel. */
  private readonly firsts: Float64Array;
  readonly pages: (PackPage | undefined)[];

  constructor(header: PackHeader) {
    this.header = header;
    this.firsts = Float64Array.from([...header.pages.map(({ first }) => first), Number.POSITIVE_INFINITY]);
    this.pages = header.pages.map(() => undefined);
  }

  /** Number of the region whose range holds the key, `NOT_FOUND` or `NOT_LOADED`. */
  find(key: number): number {
    const number = this.pageOf(key);
    if (number < 0) return NOT_FOUND;
    const page = this.pages[number];
    if (page === undefined) {
      // Between two pages there is no range: neither page is needed.
      return key > (this.header.pages[number] as PageInfo).last ? NOT_FOUND : NOT_LOADED;
    }
    return page.find(key);
  }

  /** The only page that can contain the key; -1 for a key below all pages. */
  pageOf(key: number): number {
    const { firsts } = this;
    let number = -1;
    while ((firsts[number + 1] as number) <= key) number++;
    return number;
  }

  /**
   * Takes the pages of another pack that are the same bytes, and are decoded to the same: most pages stay as they are from one
   * publication to the next.
   */
  adoptPages({ header: { fieldBits, regions, pages }, pages: loaded }: LoadedPack): void {
    if (fieldBits !== this.header.fieldBits || regions.length !== this.header.regions.length) return;
    const byDigest = new Map(pages.map((info) => [info.sha256, info]));
    for (const own of this.header.pages) {
      const same = byDigest.get(own.sha256);
      const isSame = same?.first === own.first && same.last === own.last && same.ranges === own.ranges;
      if (isSame) this.pages[own.number] ??= loaded[same.number];
    }
  }

  drop(page: PackPage): void {
    const number = this.pages.indexOf(page);
    if (number >= 0) this.pages[number] = undefined;
  }

  get bytes(): number {
    return this.pages.reduce((sum, page) => sum + (page?.bytes ?? 0), 0);
  }
}

/** A pack's header differs from its entry in the table. */
export interface EntryFault {
  readonly reason: "entry-differs";
  readonly what: "bytes" | "ranges" | "bits" | "regions";
  readonly declared: string;
  readonly found: string;
}

/** A page, or without a number the header, of a pack by its name in the table. */
export interface MissingPage extends Missing {
  readonly feature: "packs";
  readonly pack: string;
  readonly page: number | undefined;
}

/** The place of a pack in a compiled table, empty until its header is loaded. Several tables can share a pack. */
export class PackSlot {
  readonly name: string;
  readonly declared: DeclaredPack;
  content: LoadedPack | undefined;

  constructor(name: string, declared: DeclaredPack) {
    this.name = name;
    this.declared = declared;
  }

  /** Takes a pack whose header has the digest in the table. */
  attach(pack: LoadedPack): Result<undefined, EntryFault> {
    const fault = entryFault(this.declared, pack.header);
    if (fault !== undefined) return err(fault);
    this.content = pack;
    return ok(undefined);
  }

  /** Number of the region, `NOT_FOUND` or `NOT_LOADED`. */
  find(key: number): number {
    return this.content === undefined ? NOT_LOADED : this.content.find(key);
  }

  /** The page that `find` needs when it returns `NOT_LOADED`. */
  missing(key: number): MissingPage {
    return { feature: "packs", pack: this.name, page: this.content?.pageOf(key) };
  }
}

/** The first difference between a header and its entry in the table. */
export const entryFault = (declared: DeclaredPack, header: PackHeader): EntryFault | undefined => {
  const found = { bytes: header.bytes, ranges: header.ranges, bits: header.fieldBits, regions: header.regions };
  for (const what of ["bytes", "ranges", "bits", "regions"] as const) {
    // As JSON, not as joined text: a region's name in a file can contain a comma.
    const own = JSON.stringify(declared[what]);
    const other = JSON.stringify(found[what]);
    if (own !== other) return { reason: "entry-differs", what, declared: own, found: other };
  }
  return undefined;
};

export const formatEntryFault = ({ what, declared, found }: EntryFault): string =>
  `the table says ${what} ${declared}, and it has ${found}`;

/** `numbers`: the region of each range, by its place in `regions`. */
export type PackRanges = { readonly bounds: Keys; readonly numbers: Uint8Array; readonly regions: readonly string[] };

export const rangesOfFile = (file: Bytes, header: PackHeader): PackRanges => {
  const { keyBytes, ranges, regions, pages } = header;
  const bounds = keyBytes === 4 ? new Uint32Array(ranges * 2) : new Float64Array(ranges * 2);
  const bytes = new Uint8Array(bounds.buffer);
  const numbers = new Uint8Array(ranges);
  for (const { offset, rangesBefore, ranges: own } of pages) {
    const end = offset + own * 2 * keyBytes;
    bytes.set(file.subarray(offset, end), rangesBefore * 2 * keyBytes);
    numbers.set(file.subarray(end, end + own), rangesBefore);
  }
  return { bounds, numbers, regions };
};

/** The keys of a pack in KV: the header by its digest, which the table names; page n, whose digest is in the header. */
export const packKey = (sha256: string): string => `pack.${sha256}`;

export const pageKey = (sha256: string, page: number): string => `pack.${sha256}.${page}`;

/** The parts of a verified file in write order. The header is last: a reader that has it finds all pages. */
export const partsOfFile = (file: Bytes, { headerBytes, pages }: PackHeader, sha256: string) => [
  ...pages.map(({ number, offset, bytes }) => ({
    key: pageKey(sha256, number),
    bytes: file.subarray(offset, offset + bytes),
  })),
  { key: packKey(sha256), bytes: file.subarray(0, headerBytes) },
];

type Async<Value> = Promise<Result<Value, PackFault>>;

/** Verifies the digest of a header and decodes it. `bytes`: the header, or the whole file. */
export const readHeader = async (bytes: Bytes, sha256: Sha256, expected?: string): Async<PackHeader> => {
  const length = headerBytesOf(bytes);
  if (!length.ok) return length;
  const own = bytes.subarray(0, length.value);
  const actual = hexOf(await sha256(own));
  if (expected !== undefined && actual !== expected) {
    return err({ reason: "digest-mismatch", part: "header", expected, actual });
  }
  return decodeHeader(own);
};

export const readPage = async (header: PackHeader, info: PageInfo, bytes: Bytes, sha256: Sha256): Async<PackPage> => {
  const actual = hexOf(await sha256(bytes));
  // A wrong length has its own error.
  if (bytes.length === info.bytes && actual !== info.sha256) {
    return err({ reason: "digest-mismatch", part: info.number, expected: info.sha256, actual });
  }
  return decodePage(header, info, bytes);
};

/** Verifies every digest and every range of a file. `expected`: the digest in the table, if there is one. */
export const verifyPack = async (content: Bytes, sha256: Sha256, expected?: string): Async<LoadedPack> => {
  const header = await readHeader(content, sha256, expected);
  if (!header.ok) return header;
  const { bytes, pages } = header.value;
  if (content.length !== bytes) return wrongLength(content, bytes);
  const pack = new LoadedPack(header.value);
  for (const info of pages) {
    const page = await readPage(header.value, info, content.subarray(info.offset, info.offset + info.bytes), sha256);
    if (!page.ok) return page;
    pack.pages[info.number] = page.value;
  }
  return ok(pack);
};
