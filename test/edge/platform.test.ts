import { describe, expect, it } from "vitest";
import { clientReader } from "../../src/edge/platform.ts";

const request = (cf: Record<string, unknown>, headers: Record<string, string> = {}) =>
  new Request("http://gw.test/", { headers, cf } as RequestInit);

describe("the client by the socket of a self-hosted workerd", () => {
  it.each([
    ["127.0.0.1:41396", "127.0.0.1"],
    ["10.0.0.1", "10.0.0.1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["[::ffff:10.0.0.1]:9", "::ffff:10.0.0.1"],
    ["unix:/run/x", undefined],
    ["", undefined],
    [7, undefined],
  ])("%j is %j", (clientIp, address) => {
    const read = clientReader("socket");
    expect(read(request({ clientIp }, { "cf-connecting-ip": "6.6.6.6" })).address).toBe(address);
  });
});

describe("the client by Cloudflare's edge", () => {
  it("is what the edge says", () => {
    const client = clientReader("cf-connecting-ip")(request({ country: "KZ" }, { "cf-connecting-ip": "2001:db8::7" }));
    expect(client).toEqual({ address: "2001:db8::7", country: "KZ" });
  });

  it.each(['1.1.1.1";host="evil', "unknown", "1.1.1.1, 2.2.2.2", ""])("is no address: %j", (value) => {
    expect(clientReader("cf-connecting-ip")(request({}, { "cf-connecting-ip": value })).address).toBeUndefined();
  });

  it("is unknown when the edge says nothing", () => {
    expect(clientReader("cf-connecting-ip")(request({}))).toEqual({ address: undefined, country: undefined });
  });
});
