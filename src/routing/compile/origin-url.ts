import { err, ok, type Result } from "../../ids/index.ts";

/** The canonical form of a URL's host. The error ends a sentence. Private and loopback addresses are allowed. */
const readHost = (text: string): Result<string, string> => {
  const host = text.toLowerCase();
  if (host.startsWith("[")) return readIpv6(host.slice(1, -1));
  const labels = host.split(".");
  if (host === "" || host.length > HOST_LENGTH_MAX || !labels.every((label) => LABEL.test(label))) {
    return err("has no valid host name; write labels of letters, digits and hyphens.");
  }
  // A last label of digits only makes the whole an IPv4 address (WHATWG URL, "ends in a number").
  if (/^([0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) as string)) return readIpv4(labels);
  return METADATA_NAMES.has(host) ? err(IS_METADATA) : ok(host);
};

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const HOST_LENGTH_MAX = 253;

const IS_METADATA = "is a cloud's metadata service; name the region's own host.";
const IS_LINK_LOCAL = "is a link-local address, where clouds hand out credentials; use another.";
const IS_NO_HOST = "is not a host address; use another.";
const IS_RESERVED = "is a multicast or reserved address; use another.";

/** Cloud names of the metadata service, which hands out credentials. */
const METADATA_NAMES: ReadonlySet<string> = new Set(["metadata", "metadata.google.internal", "instance-data"]);

/** Addresses of metadata services that are not link-local: Alibaba, Oracle and Azure. */
const METADATA_IPV4: ReadonlySet<string> = new Set(["100.100.100.200", "192.0.0.192", "168.63.129.16"]);

const readIpv4 = (labels: readonly string[]): Result<string, string> => {
  const isDecimal = labels.every((label) => /^(0|[1-9][0-9]{0,2})$/.test(label) && Number(label) <= 255);
  if (labels.length !== 4 || !isDecimal) return err("has no valid IPv4 address; write four decimal numbers.");
  const fault = faultOfIpv4(labels.map(Number));
  return fault === undefined ? ok(labels.join(".")) : err(fault);
};

/** 169.254.0.0/16 is link-local (RFC 3927), 0.0.0.0/8 is this host (RFC 1122), from 224.0.0.0 on is no single host. */
const faultOfIpv4 = (bytes: readonly number[]): string | undefined => {
  const [first = 0, second] = bytes;
  if (METADATA_IPV4.has(bytes.join("."))) return IS_METADATA;
  if (first === 169 && second === 254) return IS_LINK_LOCAL;
  if (first === 0) return IS_NO_HOST;
  return first >= 224 ? IS_RESERVED : undefined;
};

const readIpv6 = (text: string): Result<string, string> => {
  const groups = groupsOf(text);
  if (groups === undefined) return err("has no valid IPv6 address; write eight groups of hex digits, `::` for zeros.");
  const fault = faultOfIpv6(groups);
  if (fault !== undefined) return err(fault);
  const embedded = EMBEDDED_IPV4.find(({ prefix }) => beginsWith(groups, prefix));
  // A socket that is given a mapped address connects to the IPv4 one (RFC 4291 section 2.5.5.2).
  if (embedded?.isSameHost) return ok(ipv4In(groups, embedded.at).join("."));
  return ok(`[${groups.map((group) => group.toString(16)).join(":")}]`);
};

/** IPv6 addresses with an IPv4 one inside: the prefix, and the group at which it begins. */
const EMBEDDED_IPV4 = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6, isSameHost: true }, // mapped, RFC 4291 section 2.5.5.2
  { prefix: [0, 0, 0, 0, 0, 0], at: 6, isSameHost: false }, // compatible, section 2.5.5.1
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6, isSameHost: false }, // translated, RFC 2765 section 2.1
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6, isSameHost: false }, // NAT64, RFC 6052 section 2.1
  { prefix: [0x64, 0xff9b, 1], at: 6, isSameHost: false }, // NAT64, RFC 8215
  { prefix: [0x2002], at: 1, isSameHost: false }, // 6to4, RFC 3056 section 2
] as const;

const beginsWith = (groups: readonly number[], prefix: readonly number[]): boolean =>
  prefix.every((group, at) => groups[at] === group);

