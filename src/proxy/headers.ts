import type { FieldRules } from "../ports/gateway.ts";

/**
 * The header fields that an intermediary drops, by name in lower case.
 * The runtime itself drops Connection, TE, Keep-Alive, Upgrade, Trailer and Transfer-Encoding both ways.
 */

/**
 * Fields of a client's request that stop here: those of one connection that the runtime would forward (RFC 9110 §7.6.1,
 * §11.7), and those that would tell an origin another client, scheme, host or path than the gateway saw: it writes these
 * itself (RFC 7239 §8.1). docs/reference/http.md lists them.
 */
export const STOPPED_FIELDS: ReadonlySet<string> = new Set([
  // One connection's; `proxy` would become the variable HTTP_PROXY of a CGI program (CVE-2016-5385).
  "http2-settings",
  "keep-alive",
  "proxy",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  // The client.
  "ali-cdn-real-ip",
  "cdn-src-ip",
  "cf-connecting-ip",
  "cf-connecting-ipv6",
  "cf-ipcountry",
  "cf-pseudo-ipv4",
  "client-ip",
  "do-connecting-ip",
  "fastly-client-ip",
  "fly-client-ip",
  "forwarded",
  "forwarded-for",
  "incap-client-ip",
  "proxy-client-ip",
  "remote-addr",
  "true-client-ip",
  "wl-proxy-client-ip",
  "x-appengine-user-ip",
  "x-azure-clientip",
  "x-azure-socketip",
  "x-cdn-src-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-envoy-external-address",
  "x-forwarded",
  "x-nf-client-connection-ip",
  "x-original-forwarded-for",
  "x-originating-ip",
  "x-proxyuser-ip",
  "x-real-ip",
  "x-remote-addr",
  "x-remote-ip",
  "x-source-ip",
  "x-sucuri-clientip",
  "x-vercel-forwarded-for",
  // The scheme.
  "cf-visitor",
  "front-end-https",
  "x-arr-ssl",
  "x-original-proto",
  "x-proto",
  "x-scheme",
  "x-url-scheme",
  // Host and path.
  "base-url",
  "host",
  "request-uri",
  "x-envoy-original-host",
  "x-envoy-original-path",
  "x-host",
  "x-http-host-override",
  "x-http-url",
  "x-ms-original-url",
  "x-original-host",
  "x-original-method",
  "x-original-uri",
  "x-original-url",
  "x-rewrite-url",
  "x-waws-unencoded-url",
  // `__proto__`: no field of any protocol, and not one that an object can hold as such.
  "--proto--",
]);

/** Another method for the origin than the one by which the gateway retried, failed over or refused. */
export const METHOD_OVERRIDE_FIELDS = ["x-http-method", "x-http-method-override", "x-method-override"] as const;

/** Fields by which an origin names its software. */
export const SERVER_FIELDS = ["server", "x-powered-by", "x-aspnet-version", "x-aspnetmvc-version"] as const;

export const fieldRules = ({ passesOverride = false, hidesServer = false } = {}): FieldRules => ({
  stopped: passesOverride ? STOPPED_FIELDS : new Set([...STOPPED_FIELDS, ...METHOD_OVERRIDE_FIELDS]),
  hidden: new Set(hidesServer ? SERVER_FIELDS : []),
});

/** The word of a gateway of a mesh for a request that it sends to another one, and for the answer. */
export const HOP_FIELD = "waybill-hop";

/** Names of the gateway's own headers begin so. Origins that repeat what they were told do not reach clients with it. */
const GATEWAY_PREFIX = "waybill-";

/**
 * Whether a field of a client's request stops here. Many origins read `_` and `.` in a name as `-`, so these are taken for
 * what they would be read as.
 */
export function isDropped(field: string, stopped: ReadonlySet<string>): boolean {
  const name = field.includes("_") || field.includes(".") ? field.replaceAll(/[_.]/g, "-") : field;
  return stopped.has(name) || name.startsWith(GATEWAY_PREFIX) || name.startsWith("x-forwarded-");
}

