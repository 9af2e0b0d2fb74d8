import { unsafe } from "@noble/ciphers/aes.js";
import type { Words } from "../layout/layout.ts";

/**
 * AES on single blocks under one key (FIPS 197). A block is four words, most significant first. The key is not exposed.
 */
export interface AesBlock {
  readonly encrypt: (block: Words) => Words;
  readonly decrypt: (block: Words) => Words;
}

/** Key lengths in bytes of AES-128, AES-192 and AES-256. */
export const AES_KEY_BYTES: readonly number[] = [16, 24, 32];

/** Expands the key once, for both directions. Its length must be an AES key length. */
export const aesBlock = (key: Uint8Array): AesBlock => {
  const forward = unsafe.expandKeyLE(key);
  const backward = unsafe.expandKeyDecLE(key);
  return {
    encrypt: (block) => run(unsafe.encrypt, forward, block),
    decrypt: (block) => run(unsafe.decrypt, backward, block),
  };
};

/** The cipher library is little-endian within words; FIPS 197 is big-endian. */
const run = (cipher: typeof unsafe.encrypt, schedule: Uint32Array, block: Words): Words => {
  const { s0, s1, s2, s3 } = cipher(
    schedule,
    swapBytes(block[0] as number),
    swapBytes(block[1] as number),
    swapBytes(block[2] as number),
    swapBytes(block[3] as number),
  );
  return [swapBytes(s0), swapBytes(s1), swapBytes(s2), swapBytes(s3)];
};

/** Reverses the four bytes of a word. */
export const swapBytes = (word: number): number =>
  ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
