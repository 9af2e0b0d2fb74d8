/**
 * Which header fields an intermediary drops, by name in lower case.
 * The runtime itself drops Connection, TE, Keep-Alive, Upgrade, Trailer and Transfer-Encoding both ways.
 */

/** Fields of one connection that the runtime forwards all the same (RFC 9110 §7.6.1, §11.7). */
export const HOP_BY_HOP = [
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "http2-settings",
  "te",
  "trailer",
] as const;

/**
 * The gateway's own request fields: only the gateway may send them to an origin. They are dropped by name, because a
 * look at every field of a request costs more than all else that the gateway does to it (docs/performance.md).
 */
export const OWN_REQUEST_FIELDS = [
  "waybill-client-country",
  "waybill-entity-id",
  "waybill-layout",
  "waybill-region",
  "waybill-revision",
  "waybill-signature",
  "waybill-table",
] as const;

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
 * `x-forwarded-*` cannot be named away either, since the gateway writes them itself.
 */
export function namedByConnection(connection: string): readonly string[] {
  const names: string[] = [];
  for (const token of connection.split(",", CONNECTION_TOKENS_MAX)) {
    const name = token.trim().toLowerCase();
    if (name === "" || name === "close" || name === "keep-alive") continue;
    if (NEVER_NAMED_AWAY.has(name) || name.startsWith("x-forwarded-") || !TOKEN.test(name)) continue;
    names.push(name);
  }
  return names;
}

/** A field name (RFC 9110 §5.1, §5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/;
