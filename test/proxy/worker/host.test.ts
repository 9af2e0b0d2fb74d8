import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isHost, isSameOrigin } from "../../../src/proxy/addresses/host.ts";
import { runs } from "../../setup/property-runs.ts";

/** RFC 3986 §3.2.2 and §3.2.3, as far as the runtime's URL parser goes (WHATWG URL §3.5). */

const GOOD = [
  "eu.example.com",
  "EU.Example.COM",
  "localhost",
  "a_b.test",
  "_",
  "a.",
  "a..b",
  "-a",
  "x--y",
  "1e",
  "web.1e",
  "0xg",
  "xn--bcher-kva.example",
  "xn--",
  "xn--a",
  `${"a".repeat(64)}.test`,
  "1a.2b",
  "1.2.3.4",
  "255.255.255.255",
  "0.0.0.0",
  "eu.test:",
  "eu.test:0",
  "eu.test:80",
  "eu.test:00080",
  "eu.test:000000000443",
  "eu.test:65535",
  "1.2.3.4:",
  "[::1]",
  "[::1]:",
  "[::1]:8787",
  "[2001:DB8::7]",
  "[::ffff:1.2.3.4]",
  "[1:2:3:4:5:6:7:8]",
  "[::]",
];

const BAD = [
  // A name whose last label is a number.
  "web.1",
  "web.1.",
  "1.2.3.999",
  "1.2.3.4.5",
  "4294967296",
  "x.09",
  "09",
  "web.0x",
  "web.0xf",
  "256.1.1.1",
  // An address in another form than the one that a URL keeps.
  "0x7f.1.1",
  "0x7f000001",
  "127.1",
  "1.2.3",
  "0",
  "1",
  "0x",
  "127.0.0.01",
  "1.2.3.4.",
  "0177.0.0.1",
  "1.2.3.4.:80",
  // Brackets.
  "[::1",
  "::1",
  "[1.2.3.4]",
  "[v1.x]",
  "[::1%25e]",
  "[::1]x",
  "[:::]",
  "[::1.2.3.256]",
  "[::1.2.3.04]",
  "[1:2]",
  "[1:2:3:4:5:6:7:8:9]",
  "[]",
  "[fe80::1%25eth0]:80",
  // Ports.
  "eu.test:65536",
  "eu.test:99999",
  "eu.test:a",
  "eu.test:-1",
  "eu.test::",
  "eu.test:80:80",
  ":",
  ":80",
  // Characters that a URL would decode, encode or take for its end; escapes and sub-delims are in no DNS name.
  "",
  "a%41",
  "a%2fb",
  "a!b",
  "a,b",
  "a=b",
  "a b",
  "a\tb",
  "a/b",
  "a?b",
  "a#b",
  "a\\b",
  "a@b",
  "a:b@c",
  "é.test",
  `${"a".repeat(255)}`,
];

describe("a host", () => {
  it.each(GOOD)("%s is one, and a URL has it", (host) => {
    expect(isHost(host)).toBe(true);
    expect(URL.canParse(`http://${host}/`)).toBe(true);
  });

  it.each(BAD)("%s is none", (host) => {
    expect(isHost(host)).toBe(false);
  });

  it("is what a URL keeps as it is written, but for case, port and the form of an IPv6 address", () => {
    const label = fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_-]{0,4}$/),
      fc.stringMatching(/^0?[xX]?[0-9a-f]{0,5}$/),
      fc.nat(300).map(String),
    );
    const name = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join("."));
    const ipv6 = fc.oneof(fc.ipV6(), fc.stringMatching(/^[0-9a-f:.]{2,12}$/)).map((text) => `[${text}]`);
    const port = fc.option(fc.stringMatching(/^\d{0,6}$/), { nil: undefined });
    fc.assert(
      fc.property(fc.oneof(name, fc.ipV4(), fc.ipV4Extended(), ipv6), port, (text, number) => {
        const host = number === undefined ? text : `${text}:${number}`;
        const url = URL.parse(`http://${host}/`);
        const isKept = url !== null && (text.startsWith("[") || url.hostname === text.toLowerCase());
        expect([host, isHost(host)]).toEqual([host, text !== "" && isKept]);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("equivalent origins (RFC 3986 §6.2)", () => {
  it.each([
    ["https://api.example.com", "HTTPS://API.example.com"],
    ["https://api.example.com", "https://api.example.com:443"],
    ["https://api.example.com", "https://api.example.com:"],
    ["https://api.example.com", "https://api.example.com:00443"],
    ["https://api.example.com", "https://api.example.com."],
    ["https://api.example.com", "https://%61pi.ex%41mple%2ecom"],
    ["http://api.example.com:8080", "http://API.example.com.:8080"],
    ["http://[2001:db8::1]", "http://[2001:0DB8:0:0::1]:80"],
    ["http://[::ffff:1.2.3.4]", "http://[::ffff:102:304]"],
  ])("%s and %s", (one, other) => {
    expect(isSameOrigin(one, other)).toBe(true);
    expect(isSameOrigin(other, one)).toBe(true);
  });

  it.each([
    ["https://api.example.com", "http://api.example.com"],
    ["https://api.example.com", "https://api.example.com:80"],
    ["https://api.example.com", "https://api.example.com.evil.test"],
    ["https://api.example.com", "https://api.example.com@evil.test"],
    ["https://api.example.com", "https://api.example.com%40evil.test"],
    ["https://api.example.com", "https://api.example.com%2f"],
    ["https://api.example.com", "https://api.example.com:443/"],
    ["https://api.example.com", "https://api.example.com.."],
    ["https://api.example.com", "ftp://api.example.com"],
    ["null", "null"],
    ["https://web.1", "https://web.1"],
  ])("not %s and %s", (one, other) => {
    expect(isSameOrigin(one, other)).toBe(false);
    expect(isSameOrigin(other, one)).toBe(false);
  });
});
