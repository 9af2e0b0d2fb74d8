import { AES } from "@stablelib/aes";
import { CMAC } from "@stablelib/cmac";
import type { Words } from "../layout/layout.ts";

// This library makes its tables with the first key. One that makes them at import costs each start of a gateway 7 ms.

/** AES on single blocks under one key (FIPS 197), not exposed. A block is four words, most significant first. */
export type AesBlock = { readonly encrypt: (block: Words) => Words; readonly decrypt: (block: Words) => Words };

/** Key lengths in bytes of AES-128, AES-192 and AES-256. */
export const AES_KEY_BYTES: readonly number[] = [16, 24, 32];

/** Expands the key once, for both directions. Its length must be an AES key length. */
export const aesBlock = (key: Uint8Array): AesBlock => {
  const cipher = new AES(key);
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  const run = (block: Words, step: "encryptBlock" | "decryptBlock"): Words => {
    view.setUint32(0, block[0] as number);
    view.setUint32(4, block[1] as number);
    view.setUint32(8, block[2] as number);
    view.setUint32(12, block[3] as number);
    cipher[step](bytes, bytes);
    return [view.getUint32(0), view.getUint32(4), view.getUint32(8), view.getUint32(12)];
  };
  return { encrypt: (block) => run(block, "encryptBlock"), decrypt: (block) => run(block, "decryptBlock") };
};

/** Reverses the four bytes of a word. */
export const swapBytes = (word: number): number =>
  ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;

/**
 * AES-SIV (RFC 5297) of one 128-bit plaintext P with one associated data string, the context. V = S2V(K1, context, P)
 * is both tag and initialization vector; C = P xor E(K2, V with two bits cleared). Everything independent of P is
 * precomputed, so sealing and opening take two AES blocks each.
 *
 * SIV is deterministic, so an ID has one text, and it needs neither nonce nor randomness. Its privacy and authenticity
 * reduce to AES being a pseudorandom permutation (Rogaway and Shrimpton, Eurocrypt 2006).
 */
export interface SivBlock {
  /** Eight words: V, then C. */
  readonly seal: (plaintext: Words) => Words;
  /** The four plaintext words; `undefined` if the tag does not match. */
  readonly open: (sealed: Words) => Words | undefined;
}

/** Key lengths in bytes: K1 and K2, each an AES key. */
export const SIV_KEY_BYTES: readonly number[] = [32, 48, 64];

const ZERO: Words = [0, 0, 0, 0];
/** RFC 5297 §2.6: bits 63 and 31 of the IV are cleared, so that 32-bit and 64-bit counters never carry. */
const WITHOUT_CARRY = 0x7fffffff;

/** The key must have one of the lengths above. */
export const sivBlock = (key: Uint8Array, context: Uint8Array): SivBlock => {
  const k1 = key.subarray(0, key.length / 2);
  const mac = aesBlock(k1);
  const pad = aesBlock(key.subarray(key.length / 2));
  const subkey = double(mac.encrypt(ZERO));
  // RFC 4493 §2.4: CMAC of one full block encrypts the block XOR the first subkey.
  const chain = xor(double(mac.encrypt(subkey)), wordsOfBytes(new CMAC(new AES(k1)).update(context).digest()));
  const mask = xor(chain, subkey);

  const tagOf = (plaintext: Words): Words => mac.encrypt(xor(plaintext, mask));
  const padded = (text: Words, tag: Words): Words => {
    const [first, second, third, fourth] = tag as [number, number, number, number];
    return xor(text, pad.encrypt([first, second, third & WITHOUT_CARRY, fourth & WITHOUT_CARRY]));
  };

  return {
    seal: (plaintext) => {
      const tag = tagOf(plaintext);
      return [...tag, ...padded(plaintext, tag)];
    },
    open: (sealed) => {
      const tag = sealed.slice(0, 4);
      const plaintext = padded(sealed.slice(4), tag);
      return sameWords(tag, tagOf(plaintext)) ? plaintext : undefined;
    },
  };
};

/** Compares all words before deciding, so that timing does not reveal a matching prefix. */
const sameWords = (one: Words, other: Words): boolean =>
  one.reduce((difference, word, at) => difference | (word ^ (other[at] as number)), 0) === 0;

const xor = (one: Words, other: Words): Words => one.map((word, at) => (word ^ (other[at] as number)) >>> 0);

/** Doubling in GF(2^128), RFC 5297 §2.3. */
const double = (words: Words): Words => {
  const [first, second, third, fourth] = words as [number, number, number, number];
  const reduction = first >>> 31 === 1 ? 0x87 : 0;
  return [
    ((first << 1) | (second >>> 31)) >>> 0,
    ((second << 1) | (third >>> 31)) >>> 0,
    ((third << 1) | (fourth >>> 31)) >>> 0,
    ((fourth << 1) ^ reduction) >>> 0,
  ];
};

const wordsOfBytes = (bytes: Uint8Array): Words => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return [0, 4, 8, 12].map((at) => view.getUint32(at));
};
