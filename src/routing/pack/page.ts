import { err, ok, type Result } from "../../ids/result.ts";
import { faultOfRange } from "./encode.ts";
import type { PackFault } from "./format.ts";
import type { PackHeader, PageInfo } from "./header.ts";

/** No range of the page holds the key. */
export const NOT_HELD = -1;

/** The page that may hold the key is not in memory. */
export const NOT_LOADED = -2;

/** More buckets than this are not worth their memory: a search in a bucket has a step or two. */
const BUCKET_BITS_MAX = 16;

/**
 * One page of a pack, ready for look-ups: the octets as they came, and buckets of equal width over its keys, each of which
 * says where a search begins. Looking up makes nothing.
 */
export class PackPage {
  /** Memory that the page holds, its buckets included. */
  readonly bytes: number;
  /** Set by every look-up; whoever must drop a page clears it, and spares the page that is used again. */
  isUsed = true;
  /** First and last key of each range, side by side. */
  private readonly keys: Uint32Array | Float64Array;
  private readonly numbers: Uint8Array;
  /** The range at which the search of a bucket begins; the next bucket's is where it ends. */
  private readonly buckets: Uint32Array;
  private readonly bucketCount: number;
  private readonly first: number;
  private readonly bucketsPerKey: number;

  constructor(keys: Uint32Array | Float64Array, numbers: Uint8Array) {
    this.keys = keys;
    this.numbers = numbers;
    const count = numbers.length;
    const last = keys[count * 2 - 2] as number;
    this.first = keys[0] as number;
    this.bucketCount = 2 ** Math.min(BUCKET_BITS_MAX, Math.floor(Math.log2(count)));
    this.bucketsPerKey = this.bucketCount / (last - this.first + 1);
    this.buckets = new Uint32Array(this.bucketCount + 1);
    this.fill(count);
    this.bytes = keys.byteLength + numbers.byteLength + this.buckets.byteLength;
  }

  private fill(count: number): void {
    const { keys, buckets, bucketCount, first, bucketsPerKey } = this;
    let filled = 0;
    for (let at = 0; at < count; at++) {
      const bucket = Math.floor(((keys[at * 2] as number) - first) * bucketsPerKey);
      // The range before may reach into the bucket.
      while (filled <= bucket && filled < bucketCount) buckets[filled++] = at === 0 ? 0 : at - 1;
    }
    while (filled <= bucketCount) buckets[filled++] = count - 1;
  }

  /** Number of the region whose range holds the key, or `NOT_HELD`. The key is not below the page's first one. */
  find(key: number): number {
    const { keys, buckets, bucketCount } = this;
    this.isUsed = true;
    // Behind the last range a key may be far beyond all buckets, and beyond 32 bits.
    const place = (key - this.first) * this.bucketsPerKey;
    const bucket = place >= bucketCount ? bucketCount - 1 : place | 0;
    let low = buckets[bucket] as number;
    let high = buckets[bucket + 1] as number;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((keys[middle * 2] as number) <= key) low = middle;
      else high = middle - 1;
    }
    return key <= (keys[low * 2 + 1] as number) ? (this.numbers[low] as number) : NOT_HELD;
  }
}

/** Takes the octets of a page, whose digest the caller has looked at, and checks every range of it. */
export const decodePage = (
  { fieldBits, keyOctets, regions }: PackHeader,
  info: PageInfo,
  octets: Uint8Array<ArrayBuffer>,
): Result<PackPage, PackFault> => {
  if (octets.length < info.octets) return err({ reason: "truncated", octets: octets.length, needed: info.octets });
  if (octets.length > info.octets) {
    return err({ reason: "trailing-octets", octets: octets.length, needed: info.octets });
  }
  // A column of keys must begin at a multiple of their size.
  const own = octets.byteOffset % 8 === 0 ? octets : octets.slice();
  const count = info.ranges * 2;
  const keys =
    keyOctets === 4
      ? new Uint32Array(own.buffer, own.byteOffset, count)
      : new Float64Array(own.buffer, own.byteOffset, count);
  const numbers = own.subarray(count * keyOctets, count * keyOctets + info.ranges);
  const fault = faultOfPage(keys, numbers, info, 2 ** fieldBits - 1, regions.length);
  return fault === undefined ? ok(new PackPage(keys, numbers)) : err(fault);
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
