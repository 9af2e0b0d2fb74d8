import { type GatewayError, problemOf } from "../src/problems/index.ts";

/** After how many seconds a client may sensibly try again (RFC 9110 §10.2.3). */
const RETRY_AFTER_SECONDS = "2";

/** A problem document (RFC 9457). Never cached: the table may change, and so may what is wrong. */
export function problemResponse(error: GatewayError, tableLabel?: string): Response {
  const problem = problemOf(error);
  const headers = new Headers({ "content-type": "application/problem+json", "cache-control": "no-store" });
  if (tableLabel !== undefined) headers.set("waybill-table", tableLabel);
  if (error.reason === "method-not-allowed") headers.set("allow", error.allow.join(", "));
  if (problem.status === 503) headers.set("retry-after", RETRY_AFTER_SECONDS);
  return new Response(`${JSON.stringify(problem)}\n`, { status: problem.status, headers });
}
