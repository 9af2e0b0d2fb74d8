/**
 * The file of a pack: sorted, disjoint ranges of one field with the region of each, outside of the routing table's JSON.
 * All numbers are little-endian, as on every platform that runs this code: a page is looked into as it came.
 *
 *     header    "\x89WAYPACK"                             8 bytes
 *               version, least version of a reader        u16, u16
 *               bytes of the header                      u32
 *               bits of the field, bytes of a key        u8, u8
 *               number of regions                         u16
 *               number of ranges, of pages                u32, u32
 *               unused, 0                                 u32
 *               sections: kind, flags, bytes, contents   u16, u16, u32, then padded to 8
 *     pages     each: first and last key of every range   2 keys a range: u32 up to 32 bits, else float64
 *                     region number of every range        u8, then padded to 8
 *
 * A section that a reader does not know is passed over, unless its flag says that it must be understood. The header holds
 * the digest of each page, and the routing table that of the header: the table alone verifies every byte.
 */
export const MAGIC: readonly number[] = [0x89, 0x57, 0x41, 0x59, 0x50, 0x41, 0x43, 0x4b];

/** What this code writes, and the least version of the code that reads it. */
export const FORMAT_VERSION = 1;
export const READER_VERSION_MIN = 1;

/** The version of readers that this code is. */
export const READER_VERSION = 1;

export const FIXED_HEADER_BYTES = 32;
export const SECTION_HEAD_BYTES = 8;

/** Names of the regions: a length and as many bytes of ASCII each, in the order of their numbers. */
export const SECTION_REGIONS = 1;

/** For each page: first key, last key (float64), ranges, bytes (u32), SHA-256. */
export const SECTION_PAGES = 2;
export const PAGE_ENTRY_BYTES = 56;
export const DIGEST_BYTES = 32;

/** Flag of a section that every reader must understand. */
export const REQUIRED = 1;

/** A KV value of this size is read in one piece, and an isolate loads no more than it needs. */
export const PAGE_BYTES_MAX = 1024 * 1024;

/** Twice what the largest known table has; the header of so many ranges has 32 pages at most. */
export const PACK_RANGES_MAX = 2_000_000;

/** 17 bytes a range, and the header. */
export const PACK_BYTES_MAX = 36 * 1024 * 1024;

/** Region numbers have 8 bits; a table has fewer regions. */
export const PACK_REGIONS_MAX = 255;

/** 32 pages of 56 bytes, 255 names of 64, and room for sections to come. */
export const HEADER_BYTES_MAX = 64 * 1024;

/** Keys of more bits are not exact as numbers. */
export const FIELD_BITS_MAX = 53;

/** Fields of up to 32 bits have keys of 4 bytes. */
export const keyBytesOf = (fieldBits: number): 4 | 8 => (fieldBits <= 32 ? 4 : 8);

/** Up to the next multiple of 8, where a column of wide keys may begin. */
export const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

export const pageBytes = (ranges: number, keyBytes: 4 | 8): number => padded(ranges * (2 * keyBytes + 1));

/** How many ranges a full page has. */
export const rangesPerPage = (keyBytes: 4 | 8): number => Math.floor(PAGE_BYTES_MAX / (2 * keyBytes + 1)) - 8;

/** Makes the SHA-256 of some bytes. */
export type Sha256 = (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;

/** 32 bytes in lower-case hex, as the table writes them. */
export const hexOf = (digest: Uint8Array): string =>
  Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** A range of keys, both ends included, and the region of its IDs. */
export interface PackRange {
  readonly from: number;
  readonly to: number;
  readonly region: string;
}

/** What is wrong with ranges or with the file of a pack. `at` is the place of a range, counted from 0 over the whole pack. */
export type PackFault =
  | { readonly reason: "empty" }
  | { readonly reason: "too-many-ranges"; readonly max: number }
  | { readonly reason: "field-bits"; readonly bits: number; readonly max: number }
  | { readonly reason: "region-name"; readonly at: number; readonly region: string }
  | { readonly reason: "too-many-regions"; readonly max: number }
  | { readonly reason: "reversed"; readonly at: number; readonly from: number; readonly to: number }
  | { readonly reason: "beyond-field"; readonly at: number; readonly key: number; readonly max: number }
  | { readonly reason: "unsorted"; readonly at: number; readonly from: number; readonly before: number }
  | { readonly reason: "overlapping"; readonly at: number; readonly from: number; readonly before: number }
  | { readonly reason: "unknown-region"; readonly at: number; readonly number: number; readonly regions: number }
  | { readonly reason: "not-a-pack" }
  | { readonly reason: "too-new"; readonly version: number; readonly needs: number; readonly reads: number }
  | { readonly reason: "unknown-section"; readonly section: number }
  | { readonly reason: "malformed-header"; readonly what: string }
  | { readonly reason: "truncated"; readonly bytes: number; readonly needed: number }
  | { readonly reason: "trailing-octets"; readonly bytes: number; readonly needed: number }
  | { readonly reason: "page-differs"; readonly page: number; readonly what: string }
  | {
      readonly reason: "digest-mismatch";
      readonly part: "header" | number;
      readonly expected: string;
      readonly actual: string;
    };

/** What is wrong with a pack, in one sentence that ends without a full stop. */
export const formatPackFault = (fault: PackFault): string => {
  switch (fault.reason) {
    case "empty":
      return "it has no range";
    case "too-many-ranges":
      return `it has more than ${fault.max} ranges`;
    case "field-bits":
      return `its field has ${fault.bits} bits; a pack is of a field of 1 to ${fault.max}`;
    case "region-name":
      return `range ${fault.at} has the region ${JSON.stringify(fault.region)}, which is not a name`;
    case "too-many-regions":
      return `it names more than ${fault.max} regions`;
    case "reversed":
      return `range ${fault.at} ends at ${fault.to}, before it begins at ${fault.from}`;
    case "beyond-field":
      return `range ${fault.at} has the key ${fault.key}; a key of its field is a whole number from 0 to ${fault.max}`;
    case "unsorted":
      return `range ${fault.at} begins at ${fault.from}, and a range before it ends at ${fault.before}: they are not sorted`;
    case "overlapping":
      return `range ${fault.at} begins at ${fault.from}, and the one before it ends at ${fault.before}: they overlap`;
    case "unknown-region":
      return `range ${fault.at} has region number ${fault.number}, and there are ${fault.regions} regions`;
    case "not-a-pack":
      return "it is not a pack: its signature is missing";
    case "too-new":
      return `it is of version ${fault.version} and needs a reader of version ${fault.needs}; this one is of version ${fault.reads}`;
    case "unknown-section":
      return `it has a section ${fault.section}, which must be understood and is not known here`;
    case "malformed-header":
      return `its header is wrong in ${fault.what}`;
    case "truncated":
      return `it has ${fault.bytes} bytes of ${fault.needed}`;
    case "trailing-octets":
      return `it has ${fault.bytes} bytes, but should have ${fault.needed}`;
    case "page-differs":
      return `page ${fault.page} is not what the header says in ${fault.what}`;
    case "digest-mismatch": {
      const part = fault.part === "header" ? "its header" : `page ${fault.part}`;
      return `${part} has the SHA-256 ${fault.actual}, not ${fault.expected}`;
    }
  }
};
