import { err, ok, type Result } from "../../../ids/result.ts";
import { type Bytes, hexOf, joinBytes, type Sha256 } from "../../../routing/bytes.ts";
import { NAME_LENGTH_MAX } from "../../../routing/limits.ts";

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

/** The version that this code writes, and the least version of the code that reads it. */
export const FORMAT_VERSION = 1;
export const READER_VERSION_MIN = 1;

export const READER_VERSION = 1;

export const FIXED_HEADER_BYTES = 32;
export const SECTION_HEAD_BYTES = 8;

/** Names of the regions: a length and as many bytes of ASCII each, in the order of their numbers. */
export const SECTION_REGIONS = 1;

/** For each page: first key, last key (float64), ranges, bytes (u32), SHA-256. */
export const SECTION_PAGES = 2;
export const PAGE_ENTRY_BYTES = 56;
export const DIGEST_BYTES = 32;

export const REQUIRED = 1;

/** A KV value of this size is read in one piece, and an isolate loads no more than it needs. */
export const PAGE_BYTES_MAX = 1024 * 1024;

/** Twice the ranges of the largest known table; the header of this many has 32 pages at most. */
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

/** A page's column of keys, which begins at a multiple of their size. */
export const keysIn = ({ buffer, byteOffset }: Bytes, keyBytes: 4 | 8, count: number): Keys =>
  keyBytes === 4 ? new Uint32Array(buffer, byteOffset, count) : new Float64Array(buffer, byteOffset, count);

/** At 32 bits where that is enough. */
export type Keys = Uint32Array | Float64Array;

/** Up to the next multiple of 8, where a column of wide keys may begin. */
export const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

export const pageBytes = (ranges: number, keyBytes: 4 | 8): number => padded(ranges * (2 * keyBytes + 1));

export const rangesPerPage = (keyBytes: 4 | 8): number => Math.floor(PAGE_BYTES_MAX / (2 * keyBytes + 1)) - 8;

/** A range of keys, both ends included, and the region of its IDs. */
export type PackRange = { readonly from: number; readonly to: number; readonly region: string };

type Of<Name extends string> = Readonly<Record<Name, number>>;
type At<Evidence> = Readonly<Evidence & { at: number }>;

/** Faults of ranges or of the file of a pack. `at`: the place of a range, from 0 over the whole pack. */
const FAULTS = {
  empty: (_: object) => "it has no range",
  "too-many-ranges": ({ max }: Of<"max">) => `it has more than ${max} ranges`,
  "field-bits": ({ bits, max }: Of<"bits" | "max">) =>
    `its field has ${bits} bits; a pack is of a field of 1 to ${max}`,
  "region-name": ({ at, region }: At<{ region: string }>) =>
    `range ${at} has the region ${JSON.stringify(region)}, which is not a name`,
  "too-many-regions": ({ max }: Of<"max">) => `it names more than ${max} regions`,
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
  "too-new": ({ version, needs, reads }: Of<"version" | "needs" | "reads">) =>
    `it is of version ${version} and needs a reader of version ${needs}; this one is of version ${reads}`,
  "unknown-section": ({ section }: Of<"section">) =>
    `it has a section ${section}, which must be understood and is not known here`,
  "malformed-header": ({ what }: { readonly what: string }) => `its header is wrong in ${what}`,
  truncated: ({ bytes, needed }: Of<"bytes" | "needed">) => `it has ${bytes} bytes of ${needed}`,
  "trailing-octets": ({ bytes, needed }: Of<"bytes" | "needed">) => `it has ${bytes} bytes, but should have ${needed}`,
  "page-differs": ({ page, what }: { readonly page: number; readonly what: string }) =>
    `page ${page} is not what the header says in ${what}`,
  "digest-mismatch": (digest: Readonly<Record<"expected" | "actual", string>> & { readonly part: "header" | number }) =>
    `${digest.part === "header" ? "its header" : `page ${digest.part}`} has the SHA-256 ${digest.actual}, not ${digest.expected}`,
};

export type PackFault = {
  [Reason in keyof typeof FAULTS]: { readonly reason: Reason } & Parameters<(typeof FAULTS)[Reason]>[0];
}[keyof typeof FAULTS];

/** A fault of a pack, in one sentence that ends without a full stop. */
export const formatPackFault = (fault: PackFault): string =>
  (FAULTS[fault.reason] as (fault: PackFault) => string)(fault);

/** A pack as it is stored: `header` and `pages` one after the other are its file. */
export interface EncodedPack {
  /** Digest of the header in lower-case hex, as the table writes it. */
  readonly sha256: string;
  readonly header: Bytes;
  readonly pages: readonly Bytes[];
  readonly bytes: number;
  /** How many there are when neighbours of one region are joined. */
  readonly ranges: number;
  /** Sorted. */
  readonly regions: readonly string[];
}

export interface EncodeOptions {
  readonly fieldBits: number;
  readonly sha256: Sha256;
  /** Absent: as many as a page of `PAGE_BYTES_MAX` holds. */
  readonly rangesPerPage?: number;
}

