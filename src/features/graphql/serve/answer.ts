import { preferred } from "../../../gateway/negotiate.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import type { Problem } from "../../../problems/index.ts";
import { faultBody, GRAPHQL_RESPONSE, type GraphqlType, JSON_RESPONSE, statusWithout } from "../document/answer.ts";
import type { GraphqlFault } from "../document/request.ts";
import type { PartFields } from "./parts.ts";

/** The media type of the answer; `undefined` for a client that takes neither. Without `accept`: the newer one. */
export const mediaTypeFor = ({ headers }: Request): GraphqlType | undefined =>
  preferred(headers.get("accept"), [GRAPHQL_RESPONSE, JSON_RESPONSE]);

/** Refuses a request whose GraphQL is itself at fault. */
export function refuse(context: RequestContext, fault: GraphqlFault, status = 400): Response {
  // An error may come in a type that the client did not name (RFC 9110 §12.5.1).
  const type = mediaTypeFor(context.request) ?? JSON_RESPONSE;
  context.outcome = "malformed-request";
  const response = answerOf(type, faultBody(fault), statusWithout(type, status, fault.isRequest));
  if (context.tableLabel !== undefined) response.headers.set("waybill-table", context.tableLabel);
  return response;
}

export const answerOf = (type: string, body: string, status: number): Response =>
  new Response(body, {
    status,
    headers: { "content-type": `${type}; charset=utf-8`, "cache-control": "no-store", vary: "accept" },
  });

/** Cookies of all parts; who may read the answer says the first part that says it. */
export function withPartFields(response: Response, results: readonly { readonly fields: PartFields }[]): Response {
  const cors = results.find(({ fields }) => fields.cors.length > 0)?.fields.cors ?? [];
  for (const [name, value] of cors) response.headers.set(name, value);
  for (const { fields } of results) {
    for (const cookie of fields.cookies) response.headers.append("set-cookie", cookie);
  }
  return response;
}

/** Statuses that are about an ID in the document, not about HTTP. */
const OF_IDS: ReadonlySet<number> = new Set([404, 409, 410, 422]);

/** A problem of the gateway as an answer of GraphQL, for clients that take one. An origin's answer stays as it is. */
export async function asGraphql(context: RequestContext, response: Response): Promise<Response> {
  const isProblem = response.headers.get("content-type") === "application/problem+json";
  const type = mediaTypeFor(context.request);
  if (!isProblem || context.outcome === "answered" || type === undefined) return response;
  const { type: _, title: __, status, detail: message, ...members } = await response.json<Problem>();
  const fault = { code: context.outcome, message };
  const headers = new Headers(response.headers);
  headers.set("content-type", `${type}; charset=utf-8`);
  headers.append("vary", "accept");
  const shown = type === JSON_RESPONSE && OF_IDS.has(status) ? 200 : response.status;
  return new Response(faultBody(fault, members), { status: shown, headers });
}