const ipv4In = (groups: readonly number[], at: number): readonly number[] =>
  groups.slice(at, at + 2).flatMap((group) => [group >> 8, group & 0xff]);

/** fe80::/10 is link-local and ff00::/8 multicast (RFC 4291 section 2.4); fd00:ec2::/32 and fd20:ce::/32 are clouds' own. */
const faultOfIpv6 = (groups: readonly number[]): string | undefined => {
  const [first = 0, second] = groups;
  const isBelowTwo = groups.slice(0, 7).every((group) => group === 0) && (groups[7] as number) < 2;
  if (isBelowTwo) return groups[7] === 0 ? IS_NO_HOST : undefined;
  if ((first & 0xffc0) === 0xfe80) return IS_LINK_LOCAL;
  if (first >= 0xff00) return IS_RESERVED;
  if ((first === 0xfd00 && second === 0xec2) || (first === 0xfd20 && second === 0xce)) return IS_METADATA;
  const embedded = EMBEDDED_IPV4.find(({ prefix }) => beginsWith(groups, prefix));
  return embedded && faultOfIpv4(ipv4In(groups, embedded.at));
};

const groupsOf = (text: string): readonly number[] | undefined => {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [left = [], right] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const zeros = 8 - left.length - (right?.length ?? 0);
  if (right === undefined ? zeros !== 0 : zeros < 1) return undefined;
  const groups = [...left, ...new Array<string>(zeros).fill("0"), ...(right ?? [])];
  return groups.every((group) => /^[0-9a-f]{1,4}$/.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined;
};

/** An origin's address: the part of RFC 3986 section 3 that a routing table may use. */
export interface OriginUrl extends Authority {
  readonly scheme: "http" | "https";
  readonly port: number;
  /** Without a slash at the end; empty for the root. */
  readonly basePath: string;
}

const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#\\]*)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/i;

/** Parses an address strictly. The error is a sentence: what is wrong and how to fix it. */
export const readOriginUrl = (text: string): Result<OriginUrl, string> => {
  const shown = JSON.stringify(text);
  if (/[^\x21-\x7e]/.test(text))
    return err(`${shown} has a character not allowed in a URL; write international names in ASCII.`);
  const [, schemeText, authority, path = "", query, fragment] = URL_PARTS.exec(text) ?? [];
  if (schemeText === undefined || authority === undefined)
    return err(`${shown} is not a URL; write it like https://eu.example.com.`);
  const scheme = schemeText.toLowerCase();
  if (scheme !== "http" && scheme !== "https") return err(`${shown} is neither http nor https; use one of them.`);
  if (authority.includes("@")) return err(`${shown} has a user name or password; remove it.`);
  if (query !== undefined || fragment !== undefined)
    return err(`${shown} has a query or fragment; end it after the path.`);
  const read = readAuthority(authority);
  if (!read.ok) return err(`${shown} ${read.error}`);
  const { host, port = scheme === "http" ? 80 : 443 } = read.value;
  if (!isBasePath(path)) return err(`${shown} has a path with empty, dot or encoded segments; write it plainly.`);
  return ok({ scheme, host, port, basePath: path.replace(/\/$/, "") });
};

export type Authority = { readonly host: string; readonly port: number | undefined };

/** Parses a host with an optional port, RFC 3986 section 3.2. The error is the end of a sentence. */
export const readAuthority = (text: string): Result<Authority, string> => {
  const [, hostText = "", portText] = /^(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?$/.exec(text) ?? [];
  const host = readHost(hostText);
  if (!host.ok) return host;
  const port = portText === undefined ? undefined : Number(portText);
  return port !== undefined && (port < 1 || port > 65_535)
    ? err("has no valid port; use 1 to 65535.")
    : ok({ host: host.value, port });
};

/** The gateway concatenates the base path and the request's path, so it must be unambiguous. */
const isBasePath = (path: string): boolean =>
  path === "" ||
  path === "/" ||
  path
    .replace(/\/$/, "")
    .split("/")
    .slice(1)
    .every((segment) => /^[A-Za-z0-9._~!$&'()*+,;=:@-]+$/.test(segment) && segment !== "." && segment !== "..");
