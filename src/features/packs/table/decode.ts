import { err, ok, type Result } from "../../../ids/result.ts";
import { type Bytes, hexOf } from "../../../routing/bytes.ts";
import * as format from "./format.ts";

export interface PackHeader {
  readonly version: number;
  readonly fieldBits: number;
  readonly keyBytes: 4 | 8;
  readonly ranges: number;
  /** By their numbers. */
  readonly regions: readonly string[];
  readonly pages: readonly PageInfo[];
  readonly headerBytes: number;
  readonly bytes: number;
}

export interface PageInfo {
  readonly number: number;
  readonly first: number;
  readonly last: number;
  readonly ranges: number;
  readonly bytes: number;
  readonly offset: number;
  readonly rangesBefore: number;
  /** SHA-256 in lower-case hex. */
  readonly sha256: string;
}

type Read<Value> = Result<Value, format.PackFault>;

/** How many bytes of a file are its header; the rest of `bytes` is not looked at. */
export const headerBytesOf = (bytes: Uint8Array): Read<number> => {
  if (format.MAGIC.some((byte, at) => bytes[at] !== byte)) return err({ reason: "not-a-pack" });
  if (bytes.length < format.FIXED_HEADER_BYTES) return wrongLength(bytes, format.FIXED_HEADER_BYTES);
  const view = viewOf(bytes);
  const needs = view.getUint16(10, true);
  if (needs > format.READER_VERSION) {
    return err({ reason: "too-new", version: view.getUint16(8, true), needs, reads: format.READER_VERSION });
  }
  const length = view.getUint32(12, true);
  if (length < format.FIXED_HEADER_BYTES || length > format.HEADER_BYTES_MAX) return malformed("its own length");
  return bytes.length < length ? wrongLength(bytes, length) : ok(length);
};

/** Reads a header of as many bytes as `headerBytesOf` says, whose digest the caller has looked at. */
export const decodeHeader = (bytes: Uint8Array): Read<PackHeader> => {
  const view = viewOf(bytes);
  const fieldBits = view.getUint8(16);
  const keyBytes = view.getUint8(17);
  if (fieldBits < 1 || fieldBits > format.FIELD_BITS_MAX) {
    return err({ reason: "field-bits", bits: fieldBits, max: format.FIELD_BITS_MAX });
  }
  if (keyBytes !== format.keyBytesOf(fieldBits)) return malformed("the bytes of a key");
  const ranges = view.getUint32(20, true);
  if (ranges === 0) return err({ reason: "empty" });
  if (ranges > format.PACK_RANGES_MAX) return err({ reason: "too-many-ranges", max: format.PACK_RANGES_MAX });
  const sections = sectionsOf(bytes);
  if (!sections.ok) return sections;
  const regions = readRegions(sections.value.get(format.SECTION_REGIONS), view.getUint16(18, true));
  if (!regions.ok) return regions;
  const shape = { version: view.getUint16(8, true), fieldBits, keyBytes, ranges, headerBytes: bytes.length };
  const pages = readPages(sections.value.get(format.SECTION_PAGES), shape, view.getUint32(24, true));
  if (!pages.ok) return pages;
  const all = pages.value.reduce((sum, page) => sum + page.bytes, bytes.length);
  return ok({ ...shape, regions: regions.value, pages: pages.value, bytes: all });
};

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const malformed = (what: string) => err({ reason: "malformed-header" as const, what });

export const wrongLength = ({ length }: Uint8Array, needed: number) =>
  err({ reason: length < needed ? ("truncated" as const) : ("trailing-octets" as const), bytes: length, needed });

/** Contents by kind. An unknown kind is passed over where the file allows it. */
const sectionsOf = (bytes: Uint8Array): Read<ReadonlyMap<number, Uint8Array>> => {
  const view = viewOf(bytes);
  const sections = new Map<number, Uint8Array>();
  let offset = format.FIXED_HEADER_BYTES;
  while (offset < bytes.length) {
    if (offset + format.SECTION_HEAD_BYTES > bytes.length) return malformed("the head of a section");
    const kind = view.getUint16(offset, true);
    const length = view.getUint32(offset + 4, true);
    const start = offset + format.SECTION_HEAD_BYTES;
    const end = start + format.padded(length);
    if (end > bytes.length) return malformed(`the length of section ${kind}`);
    const isKnown = kind === format.SECTION_REGIONS || kind === format.SECTION_PAGES;
    if (!isKnown && (view.getUint16(offset + 2, true) & format.REQUIRED) !== 0) {
      return err({ reason: "unknown-section", section: kind });
    }
    if (sections.has(kind)) return malformed(`section ${kind}, which is duplicated`);
    sections.set(kind, bytes.subarray(start, start + length));
    offset = end;
  }
  return ok(sections);
};

