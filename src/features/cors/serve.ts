import type { FrontFeature } from "../../gateway/front.ts";
import type { RequestContext } from "../../gateway/request.ts";
import type { Problem } from "../../problems/index.ts";
import type { CompiledTable } from "../../routing/index.ts";
import { ANY_PREFIX, GATEWAY_PATH } from "../../routing/lookup/paths.ts";

/**
 * CORS (Fetch standard) for what the gateway itself answers: its pages for clients, and problems on every path. An origin's
 * answer is its own: nothing is added and nothing removed. Operators' pages never get a header, so that no other site
 * reads them.
 */

/** Operators' pages: all below `/-/`, but those that explain problems. */
const OPERATORS = /^\/-(?:$|\/(?!problems(?:\/|$)))/;

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";

/** All that the gateway sends and the Fetch standard hides from a page. */
export const EXPOSED_HEADERS = [
  ...[
    "allow",
    "date",
    "idempotent-replayed",
    "location",
    "proxy-status",
    "retry-after",
    "server-timing",
    "www-authenticate",
  ],
  ...[
    "waybill-ambiguous",
    "waybill-copy",
    "waybill-directory",
    "waybill-entity-id",
    "waybill-key-until",
    "waybill-layout",
    "waybill-lost-fields",
  ],
  ...["waybill-partial", "waybill-region", "waybill-retry", "waybill-short-key", "waybill-table"],
] as const;

const EXPOSED = EXPOSED_HEADERS.join(", ");

/** To be called with an answer that is not an origin's. A preflight that no origin can answer is answered here. */
export async function allowOrigin(context: RequestContext, response: Response): Promise<Response> {
  const { request, method, path } = context;
  if (OPERATORS.test(path)) return response;
  const table = context.table ?? (await tableOf(context));
  const cors = table?.cors;
  if (table === undefined || cors === undefined) return response;
  const origin = request.headers.get("origin");
  const allowed = origin === null ? undefined : cors.allowed(origin);
  const isPreflight = method === "OPTIONS" && request.headers.has("access-control-request-method");
  const isAnswered = isPreflight && allowed !== undefined && mayAnswer(context, response);
  const { headers } = response;
  // One that was kept, and is repeated here, may have its origin's own.
  if (headers.has("access-control-allow-origin")) return response;
  const answer = isAnswered ? new Response(null, { status: 204 }) : response;
  // Some answers come by here twice.
  if (cors.isVaried && !/(?:^|, )origin$/.test(answer.headers.get("vary") ?? ""))
    answer.headers.append("vary", "origin");
  if (allowed === undefined) return isPreflight && origin !== null ? sayWhyNot(answer) : answer;
  answer.headers.set("access-control-allow-origin", allowed);
  if (cors.credentials) answer.headers.set("access-control-allow-credentials", "true");
  if (!isAnswered) {
    answer.headers.set("access-control-expose-headers", EXPOSED);
    return answer;
  }
  void response.body?.cancel();
  context.outcome = "own";
  answer.headers.set("access-control-allow-methods", METHODS);
  answer.headers.set("access-control-allow-headers", cors.headers);
  // Where an origin may answer the next one, the browser asks again.
  answer.headers.set("access-control-max-age", isOwn(table, path) ? cors.maxAge : "0");
  return answer;
}

const NOT_ANSWERED = "As a preflight it is not answered: `cors.origins` lacks its origin.";

/** A 405 alone would tell an operator nothing of it. */
async function sayWhyNot(response: Response): Promise<Response> {
  const { status, headers } = response;
  if (status !== 405 || headers.get("content-type") !== "application/problem+json") return response;
  const { detail, ...problem } = await response.json<Problem>();
  const why = detail.endsWith(NOT_ANSWERED) ? detail : `${detail} ${NOT_ANSWERED}`;
  return new Response(`${JSON.stringify({ ...problem, detail: why })}\n`, response);
}

/** The table for a page that needs none itself. Where there is no table, no page is trusted. */
async function tableOf({ gateway, waitUntil, outcome }: RequestContext): Promise<CompiledTable | undefined> {
  const served = gateway.tables.peek(waitUntil);
  if (served !== undefined || outcome === "table-unavailable") return served?.table;
  const loaded = await gateway.tables.load();
  return loaded.ok ? loaded.value.table : undefined;
}

/**
 * Whether no origin has a say: a page of the gateway, a redirect, or a request that cannot be routed. For the last the page
 * would otherwise learn nothing, since the browser would not send its request.
 */
const mayAnswer = ({ path, region }: RequestContext, { status }: Response): boolean =>
  GATEWAY_PATH.test(path) ||
  status === 307 ||
  (region === undefined && status >= 400 && status < 500 && status !== TOO_MANY);

/** A request that is counted out may be routed a moment later: its origin is asked then. */
const TOO_MANY = 429;

const isOwn = ({ creates, lists }: CompiledTable, path: string): boolean =>
  GATEWAY_PATH.test(path) ||
  path === ANY_PREFIX.slice(0, -1) ||
  lists?.has(path) === true ||
  creates?.match(path) !== undefined;

export const corsFront: FrontFeature = { name: "cors", finish: allowOrigin };
