import fc from "fast-check";
import { expect, test } from "vitest";
import { groupOfClass } from "../../../src/ids/index.ts";

/** The same CRC by long division, bit by bit and not reflected, over the platform's UTF-8. */
const slowGroup = (text: string): number => {
  const bits = [...new TextEncoder().encode(text)].flatMap((byte) =>
    Array.from({ length: 8 }, (_, bit) => (byte >> bit) & 1),
  );
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
