import { err, ok, type Result } from "../ids/index.ts";

/** An origin's address, RFC 3986 section 3, as far as a routing table may use it. */
export interface OriginUrl {
  readonly scheme: "http" | "https";
  /** In lower case; an IPv6 address with its brackets. */
  readonly host: string;
  readonly port: number;
  /** Without a slash at the end; empty for the root. */
  readonly basePath: string;
}

const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#\\]*)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/i;
const AUTHORITY = /^(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?$/;
const DEFAULT_PORT = { http: 80, https: 443 } as const;

/** Reads an address strictly, or says in a sentence what is wrong with it and how to mend it. */
export const readOriginUrl = (text: string): Result<OriginUrl, string> => {
  const shown = JSON.stringify(text);
  if (/[^\x21-\x7e]/.test(text))
    return err(`${shown} has a character that no URL has; write international names in ASCII.`);
  const [, schemeText, authority, path = "", query, fragment] = URL_PARTS.exec(text) ?? [];
  if (schemeText === undefined || authority === undefined)
    return err(`${shown} is no URL; write it like https://eu.example.com.`);
  const scheme = schemeText.toLowerCase();
  if (scheme !== "http" && scheme !== "https") return err(`${shown} is neither http nor https; use one of them.`);
  if (authority.includes("@")) return err(`${shown} has a user name or password; remove it.`);
  if (query !== undefined || fragment !== undefined)
    return err(`${shown} has a query or fragment; end it after the path.`);
  const [, hostText = "", portText] = AUTHORITY.exec(authority) ?? [];
  const host = hostText.toLowerCase();
  const port = portText === undefined ? DEFAULT_PORT[scheme] : Number(portText);
  const fault = faultOfHost(host);
  if (fault !== undefined) return err(`${shown} ${fault}`);
  if (port < 1 || port > 65_535) return err(`${shown} has no valid port; use 1 to 65535.`);
  if (!isBasePath(path)) return err(`${shown} has a path with empty, dot or encoded segments; write it plainly.`);
  return ok({ scheme, host, port, basePath: path.replace(/\/$/, "") });
};

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const HOST_LENGTH_MAX = 253;

/** Why a text is no host that requests may go to, as the end of a sentence. */
const faultOfHost = (host: string): string | undefined => {
  if (host.startsWith("[")) return faultOfIpv6(host.slice(1, -1));
  const labels = host.split(".");
  if (host === "" || host.length > HOST_LENGTH_MAX || !labels.every((label) => LABEL.test(label))) {
    return "has no valid host name; write labels of letters, digits and hyphens.";
  }
  // A last label of digits only makes the whole an IPv4 address (WHATWG URL, "ends in a number").
  if (!/^([0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) as string)) {
    return METADATA_HOSTS.has(host) ? "is a cloud's metadata service; name the region's own host." : undefined;
  }
  return isIpv4(labels) ? faultOfIpv4(labels.map(Number)) : "has no valid IPv4 address; write four decimal numbers.";
};

/** Names that clouds give to the address that hands out credentials. */
const METADATA_HOSTS: ReadonlySet<string> = new Set(["metadata", "metadata.google.internal", "instance-data"]);

const isIpv4 = (labels: readonly string[]): boolean =>
  labels.length === 4 && labels.every((label) => /^(0|[1-9][0-9]{0,2})$/.test(label) && Number(label) <= 255);

/** 169.254.0.0/16 is link-local (RFC 3927) and holds the metadata services; 0.0.0.0/8 is this host (RFC 1122). */
const faultOfIpv4 = ([first, second]: readonly number[]): string | undefined => {
  if (first === 169 && second === 254)
    return "is a link-local address, where clouds hand out credentials; use another.";
  if (first === 0) return "is no address of a host; use another.";
  return (first as number) >= 224 ? "is a multicast or reserved address; use another." : undefined;
};

/** fe80::/10 is link-local (RFC 4291); fd00:ec2::254 is a metadata service; ::ffff:0:0/96 hides an IPv4 address. */
const faultOfIpv6 = (text: string): string | undefined => {
  const groups = readIpv6(text);
  if (groups === undefined) return "has no valid IPv6 address; write eight groups of hex digits, `::` for zeros.";
  const [first = 0, second = 0] = groups;
  if ((first & 0xffc0) === 0xfe80) return "is a link-local address, where clouds hand out credentials; use another.";
  if (first === 0xfd00 && second === 0xec2) return "is a cloud's metadata service; name the region's own host.";
  const [high = 0, low = 0] = groups.slice(6);
  const embedsIpv4 = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return embedsIpv4 ? faultOfIpv4([high >> 8, high & 255, low >> 8, low & 255]) : undefined;
};

const readIpv6 = (text: string): readonly number[] | undefined => {
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

/** The gateway joins the base path and the request's path by text, so it must mean the same to everyone. */
const isBasePath = (path: string): boolean =>
  path === "" ||
  path === "/" ||
  path
    .replace(/\/$/, "")
    .split("/")
    .slice(1)
    .every((segment) => /^[A-Za-z0-9._~!$&'()*+,;=:@-]+$/.test(segment) && segment !== "." && segment !== "..");
