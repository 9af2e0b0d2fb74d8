/**
 * Which header fields an intermediary drops, by name in lower case.
 * The runtime itself drops Connection, TE, Keep-Alive, Upgrade, Trailer and Transfer-Encoding both ways.
 */

/**
 * Whether a field of a client's request stops here: those of one connection that the runtime would forward
 * (RFC 9110 §7.6.1, §11.7), those that say who the client is, which the gateway writes itself (RFC 7239 §8.1), and all
 * of the gateway's own. Many origins read `_` and `.` in a name as `-`, so these are taken for what they would be read as.
 */
export function isDropped(name: string): boolean {
  return name.includes("_") || name.includes(".") ? isDroppedName(name.replaceAll(/[_.]/g, "-")) : isDroppedName(name);
}

function isDroppedName(name: string): boolean {
  switch (name) {
    case "cf-connecting-ip":
    case "client-ip":
    case "cf-connecting-ipv6":
    case "cf-ipcountry":
    case "cf-pseudo-ipv4":
    case "fastly-client-ip":
    case "fly-client-ip":
    case "forwarded":
    case "host":
    case "http2-settings":
    case "keep-alive":
    case "proxy-authenticate":
    case "proxy-authorization":
    case "proxy-connection":
    case "te":
    case "trailer":
    case "true-client-ip":
    case "x-appengine-user-ip":
    case "x-azure-clientip":
    case "x-client-ip":
    case "x-cluster-client-ip":
    case "x-envoy-external-address":
    case "x-forwarded":
    case "x-originating-ip":
    case "x-real-ip":
    case "x-remote-addr":
    case "x-remote-ip":
    // `__proto__`: no field of any protocol, and not one that an object can hold as such.
    case "--proto--":
      return true;
    default:
      return name.startsWith("waybill-") || name.startsWith("x-forwarded-");
  }
}

/**
 * Fields of an origin's answer that are of its connection only and that the runtime would forward. An answer to HEAD that
 * has both a length and a transfer coding would break the client's connection (RFC 9112 §6.1 forbids it).
 */
export const RESPONSE_HOP_BY_HOP = ["proxy-authenticate", "proxy-connection", "transfer-encoding"] as const;

/** Names of the gateway's own headers begin so. Origins that repeat what they were told do not reach clients with it. */
export const GATEWAY_PREFIX = "waybill-";

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

/** Most tokens of `connection` that are read. The runtime's cap on all fields together is not far above. */
const CONNECTION_TOKENS_MAX = 4096;

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
