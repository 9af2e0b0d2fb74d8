import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeSegment,
  KEY_BYTES_MAX,
  KEY_FORMS,
  type KeyForm,
  normaliseKey,
  utf8Bytes,
} from "../../../src/features/directory/table/normalise.ts";

/** `undefined`: refused. */
const VECTORS: readonly (readonly [KeyForm, text: string, key: string | undefined])[] = [
  ["nfc", "Mu\u0308nchen", "M\u00fcnchen"],
  ["nfc", "Ann", "Ann"],
  ["nfc", "a b/c%", "a b/c%"],
  ["nfc", "\ud800", undefined],
  ["nfc", "a\nb", undefined],
  ["nfc", "a\0b", undefined],
  ["nfc", "", undefined],
  // No code point yet: a later Unicode may give it another normal form.
  ["nfc", "\u0378", undefined],
  ["lower", "M\u00dcNCHEN", "m\u00fcnchen"],
  // Java, PostgreSQL and JavaScript each do this differently.
  ["lower", "\u0130stanbul", undefined],
  // No final sigma: a neighbour does not matter.
  ["lower", "\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c3"],
  ["lower", "STRASSE", "strasse"],
  ["lower", "Stra\u00dfe", "stra\u00dfe"],
  ["lower", "\u212a", "k"],
  ["ascii-lower", "My-Shop_1", "my-shop_1"],
  ["ascii-lower", "my shop", undefined],
  ["ascii-lower", "m\u00fcnchen", undefined],
  ["ascii-lower", "\u212a", undefined],
  // RFC 8265, section 3.5, table 1 and 2.
  ["username", "juliet@example.com", "juliet@example.com"],
  ["username", "fussball", "fussball"],
  ["username", "fu\u00dfball", "fu\u00dfball"],
  ["username", "\u03c0", "\u03c0"],
  ["username", "\u03a3", "\u03c3"],
  ["username", "\u03c3", "\u03c3"],
  ["username", "\u03c2", "\u03c2"],
  ["username", "foo bar", undefined],
  ["username", "", undefined],
  ["username", "henry\u2163", undefined],
  ["username", "\u265a", undefined],
  ["username", "\uff21\uff42\uff43", "abc"],
  ["username", "a\u200db", undefined],
  ["username", "l\u00b7l", undefined],
  ["username", "\u0640", undefined],
  ["username", "\u05d0\u05d1", undefined],
  ["username", "\u1100\u1161", "\uac00"],
  ["username", "\u1100", undefined],
  ["username", "\u3007", "\u3007"],
  ["domain", "Example.COM", "example.com"],
  ["domain", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de"],
  ["domain", "m\u00fcnchen.de", undefined],
  ["domain", "example.com.", undefined],
  ["domain", "-a.de", undefined],
  ["domain", "a..de", undefined],
  ["domain", `${"a".repeat(64)}.de`, undefined],
  ["domain", "a_b.de", undefined],
  ["email", "Ann@Example.com", "ann@example.com"],
  ["email", "ann+x@example.com", "ann+x@example.com"],
  ["email", "J\u00fcrgen@example.com", "j\u00fcrgen@example.com"],
  ["email", '"ann"@example.com', undefined],
  ["email", "ann@b@example.com", undefined],
  ["email", "ann..b@example.com", undefined],
  ["email", ".ann@example.com", undefined],
  ["email", "ann@", undefined],
  ["email", "@example.com", undefined],
  ["email", "ann", undefined],
  ["email", `${"a".repeat(65)}@example.com`, undefined],
];

describe("the key of a text", () => {
  it.each(VECTORS)("%s of %j is %j", (form, text, key) => {
    const found = normaliseKey(form, text);
    expect(found.ok ? found.value : undefined).toBe(key);
  });

  it("has at most 512 bytes", () => {
    const bytes = (text: string) => new TextEncoder().encode(text).length;
    for (const text of ["a", "\u00fc", "\u20ac", "\u{1f600}"]) {
      const most = text.repeat(Math.floor(KEY_BYTES_MAX / bytes(text)));
      expect([normaliseKey("nfc", most).ok, normaliseKey("nfc", most + text).ok]).toEqual([true, false]);
    }
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => utf8Bytes(text) === bytes(text)));
  });

  it.each(KEY_FORMS)("%s: a key is its own key, and no text has two", (form) => {
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.string({ unit: "grapheme", maxLength: 12 }),
      fc.tuple(fc.string({ maxLength: 8 }), fc.domain()).map(([local, host]) => `${local}@${host}`),
      fc.domain(),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const found = normaliseKey(form, text);
        if (!found.ok) return;
        expect(normaliseKey(form, found.value)).toEqual(found);
        // Texts that Unicode calls equal are one key.
        for (const same of ["NFC", "NFD"]) expect(normaliseKey(form, text.normalize(same))).toEqual(found);
        expect(found.value.normalize("NFC")).toBe(found.value);
        expect(utf8Bytes(found.value)).toBeLessThanOrEqual(KEY_BYTES_MAX);
      }),
    );
  });
});

describe("a segment of a path", () => {
  it.each([
    ["my-shop", "my-shop"],
    ["m%C3%BCnchen", "m\u00fcnchen"],
    ["a%20b", "a b"],
    ["a+b", "a+b"],
    ["100%25", "100%"],
    ["%2525", "%25"],
    ["a%2Fb", undefined],
    ["a%5cb", undefined],
    ["a%00", undefined],
    ["a%zz", undefined],
    ["a%", undefined],
    ["%c3", undefined],
    ["%c0%af", undefined],
    ["%ed%a0%80", undefined],
    ["%f5%80%80%80", undefined],
  ])("%j is %j", (raw, text) => {
    const found = decodeSegment(raw);
    expect(found.ok ? found.value : undefined).toBe(text);
  });

  it("of a key is the key", () => {
    const keys = fc.string({ unit: "grapheme", minLength: 1 }).filter((key) => !/[/\\\0]/.test(key));
    fc.assert(
      fc.property(keys, (key) => {
        expect(decodeSegment(encodeURIComponent(key))).toEqual({ ok: true, value: key });
      }),
    );
  });
});
