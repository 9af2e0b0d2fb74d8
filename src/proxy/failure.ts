import type { OriginFault } from "./errors.ts";

/** Why `fetch` gave no answer, as far as it can be known, and a sentence's end for people that names no address. */
export interface Failure {
  readonly fault: OriginFault;
  readonly why: string;
}

/** Thrown by the `Fetch` port for an origin whose binding the deployment lacks. */
export class MissingBinding extends Error {
  override readonly name = "MissingBinding";
}

/**
 * Reads an error of `fetch`. workerd marks what broke on an open or opening connection as `retryable`, be it refused, reset
 * or no HTTP; what is not marked broke before: in the look-up of the name or in TLS. Its text is not for clients.
 */
export function failureOf(error: unknown, originUrl: string): Failure {
  if (error instanceof MissingBinding) {
    return { fault: "proxy_configuration_error", why: "is reached through a binding that this deployment lacks" };
  }
  if (isLostConnection(error)) return { fault: "connection_terminated", why: "did not answer" };
  // There is no TLS in plain HTTP.
  if (originUrl.startsWith("http:")) return { fault: "dns_error", why: "has a name that leads nowhere" };
  return { fault: "destination_unavailable", why: "could not be reached: its name or its certificate is at fault" };
}

function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if ("retryable" in error && error.retryable === true) return true;
  return !error.message.startsWith("internal error");
}

/** What Cloudflare's edge answers in the place of an origin that it could not ask (its own statuses, not of RFC 9110). */
const EDGE_STATUSES: ReadonlyMap<number, Failure> = new Map([
  [520, { fault: "connection_terminated", why: "gave no answer that the platform could read" }],
  [521, { fault: "connection_refused", why: "refused the connection" }],
  [522, { fault: "connection_timeout", why: "did not take the connection in time" }],
  [523, { fault: "destination_ip_unroutable", why: "cannot be reached from here" }],
  [524, { fault: "http_response_timeout", why: "took the request and did not answer in time" }],
  [525, { fault: "tls_protocol_error", why: "did not complete the TLS handshake" }],
  [526, { fault: "tls_certificate_error", why: "has a certificate that is not valid" }],
  [530, { fault: "dns_error", why: "has a name that leads nowhere" }],
]);

/** What the status of an answer says about the connection; `undefined` for an answer of the origin's own. */
export const edgeFailure = (status: number): Failure | undefined => EDGE_STATUSES.get(status);
