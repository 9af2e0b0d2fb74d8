import { type Context, Hono, type MiddlewareHandler } from "hono";
import { problemResponse } from "../../src/gateway/problem-response.ts";
import { limitRate } from "../../src/gateway/rate-limit.ts";
import { openRequest, type RequestContext } from "../../src/gateway/request.ts";
import { err, ok, type Result } from "../../src/ids/result.ts";
import type { GatewayError, RequestError } from "../../src/problems/index.ts";
import { collect, decodeUtf8, keepRequestBody } from "../../src/proxy/body.ts";
import { codedDetail } from "../../src/proxy/codings.ts";

export type PageEnv = Readonly<{ Bindings: { readonly context: RequestContext } }>;

export const contextOf = (c: Context): RequestContext => (c.env as PageEnv["Bindings"]).context;

/** The raw path for the router, so that an encoded path never matches a page. */
const rawPath = (_: Request, options?: { readonly env?: PageEnv["Bindings"] }): string =>
  options?.env?.context.path ?? "/";

/** A router of pages. Their errors go to the last resort of all requests. */
export function newPages(): Hono<PageEnv> {
  const pages = new Hono<PageEnv>({ getPath: rawPath });
  pages.onError((error) => {
    throw error;
  });
  return pages;
}

/** `GET` handles HEAD as well. */
const METHODS = [["GET", "HEAD"], ["PUT"], ["POST"], ["DELETE"]] as const;

/** Responds to what no page handled: its path has other methods, or there is no such page. */
export const respondUnhandled =
  (pages: Hono<PageEnv>) =>
  ({ req: { method, path } }: Context): Response => {
    const isHandled = (other: string) =>
      pages.router.match(other, path)[0].some(([[, route]]) => route.method === other);
    const allow = METHODS.filter(([first]) => isHandled(first)).flat();
    return problemResponse(
      allow.length > 0 ? { reason: "method-not-allowed", method, allow } : { reason: "not-found", path },
    );
  };

/** A response of the gateway's own. It is not cached: the table may change. */
export function jsonResponse(body: unknown, fields: Readonly<Record<string, string>> = {}, status = 200): Response {
  return new Response(`${JSON.stringify(body, null, 2)}\n`, {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...fields },
  });
}

/** The tables in force, for a page with a rate limit; a response where there are none, or the limit is reached. */
export async function openLimited(context: RequestContext, which: "client" | "lookup") {
  const served = await openRequest(context);
  const limit = context.gateway.rateLimits[which];
  return limit === undefined || served instanceof Response
    ? served
    : ((await limitRate(context, limit, which)) ?? served);
}

/** Fields of a 304 that the 200 would have (RFC 9110 §15.4.5), and what the console's host guards with. */
const OF_CONTENT = /^content-(?!location$|security-policy$)/;

/** Answers GET and HEAD with 304 where the client has the page already, by a weak comparison (RFC 9110 §13.1.2). */
export const answerUnchanged: MiddlewareHandler = async (c, next) => {
  await next();
  const { res, req } = c;
  const known = req.raw.headers.get("if-none-match");
  const tag = res.headers.get("etag");
  const isRead = req.method === "GET" || req.method === "HEAD";
  if (!isRead || known === null || tag === null || res.status !== 200 || !hasTag(known, tag)) return;
  void res.body?.cancel();
  const fields = [...res.headers].filter(([name]) => !OF_CONTENT.test(name));
  c.res = undefined;
  c.res = new Response(null, { status: 304, headers: fields.map(([name, value]) => [name, value]) });
};

const hasTag = (field: string, tag: string): boolean =>
  field.trim() === "*" || [...field.matchAll(/"[^"]*"/g)].some(([known]) => known === tag.replace(/^W\//, ""));

/** An outcome as a response, by default as JSON; an error as its problem. */
export const respond = <Value>(
  c: Context,
  result: Result<Value, GatewayError>,
  show: (value: Value) => Response = jsonResponse,
): Response => (result.ok ? show(result.value) : contextOf(c).fail(result.error));

/** Reads a small body as text, up to a limit. A body that ends early or is not UTF-8 is an error. */
export async function readBody(request: Request, bytesMax: number): Promise<Result<string, RequestError>> {
  const bytes = await readBytes(request, bytesMax);
  const text = bytes.ok ? decodeUtf8(bytes.value) : undefined;
  if (text !== undefined) return ok(text);
  return !bytes.ok && bytes.error.reason !== "malformed-request" ? bytes : err(unreadable(request));
}

/** Reads a body that may be large, from any client, with an idle timeout. */
export async function readBodyInTime(
  { request, gateway }: RequestContext,
  bytesMax: number,
): Promise<Result<string, GatewayError>> {
  const { idleMs } = gateway.deadlines;
  const bytes = await keepRequestBody(request, bytesMax, { idleMs, nowMs: gateway.clock.nowMs });
  if (bytes === "late") return err({ reason: "request-timeout", idleMs });
  if (bytes === "too-large") return err({ reason: "body-too-large", bytesMax });
  if (bytes === "coded") return err({ reason: "transfer-coding-unsupported" });
  const text = typeof bytes === "string" ? undefined : decodeUtf8(bytes);
  return text === undefined ? err(unreadable(request)) : ok(text);
}

const unreadable = (request: Request) =>
  ({
    reason: "malformed-request",
    detail: codedDetail(request) ?? "The body is incomplete or not UTF-8.",
  }) as const;

export async function readBytes(
  request: Request,
  bytesMax: number,
): Promise<Result<Uint8Array<ArrayBuffer>, RequestError>> {
  try {
    // Read as a whole, a body leaves no stream behind for the runtime to collect.
    const length = Number(request.headers.get("content-length") ?? Infinity);
    if (length <= bytesMax) return ok(new Uint8Array(await request.arrayBuffer()));
    // The rest of it is read on behind the answer.
    const bytes = await collect(request.body?.values({ preventCancel: true }) ?? [], bytesMax);
    return bytes === undefined ? err({ reason: "body-too-large", bytesMax }) : ok(new Uint8Array(bytes));
  } catch {
    return err({ reason: "malformed-request", detail: "The body is incomplete." });
  }
}
