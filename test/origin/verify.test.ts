import { describe, expect, it } from "vitest";
import { type RequestLike, type VerifyOptions, verifyRequest } from "../../src/origin/index.ts";
import { headersOf, KEY, NOW_MS, nodeRequest, PARTS, signatureOf } from "./signed-request.ts";

const OPTIONS: VerifyOptions = { keys: [KEY], now: () => NOW_MS };
const reasonOf = async (request: RequestLike, options = OPTIONS) => {
  const verified = await verifyRequest(request, options);
  return verified.ok ? "verified" : verified.error.reason;
};

describe("a request that the gateway signed", () => {
  const vouched = {
    entityId: "1",
    region: "eu",
    revision: 41,
    epoch: 0,
    clientAddress: "203.0.113.9",
    signedAtMs: NOW_MS,
    keyId: "2026a",
  };

  it("is verified as node:http shows it", async () => {
    expect(await verifyRequest(nodeRequest(), OPTIONS)).toEqual({ ok: true, value: vouched });
  });

  it("is verified as Express shows it below a path", async () => {
    const request = { ...nodeRequest(), url: "/1?a=%2F", originalUrl: "/orders/1?a=%2F" };
    expect(await verifyRequest(request, OPTIONS)).toEqual({ ok: true, value: vouched });
  });

  it.each(["https://eu.example:8443/orders/1?a=%2F", "http://[::1]/orders/1?a=%2F"])(
    "is verified as the Fetch standard shows it, at %s",
    async (url) => {
      const request = new Request(url, { method: "PUT", headers: headersOf(PARTS) });
      expect(await verifyRequest(request, OPTIONS)).toEqual({ ok: true, value: vouched });
    },
  );

  it("may have no ID, an epoch and an unknown client", async () => {
    const verified = await verifyRequest(nodeRequest({ id: "", epoch: 12, address: "unknown" }), OPTIONS);
    const value = { ...vouched, entityId: undefined, epoch: 12, clientAddress: undefined };
    expect(verified).toEqual({ ok: true, value });
  });

  it("may be signed with any of the keys, given in either form", async () => {
    const bytes = new Uint8Array(Buffer.from(KEY.key, "base64"));
    const other = { id: "2026b", key: Buffer.alloc(32, 7).toString("base64") };
    expect(await reasonOf(nodeRequest(), { ...OPTIONS, keys: [other, { id: "2026a", key: bytes }] })).toBe("verified");
  });
});

describe("a request is refused", () => {
  it.each([
    ["method", { method: "DELETE" }],
    ["url", { url: "/orders/1?a=%2f" }],
    ["url", { url: "/orders/1" }],
  ])("when its %s is another one", async (_, change) => {
    expect(await reasonOf({ ...nodeRequest(), ...change })).toBe("mismatch");
  });

  it.each([
    ["waybill-entity-id", "2"],
    ["waybill-entity-id", undefined],
    ["waybill-region", "us"],
    ["waybill-revision", "42"],
    ["waybill-epoch", "1"],
    ["waybill-signature", signatureOf(PARTS).replace("203.0.113.9", "203.0.113.8")],
    ["waybill-signature", signatureOf(PARTS).replace("1790000000", "1790000001")],
    ["waybill-signature", signatureOf(PARTS, Buffer.alloc(32).toString("base64"))],
  ])("when %s is %s, as it was not signed", async (name, value) => {
    const { [name]: _, ...headers } = headersOf(PARTS);
    expect(await reasonOf({ ...nodeRequest(), headers: { ...headers, [name]: value } })).toBe("mismatch");
  });

  it("when it has no signature", async () => {
    expect(await reasonOf({ method: "GET", url: "/", headers: {} })).toBe("missing");
    expect(await reasonOf(new Request("https://eu.example/"))).toBe("missing");
  });

  it.each([
    ["waybill-signature", "v1"],
    ["waybill-signature", ""],
    ["waybill-signature", [signatureOf(PARTS), signatureOf(PARTS)]],
    ["waybill-region", undefined],
    ["waybill-region", "eu\nus"],
    ["waybill-revision", undefined],
    ["waybill-revision", "041"],
    ["waybill-revision", "1e3"],
    ["waybill-epoch", ""],
    ["waybill-epoch", ["1", "1"]],
    ["waybill-entity-id", "1 "],
  ])("when %s is %j, as the gateway does not write it", async (name, value) => {
    const headers: Record<string, string | readonly string[] | undefined> = { ...headersOf(PARTS), [name]: value };
    expect(await reasonOf({ ...nodeRequest(), headers })).toBe("malformed");
  });

  it("when no key has its name", async () => {
    const refused = await verifyRequest(nodeRequest({ keyId: "2025" }), OPTIONS);
    expect(refused).toEqual({ ok: false, error: { reason: "unknown-key", keyId: "2025" } });
  });

  it.each([
    [-301, undefined, "expired"],
    [-300, undefined, "verified"],
    [300, undefined, "verified"],
    [301, undefined, "expired"],
    [11, 10, "expired"],
    [10, 10, "verified"],
  ])("by its time: %d s old with a tolerance of %s is %s", async (age, toleranceSeconds, reason) => {
    const now = () => NOW_MS + age * 1000 + 999;
    const options = { ...OPTIONS, now, ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }) };
    expect(await reasonOf(nodeRequest(), options)).toBe(reason);
  });

  it("when it is for another region", async () => {
    expect(await reasonOf(nodeRequest(), { ...OPTIONS, regions: ["ap", "eu"] })).toBe("verified");
    const refused = await verifyRequest(nodeRequest(), { ...OPTIONS, regions: ["ap"] });
    expect(refused).toEqual({ ok: false, error: { reason: "wrong-region", region: "eu" } });
  });
});

it("keys that are none are a mistake of the deployment, which is thrown", async () => {
  for (const key of ["not base64", Buffer.alloc(31).toString("base64"), "", new Uint8Array(31)]) {
    await expect(verifyRequest(nodeRequest(), { ...OPTIONS, keys: [{ id: "2026a", key }] })).rejects.toThrow(TypeError);
  }
});