/** The fields of an origin's answer that the gateway reads. */
export interface ResponseFields {
  readonly contentLength: string | undefined;
  readonly transferEncoding: string | undefined;
  /** Server-sent events. */
  readonly isEvents: boolean;
  /** Names of those that do not reach the client; most answers have none. `set-cookie` loses only the console's session. */
  readonly dropped: readonly string[] | undefined;
}

/**
 * Looks at each field of an answer once: each look at one by its name is a crossing into the runtime. Dropped are those
 * of the origin's connection that the runtime would forward. RFC 9112 §6.1 forbids both a length and a transfer coding:
 * such an answer to HEAD would break the client's connection.
 */
export function readResponseFields(headers: Headers, { hidden }: FieldRules): ResponseFields {
  let contentLength: string | undefined;
  let transferEncoding: string | undefined;
  let isEvents = false;
  let connection: string | undefined;
  let dropped: string[] | undefined;
  headers.forEach((value, name) => {
    switch (name) {
      case "content-length":
        contentLength = value;
        return;
      case "content-type":
        isEvents = value.startsWith("text/event-stream");
        return;
      case "connection":
        connection = value;
        return;
      case "set-cookie":
        if (!value.includes(SESSION_COOKIE)) return;
        break;
      case "transfer-encoding":
        transferEncoding = value;
        break;
      case "proxy-authenticate":
      case "proxy-connection":
        break;
      default:
        if (!name.startsWith(GATEWAY_PREFIX) && !hidden.has(name)) return;
    }
    if (dropped === undefined) dropped = [name];
    else dropped.push(name);
  });
  if (connection === undefined || connection === "keep-alive" || connection === "close") {
    return { contentLength, transferEncoding, isEvents, dropped };
  }
  const named = namedByConnection(connection);
  if (named.length > 0) dropped = [...(dropped ?? []), ...named];
  return { contentLength, transferEncoding, isEvents, dropped };
}

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
 * The gateway's own fields cannot be named away either.
 */
export function namedByConnection(connection: string): readonly string[] {
  const names: string[] = [];
  for (const token of connection.split(",", CONNECTION_TOKENS_MAX)) {
    const name = token.trim().toLowerCase();
    if (name === "" || name === "close" || name === "keep-alive") continue;
    const isOurs = name.startsWith("x-forwarded-") || name.startsWith(GATEWAY_PREFIX);
    if (!isOurs && !NEVER_NAMED_AWAY.has(name) && TOKEN.test(name)) names.push(name);
  }
  return names;
}

/** A field name (RFC 9110 §5.1, §5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/;

/**
 * The cookie of a console's session. It is the console's alone: no origin gets it, and no origin sets it, whatever host the
 * request names. The prefix keeps other hosts of the domain from setting it (RFC 6265bis §4.1.3.2).
 */
export const SESSION_COOKIE = "__Host-waybill-session";

/** A `cookie` header without the session; empty where nothing else is in it. Other lines that were joined by a comma stay. */
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

/** W3C Trace Context, Level 1: `version-traceid-parentid-flags`. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;
const VERSION_00_LENGTH = 55;

/** Whether the value may be passed on. A malformed one is removed, never repaired (§4.3). */
export function isTraceparent(value: string): boolean {
  return TRACEPARENT.test(value) && (!value.startsWith("00") || value.length === VERSION_00_LENGTH);
}

const STATE_MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const STATE_MEMBERS_MAX = 32;
/** Empty ones included, which the standard allows. */
const ELEMENTS_MAX = 64;

/** Whether the list is one of the standard's (§3.3.1); one that is not is dropped, and its trace goes on. */
export function isTracestate(value: string): boolean {
  const parts = value.split(",", ELEMENTS_MAX + 1);
  const members = parts.flatMap((part) => part.trim() || []);
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf("="))));
  return (
    parts.length <= ELEMENTS_MAX &&
    members.length <= STATE_MEMBERS_MAX &&
    keys.size === members.length &&
    members.every((member) => STATE_MEMBER.test(member))
  );
}
