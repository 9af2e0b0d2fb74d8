import { err, ok, type Result } from "../../ids/result.ts";
import type { DeclaredPack } from "../way-schema.ts";
import type { PackHeader } from "./header.ts";
import { type LoadedPack, NOT_LOADED } from "./pack.ts";

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
