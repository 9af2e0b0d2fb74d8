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
  readonly octets: Uint8Array<ArrayBuffer>;
}

/** The parts of a verified file in the order in which they are written: who sees the header sees all pages. */
export const partsOfFile = (
  file: Uint8Array<ArrayBuffer>,
  { headerOctets, pages }: PackHeader,
  sha256: string,
): readonly StoredPart[] => [
  ...pages.map(({ number, offset, octets }) => ({
    key: pageKey(sha256, number),
    octets: file.subarray(offset, offset + octets),
  })),
  { key: packKey(sha256), octets: file.subarray(0, headerOctets) },
];
