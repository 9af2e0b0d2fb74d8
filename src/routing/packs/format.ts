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

export type Sha256 = (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;

/** 32 bytes in lower-case hex, as the table writes them. */
export const hexOf = (digest: Uint8Array): string =>
  Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const joinBytes = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

/** A range of keys, both ends included, and the region of its IDs. */
export interface PackRange {
  readonly from: number;
  readonly to: number;
  readonly region: string;
}

type At<Evidence> = Readonly<Evidence & { at: number }>;

/** What can be wrong with ranges or the file of a pack. `at`: the place of a range, from 0 over the whole pack. */
const FAULTS = {
  empty: (_: object) => "it has no range",
  "too-many-ranges": ({ max }: { readonly max: number }) => `it has more than ${max} ranges`,
  "field-bits": ({ bits, max }: { readonly bits: number; readonly max: number }) =>
    `its field has ${bits} bits; a pack is of a field of 1 to ${max}`,
  "region-name": ({ at, region }: At<{ region: string }>) =>
    `range ${at} has the region ${JSON.stringify(region)}, which is not a name`,
  "too-many-regions": ({ max }: { readonly max: number }) => `it names more than ${max} regions`,
  reversed: ({ at, from, to }: At<{ from: number; to: number }>) =>
    `range ${at} ends at ${to}, before it begins at ${from}`,
  "beyond-field": ({ at, key, max }: At<{ key: number; max: number }>) =>
    `range ${at} has the key ${key}; a key of its field is a whole number from 0 to ${max}`,
  unsorted: ({ at, from, before }: At<{ from: number; before: number }>) =>
    `range ${at} begins at ${from}, and a range before it ends at ${before}: they are not sorted`,
  overlapping: ({ at, from, before }: At<{ from: number; before: number }>) =>
    `range ${at} begins at ${from}, and the one before it ends at ${before}: they overlap`,
  "unknown-region": ({ at, number, regions }: At<{ number: number; regions: number }>) =>
    `range ${at} has region number ${number}, and there are ${regions} regions`,
  "not-a-pack": (_: object) => "it is not a pack: its signature is missing",
  "too-new": ({ version, needs, reads }: Readonly<Record<"version" | "needs" | "reads", number>>) =>
    `it is of version ${version} and needs a reader of version ${needs}; this one is of version ${reads}`,
  "unknown-section": ({ section }: { readonly section: number }) =>
    `it has a section ${section}, which must be understood and is not known here`,
  "malformed-header": ({ what }: { readonly what: string }) => `its header is wrong in ${what}`,
  truncated: ({ bytes, needed }: { readonly bytes: number; readonly needed: number }) =>
    `it has ${bytes} bytes of ${needed}`,
  "trailing-octets": ({ bytes, needed }: { readonly bytes: number; readonly needed: number }) =>
    `it has ${bytes} bytes, but should have ${needed}`,
  "page-differs": ({ page, what }: { readonly page: number; readonly what: string }) =>
    `page ${page} is not what the header says in ${what}`,
  "digest-mismatch": (digest: Readonly<Record<"expected" | "actual", string>> & { readonly part: "header" | number }) =>
    `${digest.part === "header" ? "its header" : `page ${digest.part}`} has the SHA-256 ${digest.actual}, not ${digest.expected}`,
};

export type PackFault = {
  [Reason in keyof typeof FAULTS]: { readonly reason: Reason } & Parameters<(typeof FAULTS)[Reason]>[0];
}[keyof typeof FAULTS];

/** What is wrong with a pack, in one sentence that ends without a full stop. */
export const formatPackFault = (fault: PackFault): string =>
  (FAULTS[fault.reason] as (fault: PackFault) => string)(fault);
