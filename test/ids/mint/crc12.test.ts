import fc from "fast-check";
import { expect, test } from "vitest";
import { groupOfClass } from "../../../src/ids/index.ts";

/** The same CRC by long division, bit by bit and not reflected, over the platform's UTF-8. */
const slowGroup = (name: string | Uint8Array): number => {
  const bytes = typeof name === "string" ? new TextEncoder().encode(name) : name;
  const bits = [...bytes].flatMap((byte) => Array.from({ length: 8 }, (_, bit) => (byte >> bit) & 1));
  let remainder = 0xfff;
  for (const bit of bits) {
    const carry = (remainder >> 11) ^ bit;
    remainder = ((remainder << 1) & 0xfff) ^ (carry ? 0x80f : 0);
  }
  const reversed = [...remainder.toString(2).padStart(12, "0")].reverse().join("");
  return Number.parseInt(reversed, 2) ^ 0xfff;
};

test("agrees with long division on any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(groupOfClass(text)).toBe(slowGroup(text));
    }),
  );
});

test.each(["\u007f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"])(
  "agrees at the borders of UTF-8: %j",
  (text) => {
    expect(groupOfClass(text)).toBe(slowGroup(text));
  },
);

test("half of a surrogate pair counts as a question mark, as in Java", () => {
  expect(groupOfClass("a\ud800b")).toBe(groupOfClass("a?b"));
  expect(groupOfClass("\udc00")).toBe(groupOfClass("?"));
});

test("the bytes of a name in another encoding have a group too", () => {
  const name = "com.example.Größe";
  expect(groupOfClass(new TextEncoder().encode(name))).toBe(groupOfClass(name));
  const latin1 = Uint8Array.from(name, (character) => character.charCodeAt(0));
  expect(groupOfClass(latin1)).not.toBe(groupOfClass(name));
  expect(groupOfClass(latin1)).toBe(slowGroup(latin1));
  expect(groupOfClass(new Uint8Array())).toBe(groupOfClass(""));
});
