/**
 * The cookie of a console's session. It is the console's alone: no origin gets it, and no origin sets it, whatever host the
 * request names. The prefix keeps other hosts of the domain from setting it (RFC 6265bis §4.1.3.2).
 */
export const SESSION_COOKIE = "__Host-waybill-session";

/** A `cookie` header without the session; empty where nothing else is in it. */
export const withoutSession = (cookies: string): string =>
  cookies
    .split(";")
    .map((pair) => pair.trim())
    // A browser may send a cookie without a name, which is read as if its value had one.
    .filter((pair) => pair !== "" && !pair.includes(SESSION_COOKIE))
    .join("; ");

/** Takes a session that an origin would set out of its response's headers. */
export function dropSession(headers: Headers): void {
  const kept = headers.getSetCookie().filter((cookie) => !cookie.includes(SESSION_COOKIE));
  headers.delete("set-cookie");
  for (const cookie of kept) headers.append("set-cookie", cookie);
}
