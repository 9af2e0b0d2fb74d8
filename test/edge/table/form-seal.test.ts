import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formSeal } from "../../../src/edge/table/form-seal.ts";
import { FORM_BYTES_MAX } from "../../../src/formats/kv.ts";

const DIGEST = "ab".repeat(32);
const key = (id: string, first: number) => ({ id, key: new Uint8Array(32).fill(first) });
const [OLD, NEW] = [key("2026a", 1), key("2026b", 2)];
const FORM = { text: '{"Überschrift":1}', numbers: Uint8Array.from({ length: 24 }, (_, at) => at) };

const sealOf = (version: string, ...keys: ReturnType<typeof key>[]) => {
  const seal = formSeal(version, keys, crypto.subtle);
  if (seal === undefined) throw new Error("no seal");
  return seal;
};

const seal = sealOf("v1", OLD);

describe("a voucher of the control plane", () => {
  it("opens with the same key, version and digest, with the form that was sealed", async () => {
    expect(await sealOf("v1", OLD).open(DIGEST, await seal.seal(DIGEST, FORM))).toEqual({ form: FORM });
    expect(await seal.open(DIGEST, await seal.seal(DIGEST, undefined))).toEqual({ form: undefined });
  });

  it("opens with both keys while they change, and is sealed with the first", async () => {
    const both = sealOf("v1", NEW, OLD);
    expect(await both.open(DIGEST, await seal.seal(DIGEST, FORM))).toEqual({ form: FORM });
    expect(await sealOf("v1", NEW).open(DIGEST, await both.seal(DIGEST, FORM))).toEqual({ form: FORM });
    expect(await seal.open(DIGEST, await both.seal(DIGEST, FORM))).toBe(undefined);
  });

  it.each([
    ["another key", sealOf("v1", NEW), DIGEST],
    ["another version", sealOf("v2", OLD), DIGEST],
    ["another table", seal, "cd".repeat(32)],
  ])("of %s does not open", async (_, by, digest) => {
    expect(await seal.open(DIGEST, await by.seal(digest, FORM))).toBe(undefined);
  });

  it("is no signature with the same secret for anything else", async () => {
    const value = new Uint8Array(await seal.seal(DIGEST, undefined));
    const raw = await crypto.subtle.importKey("raw", OLD.key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const nothing = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array()));
    const text = new Uint8Array([...new TextEncoder().encode(`v1\n${DIGEST}\n`), ...nothing]);
    expect(new Uint8Array(await crypto.subtle.sign("HMAC", raw, text))).not.toEqual(value);
  });

  it.each([0, 1, 31, FORM_BYTES_MAX + 1])("of %i bytes does not open", async (bytes) => {
    expect(await seal.open(DIGEST, new ArrayBuffer(bytes))).toBe(undefined);
  });

  it("does not open with any bit changed, cut or added", async () => {
    const value = new Uint8Array(await seal.seal(DIGEST, FORM));
    await fc.assert(
      fc.asyncProperty(fc.nat(value.length - 1), fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const damaged = value.slice();
        damaged[at] = (damaged[at] as number) ^ bits;
        expect(await seal.open(DIGEST, damaged.buffer)).toBe(undefined);
        expect(await seal.open(DIGEST, value.slice(0, at).buffer)).toBe(undefined);
      }),
      { numRuns: 40 },
    );
    expect(await seal.open(DIGEST, new Uint8Array([...value, 0]).buffer)).toBe(undefined);
  });
});

it.each([
  ["a version, as in a Worker of sources", undefined, [OLD]],
  ["a key", "v1", []],
])("without %s nothing is vouched for", (_, version, keys) => {
  expect(formSeal(version, keys, crypto.subtle)).toBe(undefined);
});
