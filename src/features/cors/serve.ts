import type { FrontFeature } from "../../gateway/front.ts";
import type { RequestContext } from "../../gateway/request.ts";
import type { Problem } from "../../problems/index.ts";
import type { CompiledTable } from "../../routing/index.ts";
import { ANY_PREFIX, GATEWAY_PATH } from "../../routing/lookup/paths.ts";
import type { Cors } from "./table/compile.ts";

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
  "allow",
  "date",
  "idempotent-replayed",
  "location",
  "proxy-status",
  "retry-after",
  "server-timing",
  "www-authenticate",
  "waybill-ambiguous",
  "waybill-copy",
  "waybill-directory",
  "waybill-entity-id",
  "waybill-key-until",
  "waybill-layout",
  "waybill-lost-fields",
  "waybill-partial",
  "waybill-region",
  "waybill-retry",
  "waybill-short-key",
  "waybill-table",
] as const;

const EXPOSED = EXPOSED_HEADERS.join(", ");

/** To be called with an answer that is not an origin's. A preflight that no origin can answer is answered here. */
export async function allowOrigin(context: RequestContext, response: Response): Promise<Response> {
  const { request, method, path } = context;
  if (OPERATORS.test(path)) return response;
  const table = context.table ?? (await tableOf(context));
  const cors = table?.cors;
  if (table === undefined || cors === undefined) return response;
  const { headers } = response;
  // One that was kept, and is repeated here, may have its origin's own.
  if (headers.has("access-control-allow-origin")) return response;
  const origin = request.headers.get("origin");
  const allowed = origin === null ? undefined : cors.allowed(origin);
  const isPreflight = method === "OPTIONS" && request.headers.has("access-control-request-method");
  if (allowed === undefined) {
    vary(cors, headers);
    return isPreflight && origin !== null ? sayWhyNot(response) : response;
  }
  if (isPreflight && mayAnswer(context, response)) {
    void response.body?.cancel();
    context.outcome = "own";
    return preflightAnswer(cors, allowed, isOwn(table, path));
  }
  vary(cors, headers);
  allow(cors, headers, allowed);
  headers.set("access-control-expose-headers", EXPOSED);
  return response;
}

/** Some answers come by here twice. */
function vary({ isVaried }: Cors, headers: Headers): void {
  if (isVaried && !/(?:^|, )origin$/.test(headers.get("vary") ?? "")) headers.append("vary", "origin");
}

function allow({ credentials }: Cors, headers: Headers, origin: string): void {
  headers.set("access-control-allow-origin", origin);
  if (credentials) headers.set("access-control-allow-credentials", "true");
}

/** `isKept`: where an origin may answer the next one, the browser asks again. */
function preflightAnswer(cors: Cors, origin: string, isKept: boolean): Response {
  const headers = new Headers();
  vary(cors, headers);
  allow(cors, headers, origin);
  headers.set("access-control-allow-methods", METHODS);
  headers.set("access-control-allow-headers", cors.headers);
  headers.set("access-control-max-age", isKept ? cors.maxAge : "0");
  return new Response(null, { status: 204, headers });
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

const isOwn = ({ ownPaths }: CompiledTable, path: string): boolean =>
  GATEWAY_PATH.test(path) ||
  path === ANY_PREFIX.slice(0, -1) ||
  ownPaths.some(({ methods, ownerAt }) => methods !== undefined && ownerAt(path) !== undefined);

export const corsFront: FrontFeature = { name: "cors", finish: allowOrigin };
