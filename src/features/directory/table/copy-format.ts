import * as v from "valibot";
import { err, ok, type Result } from "../../../ids/result.ts";
import { type Bytes, hexOf, type Sha256 } from "../../../routing/bytes.ts";
import { NAME_LENGTH_MAX } from "../../../routing/limits.ts";
import { HASH_KEY_BYTES, KeyHash } from "./key-hash.ts";

/**
 * A published copy of a directory: a header as JSON, and pages of keyed 64-bit hashes with the region of each. The first
 * `pageBits` bits of a hash are the number of its page. A page is a sorted column of records of 8 bytes, as one number of 64 bits,
 * little-endian:
 *
 *     32 bits   of the hash, after those of the page's number
 *     24 bits   of the hash, after these; 0 where the hash has no more
 *      8 bits   the place of the region in the header
 *
 * So 56 bits and those of the page's number are compared, and 64 from 8 of these on. A page has at most 2^13 keys and a copy
 * 2^24: a key that is not in the copy is found with a probability of at most 2^13 / 2^56 or 2^24 / 2^64, below 1 in 10^12.
 */
export const COPY_FORMAT = 1;

/** 64 KiB, which KV reads as fast as less. */
export const COPY_PAGE_BYTES_MAX = 65_536;

const RECORD_BYTES = 8;

const PAGE_KEYS_MAX = COPY_PAGE_BYTES_MAX / RECORD_BYTES;

/** Keys of an average page, at most: far enough below the most that no page of random hashes has more. */
const PAGE_KEYS_MEAN_MAX = 5_600;

export const COPY_KEYS_MAX = 2 ** 24;

export const COPY_REGIONS_MAX = 255;

/** 4,096 digests of 64 digits, and 255 names. */
export const COPY_HEADER_BYTES_MAX = 384 * 1024;

export const COPY_HASH_KEY_BYTES = HASH_KEY_BYTES;

/** No such key in the copy; its page is not in memory. */
export const COPY_NOT_FOUND = -1;
export const COPY_NOT_LOADED = -2;

export const pageBitsFor = (keys: number): number => Math.max(0, Math.ceil(Math.log2(keys / PAGE_KEYS_MEAN_MAX)));

/** As header fields carry names: visible ASCII. */
const NAME = v.pipe(v.string(), v.maxLength(NAME_LENGTH_MAX), v.regex(/^[\x21-\x7e]+$/));

const HEADER = v.strictObject({
  format: v.literal(COPY_FORMAT),
  directory: NAME,
  keys: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(COPY_KEYS_MAX)),
  /** ISO 8601: when its rows began to be read. */
  builtAt: v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), v.isoTimestamp()),
  pageBits: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(12)),
  /** 16 bytes in hex. A secret: with it, names that collide can be searched for. */
  hashKey: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
  regions: v.pipe(v.array(NAME), v.minLength(1), v.maxLength(COPY_REGIONS_MAX)),
  /** SHA-256 of each page in hex, one after the other. */
  digests: v.pipe(v.string(), v.regex(/^(?:[0-9a-f]{64})+$/)),
});

export type CopyHeader = Readonly<v.InferOutput<typeof HEADER>>;

