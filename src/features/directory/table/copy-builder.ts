import { err, ok, type Result } from "../../../ids/result.ts";
import { type Bytes, hexOf, type Sha256 } from "../../../routing/bytes.ts";
import * as format from "./copy-format.ts";
import { KeyHash } from "./key-hash.ts";

/** A copy as it is stored. */
export interface EncodedCopy {
  /** Digest of the header in hex, which is its name. */
  readonly sha256: string;
  readonly header: Bytes;
  readonly pages: readonly Bytes[];
  readonly keys: number;
  readonly regions: readonly string[];
  /** The header and all pages. */
  readonly bytes: number;
}

export interface BuildOptions {
  readonly directory: string;
  /** When the first of the rows was read, Unix ms. */
  readonly builtAtMs: number;
  readonly sha256: Sha256;
}

const CHUNK_KEYS = 2 ** 18;

type Chunk = { readonly highs: Uint32Array; readonly lows: Uint32Array; readonly places: Uint8Array };

/**
 * Gathers rows in any order, 9 bytes a key, and sorts them into pages: at most 17 bytes a key and one chunk at once. A key must
 * come once. If `build` finds a hash twice, the rows are to be read again with another hash key: two keys may share a hash. If it
 * happens again, a key came twice.
 */
export class CopyBuilder {
  private readonly hashKey: Uint8Array;
  private readonly hash: KeyHash;
  private readonly chunks: Chunk[] = [];
  private readonly places = new Map<string, number>();
  private count = 0;

  /** `hashKey`: 16 random bytes. */
  constructor(hashKey: Uint8Array) {
    this.hashKey = hashKey;
    this.hash = new KeyHash(hashKey);
  }

  get keys(): number {
    return this.count;
  }

  add(key: string, region: string): void {
    const at = this.count++ % CHUNK_KEYS;
    // `build` says what is wrong: the rest is counted only.
    if (this.count > format.COPY_KEYS_MAX) return;
    if (at === 0) this.chunks.push(newChunk());
    const { highs, lows, places } = this.chunks.at(-1) as Chunk;
    let place = this.places.get(region);
    if (place === undefined) {
      place = this.places.size;
      if (place <= format.COPY_REGIONS_MAX) this.places.set(region, place);
    }
    this.hash.of(key);
    highs[at] = this.hash.high;
    lows[at] = this.hash.low;
    places[at] = place;
  }

  /** Once: it takes the rows. */
  async build({ directory, builtAtMs, sha256 }: BuildOptions): Promise<Result<EncodedCopy, format.CopyFault>> {
    const { count, places } = this;
    if (count === 0) return err({ reason: "empty" });
    if (count > format.COPY_KEYS_MAX) return err({ reason: "too-many-keys" });
    if (places.size > format.COPY_REGIONS_MAX) return err({ reason: "too-many-regions" });
    const pageBits = format.pageBitsFor(count);
    const { records, ends } = this.scatter(pageBits);
    const whole = new BigUint64Array(records.buffer);
    const pages: Bytes[] = [];
    const digests: string[] = [];
    let twice = 0;
    let from = 0;
    for (const end of ends) {
      whole.subarray(from, end).sort();
      twice += countTwice(records, from, end);
      const page = new Uint8Array(records.buffer, from * 8, (end - from) * 8);
      pages.push(page);
      if (page.length > format.COPY_PAGE_BYTES_MAX) return err({ reason: "same-hash", count: Math.max(1, twice) });
      from = end;
    }
    if (twice > 0) return err({ reason: "same-hash", count: twice });
    for (const page of pages) digests.push(hexOf(await sha256(page)));
    const regions = [...places.keys()];
    const header = asciiBytes(
      JSON.stringify({
        format: format.COPY_FORMAT,
        directory,
        keys: count,
        builtAt: new Date(builtAtMs).toISOString(),
        pageBits,
        hashKey: hexOf(this.hashKey),
        regions,
        digests: digests.join(""),
      } satisfies format.CopyHeader),
    );
    const name = hexOf(await sha256(header));
    return ok({ sha256: name, header, pages, keys: count, regions, bytes: header.length + count * 8 });
  }

  /** The records by their page, not sorted yet; and where each page ends. */
  private scatter(pageBits: number) {
    const { chunks, count } = this;
    const ends = new Uint32Array(2 ** pageBits);
    const sizeOf = (chunk: number): number => Math.min(CHUNK_KEYS, count - chunk * CHUNK_KEYS);
    for (const [number, { highs }] of chunks.entries()) {
      for (let at = 0; at < sizeOf(number); at++) bump(ends, format.pageOfHash(highs[at] as number, pageBits));
    }
    let sum = 0;
    for (const [page, keys] of ends.entries()) {
      ends[page] = sum;
      sum += keys;
    }
    const records = new Uint32Array(count * 2);
    for (let number = chunks.length - 1; number >= 0; number--) {
      // A chunk is free as soon as its keys are in their pages.
      const { highs, lows, places } = chunks.pop() as Chunk;
      for (let at = 0; at < sizeOf(number); at++) {
        const high = highs[at] as number;
        const low = lows[at] as number;
        const to = bump(ends, format.pageOfHash(high, pageBits)) * 2;
        records[to] = (format.restOf(low, pageBits) << 8) | (places[at] as number);
        records[to + 1] = format.wordOf(high, low, pageBits);
      }
    }
    return { records, ends };
  }
}

/** Adds one, and returns what was there before. */
const bump = (counts: Uint32Array, at: number): number => {
  const before = counts[at] as number;
  counts[at] = before + 1;
  return before;
};

const newChunk = (): Chunk => ({
  highs: new Uint32Array(CHUNK_KEYS),
  lows: new Uint32Array(CHUNK_KEYS),
  places: new Uint8Array(CHUNK_KEYS),
});

const countTwice = (records: Uint32Array, from: number, end: number): number => {
  let twice = 0;
  for (let at = from + 1; at < end; at++) {
    const isSameWord = records[at * 2 + 1] === records[at * 2 - 1];
    if (isSameWord && (records[at * 2] as number) >>> 8 === (records[at * 2 - 2] as number) >>> 8) twice++;
  }
  return twice;
};

const asciiBytes = (text: string): Bytes => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
