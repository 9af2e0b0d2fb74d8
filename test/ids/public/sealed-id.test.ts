import { aessiv } from "@noble/ciphers/aes.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openId, SEALED_TEXT_LENGTH, type SealRing, sealId, sealRing } from "../../../src/ids/public/index.ts";
import { parseBase62 } from "../../../src/ids/public/public-text.ts";
import { runs } from "../../setup/property-runs.ts";
import { anyDamage, anyWords } from "../arbitraries.ts";
import { anyBytes, bytesOf, bytesOfHex, hexOf, nodeEncrypt, unwrap, wordsOfBytes } from "./bytes.ts";

/** AES-SIV by RFC 5297 §2.4 to §2.6 on Node's AES: slow, for any length. */
const xor = (one: Uint8Array, other: Uint8Array): Uint8Array => one.map((byte, at) => byte ^ (other[at] ?? 0));
const double = (bytes: Uint8Array): Uint8Array => {
  const value = BigInt(`0x${hexOf(bytes)}`) << 1n;
  const reduced = value >> 128n === 1n ? (value ^ 0x87n) & (2n ** 128n - 1n) : value;
  return bytesOfHex(reduced.toString(16).padStart(32, "0"));
};
const padded = (bytes: Uint8Array): Uint8Array => {
  const block = new Uint8Array(16);
  block.set(bytes);
  block[bytes.length] = 0x80;
  return block;
};
const slowCmac = (key: Uint8Array, message: Uint8Array): Uint8Array => {
  const subkey = double(nodeEncrypt(key, new Uint8Array(16)));
  const lastAt = Math.max(0, Math.ceil(message.length / 16) - 1) * 16;
  const last = message.subarray(lastAt);
  let chain: Uint8Array = new Uint8Array(16);
  for (let at = 0; at < lastAt; at += 16) chain = nodeEncrypt(key, xor(chain, message.subarray(at, at + 16)));
  return nodeEncrypt(key, xor(chain, last.length === 16 ? xor(last, subkey) : xor(padded(last), double(subkey))));
};
const slowSiv = (key: Uint8Array, data: Uint8Array, plaintext: Uint8Array): string => {
  const k1 = key.subarray(0, key.length / 2);
  const k2 = key.subarray(key.length / 2);
  const chain = xor(double(slowCmac(k1, new Uint8Array(16))), slowCmac(k1, data));
  const last =
    plaintext.length < 16
      ? xor(double(chain), padded(plaintext))
      : Uint8Array.from(plaintext, (byte, at) => byte ^ (chain[at - plaintext.length + 16] ?? 0));
  const tag = slowCmac(k1, last);
  const counter = tag.map((byte, at) => (at === 8 || at === 12 ? byte & 0x7f : byte));
  return hexOf(tag) + hexOf(xor(plaintext, nodeEncrypt(k2, counter).subarray(0, plaintext.length)));
};

const ringOf = (context: string, ...keys: readonly Uint8Array[]): SealRing =>
  unwrap(
    sealRing(
      keys.map((key, index) => ({ id: `k${index}`, key })),
      context,
    ),
  );
const bytesOfAscii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "ascii"));
const anyContext = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 64,
});

describe("AES-SIV", () => {
  test("the slow one gives the example of RFC 5297 A.1", () => {
    const key = bytesOfHex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    const data = bytesOfHex("101112131415161718191a1b1c1d1e1f2021222324252627");
    expect(slowSiv(key, data, bytesOfHex("112233445566778899aabbccddee"))).toBe(
      "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c",
    );
  });

  test("a sealed ID is base62 of AES-SIV of its 16 bytes, as in two other implementations", () => {
    fc.assert(
      fc.property(anyBytes(32, 48, 64), anyContext, anyWords(), (key, context, words) => {
        const text = unwrap(sealId(ringOf(context, key), words));
        const sealed = hexOf(bytesOf(unwrap(parseBase62(text, 4))));
        expect(sealed).toBe(slowSiv(key, bytesOfAscii(context), bytesOf(words)));
        expect(sealed).toBe(hexOf(aessiv(key, bytesOfAscii(context)).encrypt(bytesOf(words))));
      }),
    );
  });
});

describe("sealed IDs", () => {
  const one = new Uint8Array(64).fill(1);
  const two = new Uint8Array(32).fill(2);

  test("open to what was sealed, in 44 characters, the same each time", () => {
    fc.assert(
      fc.property(anyBytes(32, 48, 64), anyContext, anyWords(), (key, context, words) => {
        const ring = ringOf(context, key);
        const text = unwrap(sealId(ring, words));
        expect(text).toMatch(/^[0-9A-Za-z]+$/);
        expect(text).toHaveLength(SEALED_TEXT_LENGTH);
        expect(unwrap(sealId(ring, words))).toBe(text);
        expect(openId(ring, text)).toEqual({ ok: true, value: { words, key: "k0" } });
      }),
    );
  });

  test("rotate: the first key seals, all open, and the result names the key", () => {
    const rotated = ringOf("order", two, one);
    const text = unwrap(sealId(ringOf("order", one), [1, 2, 3, 4]));
    expect(unwrap(openId(rotated, text))).toEqual({ words: [1, 2, 3, 4], key: "k1" });
    expect(unwrap(openId(rotated, unwrap(sealId(rotated, [1, 2, 3, 4])))).key).toBe("k0");
    expect(openId(ringOf("order", two), text)).toEqual({ ok: false, error: { reason: "forged" } });
  });

  test("are forged in another context", () => {
    const text = unwrap(sealId(ringOf("order", one), [1, 2, 3, 4]));
    expect(openId(ringOf("person", one), text)).toEqual({ ok: false, error: { reason: "forged" } });
  });

  test("are forged with any bit turned", () => {
    const ring = ringOf("order", one);
    const sealed = bytesOf(unwrap(parseBase62(unwrap(sealId(ring, [1, 2, 3, 4])), 4)));
    for (let bit = 0; bit < 256; bit++) {
      const turned = sealed.slice();
      turned[bit >> 3] = (turned[bit >> 3] as number) ^ (1 << (bit & 7));
      const words = wordsOfBytes(turned);
      expect(ring.keys[0].open(words)).toBeUndefined();
    }
  });

  test("are refused with any character changed", () => {
    const ring = ringOf("order", one, two);
    const text = unwrap(sealId(ring, [1, 2, 3, 4]));
    fc.assert(
      fc.property(
        anyDamage(text).filter((damaged) => damaged !== text),
        (damaged) => !openId(ring, damaged).ok,
      ),
    );
  });

  test("random values of 256 bits are all forged", () => {
    const ring = ringOf("order", one, two);
    const draw = new Uint32Array(8);
    let accepted = 0;
    for (let round = 0; round < runs(10_000); round++) {
      crypto.getRandomValues(draw);
      for (const key of ring.keys) if (key.open([...draw]) !== undefined) accepted++;
    }
    expect(accepted).toBe(0);
  });
});

test.each([0, 1, 2, 3, 5, 8])("an ID of %i words is not sealed", (actual) => {
  const words = new Array<number>(actual).fill(1);
  expect(sealId(ringOf("order", new Uint8Array(32).fill(1)), words)).toEqual({
    ok: false,
    error: { reason: "word-count", expected: 4, actual },
  });
});