/** Faults of a copy, or of the rows of one. */
const FAULTS = {
  "not-a-copy": ({ what }: { readonly what: string }) => `its header is not that of a copy: ${what}`,
  "digest-mismatch": (it: { readonly part: "header" | number; readonly expected: string; readonly actual: string }) =>
    `${it.part === "header" ? "its header" : `page ${it.part}`} has the SHA-256 ${it.actual}, not ${it.expected}`,
  "page-bytes": ({ page, bytes }: { readonly page: number; readonly bytes: number }) =>
    `page ${page} has ${bytes} bytes; a page has a multiple of ${RECORD_BYTES}, up to ${COPY_PAGE_BYTES_MAX}`,
  "page-order": ({ page, at }: { readonly page: number; readonly at: number }) =>
    `page ${page} is not sorted at record ${at}`,
  "unknown-region": (it: { readonly page: number; readonly at: number; readonly regions: number }) =>
    `page ${it.page} has at record ${it.at} a region beyond the ${it.regions} of the header`,
  "spare-bits": ({ page, at }: { readonly page: number; readonly at: number }) =>
    `page ${page} has at record ${at} more bits than a hash`,
  empty: (_: object) => "it has no key",
  "too-many-keys": (_: object) => `it has more than ${COPY_KEYS_MAX} keys`,
  "too-many-regions": (_: object) => `it has more than ${COPY_REGIONS_MAX} regions`,
  "same-hash": ({ count }: { readonly count: number }) => `${count} of its hashes are there twice`,
};

export type CopyFault = {
  [Reason in keyof typeof FAULTS]: { readonly reason: Reason } & Parameters<(typeof FAULTS)[Reason]>[0];
}[keyof typeof FAULTS];

/** In one sentence that ends without a full stop. */
export const formatCopyFault = (fault: CopyFault): string =>
  (FAULTS[fault.reason] as (fault: CopyFault) => string)(fault);

type Read<Value> = Promise<Result<Value, CopyFault>>;

/** Verifies and reads the bytes of a header. `expected`: its digest, as the pointer names it. */
export const readCopyHeader = async (bytes: Bytes, sha256: Sha256, expected: string): Read<CopyHeader> => {
  const actual = hexOf(await sha256(bytes));
  if (actual !== expected) return err({ reason: "digest-mismatch", part: "header", expected, actual });
  if (bytes.length > COPY_HEADER_BYTES_MAX) return err({ reason: "not-a-copy", what: "it is too long" });
  let text = "";
  // Only ASCII is written: names are made of it.
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  const header = v.safeParse(v.pipe(v.string(), v.parseJson(undefined, "it is not JSON"), HEADER), text);
  if (!header.success) return err({ reason: "not-a-copy", what: header.issues[0].message });
  const { digests, pageBits, keys, regions } = header.output;
  const pages = 2 ** pageBits;
  if (digests.length !== pages * 64) return err({ reason: "not-a-copy", what: `it has not ${pages} digests` });
  if (keys > pages * PAGE_KEYS_MAX)
    return err({ reason: "not-a-copy", what: `${pages} pages cannot have ${keys} keys` });
  if (new Set(regions).size < regions.length) return err({ reason: "not-a-copy", what: "it names a region twice" });
  return ok(header.output);
};

/** Verifies the digest, the order and the regions of a page. */
export const readCopyPage = async (
  header: Pick<CopyHeader, "digests" | "regions" | "pageBits">,
  page: number,
  bytes: Bytes,
  sha256: Sha256,
): Read<CopyPage> => {
  const expected = header.digests.slice(page * 64, page * 64 + 64);
  const actual = hexOf(await sha256(bytes));
  if (actual !== expected) return err({ reason: "digest-mismatch", part: page, expected, actual });
  if (bytes.length % RECORD_BYTES !== 0 || bytes.length > COPY_PAGE_BYTES_MAX) {
    return err({ reason: "page-bytes", page, bytes: bytes.length });
  }
  const own = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const records = new Uint32Array(own.buffer, own.byteOffset, own.length / 4);
  const regions = header.regions.length;
  const spare = header.pageBits > 8 ? 2 ** header.pageBits - 1 : 0;
  for (let at = 0; at * 2 < records.length; at++) {
    const tail = records[at * 2] as number;
    const word = records[at * 2 + 1] as number;
    if ((tail & 255) >= regions) return err({ reason: "unknown-region", page, at, regions });
    if ((tail & spare) >>> 8 !== 0) return err({ reason: "spare-bits", page, at });
    if (at === 0) continue;
    const before = records[at * 2 - 1] as number;
    if (before > word || (before === word && (records[at * 2 - 2] as number) >>> 8 >= tail >>> 8)) {
      return err({ reason: "page-order", page, at });
    }
  }
  return ok(new CopyPage(records));
};

