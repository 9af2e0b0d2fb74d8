/**
 * The cookie of a console's session. It is the console's alone: no origin gets it, and no origin sets it, whatever host the
 * request names. The prefix keeps other hosts of the domain from setting it (RFC 6265bis §4.1.3.2).
 */
export const SESSION_COOKIE = "__Host-waybill-session";

/** A `cookie` header without the session; empty where nothing else is in it. Of lines that were joined by a comma the others stay. */
export const withoutSession = (cookies: string): string =>
  cookies
    .split(";")
    // A browser may send a cookie without a name, which is read as if its value had one.
    .map((pair) => (pair.includes(SESSION_COOKIE) ? withoutLines(pair) : pair.trim()))
    .filter((pair) => pair !== "")
    .join("; ");

const withoutLines = (pair: string): string =>
  pair
    .split(", ")
    .filter((line) => !line.includes(SESSION_COOKIE))
    .join(", ")
    .trim();

/** Takes a session that an origin would set out of its response's headers. */
export function dropSession(headers: Headers): void {
  const kept = headers.getSetCookie().filter((cookie) => !cookie.includes(SESSION_COOKIE));
  headers.delete("set-cookie");
  for (const cookie of kept) headers.append("set-cookie", cookie);
}
