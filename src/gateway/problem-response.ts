import { type GatewayError, needsNewKey, problemOf } from "../problems/index.ts";
import { HOP_FIELD } from "../proxy/headers.ts";
import { DEFAULT_NAME } from "../proxy/origin-request.ts";

/** The value of the hop's field in an answer of a gateway that cannot verify hops. */
export const REFUSED_HOP = "refused";

/** After how many seconds a client may sensibly try again, where nothing better is known (RFC 9110 §10.2.3). */
const RETRY_AFTER_SECONDS = 2;

/**
 * A problem document (RFC 9457). Never cached: the table may change, and so may what is wrong. `keyUntilMs`: of a request
 * with an idempotency key.
 */
export function problemResponse(
  error: GatewayError,
  tableLabel?: string,
  keyUntilMs?: number,
  gatewayName = DEFAULT_NAME,
): Response {
  const retry =
    keyUntilMs === undefined ? {} : { retry: retryAdvice(error), keyUntil: new Date(keyUntilMs).toISOString() };
  const problem = { ...problemOf(error), ...retry };
  // A plain object: each object of the runtime that a refused request makes prolongs a full collection.
  const headers: Record<string, string> = { "content-type": "application/problem+json", "cache-control": "no-store" };
  if (tableLabel !== undefined) headers["waybill-table"] = tableLabel;
  // Another gateway is told that its hop came to one.
  if (error.reason === "hop-refused") headers[HOP_FIELD] = REFUSED_HOP;
  // The same for all: RFC 6750 §3.1 would tell a token that is wrong from none.
  if (error.reason === "unauthenticated") headers["www-authenticate"] = 'Bearer realm="waybill"';
  if (error.reason === "method-not-allowed") headers["allow"] = error.allow.join(", ");
  if (problem.status === 503 || problem.status === 429 || "retryAfterSeconds" in error)
    headers["retry-after"] = String(retryAfterSeconds(error));
  if (keyUntilMs !== undefined) {
    headers["waybill-retry"] = retryAdvice(error);
    headers["waybill-key-until"] = new Date(keyUntilMs).toUTCString();
  }
  const fault = proxyFault(error);
  if (fault !== undefined) headers["proxy-status"] = `${itemOf(gatewayName)}; error=${fault}`;
  return new Response(`${JSON.stringify(problem)}\n`, { status: problem.status, headers });
}

/** A name that begins with neither a letter nor an asterisk is no token of structured fields (RFC 9651 §3.3.4), but a string. */
const itemOf = (name: string): string => (/^[A-Za-z*]/.test(name) ? name : `"${name}"`);

/** Client errors that pass by themselves, or with another credential or preference. */
const PASSING: ReadonlySet<number> = new Set([401, 403, 406, 408, 409, 425, 429]);

/** A client's next step after a problem with an idempotency key. */
function retryAdvice(error: GatewayError): "same-key" | "new-key" | "never" {
  if (needsNewKey(error)) return "new-key";
  const { status } = problemOf(error);
  return status >= 500 || PASSING.has(status) ? "same-key" : "never";
}

function retryAfterSeconds(error: GatewayError): number {
  if ("retryAfterSeconds" in error) return error.retryAfterSeconds;
  return "retryAfterMs" in error ? Math.max(1, Math.ceil(error.retryAfterMs / 1000)) : RETRY_AFTER_SECONDS;
}

/** The fault between here and the origin, as RFC 9209 §2.3 names it; `undefined` where no origin was to blame. */
function proxyFault(error: GatewayError): string | undefined {
  if (error.reason === "origin-unreachable") return error.fault;
  if (error.reason !== "origin-timeout") return FAULTS[error.reason];
  return error.which === "upload" ? "connection_write_timeout" : "http_response_timeout";
}

const FAULTS: Readonly<Partial<Record<GatewayError["reason"], string>>> = {
  "invalid-response": "http_protocol_error",
  "origin-open-circuit": "destination_unavailable",
  "loop-detected": "proxy_loop_detected",
  "peers-disagree": "proxy_internal_response",
};
