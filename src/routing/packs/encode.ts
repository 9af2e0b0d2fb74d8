import { err, ok, type Result } from "../../ids/result.ts";
import { NAME_LENGTH_MAX } from "../limits.ts";
import {
  DIGEST_BYTES,
  FIELD_BITS_MAX,
  FIXED_HEADER_BYTES,
  FORMAT_VERSION,
  hexOf,
  joinBytes,
  keyBytesOf,
  MAGIC,
  PACK_RANGES_MAX,
  PACK_REGIONS_MAX,
  PAGE_ENTRY_BYTES,
  type PackFault,
  type PackRange,
  padded,
  pageBytes,
  READER_VERSION_MIN,
  REQUIRED,
  rangesPerPage,
  SECTION_HEAD_BYTES,
  SECTION_PAGES,
  SECTION_REGIONS,
  type Sha256,
} from "./format.ts";

/** A pack as it is stored: `header` and `pages` one after the other are its file. */
export interface EncodedPack {
  /** Of the header, lower-case hex: what the table writes. */
  readonly sha256: string;
  readonly header: Uint8Array<ArrayBuffer>;
  readonly pages: readonly Uint8Array<ArrayBuffer>[];
  /** Bytes of the header and all pages. */
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

/** Of ranges that rise and do not overlap. Neighbours of one region are joined, so that what routes alike has one file. */
export const encodePack = async (
  ranges: Iterable<PackRange>,
  options: EncodeOptions,
): Promise<Result<EncodedPack, PackFault>> => {
  const { fieldBits, sha256 } = options;
  const gathered = gather(ranges, fieldBits);
  if (!gathered.ok) return gathered;
  const { bounds, numbers, regions } = gathered.value;
  const keyBytes = keyBytesOf(fieldBits);
  const perPage = options.rangesPerPage ?? rangesPerPage(keyBytes);
  const pages: Uint8Array<ArrayBuffer>[] = [];
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

interface Gathered {
  /** First and last key of each range. */
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
  let lastKey = -1;
  let lastFirst = -1;
  for (const { from, to, region } of ranges) {
    const fault = faultOfRange(at, from, to, lastFirst, lastKey, max);
    if (fault !== undefined) return err(fault);
    if (!REGION_NAME.test(region)) return err({ reason: "region-name", at, region });
    const place = places.get(region) ?? places.size;
    places.set(region, place);
    if (seen.at(-1) === place && from === lastKey + 1) bounds[bounds.length - 1] = to;
    else {
      bounds.push(from, to);
      seen.push(place);
    }
    lastFirst = from;
    lastKey = to;
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

/** What is wrong with a range after one that begins at `lastFirst` and ends at `lastKey`. */
export const faultOfRange = (
  at: number,
  from: number,
  to: number,
  lastFirst: number,
  lastKey: number,
  max: number,
): PackFault | undefined => {
  if (!Number.isInteger(from) || from < 0 || from > max) return { reason: "beyond-field", at, key: from, max };
  if (!Number.isInteger(to) || to < 0 || to > max) return { reason: "beyond-field", at, key: to, max };
  if (to < from) return { reason: "reversed", at, from, to };
  if (from > lastKey) return undefined;
  return { reason: from < lastFirst ? "unsorted" : "overlapping", at, from, before: lastKey };
};

const encodePage = (bounds: readonly number[], numbers: readonly number[], keyBytes: 4 | 8) => {
  const page = new Uint8Array(pageBytes(numbers.length, keyBytes));
  const keys =
    keyBytes === 4 ? new Uint32Array(page.buffer, 0, bounds.length) : new Float64Array(page.buffer, 0, bounds.length);
  keys.set(bounds);
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