/** Encodes ranges that rise and do not overlap. Neighbours of one region are joined, so that equal routing gives one file. */
export const encodePack = async (ranges: Iterable<PackRange>, options: EncodeOptions): Encoded => {
  const { fieldBits, sha256 } = options;
  const gathered = gather(ranges, fieldBits);
  if (!gathered.ok) return gathered;
  const { bounds, numbers, regions } = gathered.value;
  const keyBytes = keyBytesOf(fieldBits);
  const perPage = options.rangesPerPage ?? rangesPerPage(keyBytes);
  const pages: Bytes[] = [];
  const entries: Uint8Array[] = [];
  for (let at = 0; at < numbers.length; at += perPage) {
    const own = bounds.slice(at * 2, (at + perPage) * 2);
    const page = encodePage(own, numbers.slice(at, at + perPage), keyBytes);
    pages.push(page);
    entries.push(pageEntry(own, page.length, await sha256(page)));
  }
  const header = encodeHeader(fieldBits, numbers.length, regions, entries);
  return ok({
    sha256: hexOf(await sha256(header)),
    header,
    pages,
    bytes: pages.reduce((sum, page) => sum + page.length, header.length),
    ranges: numbers.length,
    regions,
  });
};

type Encoded = Promise<Result<EncodedPack, PackFault>>;

interface Gathered {
  readonly bounds: readonly number[];
  readonly numbers: readonly number[];
  readonly regions: readonly string[];
}

const gather = (ranges: Iterable<PackRange>, fieldBits: number): Result<Gathered, PackFault> => {
  if (!Number.isInteger(fieldBits) || fieldBits < 1 || fieldBits > FIELD_BITS_MAX) {
    return err({ reason: "field-bits", bits: fieldBits, max: FIELD_BITS_MAX });
  }
  const max = 2 ** fieldBits - 1;
  const bounds: number[] = [];
  const seen: number[] = [];
  const places = new Map<string, number>();
  let at = 0;
  const before = { from: -1, to: -1 };
  for (const range of ranges) {
    const { from, to, region } = range;
    const fault = faultOfRange(at, range, before, max);
    if (fault !== undefined) return err(fault);
    if (!REGION_NAME.test(region)) return err({ reason: "region-name", at, region });
    const place = places.get(region) ?? places.size;
    places.set(region, place);
    if (seen.at(-1) === place && from === before.to + 1) bounds[bounds.length - 1] = to;
    else {
      bounds.push(from, to);
      seen.push(place);
    }
    before.from = from;
    before.to = to;
    at++;
  }
  if (at === 0) return err({ reason: "empty" });
  if (seen.length > PACK_RANGES_MAX) return err({ reason: "too-many-ranges", max: PACK_RANGES_MAX });
  if (places.size > PACK_REGIONS_MAX) return err({ reason: "too-many-regions", max: PACK_REGIONS_MAX });
  const regions = [...places.keys()].sort();
  const numbers = [...places.keys()].map((name) => regions.indexOf(name));
  return ok({ bounds, numbers: seen.map((place) => numbers[place] as number), regions });
};

/** Names of regions as header fields can carry them: visible ASCII. */
const REGION_NAME = new RegExp(`^[\\x21-\\x7e]{1,${NAME_LENGTH_MAX}}$`);

type Bounds = Pick<PackRange, "from" | "to">;

/** The fault of a range by the one before it. `max`: the greatest key of the field. */
export const faultOfRange = (at: number, { from, to }: Bounds, before: Bounds, max: number): PackFault | undefined => {
  if (!Number.isInteger(from) || from < 0 || from > max) return { reason: "beyond-field", at, key: from, max };
  if (!Number.isInteger(to) || to < 0 || to > max) return { reason: "beyond-field", at, key: to, max };
  if (to < from) return { reason: "reversed", at, from, to };
  if (from > before.to) return undefined;
  return { reason: from < before.from ? "unsorted" : "overlapping", at, from, before: before.to };
};

const encodePage = (bounds: readonly number[], numbers: readonly number[], keyBytes: 4 | 8) => {
  const page = new Uint8Array(pageBytes(numbers.length, keyBytes));
  keysIn(page, keyBytes, bounds.length).set(bounds);
  page.set(numbers, bounds.length * keyBytes);
  return page;
};

const pageEntry = (bounds: readonly number[], bytes: number, digest: Uint8Array): Uint8Array => {
  const entry = new Uint8Array(PAGE_ENTRY_BYTES);
  const view = new DataView(entry.buffer);
  view.setFloat64(0, bounds[0] as number, true);
  view.setFloat64(8, bounds.at(-1) as number, true);
  view.setUint32(16, bounds.length / 2, true);
  view.setUint32(20, bytes, true);
  entry.set(digest, PAGE_ENTRY_BYTES - DIGEST_BYTES);
  return entry;
};

const encodeHeader = (fieldBits: number, ranges: number, regions: readonly string[], pages: readonly Uint8Array[]) => {
  const names = regions.flatMap((name) => [name.length, ...Array.from(name, (letter) => letter.charCodeAt(0))]);
  const header = joinBytes([
    new Uint8Array(FIXED_HEADER_BYTES),
    section(SECTION_REGIONS, Uint8Array.from(names)),
    section(SECTION_PAGES, joinBytes(pages)),
  ]);
  const fixed = new DataView(header.buffer);
  header.set(MAGIC);
  fixed.setUint16(8, FORMAT_VERSION, true);
  fixed.setUint16(10, READER_VERSION_MIN, true);
  fixed.setUint32(12, header.length, true);
  header[16] = fieldBits;
  header[17] = keyBytesOf(fieldBits);
  fixed.setUint16(18, regions.length, true);
  fixed.setUint32(20, ranges, true);
  fixed.setUint32(24, pages.length, true);
  return header;
};

const section = (kind: number, contents: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(SECTION_HEAD_BYTES + padded(contents.length));
  const view = new DataView(bytes.buffer);
  view.setUint16(0, kind, true);
  view.setUint16(2, REQUIRED, true);
  view.setUint32(4, contents.length, true);
  bytes.set(contents, SECTION_HEAD_BYTES);
  return bytes;
};
