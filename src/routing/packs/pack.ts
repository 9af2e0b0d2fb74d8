import { err, ok, type Result } from "../../ids/result.ts";
import type { DeclaredPack } from "../schema/parts.ts";
import { NOT_FOUND, NOT_LOADED, type PackHeader, type PackPage, type PageInfo } from "./decode.ts";

export { NOT_LOADED };

/** The field is cut into so many equal parts. */
const STEPS = 256;

/** A pack as an isolate has it: the header, and those of its pages that are in memory. */
export class LoadedPack {
  readonly header: PackHeader;
  /** First key of each page, and behind them a greatest of all. */
  private readonly firsts: Float64Array;
  /** For each part of the field the page at which a search begins: it goes up from there by a page or two. */
  private readonly steps: Int16Array;
  private readonly stepsPerKey: number;
  private readonly pages: (PackPage | undefined)[];

  constructor(header: PackHeader) {
    this.header = header;
    this.firsts = Float64Array.from([...header.pages.map(({ first }) => first), Number.POSITIVE_INFINITY]);
    this.stepsPerKey = STEPS / 2 ** header.fieldBits;
    this.steps = Int16Array.from({ length: STEPS }, (_, step) =>
      header.pages.findLastIndex(({ first }) => first <= step / this.stepsPerKey),
    );
    this.pages = header.pages.map(() => undefined);
  }

  /** Number of the region whose range holds the key, `NOT_FOUND` or `NOT_LOADED`. */
  find(key: number): number {
    const number = this.pageOf(key);
    if (number < 0) return NOT_FOUND;
    const page = this.pages[number];
    if (page === undefined) {
      // What lies between two pages is known without either.
      return key > (this.header.pages[number] as PageInfo).last ? NOT_FOUND : NOT_LOADED;
    }
    return page.find(key);
  }

  /** The only page that may hold the key; -1 when it is below all. */
  pageOf(key: number): number {
    const { firsts } = this;
    let number = this.steps[(key * this.stepsPerKey) | 0] as number;
    while ((firsts[number + 1] as number) <= key) number++;
    return number;
  }

  page(number: number): PackPage | undefined {
    return this.pages[number];
  }

  put(number: number, page: PackPage): void {
    this.pages[number] = page;
  }

  drop(number: number): void {
    this.pages[number] = undefined;
  }

  /** Memory of the pages that are there. */
  get bytes(): number {
    return this.pages.reduce((sum, page) => sum + (page?.bytes ?? 0), 0);
  }
}

/** The pack that a table names is another one than the table says. */
export interface EntryFault {
  readonly reason: "entry-differs";
  readonly what: "bytes" | "ranges" | "bits" | "regions";
  readonly declared: string;
  readonly found: string;
}

/** What of a pack a look-up misses. */
export interface MissingPage {
  /** Its name in the table. */
  readonly pack: string;
  /** `undefined`: the header. */
  readonly page: number | undefined;
}

/** The place of a pack in a compiled table: empty until somebody has loaded it. One pack may be in several tables. */
export class PackSlot {
  readonly name: string;
  readonly declared: DeclaredPack;
  private pack: LoadedPack | undefined;

  constructor(name: string, declared: DeclaredPack) {
    this.name = name;
    this.declared = declared;
  }

  get content(): LoadedPack | undefined {
    return this.pack;
  }

  /** Takes a pack whose header has the digest that the table says. */
  attach(pack: LoadedPack): Result<undefined, EntryFault> {
    const fault = entryFault(this.declared, pack.header);
    if (fault !== undefined) return err(fault);
    this.pack = pack;
    return ok(undefined);
  }

  /** Number of the region, `NOT_FOUND` or `NOT_LOADED`. */
  find(key: number): number {
    return this.pack === undefined ? NOT_LOADED : this.pack.find(key);
  }

  /** What is missing where `find` says `NOT_LOADED`. */
  missing(key: number): MissingPage {
    return { pack: this.name, page: this.pack?.pageOf(key) };
  }
}

/** Whether a header is what the table says of its pack. */
export const entryFault = (declared: DeclaredPack, header: PackHeader): EntryFault | undefined => {
  const found = { bytes: header.bytes, ranges: header.ranges, bits: header.fieldBits, regions: header.regions };
  for (const what of ["bytes", "ranges", "bits", "regions"] as const) {
    // A list of names is not the text of them all: a name from a file may have a comma in it.
    const [own, other] = [JSON.stringify(declared[what]), JSON.stringify(found[what])];
    if (own !== other) return { reason: "entry-differs", what, declared: own, found: other };
  }
  return undefined;
};

export const formatEntryFault = ({ what, declared, found }: EntryFault): string =>
  `the table says ${what} ${declared}, and it has ${found}`;
