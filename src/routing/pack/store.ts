import type { PackHeader } from "./header.ts";

/**
 * A pack as key-value stores hold it. Nothing of it ever changes, since every name is a digest or goes with one:
 * - `pack.<sha256>`: the header, by its own digest, which the table names;
 * - `pack.<sha256>.<n>`: page n, whose digest the header holds.
 */
export const packKey = (sha256: string): string => `pack.${sha256}`;

export const pageKey = (sha256: string, page: number): string => `pack.${sha256}.${page}`;

export interface StoredPart {
  readonly key: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The parts of a verified file in the order in which they are written: who sees the header sees all pages. */
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
