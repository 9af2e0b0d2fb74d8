import { err, ok, type Result } from "../../ids/result.ts";
import {
  decodeHeader,
  decodePage,
  headerBytesOf,
  type PackHeader,
  type PackPage,
  type PageInfo,
  wrongLength,
} from "./decode.ts";
import { hexOf, type PackFault, type Sha256 } from "./format.ts";
import { LoadedPack } from "./pack.ts";

/** All ranges of a pack in order, for a scan instead of look-ups. */
export interface PackRanges {
  /** First and last key of each range. */
  readonly bounds: Uint32Array | Float64Array;
  /** The region of each, by its place in `regions`. */
  readonly numbers: Uint8Array;
  readonly regions: readonly string[];
}

/** Copies the ranges out of a verified file. */
export const rangesOfFile = (file: Uint8Array<ArrayBuffer>, header: PackHeader): PackRanges => {
  const { keyBytes, ranges, regions, pages } = header;
  const bounds = keyBytes === 4 ? new Uint32Array(ranges * 2) : new Float64Array(ranges * 2);
  const bytes = new Uint8Array(bounds.buffer);
  const numbers = new Uint8Array(ranges);
  for (const { offset, rangesBefore, ranges: own } of pages) {
    const end = offset + own * 2 * keyBytes;
    bytes.set(file.subarray(offset, end), rangesBefore * 2 * keyBytes);
    numbers.set(file.subarray(end, end + own), rangesBefore);
  }
  return { bounds, numbers, regions };
};

/** The keys of a pack in KV: the header by its digest, which the table names; page n, whose digest is in the header. */
export const packKey = (sha256: string): string => `pack.${sha256}`;

export const pageKey = (sha256: string, page: number): string => `pack.${sha256}.${page}`;

export interface StoredPart {
  readonly key: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The parts of a verified file in write order. The header is last: a reader that has it finds all pages. */
export const partsOfFile = (
  file: Uint8Array<ArrayBuffer>,
  { headerBytes, pages }: PackHeader,
  sha256: string,
): readonly StoredPart[] => [
  ...pages.map(({ number, offset, bytes }) => ({
    key: pageKey(sha256, number),
    bytes: file.subarray(offset, offset + bytes),
  })),
  { key: packKey(sha256), bytes: file.subarray(0, headerBytes) },
];

/** Verifies the digest of a header and decodes it. `bytes`: the header, or the whole file. */
export const readHeader = async (
  bytes: Uint8Array<ArrayBuffer>,
  sha256: Sha256,
  expected: string | undefined,
): Promise<Result<PackHeader, PackFault>> => {
  const length = headerBytesOf(bytes);
  if (!length.ok) return length;
  const own = bytes.subarray(0, length.value);
  const actual = hexOf(await sha256(own));
  if (expected !== undefined && actual !== expected) {
    return err({ reason: "digest-mismatch", part: "header", expected, actual });
  }
  return decodeHeader(own);
};

export const readPage = async (
  header: PackHeader,
  info: PageInfo,
  bytes: Uint8Array<ArrayBuffer>,
  sha256: Sha256,
): Promise<Result<PackPage, PackFault>> => {
  const actual = hexOf(await sha256(bytes));
  // A wrong length has its own error.
  if (bytes.length === info.bytes && actual !== info.sha256) {
    return err({ reason: "digest-mismatch", part: info.number, expected: info.sha256, actual });
  }
  return decodePage(header, info, bytes);
};

/** Verifies every digest and every range of a file. `expected`: the digest in the table, if there is one. */
export const verifyPack = async (
  content: Uint8Array<ArrayBuffer>,
  sha256: Sha256,
  expected?: string,
): Promise<Result<LoadedPack, PackFault>> => {
  const header = await readHeader(content, sha256, expected);
  if (!header.ok) return header;
  const { bytes, pages } = header.value;
  if (content.length !== bytes) return wrongLength(content, bytes);
  const pack = new LoadedPack(header.value);
  for (const info of pages) {
    const page = await readPage(header.value, info, content.subarray(info.offset, info.offset + info.bytes), sha256);
    if (!page.ok) return page;
    pack.pages[info.number] = page.value;
  }
  return ok(pack);
};
