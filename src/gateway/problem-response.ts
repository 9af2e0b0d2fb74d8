import { type GatewayError, problemOf } from "../problems/index.ts";
import { GATEWAY_NAME } from "../proxy/origin-request.ts";

/** After how many seconds a client may sensibly try again, where nothing better is known (RFC 9110 §10.2.3). */
const RETRY_AFTER_SECONDS = 2;

/** A problem document (RFC 9457). Never cached: the table may change, and so may what is wrong. */
export function problemResponse(error: GatewayError, tableLabel?: string): Response {
  const problem = problemOf(error);
  const headers = new Headers({ "content-type": "application/problem+json", "cache-control": "no-store" });
  if (tableLabel !== undefined) headers.set("waybill-table", tableLabel);
  // The same for all: RFC 6750 §3.1 would tell a token that is wrong from none.
  if (error.reason === "unauthenticated") headers.set("www-authenticate", 'Bearer realm="waybill"');
  if (error.reason === "method-not-allowed") headers.set("allow", error.allow.join(", "));
  if (problem.status === 503 || problem.status === 429 || error.reason === "idempotency-key-in-use")
    headers.set("retry-after", String(retryAfterSeconds(error)));
  const fault = proxyFault(error);
  if (fault !== undefined) headers.set("proxy-status", `${GATEWAY_NAME}; error=${fault}`);
  return new Response(`${JSON.stringify(problem)}\n`, { status: problem.status, headers });
}

function retryAfterSeconds(error: GatewayError): number {
  if ("retryAfterSeconds" in error) return error.retryAfterSeconds;
  return "retryAfterMs" in error ? Math.max(1, Math.ceil(error.retryAfterMs / 1000)) : RETRY_AFTER_SECONDS;
}

/** What went wrong between here and the origin, as RFC 9209 §2.3 names it; `undefined` where no origin was to blame. */
function proxyFault(error: GatewayError): string | undefined {
  switch (error.reason) {
    case "origin-unreachable":
      return error.fault;
    case "invalid-response":
      return "http_protocol_error";
    case "origin-timeout":
      return error.which === "upload" ? "connection_write_timeout" : "http_response_timeout";
    case "origin-open-circuit":
      return "destination_unavailable";
    case "loop-detected":
      return "proxy_loop_detected";
    default:
      return undefined;
  }
}
