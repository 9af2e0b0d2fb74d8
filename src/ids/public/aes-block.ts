import { unsafe } from "@noble/ciphers/aes.js";
import type { Words } from "../layout.ts";

/** One AES block under one key (FIPS 197), as four words, most significant first. The key stays inside the functions. */
export interface AesBlock {
  readonly encrypt: (block: Words) => Words;
  readonly decrypt: (block: Words) => Words;
}

/** Octets of the keys of AES-128, AES-192 and AES-256. */
export const AES_KEY_OCTETS: readonly number[] = [16, 24, 32];

/** The key must have one of `AES_KEY_OCTETS`. It is expanded once, in both directions. */
export const aesBlock = (key: Uint8Array): AesBlock => {
  const forward = unsafe.expandKeyLE(key);
  const backward = unsafe.expandKeyDecLE(key);
  return {
    encrypt: (block) => run(unsafe.encrypt, forward, block),
    decrypt: (block) => run(unsafe.decrypt, backward, block),
  };
};

/** The cipher counts octets of a word from its least significant end, FIPS 197 and the rest of us from the other. */
const run = (cipher: typeof unsafe.encrypt, schedule: Uint32Array, block: Words): Words => {
  const { s0, s1, s2, s3 } = cipher(
    schedule,
    swapOctets(block[0] as number),
    swapOctets(block[1] as number),
    swapOctets(block[2] as number),
    swapOctets(block[3] as number),
  );
  return [swapOctets(s0), swapOctets(s1), swapOctets(s2), swapOctets(s3)];
};

/** The word with its four octets in the opposite order. */
export const swapOctets = (word: number): number =>
  ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
