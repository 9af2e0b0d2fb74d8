import { describe, expect, it } from "vitest";
import { parsePublicKeys } from "../../../src/features/public-ids/table/codec.ts";

const key = (bytes: number, fill = "x"): string => btoa(fill.repeat(bytes));
const sealed = (...keys: readonly unknown[]): string => JSON.stringify({ sealed: keys });

describe("the secret", () => {
  it.each([
    ["", "is not a JSON object"],
    ["{", "is not a JSON object"],
    ["[]", "is not a JSON object"],
    ["null", "is not a JSON object"],
    ['{"sealed":[],"sealed":[]}', "has a member of one object twice"],
    ['{"sealed": "x"}', "sealed is no list"],
    ['{"hunter2": []}', "it must have no other members than sealed and compatible"],
    [sealed({ id: "", key: "" }), "sealed.0.id is empty"],
    [sealed({ id: "a", key: "hunter2!" }), "sealed.0.key is not base64"],
    [sealed({ id: "a", key: 7 }), "sealed.0.key is no text"],
    [sealed({ id: "a", key: key(32), hunter2: 1 }), "sealed.0 must have no other members than id and key"],
    [sealed("hunter2"), 'sealed.0 must be like {"id": "2026", "key": "<base64>"}'],
    [sealed({ id: "a b", key: key(32) }), "sealed.0.id must be 1 to 64 printable ASCII characters"],
    [sealed({ id: "a", key: key(31) }), "sealed.0.key must be the base64 of 32, 48, 64 bytes, and is that of 31"],
    [sealed({ id: "a", key: key(32) }, { id: "a", key: key(32, "y") }), "sealed.1.id is that of an earlier key"],
    [sealed({ id: "a", key: key(32) }, { id: "b", key: key(32) }), "sealed.1.key is an earlier one again"],
    [JSON.stringify({ compatible: [{ id: "a", key: key(64) }] }), "compatible.0.key must be the base64 of 16, 24, 32"],
  ])("%s: says where it is wrong, and shows nothing of it", (text, sentence) => {
    const parsed = parsePublicKeys(text);
    expect(parsed).toEqual({ ok: false, error: expect.stringContaining(sentence) });
    expect(JSON.stringify(parsed)).not.toContain("hunter2");
  });

  it("is taken when it is right", () => {
    const parsed = parsePublicKeys(JSON.stringify({ compatible: [{ id: "a", key: key(32) }] }));
    const bytes = new Uint8Array(32).fill("x".charCodeAt(0));
    expect(parsed).toEqual({ ok: true, value: { sealed: [], compatible: [{ id: "a", key: bytes }] } });
  });
});

describe("base64", () => {
  const compatible = (text: string) => parsePublicKeys(JSON.stringify({ compatible: [{ id: "a", key: text }] }));

  it.each([16, 24, 32])("reads what the platform writes of %i bytes", (length) => {
    for (let turn = 0; turn < 50; turn++) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 89 + turn * 31) & 0xff);
      const parsed = compatible(btoa(String.fromCharCode(...bytes)));
      expect(parsed).toEqual({ ok: true, value: { sealed: [], compatible: [{ id: "a", key: bytes }] } });
    }
  });

  it.each(["A", "AA", "AAA", "AA=", "A===", "AAAA=", "AA-_", " AAAA", "AAAA\n"])("%j is none", (text) => {
    expect(compatible(text)).toEqual({ ok: false, error: expect.stringContaining("compatible.0.key is not base64") });
  });
});
