import type { Client, ProxyPorts, Pseudonym, Signable } from "../ports/gateway.ts";
import type { Decision, Region, SentSlice } from "../routing/table.ts";
import type { RequestBody } from "./body.ts";
import {
  isDropped,
  isTraceparent,
  isTracestate,
  namedByConnection,
  SESSION_COOKIE,
  withoutSession,
} from "./headers.ts";
import type { Attempt } from "./origins.ts";
import { SIGNATURE_FIELD, UNKNOWN_ADDRESS } from "./signature.ts";

/**
 * Makes a request for a public entity ask an origin for a whole, uncoded answer, so that its IDs can be turned.
 * Changes fields whose names are in lower case.
 */
export function requestIdentityEncoding(fields: Record<string, string>): void {
  // RFC 9110 §12.5.3: without the field any coding is welcome, so leaving it out would not do.
  fields["accept-encoding"] = "identity";
  // RFC 9110 §14.2: a server may ignore a range; a part of a JSON text cannot be read.
  delete fields["range"];
  delete fields["if-range"];
  // Clients know the origin's strong tags as weak ones, and `if-match` compares strongly (RFC 9110 §13.1.1). A tag that
  // the origin itself made weak does not match either way.
  const condition = fields["if-match"];
  if (condition !== undefined) fields["if-match"] = condition.replaceAll(/(?:W\/)?("[^"]*")/g, "$1");
}

/**
 * Path and query as an origin gets them. `fetch` parses the URL again (WHATWG URL §4.1): it encodes `"`, `^`, `{` and `}` in
 * a path and `'` in a query, and cuts off what follows `#`. The signed target must be the one that arrives.
 */
export function sentTarget(url: string): string {
  const sent = CHANGED.test(url) ? new URL(url).href.replace(/#.*/, "") : url;
  return sent.slice(sent.indexOf("/", AUTHORITY_INDEX_MIN));
}

/** Characters that `fetch` may change. The runtime lets UTF-8 into a target too, though RFC 3986 §2.1 does not. */
const CHANGED = /["'<>\\^`{|}#]|[^!-~]/;

/** `http://` and `https://` both end before this index, and a host has at least one character. */
export const AUTHORITY_INDEX_MIN = 8;

const NO_SLICES: readonly SentSlice[] = [];

/** A client's request on its way, with all that was found out about it. */
export interface ProxyRequest {
  readonly request: Request;
  /** The request's own, read once: each look at them is a crossing into the runtime. */
  readonly method: string;
  /** Whether it only reads, whatever its method. */
  readonly isRead?: boolean | undefined;
  /** Whether it names other entities too, which are in the region that was decided on. */
  readonly hasOthers?: boolean | undefined;
  readonly body: RequestBody;
  /** Unix ms. */
  readonly arrivedAtMs: number;
  /** Raw path and query at the origin. */
  readonly target: string;
  readonly decision: Decision;
  /** IDs of all entities that it creates, where they are several. */
  readonly ids?: string | undefined;
  /** The region that owns the entity, where a copy of it is read. */
  readonly copyOf?: string;
  /** Fields of a feature for origins. */
  readonly more?: Readonly<Record<string, string>> | undefined;
  /** Revision of the table that decided. */
  readonly revision: number;
  readonly client: Client;
  /** Value of the client's `host` field. */
  readonly host: string;
  readonly scheme: "http" | "https";
  /** Whether another proxy of the same operator stands before this one, whose forwarding fields are to be believed. */
  readonly trustsForwarded: boolean;
  /** The answer will be read for IDs: it must come whole and uncoded. */
  readonly asksReadable: boolean;
  /** The client's `authorization` is for the gateway alone. */
  readonly hidesAuthorization: boolean;
  /** No feature reads the answer's body: the client gets it as it comes, unless the table wants it whole or in time. */
  readonly passesBody?: boolean;
  /** Regions of the table that decided, by name. */
  readonly regions: ReadonlyMap<string, Region>;
  /** Keeps work alive that outlives the response. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** Watched once the answer takes its time. */
  readonly watchClient: () => void;
  /** Requests sent to origins so far. */
  attempts: number;
  /** Host of another gateway that was asked last. */
  hop?: string;
  /** The trace context that origins get: of the gateway's own span, or the client's once it was found valid. */
  traceparent: string | undefined;
}

/**
 * Whether it opens a WebSocket, the only protocol that the runtime can change to. A server may ignore any other upgrade
 * (RFC 9110 §7.8), and so the request is the same as without it. A handshake is a GET without a body (RFC 6455 §4.1).
 * `connection` must name the change where it can be seen at all: some platforms keep the field to themselves.
 */
export function asksUpgrade({ request }: Pick<ProxyRequest, "request">): boolean {
  const { headers, method } = request;
  if (headers.get("upgrade")?.toLowerCase() !== "websocket" || method !== "GET") return false;
  if (request.body !== null && headers.get("content-length") !== "0") return false;
  const connection = headers.get("connection");
  return connection === null || /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection);
}

/** The name of a deployment that has none of its own. */
export const DEFAULT_NAME = "waybill";

/** HTTP/1.1 between client and gateway as far as the Worker can see (RFC 9110 §7.6.3). */
export const pseudonymOf = (name: string): Pseudonym => ({ name, via: `1.1 ${name}` });

/** A request as `fetch` takes it. */
export interface OriginRequest {
  readonly url: string;
  /** Without the body. */
  readonly init: RequestInit;
  /** Whether the client asks for another protocol on the connection: a WebSocket. */
  readonly asksUpgrade: boolean;
}

/** Node keeps the first 1,000 fields of a request and drops the rest silently. The runtime sends them by name, so those may be ours. */
const HEADER_FIELDS_MAX = 256;

/**
 * The request for the origin, or why it must not be sent on: it passed this gateway before (RFC 8586 §2), or has more
 * fields than an origin may keep, so that ours could be dropped. Same method, target, body stream and end-to-end
 * fields. The URL is concatenated: every byte of path and query stays, and nothing in a path can change the origin's
 * host.
 *
 * One sweep makes the fields: each further look at them costs a crossing into the runtime (docs/design/performance.md).
 */
export function originRequest(
  proxyRequest: ProxyRequest,
  attempt: Attempt,
  { fieldRules: { stopped }, pseudonym }: Pick<ProxyPorts, "fieldRules" | "pseudonym">,
  signature?: string,
): OriginRequest | "loop-detected" | "too-many-fields" {
  const { request, asksReadable, method } = proxyRequest;
  const fields = ownFields(proxyRequest, attempt.region.name, pseudonym, signature);
  const sweep: Sweep = {
    fields,
    proxyRequest,
    pseudonym,
    connection: undefined,
    upgrade: undefined,
    loops: false,
    isLossy: false,
    count: 0,
  };
  const known = namesByRules.get(stopped) ?? newNames(stopped);
  request.headers.forEach((value, name) => {
    const passing = known.get(name) ?? passingOf(known, name, stopped);
    sweep.count++;
    if (value.includes(REPLACEMENT)) sweep.isLossy = true;
    if (passing.take !== undefined) passing.take(sweep, value);
    else if (!passing.isDropped) fields[passing.name] = value;
  });
  if (sweep.loops) return "loop-detected";
  if (sweep.count > HEADER_FIELDS_MAX) return "too-many-fields";
  const { connection } = sweep;
  if (connection !== undefined) for (const name of namedByConnection(connection)) delete fields[name];
  // A state belongs to the trace it came with (W3C Trace Context §3.3).
  const traceparent = fields["traceparent"];
  if (traceparent === undefined && fields["tracestate"] !== undefined) delete fields["tracestate"];
  // A span of this gateway is the parent of the origin's. Without one, an origin samples as the client does (§3.2.2.5).
  if (proxyRequest.traceparent === undefined) proxyRequest.traceparent = traceparent;
  else fields["traceparent"] = proxyRequest.traceparent;
  if (asksReadable) requestIdentityEncoding(fields);
  const isUpgrade = sweep.upgrade !== undefined && asksUpgrade(proxyRequest);
  if (isUpgrade) fields["upgrade"] = "websocket";
  const headers = sweep.isLossy ? withBytesOf(request.headers, fields) : fields;
  // A coded answer is read as it is, unless IDs are sought in it.
  const encodeResponseBody = asksReadable ? "automatic" : "manual";
  const init = { method, headers, redirect: "manual", encodeResponseBody } as const;
  return { url: attempt.origin.url + proxyRequest.target, init, asksUpgrade: isUpgrade };
}

/** The fields that the gateway writes, before those of the client join them. */
function ownFields(
  { decision, ids, more, client, host, scheme, revision }: ProxyRequest,
  region: string,
  pseudonym: Pseudonym,
  signature: string | undefined,
): Record<string, string> {
  const address = client.address ?? UNKNOWN_ADDRESS;
  const { entity, target } = decision;
  // The same text however the request wrote its ID.
  const id = decision.by === "id" ? decision.canonical : "";
  const isFull = entity.fields === "full";
  const isMinimal = entity.fields === "minimal";
  // One literal is one shape: an object that grows by names becomes a dictionary, which costs more to make and to read.
  const fields: Record<string, string> = isMinimal
    ? { "x-forwarded-for": address, "cdn-loop": pseudonym.name, "waybill-entity-id": id }
    : {
        "x-forwarded-for": address,
        "cdn-loop": pseudonym.name,
        "x-forwarded-host": host,
        "x-forwarded-proto": scheme,
        via: pseudonym.via,
        "waybill-region": region,
        "waybill-entity-id": id,
      };
  if (isFull) fields["forwarded"] = forwardedElement(address, host, scheme);
  if (isFull || signature !== undefined) fields["waybill-revision"] = String(revision);
  // A request without an ID has a region only.
  if (decision.by === "region") delete fields["waybill-entity-id"];
  else {
    const { layout, words } = decision;
    if (isFull) fields["waybill-layout"] = layout;
    for (const { header, read } of entity.sentSlices?.get(layout) ?? NO_SLICES) fields[header] = read(words);
  }
  if (ids !== undefined) fields["waybill-entity-ids"] = ids;
  if (target.move !== undefined) fields["waybill-epoch"] = String(target.move.epoch);
  if (signature !== undefined) {
    fields[SIGNATURE_FIELD] = signature;
    // A signed region must be sent, so that the origin can verify it.
    fields["waybill-region"] = region;
  }
  if (client.country !== undefined && !isMinimal) fields["waybill-client-country"] = client.country;
  return Object.assign(fields, more);
}

/** One sweep over a client's fields: what goes on of them, and what was seen on the way. */
interface Sweep {
  readonly fields: Record<string, string>;
  readonly proxyRequest: ProxyRequest;
  readonly pseudonym: Pseudonym;
  connection: string | undefined;
  upgrade: string | undefined;
  /** Whether the request passed this gateway before. */
  loops: boolean;
  /** Whether a value has bytes that no text holds. */
  isLossy: boolean;
  count: number;
}

type Take = (sweep: Sweep, value: string) => void;

const believed =
  (name: string): Take =>
  ({ fields, proxyRequest }, value) => {
    if (proxyRequest.trustsForwarded) fields[name] = value;
  };

/** Fields whose values decide whether and how they go on. */
const TAKES: ReadonlyMap<string, Take> = new Map<string, Take>([
  [
    "via",
    ({ fields, proxyRequest, pseudonym }, value) => {
      fields["via"] = proxyRequest.decision.entity.fields === "minimal" ? value : `${value}, ${pseudonym.via}`;
    },
  ],
  [
    "cdn-loop",
    (sweep, value) => {
      const { name } = sweep.pseudonym;
      sweep.loops = isNamed(name, value);
      sweep.fields["cdn-loop"] = `${value}, ${name}`;
    },
  ],
  [
    "traceparent",
    ({ fields }, value) => {
      if (isTraceparent(value)) fields["traceparent"] = value;
    },
  ],
  [
    "tracestate",
    ({ fields }, value) => {
      if (isTracestate(value)) fields["tracestate"] = value;
    },
  ],
  [
    "authorization",
    ({ fields, proxyRequest }, value) => {
      if (!proxyRequest.hidesAuthorization) fields["authorization"] = value;
    },
  ],
  [
    "connection",
    (sweep, value) => {
      sweep.connection = value;
    },
  ],
  ["cookie", ({ fields }, value) => addCookies(fields, value)],
  [
    "max-forwards",
    ({ fields, proxyRequest }, value) => {
      // RFC 9110 §7.6.2: for other methods it means nothing.
      fields["max-forwards"] = proxyRequest.method === "OPTIONS" ? oneFewer(value) : value;
    },
  ],
  [
    "forwarded",
    ({ fields, proxyRequest: { trustsForwarded, client, host, scheme } }, value) => {
      if (!trustsForwarded || !isClosed(value)) return;
      fields["forwarded"] = `${value}, ${forwardedElement(client.address ?? UNKNOWN_ADDRESS, host, scheme)}`;
    },
  ],
  [
    "x-forwarded-for",
    ({ fields, proxyRequest: { trustsForwarded, client } }, value) => {
      if (!trustsForwarded || !isClosed(value)) return;
      fields["x-forwarded-for"] = `${value}, ${client.address ?? UNKNOWN_ADDRESS}`;
    },
  ],
  ["x-forwarded-host", believed("x-forwarded-host")],
  ["x-forwarded-proto", believed("x-forwarded-proto")],
  [
    "upgrade",
    (sweep, value) => {
      sweep.upgrade = value;
    },
  ],
]);

/** How a field goes on, by its name. */
interface Passing {
  /** The name as it was first seen. */
  readonly name: string;
  readonly take: Take | undefined;
  readonly isDropped: boolean;
}

/** Clients send the same names again and again, each time as a new string: to read one again costs more than to look it up. */
const namesByRules = new WeakMap<ReadonlySet<string>, Map<string, Passing>>();

/** Far more, and longer, than what honest clients of a deployment use. Names beyond that are read each time. */
const KNOWN_NAMES_MAX = 1_000;
const KNOWN_NAME_LENGTH_MAX = 64;

function newNames(stopped: ReadonlySet<string>): Map<string, Passing> {
  const names = new Map<string, Passing>();
  namesByRules.set(stopped, names);
  return names;
}

function passingOf(known: Map<string, Passing>, name: string, stopped: ReadonlySet<string>): Passing {
  const passing = { name, take: TAKES.get(name), isDropped: isDropped(name, stopped) };
  if (known.size < KNOWN_NAMES_MAX && name.length <= KNOWN_NAME_LENGTH_MAX) known.set(name, passing);
  return passing;
}

/** An IPv6 address stands in brackets and quotes (RFC 7239 §6). */
const forwardedElement = (address: string, host: string, scheme: string): string =>
  `for=${address.includes(":") ? `"[${address}]"` : address};host="${host}";proto=${scheme}`;

/** The facts that a signature can tell an origin. */
export const signableOf = (
  { method, target, decision, copyOf, revision, client }: ProxyRequest,
  { region, origin }: Attempt,
): Signable => ({
  method,
  target: sentTarget(origin.url + target),
  id: decision.by === "id" ? decision.canonical : "",
  region: region.name,
  revision,
  epoch: decision.target.move?.epoch ?? 0,
  clientAddress: client.address ?? UNKNOWN_ADDRESS,
  copyOf,
});

/** Stands in a text for bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

/** The fields with bytes that no text holds (RFC 9110 §5.5, obs-text): the runtime itself copies them. */
function withBytesOf(inbound: Headers, fields: Readonly<Record<string, string>>): Headers {
  const headers = new Headers(inbound);
  for (const name of [...headers.keys()]) if (!Object.hasOwn(fields, name)) headers.delete(name);
  for (const [name, value] of Object.entries(fields)) if (!value.includes(REPLACEMENT)) headers.set(name, value);
  return headers;
}

/** Leaves out the console's session. Bytes that a text cannot hold are not copied then: the session would come along. */
function addCookies(fields: Record<string, string>, cookies: string): void {
  const sent = cookies.includes(SESSION_COOKIE) ? withoutSession(cookies) : cookies;
  if (sent === cookies || (sent !== "" && !sent.includes(REPLACEMENT))) fields["cookie"] = sent;
}

/** Whether every quote of a list is closed: an open one would take what is appended for a part of itself (RFC 9110 §5.6.4). */
const isClosed = (list: string): boolean => /^(?:[^"\\]|"(?:[^"\\]|\\.)*")*$/.test(list);

/** A value that is no number is passed on as it is: it limits nothing. */
const oneFewer = (maxForwards: string): string =>
  /^\d{1,9}$/.test(maxForwards) ? String(Math.max(0, Number(maxForwards) - 1)) : maxForwards;

/** `cdn-loop` is a list of names with parameters, whose values may be quoted (RFC 8586 §2). */
export function isNamed(name: string, cdnLoop: string): boolean {
  // A quote that no other one closes stays: what follows it is read. It is looked for once.
  const bare = cdnLoop.replaceAll(/"(?:[^"\\]|\\.)*("?)/g, (quoted, end: string) => (end === "" ? quoted : ""));
  const entries = bare.split(",");
  return entries.some((entry) => entry.split(";", 1)[0]?.trim() === name);
}
