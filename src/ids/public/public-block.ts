import type { Words } from "../layout/layout.ts";
import { bigToWords, wordsToBig } from "../layout/words.ts";
import { swapBytes } from "./aes-block.ts";

/**
 * The plaintext block of Architect.Identities 2.1.1 for each type. Numbers are a .NET decimal: flags, high word, low
 * words, each little-endian. The 128-bit types are big-endian. A ulong is encoded as a decimal, so a public ID does not
 * authenticate its type.
 */
export type PublicType = "ulong" | "long" | "decimal" | "guid" | "uint128";

/** The greatest value of each type; the smallest is 0. */
export const PUBLIC_ID_MAX: Readonly<Record<PublicType, bigint>> = {
  ulong: 2n ** 64n - 1n,
  long: 2n ** 63n - 1n,
  decimal: 10n ** 28n - 1n,
  guid: 2n ** 128n - 1n,
  uint128: 2n ** 128n - 1n,
};

/** Whether a block has redundancy: of 2^128 blocks only `PUBLIC_ID_MAX` + 1 are valid. */
export const isProven = (type: PublicType): boolean => type !== "guid" && type !== "uint128";

/** The block of a value within the range of its type. */
export const blockOfId = (id: bigint, type: PublicType): Words => {
  const words = bigToWords(id, 4);
  if (!isProven(type)) return words;
  const [, high, middle, low] = words;
  return [0, swapBytes(high as number), swapBytes(low as number), swapBytes(middle as number)];
};

/** The value of a block; `undefined` if the redundancy shows that it is forged. */
export const idOfBlock = (block: Words, type: PublicType): bigint | undefined => {
  const [flags, high, low, middle] = block as [number, number, number, number];
  if (!isProven(type)) return wordsToBig(block);
  const id = wordsToBig([swapBytes(high), swapBytes(middle), swapBytes(low)]);
  return flags === 0 && id <= PUBLIC_ID_MAX[type] ? id : undefined;
};

/** Reorders bytes between a .NET Guid and its text: 3 2 1 0, 5 4, 7 6, 8 to 15. The permutation is an involution. */
export const swapGuid = (words: Words): Words => {
  const [first, second, third, fourth] = words as [number, number, number, number];
  const halvesSwapped = ((second & 0x00ff00ff) << 8) | ((second >>> 8) & 0x00ff00ff);
  return [swapBytes(first), halvesSwapped >>> 0, third, fourth];
};
