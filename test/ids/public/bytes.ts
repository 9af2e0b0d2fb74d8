import { createCipheriv, createDecipheriv } from "node:crypto";
import fc from "fast-check";
import type { Words } from "../../../src/ids/index.ts";

/** Conversions between words and bytes, and Node's AES as the second implementation. */

export const bytesOfHex = (hex: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(hex, "hex"));
export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
export const bytesOf = (words: Words): Uint8Array<ArrayBuffer> =>
  bytesOfHex(words.map((word) => word.toString(16).padStart(8, "0")).join(""));
export const wordsOfBytes = (bytes: Uint8Array): Words =>
  (hexOf(bytes).match(/.{8}/g) ?? []).map((word) => Number.parseInt(word, 16));

export const nodeEncrypt = (key: Uint8Array, block: Uint8Array): Uint8Array => {
  const cipher = createCipheriv(`aes-${key.length * 8}-ecb`, key, null).setAutoPadding(false);
  return Uint8Array.from(Buffer.concat([cipher.update(block), cipher.final()]));
};

export const nodeDecrypt = (key: Uint8Array, block: Uint8Array): Uint8Array => {
  const cipher = createDecipheriv(`aes-${key.length * 8}-ecb`, key, null).setAutoPadding(false);
  return Uint8Array.from(Buffer.concat([cipher.update(block), cipher.final()]));
};

/** Bytes of one of the lengths. */
export const anyBytes = (...lengths: readonly number[]): fc.Arbitrary<Uint8Array> =>
  fc.constantFrom(...lengths).chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));

/** The value of a successful result. */
export const unwrap = <Value>(
  result: { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: unknown },
): Value => {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
};
