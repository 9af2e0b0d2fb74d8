import { err, ok, type Result } from "../../ids/result.ts";
import { faultOfRange } from "./encode.ts";
import type { PackFault } from "./format.ts";
import type { PackHeader, PageInfo } from "./header.ts";

/** No range of the page holds the key. */
export const NOT_FOUND = -1;

/** The page that may hold the key is not in memory. */
export const NOT_LOADED = -2;

/** Ranges a bucket has on average: fewer make the buckets too many for the processor's nearer caches. */
const RANGES_PER_BUCKET = 4;

/** In a bucket of more pairs than this a search halves; in others it goes from one to the next. */
const PAIRS_IN_TURN_MAX = 4;

/** A record has room for a region's number (8 bits) beside a width of 24 bits, or 45 where numbers are exact up to 53. */
const widthMaxOf = (keyBytes: 4 | 8): number => 2 ** (keyBytes === 4 ? 24 : 45);

/**
 * One page of a pack, ready for look-ups. What a look-up reads stands together, since each place in memory that it must go
 * to costs more than all its arithmetic: a record of two numbers for each range, so that eight are in a line of the cache,
 * and buckets of equal width over the keys, each of which says where a search begins. Looking up makes nothing.
 */
export class PackPage {
  /** Memory that the page holds. */
  readonly bytes: number;
  /** Set by every look-up; whoever must drop a page clears it, and spares the page that is used again. */
  isUsed = true;
  /** Two numbers a record: its first key; then the last key less the first, times 256, and the number of the region. */
  private readonly records: Uint32Array | Float64Array;
  /** Where the last record stands. */
  private readonly lastAt: number;
  /** The pair of records at which the search of a bucket begins; the next bucket's is where it ends. */
  private readonly buckets: Uint16Array;
  private readonly bucketCount: number;
  private readonly first: number;
  private readonly bucketsPerKey: number;

  constructor(records: Uint32Array | Float64Array) {
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
const recordsOf = (
  keys: Uint32Array | Float64Array,
  numbers: Uint8Array,
  keyBytes: 4 | 8,
): Uint32Array | Float64Array => {
  const widthMax = widthMaxOf(keyBytes);
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
  bytes: Uint8Array<ArrayBuffer>,
): Result<PackPage, PackFault> => {
  if (bytes.length < info.bytes) return err({ reason: "truncated", bytes: bytes.length, needed: info.bytes });
  if (bytes.length > info.bytes) {
    return err({ reason: "trailing-octets", bytes: bytes.length, needed: info.bytes });
  }
  // A column of keys must begin at a multiple of their size.
  const own = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const count = info.ranges * 2;
  const keys =
    keyBytes === 4
      ? new Uint32Array(own.buffer, own.byteOffset, count)
      : new Float64Array(own.buffer, own.byteOffset, count);
  const numbers = own.subarray(count * keyBytes, count * keyBytes + info.ranges);
  const fault = faultOfPage(keys, numbers, info, 2 ** fieldBits - 1, regions.length);
  return fault === undefined ? ok(new PackPage(recordsOf(keys, numbers, keyBytes))) : err(fault);
};

const faultOfPage = (
  keys: Uint32Array | Float64Array,
  numbers: Uint8Array,
  { number, first, last, rangesBefore }: PageInfo,
  max: number,
  regions: number,
): PackFault | undefined => {
  let lastFirst = -1;
  let lastKey = -1;
  for (let at = 0; at < numbers.length; at++) {
    const from = keys[at * 2] as number;
    const to = keys[at * 2 + 1] as number;
    if (!(from > lastKey && to >= from && to <= max && Number.isInteger(from) && Number.isInteger(to))) {
      return faultOfRange(rangesBefore + at, from, to, lastFirst, lastKey, max);
    }
    const region = numbers[at] as number;
    if (region >= regions) return { reason: "unknown-region", at: rangesBefore + at, number: region, regions };
    lastFirst = from;
    lastKey = to;
  }
  if (keys[0] !== first || lastKey !== last)
    return { reason: "page-differs", page: number, what: "its first or last key" };
  return undefined;
};
