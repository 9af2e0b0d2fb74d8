import { err, ok, type Result } from "../../ids/result.ts";
import type { DeclaredPack } from "../schema/parts.ts";
import { NOT_FOUND, NOT_LOADED, type PackHeader, type PackPage, type PageInfo } from "./decode.ts";

export { NOT_LOADED };

/** A pack in memory: its header, and the pages that are loaded. */
export class LoadedPack {
  readonly header: PackHeader;
  /** First key of each page, then infinity as a sentinel. */
  private readonly firsts: Float64Array;
  /** By their numbers; those that are loaded. */
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

  /** Memory of the loaded pages. */
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

/** The page or header that a look-up needs. */
export interface MissingPage {
  /** Its name in the table. */
  readonly pack: string;
  /** `undefined`: the header. */
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

  /** What `find` needs when it returns `NOT_LOADED`. */
  missing(key: number): MissingPage {
    return { pack: this.name, page: this.content?.pageOf(key) };
  }
}

/** The first difference between a header and its entry in the table. */
export const entryFault = (declared: DeclaredPack, header: PackHeader): EntryFault | undefined => {
  const found = { bytes: header.bytes, ranges: header.ranges, bits: header.fieldBits, regions: header.regions };
  for (const what of ["bytes", "ranges", "bits", "regions"] as const) {
    // As JSON, not as joined text: a region's name in a file can contain a comma.
    const [own, other] = [JSON.stringify(declared[what]), JSON.stringify(found[what])];
    if (own !== other) return { reason: "entry-differs", what, declared: own, found: other };
  }
  return undefined;
};

export const formatEntryFault = ({ what, declared, found }: EntryFault): string =>
  `the table says ${what} ${declared}, and it has ${found}`;
