import type { Caller } from "../src/auth-ports.ts";
import type { RequestTarget } from "./target.ts";

/** Methods that change nothing (RFC 9110 §9.2.1). What they answer stays unread by other sites: no page has CORS fields. */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Whether another site may have made a browser send this write with credentials that the browser adds by itself. A browser says
 * where a write comes from; where it must have been one, as behind Access's cookie, one that does not say is refused too. No
 * browser adds a bearer token by itself.
 */
export function isCrossSite({ by }: Caller, { method, headers }: Request, target: RequestTarget): boolean {
  if (by === "token" || SAFE.has(method)) return false;
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site === null && origin === null) return by === "access";
  return (site !== null && site !== "same-origin") || (origin !== null && !isOwn(origin, target));
}

/** Behind a proxy that ends TLS the gateway is asked by http for what the browser knows as https. */
const isOwn = (origin: string, { scheme, host }: RequestTarget): boolean =>
  origin === `https://${host}` || origin === `${scheme}://${host}`;
