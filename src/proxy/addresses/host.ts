import { groupsOf } from "./client-network.ts";

/** A host with an optional port, as `host` and `x-forwarded-host` have it (RFC 9110 §7.2, RFC 3986 §3.2.2). */

/** Longer names are in no DNS (RFC 1035 §2.3.4); the dot of a full name is beyond. A port may be empty (RFC 3986 §3.2.3). */
const HOST = /^(?:([A-Za-z0-9._-]{1,254})|\[([0-9A-Fa-f:.]{2,45})\])(?::(\d{0,16}))?$/;

/** A name whose last label is a number is an IPv4 address in a URL (WHATWG URL §3.5, "ends in a number"). */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i;

/** The only form of one that a URL keeps as it is written (RFC 3986 §3.2.2). */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

const PORT_MAX = 65_535;

/**
 * Whether a URL of the runtime can have the host: RFC 3986 reads `web.1` as a name, and the WHATWG's URL parser as an
 * IPv4 address that is none. `0x7f.1` would become another host. No letter but those of ASCII, and no escape.
 */
export function isHost(host: string): boolean {
  const [, name, ipv6, port = ""] = HOST.exec(host) ?? [];
  if (Number(port) > PORT_MAX) return false;
  if (name !== undefined) return !ENDS_IN_NUMBER.test(name) || IPV4.test(name);
  return ipv6 !== undefined && isIpv6(ipv6);
}

/** An IPv4 address may stand at the end (RFC 4291 §2.2). */
function isIpv6(text: string): boolean {
  const dotted = text.slice(text.lastIndexOf(":") + 1);
  return (!dotted.includes(".") || IPV4.test(dotted)) && groupsOf(text) !== undefined;
}

/** A host and its scheme, `https://api.example.com` */
const ORIGIN = /^(https?):\/\/([^/?#]*)$/i;

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: "80", https: "443" };

/** Whether two texts of scheme and host are equivalent (RFC 3986 §6.2). */
export function isSameOrigin(one: string, other: string): boolean {
  const normal = normalOrigin(one);
  return normal !== undefined && normal === normalOrigin(other);
}

/**
 * Scheme and host in the one spelling that stands for all equivalent ones (RFC 3986 §6.2.2, §6.2.3): case, escapes of what
 * needs none, the default port, the dot of a full name. `undefined` for what is none.
 */
function normalOrigin(origin: string): string | undefined {
  const [, scheme = "", authority = ""] = ORIGIN.exec(origin.toLowerCase()) ?? [];
  const host = authority.replace(/%([2-7][0-9a-f])/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  if (!isHost(host)) return undefined;
  const [, name, ipv6 = "", port = ""] = HOST.exec(host.toLowerCase()) ?? [];
  const shown = name?.replace(/\.$/, "") ?? `[${groupsOf(ipv6)?.join(":")}]`;
  const number = port === "" ? DEFAULT_PORTS[scheme] : String(Number(port));
  return `${scheme}://${shown}:${number}`;
}
