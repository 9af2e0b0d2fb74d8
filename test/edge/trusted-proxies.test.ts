import { expect, it, vi } from "vitest";
import { clientReader } from "../../src/edge/platform.ts";
import { behindProxies, parseTrustedProxies } from "../../src/edge/trusted-proxies.ts";
import { RequestContext } from "../../src/gateway/request.ts";
import type { Gateway } from "../../src/ports/gateway.ts";

function clientBy(setting: string, peer: string, headers: Record<string, string>) {
  const trusted = parseTrustedProxies(setting);
  if (!trusted.ok) throw new Error(trusted.error);
  const request = new Request("http://gw.test/", { headers, cf: { clientIp: peer } } as RequestInit);
  return behindProxies(clientReader("socket"), trusted.value)(request);
}

it.each([
  // A stranger's word counts for nothing.
  ["10.0.0.0/8", "203.0.113.9:1", "6.6.6.6", "203.0.113.9"],
  ["10.0.0.0/8", "11.0.0.1:1", "6.6.6.6", "11.0.0.1"],
  // The last address of a proxy's list that is no proxy's is the client's.
  ["10.0.0.0/8", "10.255.0.1:1", "203.0.113.9", "203.0.113.9"],
  ["10.0.0.0/8", "10.0.0.1:1", "6.6.6.6, 203.0.113.9", "203.0.113.9"],
  ["10.0.0.0/8", "10.0.0.1:1", "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"],
  ["10.0.0.0/8", "10.0.0.1:1", "203.0.113.9:4711", "203.0.113.9"],
  ["10.0.0.0/8", "[::ffff:10.0.0.1]:1", "203.0.113.9", "203.0.113.9"],
  ["::ffff:10.0.0.0/104", "10.0.0.1:1", "203.0.113.9", "203.0.113.9"],
  // All are proxies: the one farthest away.
  ["10.0.0.0/8", "10.0.0.1:1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["fd00::/8, 10.0.0.1", "[fd12::1]:443", "6.6.6.6, 2001:db8::7, 10.0.0.1", "2001:db8::7"],
  ["fd00::/8", "[fe12::1]:443", "6.6.6.6", "fe12::1"],
  ["0.0.0.0/0", "1.2.3.4:1", "::1, 2001:db8::7", "2001:db8::7"],
  // Hops.
  ["10.0.0.0/8, hops=1", "10.0.0.1:1", "6.6.6.6, 10.0.0.2", "10.0.0.2"],
  ["hops=2", "203.0.113.1:1", "6.6.6.6, 203.0.113.9, 198.51.100.1", "203.0.113.9"],
  ["hops=1", "unix:/run/x", "6.6.6.6, 203.0.113.9", "203.0.113.9"],
  // An entry that is no address makes the client unknown; the proxy is not the client.
  ["10.0.0.0/8", "10.0.0.1:1", "6.6.6.6, unknown", undefined],
  ["10.0.0.0/8", "10.0.0.1:1", '6.6.6.6, 1.1.1.1";host="evil', undefined],
  ["10.0.0.0/8", "10.0.0.1:1", "1.2.3.456", undefined],
])("%s: a request of %s that says %s is of %s", (setting, peer, list, address) => {
  expect(clientBy(setting, peer, { "x-forwarded-for": list }).address).toBe(address);
  const nodes = list
    .split(", ")
    .map((one) => `For="${(one.includes("::") ? `[${one}]` : one).replaceAll('"', '\\"')}"`);
  const forwarded = nodes.join(",");
  expect(clientBy(`${setting}, field=forwarded`, peer, { forwarded }).address).toBe(address);
});

it("takes scheme and host from the proxy, and from nobody else", () => {
  const headers = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https", "x-forwarded-host": "api.test" };
  expect(clientBy("10.0.0.1", "10.0.0.1", headers)).toMatchObject({ scheme: "https", host: "api.test" });
  expect(clientBy("10.0.0.1", "10.0.0.2", headers)).not.toHaveProperty("scheme");
  const odd = { ...headers, "x-forwarded-proto": "https, http", "x-forwarded-host": "a, b" };
  expect(clientBy("10.0.0.1", "10.0.0.1", odd)).toMatchObject({ scheme: undefined, host: undefined });
  const forwarded = 'for=6.6.6.6;proto=http;host=evil, for="203.0.113.9:81" ; PROTO=https;host="api.test:8443"';
  expect(clientBy("10.0.0.1, field=forwarded", "10.0.0.1", { ...headers, forwarded })).toEqual({
    address: "203.0.113.9",
    scheme: "https",
    host: "api.test:8443",
  });
});

it("reads one field only: the other one may be the client's own", () => {
  const headers = { "x-forwarded-for": "203.0.113.9", forwarded: "for=6.6.6.6" };
  expect(clientBy("10.0.0.1", "10.0.0.1", headers).address).toBe("203.0.113.9");
  expect(clientBy("10.0.0.1, field=forwarded", "10.0.0.1", headers).address).toBe("6.6.6.6");
  expect(clientBy("10.0.0.1", "10.0.0.1", {}).address).toBe("10.0.0.1");
});

it.each([
  // A client's open or malformed text on the left hides nothing that the proxy wrote.
  ['for=", for=203.0.113.77', "203.0.113.77"],
  ['for=", for="[2001:db8::7]:81";host="a, for=6.6.6.6"', "2001:db8::7"],
  ['for=\\", for="203.0.113.77";by="\\"a\\\\, for=6.6.6.6"', "203.0.113.77"],
  ['"",=;=, for=203.0.113.77, for=10.0.0.2', "203.0.113.77"],
  // Valid, though they say nothing.
  [", for=203.0.113.77", "203.0.113.77"],
  ["for=6.6.6.6, for=203.0.113.77;,, ,", "203.0.113.77"],
  [";for=203.0.113.77 ; ;proto=http;", "203.0.113.77"],
  // An unreadable field makes the client unknown.
  ['for="6.6.6.6', undefined],
  ["for=6.6.6.6, for=203.0.113.77 x", undefined],
  ['for=6.6.6.6, for="203.0.113.77', undefined],
  ['for=6.6.6.6, for=", for=10.0.0.2', undefined],
  ["for=6.6.6.6, for=", undefined],
  ["for=6.6.6.6, proto=http", undefined],
  [", ,", undefined],
])("forwarded: %s is of %s", (forwarded, address) => {
  expect(clientBy("10.0.0.0/8, field=forwarded", "10.0.0.1:1", { forwarded }).address).toBe(address);
});

it("believes nobody beyond an element that it cannot read, whatever the hops", () => {
  const forwarded = 'for=6.6.6.6, for="203.0.113.77';
  expect(clientBy("hops=3, field=forwarded", "10.0.0.1:1", { forwarded }).address).toBeUndefined();
  expect(clientBy("hops=2, field=forwarded", "10.0.0.1:1", { forwarded: "for=6.6.6.6, for=_lb" }).address).toBe(
    "6.6.6.6",
  );
});

it.each(["x-forwarded-for", "forwarded"])("reads the end of a long %s alone", (field) => {
  const node = (address: string) => (field === "forwarded" ? `for=${address}` : address);
  const setting = field === "forwarded" ? "10.0.0.0/8, field=forwarded" : "10.0.0.0/8";
  const listOf = (address: string) => `${`${node(address)},`.repeat(100)} `;
  const client = (list: string) => clientBy(setting, "10.0.0.1:1", { [field]: list }).address;
  expect(client(`${listOf("6.6.6.6")}${node("203.0.113.9")}`)).toBe("203.0.113.9");
  expect(client(`${node("6.6.6.6")},${listOf("10.0.0.3")}${node("10.0.0.2")}`)).toBe("10.0.0.3");
});

it.each([
  "",
  "10.0.0.0/33",
  "10.0.0/8",
  "fd00::/129",
  "10.0.0.1,",
  "hops=0",
  "hops=17",
  "field=forwarded",
  "all",
  "a/b/c",
])("%j is refused", (setting) => {
  expect(parseTrustedProxies(setting)).toMatchObject({ ok: false });
});

it("is asked once a request", () => {
  const clientOf = vi.fn(() => ({ address: "203.0.113.9", country: undefined, continent: undefined }));
  const gateway = { clientOf, clock: { nowMs: () => 0 } } as unknown as Gateway;
  const context = new RequestContext(gateway, new Request("http://gw.test/"), { waitUntil: () => undefined });
  expect(context.client).toBe(context.client);
  expect(clientOf).toHaveBeenCalledOnce();
});