/** A page that `readCopyPage` has verified. */
export class CopyPage {
  readonly bytes: number;
  /** Set by each look-up, for the store of pages. */
  isUsed = false;
  private readonly records: Uint32Array;
  private readonly count: number;
  private readonly perWord: number;

  constructor(records: Uint32Array) {
    this.records = records;
    this.bytes = records.byteLength;
    this.count = records.length / 2;
    this.perWord = this.count / 2 ** 32;
  }

  get keys(): number {
    return this.count;
  }

  /** Place of the region, or `COPY_NOT_FOUND`. Hashes are spread evenly: the place is guessed, then searched for around it. */
  find(word: number, rest: number): number {
    const { records, count } = this;
    this.isUsed = true;
    let low = 0;
    let high = count;
    let step = 16;
    const guess = Math.floor(word * this.perWord);
    if (guess < count && (records[guess * 2 + 1] as number) < word) {
      low = guess + 1;
      for (let next = low + step; next < count; next = low + step) {
        if ((records[next * 2 + 1] as number) >= word) {
          high = next;
          break;
        }
        low = next + 1;
        step *= 2;
      }
    } else {
      high = guess;
      for (let next = high - step; next >= 0; next = high - step) {
        if ((records[next * 2 + 1] as number) < word) {
          low = next + 1;
          break;
        }
        high = next;
        step *= 2;
      }
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((records[middle * 2 + 1] as number) < word) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < count && records[at * 2 + 1] === word; at++) {
      const tail = records[at * 2] as number;
      if (tail >>> 8 === rest) return tail & 255;
    }
    return COPY_NOT_FOUND;
  }
}

/** The part of a hash after the number of its page: 32 bits, and the 24 after them. */
export const wordOf = (high: number, low: number, pageBits: number): number =>
  pageBits === 0 ? high >>> 0 : ((high << pageBits) | (low >>> (32 - pageBits))) >>> 0;
export const restOf = (low: number, pageBits: number): number => (low << pageBits) >>> 8;
export const pageOfHash = (high: number, pageBits: number): number => (pageBits === 0 ? 0 : high >>> (32 - pageBits));

/** A copy whose header is verified, with those of its pages that are in memory. */
export class LoadedCopy {
  readonly header: CopyHeader;
  readonly builtAtMs: number;
  readonly pages: (CopyPage | undefined)[];
  /** The page of the key that was last looked up. */
  page = 0;
  private readonly hash: KeyHash;

  constructor(header: CopyHeader) {
    this.header = header;
    this.builtAtMs = Date.parse(header.builtAt);
    this.pages = new Array(2 ** header.pageBits).fill(undefined);
    this.hash = new KeyHash(bytesOfHex(header.hashKey));
  }

  /** Place of the region in the header, `COPY_NOT_FOUND` or `COPY_NOT_LOADED`. */
  find(key: string): number {
    const { hash } = this;
    const { pageBits } = this.header;
    hash.of(key);
    this.page = pageOfHash(hash.high, pageBits);
    const page = this.pages[this.page];
    if (page === undefined) return COPY_NOT_LOADED;
    return page.find(wordOf(hash.high, hash.low, pageBits), restOf(hash.low, pageBits));
  }
}

const bytesOfHex = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16));

/**
 * The keys of copies in KV. Headers and pages are named by the digest of the header and never change; the pointer of a directory
 * is the digest of the header in force.
 */
export const copyPointerKey = (directory: string): string => `directory.${directory}.current`;
export const copyKey = (sha256: string): string => `directory-copy.${sha256}`;
export const copyPageKey = (sha256: string, page: number): string => `directory-copy.${sha256}.${page}`;
