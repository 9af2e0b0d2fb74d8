import type { Client } from "../ports.ts";
import type { Decision } from "../routing/table.ts";
import { HOP_BY_HOP, namedByConnection, OWN_REQUEST_FIELDS } from "./headers.ts";
import type { Attempt } from "./origin-choice.ts";
import { isTraceparent, newTraceparent } from "./trace-context.ts";

/** A client's request on its way, with all that was found out about it. */
export interface Passage {
  readonly request: Request;
  /** Raw path and query at the origin. */
  readonly target: string;
  readonly decision: Decision;
  /** Revision of the table that decided. */
  readonly revision: number;
  readonly client: Client;
  /** Value of the client's `host` field. */
  readonly host: string;
  readonly scheme: "http" | "https";
  readonly randomWord: () => number;
}

/** How this gateway names itself in `via` and `cdn-loop`. */
export const GATEWAY_NAME = "waybill";

/** Whether the request passed this gateway before (RFC 8586 §2): it must not be sent on again. */
export function isLoop(headers: Headers): boolean {
  const names = headers.get("cdn-loop");
  return names !== null && names.split(",").some((name) => name.split(";", 1)[0]?.trim() === GATEWAY_NAME);
}

/**
 * The request for the origin: same method, target, body stream and end-to-end fields. Concatenation keeps every octet
 * of path and query, and an origin's host cannot be changed by what a client puts into its path.
 */
export function originRequest(passage: Passage, attempt: Attempt): Request {
  const { request, decision, client, host, scheme } = passage;
  const outgoing = new Request(attempt.origin.url + passage.target, request);
  const headers = outgoing.headers;
  dropInbound(headers);
  headers.set("waybill-entity-id", decision.id);
  headers.set("waybill-layout", decision.layout);
  headers.set("waybill-region", attempt.region.name);
  headers.set("waybill-revision", String(passage.revision));
  if (client.country !== undefined) headers.set("waybill-client-country", client.country);
  headers.append("via", `1.1 ${GATEWAY_NAME}`);
  headers.append("cdn-loop", GATEWAY_NAME);
  // What a client says about itself in these is not trusted: they are replaced, not extended (RFC 7239 §8.1).
  const address = client.address ?? "unknown";
  headers.set("x-forwarded-for", address);
  headers.set("x-forwarded-host", host);
  headers.set("x-forwarded-proto", scheme);
  headers.set("forwarded", `for=${forwardedNode(address)};host="${host}";proto=${scheme}`);
  const traceparent = headers.get("traceparent");
  if (traceparent === null || !isTraceparent(traceparent)) {
    headers.set("traceparent", newTraceparent(passage.randomWord));
    headers.delete("tracestate");
  }
  return outgoing;
}

/** Removes what is meant for this hop only, and what only the gateway may say. */
function dropInbound(headers: Headers): void {
  const connection = headers.get("connection");
  if (connection !== null) for (const name of namedByConnection(connection)) headers.delete(name);
  for (const name of HOP_BY_HOP) headers.delete(name);
  for (const name of OWN_REQUEST_FIELDS) headers.delete(name);
}

/** An IPv6 address stands in brackets and quotes (RFC 7239 §6). */
function forwardedNode(address: string): string {
  return address.includes(":") ? `"[${address}]"` : address;
}
