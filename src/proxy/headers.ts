/**
 * Which header fields an intermediary drops, by name in lower case.
 * The runtime itself drops Connection, TE, Keep-Alive, Upgrade, Trailer and Transfer-Encoding both ways.
 */

/**
 * Whether a field of a client's request stops here: those of one connection that the runtime would forward
 * (RFC 9110 §7.6.1, §11.7), those that say who the client is, which the gateway writes itself (RFC 7239 §8.1), and all
 * of the gateway's own.
 */
export function isDropped(name: string): boolean {
  switch (name) {
    case "forwarded":
    case "host":
    case "http2-settings":
    case "keep-alive":
    case "proxy-authenticate":
    case "proxy-authorization":
    case "proxy-connection":
    case "te":
    case "trailer":
    case "x-forwarded-for":
    case "x-forwarded-host":
    case "x-forwarded-proto":
    // Not a field of any protocol, and not one that an object can hold as such.
    case "__proto__":
      return true;
    default:
      return name.startsWith("waybill-");
  }
}

/** Fields of an origin's answer that are of its connection only and that the runtime would forward. */
export const RESPONSE_HOP_BY_HOP = ["proxy-authenticate", "proxy-connection"] as const;

/**
 * Fields that `connection` may not name away: without them the request or its answer would mean something else
 * ("hop-by-hop header injection").
 */
const NEVER_NAMED_AWAY = new Set([
  "authorization",
  "cache-control",
  "cdn-loop",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "cookie",
  "date",
  "etag",
  "expires",
  "forwarded",
  "host",
  "idempotency-key",
  "location",
  "range",
  "set-cookie",
  "traceparent",
  "tracestate",
  "transfer-encoding",
  "upgrade",
  "vary",
  "via",
]);

/** Most tokens of `connection` that are read; more are an attack, and the rest is dropped with the field itself. */
const CONNECTION_TOKENS_MAX = 32;

/**
 * The names that a `connection` value adds to the hop-by-hop ones (RFC 9110 §7.6.1).
 * What the gateway writes itself cannot be named away either.
 */
export function namedByConnection(connection: string): readonly string[] {
  const names: string[] = [];
  for (const token of connection.split(",", CONNECTION_TOKENS_MAX)) {
    const name = token.trim().toLowerCase();
    if (name === "" || name === "close" || name === "keep-alive") continue;
    if (
      NEVER_NAMED_AWAY.has(name) ||
      name.startsWith("x-forwarded-") ||
      name.startsWith("waybill-") ||
      !TOKEN.test(name)
    )
      continue;
    names.push(name);
  }
  return names;
}

/** A field name (RFC 9110 §5.1, §5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/;