const readRegions = (contents: Uint8Array | undefined, count: number): Read<readonly string[]> => {
  if (contents === undefined || count === 0 || count > format.PACK_REGIONS_MAX) return malformed("the regions");
  const names: string[] = [];
  for (let at = 0; at < contents.length; ) {
    const length = contents[at] as number;
    const letters = contents.subarray(at + 1, at + 1 + length);
    const isName = length > 0 && letters.length === length && letters.every((letter) => letter > 0x20 && letter < 0x7f);
    if (!isName) return malformed("the name of a region");
    names.push(String.fromCharCode(...letters));
    at += 1 + length;
  }
  if (names.length !== count || new Set(names).size !== count) return malformed("the regions");
  return ok(names);
};

type Shape = Omit<PackHeader, "regions" | "pages" | "bytes">;

const readPages = (contents: Uint8Array | undefined, shape: Shape, count: number): Read<readonly PageInfo[]> => {
  const { fieldBits, keyBytes, ranges, headerBytes } = shape;
  const max = 2 ** fieldBits - 1;
  if (contents === undefined || count === 0 || contents.length !== count * format.PAGE_ENTRY_BYTES) {
    return malformed("the directory of pages");
  }
  const view = viewOf(contents);
  const pages: PageInfo[] = [];
  let offset = headerBytes;
  let rangesBefore = 0;
  let lastKey = -1;
  for (let number = 0; number < count; number++) {
    const at = number * format.PAGE_ENTRY_BYTES;
    const first = view.getFloat64(at, true);
    const last = view.getFloat64(at + 8, true);
    const own = view.getUint32(at + 16, true);
    const bytes = view.getUint32(at + 20, true);
    const isRising =
      Number.isInteger(first) && Number.isInteger(last) && first > lastKey && last >= first && last <= max;
    const isSized = own > 0 && bytes === format.pageBytes(own, keyBytes) && bytes <= format.PAGE_BYTES_MAX;
    if (!isRising || !isSized) return malformed(`the entry of page ${number}`);
    const sha256 = hexOf(
      contents.subarray(at + format.PAGE_ENTRY_BYTES - format.DIGEST_BYTES, at + format.PAGE_ENTRY_BYTES),
    );
    pages.push({ number, first, last, ranges: own, bytes, offset, rangesBefore, sha256 });
    offset += bytes;
    rangesBefore += own;
    lastKey = last;
  }
  return rangesBefore === ranges ? ok(pages) : malformed("the number of ranges");
};

/** No range of the page holds the key. */
export const NOT_FOUND = -1;

/** The page that may hold the key is not in memory. */
export const NOT_LOADED = -2;

/** Ranges a bucket has on average: fewer make the buckets too many for the processor's nearer caches. */
const RANGES_PER_BUCKET = 4;

/** In a bucket of more pairs than this a search halves; in others it goes from one to the next. */
const PAIRS_IN_TURN_MAX = 4;

/** One page, ready for look-ups. A look-up reads neighbours in memory: each cache line costs more than all its arithmetic. */
export class PackPage {
  readonly bytes: number;
  /** Set by every look-up. The page store clears it before it drops a page, and keeps a page that was used again. */
  isUsed = true;
  /** Two numbers a record: its first key; then the last key less the first, times 256, and the number of the region. */
  private readonly records: format.Keys;
  private readonly lastAt: number;
  /** The pair of records at which the search of a bucket begins; the next bucket's is where it ends. */
  private readonly buckets: Uint16Array;
  private readonly bucketCount: number;
  private readonly first: number;
  private readonly bucketsPerKey: number;

  constructor(records: format.Keys) {
    const count = records.length / 2;
    this.records = records;
    this.lastAt = records.length - 2;
    this.first = records[0] as number;
    this.bucketCount = Math.ceil(count / RANGES_PER_BUCKET);
    this.bucketsPerKey = this.bucketCount / ((records[this.lastAt] as number) - this.first + 1);
    this.buckets = new Uint16Array(this.bucketCount + 1);
    this.fill(count);
    this.bytes = records.buffer.byteLength + this.buckets.byteLength;
  }

