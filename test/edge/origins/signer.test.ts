import { describe, expect, it } from "vitest";
import { hmacSigner, parseSigningKeys, type SigningKeys } from "../../../src/edge/origins/signer.ts";
import { verifyRequest } from "../../../src/origin/index.ts";
import { parseSignature, type Signable, signedText } from "../../../src/proxy/signature.ts";

const NOW_MS = 1_790_000_000_999;
const clock = { nowMs: () => NOW_MS };
const base64 = (fill: number, length = 32) => btoa(String.fromCharCode(...new Uint8Array(length).fill(fill)));
const keysOf = (json: unknown): SigningKeys => parseSigningKeys(JSON.stringify(json)) ?? [];
const KEYS = keysOf([
  { id: "2026b", key: base64(2) },
  { id: "2026a", key: base64(1) },
]);
const REQUEST: Signable = {
  method: "POST",
  target: "/base/orders/1?x=%2F",
  id: "1",
  region: "eu",
  revision: 7,
  epoch: 3,
  clientAddress: "203.0.113.9",
};

describe("the signer", () => {
  it("is none without a key", () => expect(hmacSigner([], crypto.subtle, clock)).toBeUndefined());

  it("signs the text with the first key, as HMAC-SHA-256", async () => {
    const value = (await hmacSigner(KEYS, crypto.subtle, clock)?.(REQUEST)) ?? "";
    const field = parseSignature(value);
    expect(field).toMatchObject({ keyId: "2026b", seconds: 1_790_000_000, clientAddress: "203.0.113.9" });
    const bytes = new TextEncoder().encode(signedText(REQUEST, { keyId: "2026b", seconds: 1_790_000_000 }));
    expect(field?.mac).toBe(await plainHmac(new Uint8Array(32).fill(2), bytes));
  });

  it("imports its key once", async () => {
    let imports = 0;
    const subtle = new Proxy(crypto.subtle, {
      get(target, name: keyof SubtleCrypto) {
        if (name === "importKey") imports++;
        const member = target[name];
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const sign = hmacSigner(KEYS, subtle, clock);
    const values = [await sign?.(REQUEST), await sign?.(REQUEST), await sign?.({ ...REQUEST, region: "us" })];
    expect([imports, new Set(values).size]).toEqual([1, 2]);
  });

  it("refuses what could be read in two ways", async () => {
    await expect(hmacSigner(KEYS, crypto.subtle, clock)?.({ ...REQUEST, id: "1\n" })).rejects.toThrow(
      "cannot be signed",
    );
  });

  it("makes what an origin on Workers verifies", async () => {
    const value = (await hmacSigner(KEYS, crypto.subtle, clock)?.(REQUEST)) ?? "";
    const headers = {
      "waybill-signature": value,
      "waybill-entity-id": "1",
      "waybill-region": "eu",
      "waybill-revision": "7",
      "waybill-epoch": "3",
    };
    const request = new Request("https://origin.test/base/orders/1?x=%2F", { method: "POST", headers });
    const options = { keys: [{ id: "2026b", key: base64(2) }], now: clock.nowMs };
    expect(await verifyRequest(request, options)).toMatchObject({ ok: true, value: { entityId: "1", epoch: 3 } });
  });
});

/** HMAC by its definition (RFC 2104 §2), from the hash alone. */
async function plainHmac(key: Uint8Array, bytes: Uint8Array): Promise<string> {
  const pad = (byte: number) => Uint8Array.from({ length: 64 }, (_, index) => (key[index] ?? 0) ^ byte);
  const hash = async (...parts: Uint8Array[]) =>
    new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(parts.flatMap((part) => [...part]))));
  const mac = await hash(pad(0x5c), await hash(pad(0x36), bytes));
  return btoa(String.fromCharCode(...mac))
    .replace("=", "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

describe("the secret ORIGIN_SIGNING_KEYS", () => {
  it("holds one key or two, the first of which signs", () => {
    expect(KEYS.map(({ id }) => id)).toEqual(["2026b", "2026a"]);
    expect(KEYS[1]?.key).toEqual(new Uint8Array(32).fill(1));
    expect(keysOf([{ id: "long", key: base64(1, 64) }])).toHaveLength(1);
  });

  it.each([
    [],
    {},
    "x",
    [{ id: "a", key: base64(1, 31) }],
    [{ id: "a", key: "not base64!" }],
    [{ id: "a b", key: base64(1) }],
    [{ id: "", key: base64(1) }],
    [{ id: "a", key: base64(1), use: "sig" }],
    [
      { id: "a", key: base64(1) },
      { id: "a", key: base64(2) },
    ],
    ["a", "b", "c"].map((id) => ({ id, key: base64(1) })),
  ])("is not %j", (json) => expect(parseSigningKeys(JSON.stringify(json))).toBeUndefined());

  it("is JSON", () => expect(parseSigningKeys("2026a=abc")).toBeUndefined());
});
