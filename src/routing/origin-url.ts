import { err, ok, type Result } from "../ids/index.ts";
import { readHost } from "./host-address.ts";

/** An origin's address, RFC 3986 section 3, as far as a routing table may use it. */
export interface OriginUrl {
  readonly scheme: "http" | "https";
  /** In its one spelling, see `readHost`. */
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
  const read = readAuthority(authority);
  if (!read.ok) return err(`${shown} ${read.error}`);
  const { host, port = DEFAULT_PORT[scheme] } = read.value;
  if (!isBasePath(path)) return err(`${shown} has a path with empty, dot or encoded segments; write it plainly.`);
  return ok({ scheme, host, port, basePath: path.replace(/\/$/, "") });
};

/** A host, and a port where the text names one. */
export interface Authority {
  /** In its one spelling, see `readHost`. */
  readonly host: string;
  readonly port: number | undefined;
}

/** Reads a host with or without a port, RFC 3986 section 3.2. The error is the end of a sentence. */
export const readAuthority = (text: string): Result<Authority, string> => {
  const [, hostText = "", portText] = AUTHORITY.exec(text) ?? [];
  const host = readHost(hostText);
  if (!host.ok) return host;
  const port = portText === undefined ? undefined : Number(portText);
  return port !== undefined && (port < 1 || port > 65_535)
    ? err("has no valid port; use 1 to 65535.")
    : ok({ host: host.value, port });
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