  private fill(count: number): void {
    const { records, buckets, bucketCount, first, bucketsPerKey } = this;
    let filled = 0;
    for (let at = 0; at < count; at++) {
      const bucket = Math.floor(((records[at * 2] as number) - first) * bucketsPerKey);
      // The range before may reach into the bucket.
      while (filled <= bucket && filled < bucketCount) buckets[filled++] = at === 0 ? 0 : (at - 1) >>> 1;
    }
    while (filled <= bucketCount) buckets[filled++] = (count - 1) >>> 1;
  }

  /** Number of the region whose range holds the key, or `NOT_FOUND`. The key is not below the page's first one. */
  find(key: number): number {
    const { records, buckets, bucketCount, lastAt } = this;
    this.isUsed = true;
    // Behind the last range a key may be far beyond all buckets, and beyond 32 bits.
    const place = (key - this.first) * this.bucketsPerKey;
    const bucket = place >= bucketCount ? bucketCount - 1 : place | 0;
    let low = buckets[bucket] as number;
    let high = buckets[bucket + 1] as number;
    while (high - low > PAIRS_IN_TURN_MAX) {
      const middle = (low + high + 1) >>> 1;
      if ((records[middle * 4] as number) <= key) low = middle;
      else high = middle - 1;
    }
    let at = low * 4;
    while (at < lastAt && (records[at + 2] as number) <= key) at += 2;
    const widthAndRegion = records[at + 1] as number;
    return (key - (records[at] as number)) * 256 <= widthAndRegion ? widthAndRegion & 255 : NOT_FOUND;
  }
}

/** Ranges that are wider than a record can say become several records: over a whole field 256 more at most. */
const recordsOf = (keys: format.Keys, numbers: Uint8Array, keyBytes: 4 | 8) => {
  // A record holds a region's number (8 bits) beside a width of 24 bits, or of 45 where numbers are exact up to 53.
  const widthMax = 2 ** (keyBytes === 4 ? 24 : 45);
  const more = Math.floor(((keys.at(-1) as number) - (keys[0] as number)) / widthMax);
  const length = keys.length + 2 * more;
  const records = keyBytes === 4 ? new Uint32Array(length) : new Float64Array(length);
  let end = 0;
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number;
    const to = keys[at * 2 + 1] as number;
    let from = keys[at * 2] as number;
    for (; to - from >= widthMax; from += widthMax) {
      records[end++] = from;
      records[end++] = (widthMax - 1) * 256 + number;
    }
    records[end++] = from;
    records[end++] = (to - from) * 256 + number;
  }
  return records.subarray(0, end);
};

/** Takes the bytes of a page, whose digest the caller has looked at, and checks every range of it. */
export const decodePage = (
  { fieldBits, keyBytes, regions }: PackHeader,
  info: PageInfo,
  bytes: Bytes,
): Result<PackPage, format.PackFault> => {
  if (bytes.length !== info.bytes) return wrongLength(bytes, info.bytes);
  // A column of keys must begin at a multiple of their size.
  const own = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const count = info.ranges * 2;
  const keys = format.keysIn(own, keyBytes, count);
  const numbers = own.subarray(count * keyBytes, count * keyBytes + info.ranges);
  const max = 2 ** fieldBits - 1;
  let lastFirst = -1;
  let lastKey = -1;
  for (let place = 0; place < numbers.length; place++) {
    const at = info.rangesBefore + place;
    const from = keys[place * 2] as number;
    const to = keys[place * 2 + 1] as number;
    if (!(from > lastKey && to >= from && to <= max && Number.isInteger(from) && Number.isInteger(to))) {
      const before = { from: lastFirst, to: lastKey };
      return err(format.faultOfRange(at, { from, to }, before, max) as format.PackFault);
    }
    const number = numbers[place] as number;
    if (number >= regions.length) return err({ reason: "unknown-region", at, number, regions: regions.length });
    lastFirst = from;
    lastKey = to;
  }
  if (keys[0] !== info.first || lastKey !== info.last)
    return err({ reason: "page-differs", page: info.number, what: "its first or last key" });
  return ok(new PackPage(recordsOf(keys, numbers, keyBytes)));
};
