import type { PackHeader } from "./header.ts";

/** All ranges of a pack side by side, for whoever goes through them in order instead of looking one up. */
export interface PackRanges {
  /** First and last key of each range. */
  readonly bounds: Uint32Array | Float64Array;
  /** The region of each, by its place in `regions`. */
  readonly numbers: Uint8Array;
  readonly regions: readonly string[];
}

/** Copies the ranges out of a file that `verifyPack` has found to be whole. */
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
