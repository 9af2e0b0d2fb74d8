import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import {
  decodePublic,
  encodePublic,
  type KeyRing,
  keyRing,
  type NamedKey,
  type PublicKind,
  RING_KEYS_MAX,
  sealRing,
} from "../../../src/ids/public/index.ts";
import { blockOfId } from "../../../src/ids/public/public-id.ts";
import { bytesOf, hexOf, unwrap } from "./bytes.ts";

const key = (id: string, fill: number, bytes = 32): NamedKey => ({ id, key: new Uint8Array(bytes).fill(fill) });
const DECIMAL: PublicKind = { type: "decimal", form: "uuid" };
const GUID: PublicKind = { type: "guid", form: "uuid" };

const older = unwrap(keyRing([key("2025", 1)]));
const newer = unwrap(keyRing([key("2026", 2), key("2025", 1)]));
const newest = unwrap(keyRing([key("2026", 2)]));

describe("rotation", () => {
  const id = 1088824355131185736905670087n;

  test("the first key encodes, all keys decode, and the result names the key", () => {
    const oldText = unwrap(encodePublic(older, id, DECIMAL));
    const newText = unwrap(encodePublic(newer, id, DECIMAL));
    expect(newText).not.toBe(oldText);
    expect(unwrap(decodePublic(newer, oldText, DECIMAL))).toMatchObject({ id, key: "2025" });
    expect(unwrap(decodePublic(newer, newText, DECIMAL))).toMatchObject({ id, key: "2026" });
  });

  test("a text of a key that has left the ring is forged", () => {
    const oldText = unwrap(encodePublic(older, id, DECIMAL));
    expect(decodePublic(newest, oldText, DECIMAL)).toEqual({ ok: false, error: { reason: "forged" } });
  });

  test("two keys that both find a value are an error that names them, and a choice settles it", () => {
    // No text is known that two AES keys decode. Ciphers that always agree stand in for that 2^-35.
    const reveal = { encrypt: () => blockOfId(id, "decimal"), decrypt: () => blockOfId(id, "decimal") };
    const ring: KeyRing = {
      keys: [
        { ...reveal, id: "a" },
        { ...reveal, id: "b" },
      ],
    };
    const text = "00000000-0000-0000-0000-000000000000";
    expect(decodePublic(ring, text, DECIMAL)).toEqual({
      ok: false,
      error: { reason: "ambiguous-key", keys: ["a", "b"] },
    });
    expect(unwrap(decodePublic(ring, text, { ...DECIMAL, key: "b" }))).toMatchObject({ id, key: "b" });
  });
});

describe("types without redundancy", () => {
  const id = 2n ** 128n - 5n;

  test("one key decodes every text", () => {
    const text = unwrap(encodePublic(older, id, GUID));
    expect(unwrap(decodePublic(older, text, GUID))).toMatchObject({ id, key: "2025" });
    expect(unwrap(decodePublic(newest, text, GUID)).id).not.toBe(id);
  });

  test("of several keys one must be named, for both directions", () => {
    const needed = { ok: false, error: { reason: "key-needed", keys: ["2026", "2025"] } };
    const text = unwrap(encodePublic(older, id, GUID));
    expect(encodePublic(newer, id, GUID)).toEqual(needed);
    expect(decodePublic(newer, text, GUID)).toEqual(needed);
    expect(unwrap(decodePublic(newer, text, { ...GUID, key: "2025" }))).toMatchObject({ id, key: "2025" });
    expect(unwrap(encodePublic(newer, id, { ...GUID, key: "2025" }))).toBe(text);
  });

  test("a key that the ring has not is an error", () => {
    expect(encodePublic(newer, id, { ...GUID, key: "2024" })).toEqual({
      ok: false,
      error: { reason: "unknown-key", key: "2024" },
    });
  });
});

describe("keys that make no ring", () => {
  const many = Array.from({ length: RING_KEYS_MAX + 1 }, (_, index) => key(`k${index}`, index));

  test.each<[string, readonly NamedKey[], object]>([
    ["none", [], { reason: "no-keys" }],
    ["too many", many, { reason: "too-many-keys", max: 8, actual: 9 }],
    ["no name", [key("", 1)], { reason: "key-id", index: 0 }],
    ["a name with a space", [key("a", 1), key("a b", 2)], { reason: "key-id", index: 1 }],
    ["one name twice", [key("a", 1), key("a", 2)], { reason: "duplicate-key-id", id: "a" }],
    ["one key twice", [key("a", 1), key("b", 1)], { reason: "duplicate-key", ids: ["a", "b"] }],
    ["15 bytes", [key("a", 1, 15)], { reason: "key-length", id: "a", expected: [16, 24, 32], actual: 15 }],
    ["64 bytes", [key("a", 1, 64)], { reason: "key-length", id: "a", expected: [16, 24, 32], actual: 64 }],
  ])("%s", (_, keys, error) => expect(keyRing(keys)).toEqual({ ok: false, error }));

  test("16 bytes are too few to seal, and a context must be printable", () => {
    expect(sealRing([key("a", 1, 16)], "order")).toMatchObject({ ok: false, error: { reason: "key-length" } });
    for (const context of ["", "a b", "é", "x".repeat(65)])
      expect(sealRing([key("a", 1)], context)).toMatchObject({ ok: false, error: { reason: "context" } });
  });
});

test("a printed ring shows no byte of a key", () => {
  const secret = Uint8Array.from({ length: 32 }, (_, at) => 200 + at);
  const rings = [keyRing([{ id: "a", key: secret }]), sealRing([{ id: "a", key: secret }], "order")];
  const shown = rings.map((ring) => inspect(ring, { depth: 9, showHidden: true }) + JSON.stringify(ring)).join("");
  expect(shown).toContain("'a'");
  expect(shown).not.toMatch(/2[0-3]\d, 2[0-3]\d/);
  expect(shown).not.toContain(hexOf(bytesOf([0xc8c9cacb])));
});
