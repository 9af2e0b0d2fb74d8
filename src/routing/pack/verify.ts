import { err, ok, type Result } from "../../ids/result.ts";
import { hexOf, type PackFault, type Sha256 } from "./format.ts";
import { decodeHeader, headerBytesOf, type PackHeader, type PageInfo } from "./header.ts";
import { LoadedPack } from "./pack.ts";
import { decodePage, type PackPage } from "./page.ts";

/** Reads the header of a pack, if it is the one of that digest. `bytes`: the header, or the whole file. */
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
    return err({ reason: "digest-differs", part: "header", expected, actual });
  }
  return decodeHeader(own);
};

/** Reads one page, if it is the one that the header names. */
export const readPage = async (
  header: PackHeader,
  info: PageInfo,
  bytes: Uint8Array<ArrayBuffer>,
  sha256: Sha256,
): Promise<Result<PackPage, PackFault>> => {
  const actual = hexOf(await sha256(bytes));
  // A page that is cut short says so, whatever its digest.
  if (bytes.length === info.bytes && actual !== info.sha256) {
    return err({ reason: "digest-differs", part: info.number, expected: info.sha256, actual });
  }
  return decodePage(header, info, bytes);
};

/** Reads a whole file: every digest and every range. `expected`: the digest in the table, where there is one. */
export const verifyPack = async (
  content: Uint8Array<ArrayBuffer>,
  sha256: Sha256,
  expected?: string,
): Promise<Result<LoadedPack, PackFault>> => {
  const header = await readHeader(content, sha256, expected);
  if (!header.ok) return header;
  const { bytes, pages } = header.value;
  if (content.length < bytes) return err({ reason: "truncated", bytes: content.length, needed: bytes });
  if (content.length > bytes) return err({ reason: "trailing-octets", bytes: content.length, needed: bytes });
  const pack = new LoadedPack(header.value);
  for (const info of pages) {
    const page = await readPage(header.value, info, content.subarray(info.offset, info.offset + info.bytes), sha256);
    if (!page.ok) return page;
    pack.put(info.number, page.value);
  }
  return ok(pack);
};
