import fc from "fast-check";
import { expect, test } from "vitest";
import { aesBlock } from "../../../src/ids/public/aes.ts";
import { anyWords } from "../arbitraries.ts";
import { anyBytes, bytesOf, bytesOfHex, hexOf, nodeEncrypt, wordsOfBytes } from "./bytes.ts";

/** The examples of FIPS 197: appendix B, then C.1 to C.3. */
const FIPS_197 = [
  ["2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"],
  ["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"],
  [
    "000102030405060708090a0b0c0d0e0f1011121314151617",
    "00112233445566778899aabbccddeeff",
    "dda97ca4864cdfe06eaf70a0ec0d7191",
  ],
  [
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    "00112233445566778899aabbccddeeff",
    "8ea2b7ca516745bfeafc49904b496089",
  ],
] as const;

test.each(FIPS_197)("FIPS 197 under the key %s", (key, plaintext, ciphertext) => {
  const aes = aesBlock(bytesOfHex(key));
  expect(hexOf(bytesOf(aes.encrypt(wordsOfBytes(bytesOfHex(plaintext)))))).toBe(ciphertext);
  expect(hexOf(bytesOf(aes.decrypt(wordsOfBytes(bytesOfHex(ciphertext)))))).toBe(plaintext);
});

test("agrees with the AES of Node on any block, and decrypts what it encrypts", () => {
  fc.assert(
    fc.property(anyBytes(16, 24, 32), anyWords(), (key, block) => {
      const aes = aesBlock(key);
      const ciphertext = aes.encrypt(block);
      expect(bytesOf(ciphertext)).toEqual(nodeEncrypt(key, bytesOf(block)));
      expect(aes.decrypt(ciphertext)).toEqual(block);
    }),
  );
});

test("the key may be anywhere in a buffer, and may be wiped afterwards", () => {
  const buffer = new Uint8Array(33).fill(7);
  const aes = aesBlock(buffer.subarray(1, 17));
  const before = aes.encrypt([1, 2, 3, 4]);
  buffer.fill(0);
  expect(aes.encrypt([1, 2, 3, 4])).toEqual(before);
  expect(bytesOf(before)).toEqual(nodeEncrypt(new Uint8Array(16).fill(7), bytesOf([1, 2, 3, 4])));
});
