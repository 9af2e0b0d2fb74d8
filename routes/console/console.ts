import { type Context, Hono, type MiddlewareHandler } from "hono";
import * as v from "valibot";
import { SESSION_WHOLE_MS, type SessionView, UNATTENDED_HEADER } from "../../src/formats/console-api.ts";
import { chooseCoding } from "../../src/gateway/negotiate.ts";
import { openRequest, type RequestContext } from "../../src/gateway/request.ts";
import type { ConsolePort } from "../../src/ports/console.ts";
import type { Gateway } from "../../src/ports/gateway.ts";
import { SESSION_COOKIE } from "../../src/proxy/headers.ts";
import { parseUniqueJson } from "../../src/routing/index.ts";
import { callerOf, isCrossSite, knownCaller, requireScope, siteOf } from "../lib/auth.ts";
import { contextOf, jsonResponse, type PageEnv, readBody } from "../lib/http.ts";
import { history } from "./history.ts";
import { names, preview } from "./preview.ts";
import { routeRevisions } from "./routes.ts";
import { rule } from "./rule.ts";

const PAGE = "/-/console";

/** The page needs nothing but its own files and the gateway: no inline script, no other host, no frame around it. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** For all answers of the console's host. */
const GUARDS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/** Nothing that asks an origin for a client. */
const HERE = /^\/(?:mint$|-\/)/;

/** Stands before all pages: at the console's host every answer is guarded, and a session that was used is renewed. */
export const guardConsole =
  ({ console: home }: Gateway): MiddlewareHandler =>
  async (c, next) => {
    const context = contextOf(c);
    if (home === undefined || !context.isAtConsole) return await next();
    const { path, query } = context;
    const isHere = path === "/" || HERE.test(path) || (path === "/any" && query === "?locate=true");
    if (isHere) await next();
    else c.res = context.fail({ reason: "not-found", path });
    const { headers } = c.res;
    for (const [name, value] of Object.entries(GUARDS)) headers.set(name, value);
    if (!headers.has("content-security-policy")) headers.set("content-security-policy", DATA_POLICY);
    const caller = knownCaller(c);
    // A live view is open for hours without anyone at it.
    const isLeft = context.path === "/-/events" || context.request.headers.has(UNATTENDED_HEADER);
    const isUsed = caller?.by === "session" && !isLeft && !headers.has("set-cookie");
    const cookie = isUsed ? await home.renewSession(caller) : undefined;
    if (cookie !== undefined) headers.append("set-cookie", cookie);
  };

/** Elsewhere the console's pages say where it is: what a region serves there has the same origin. */
function requireConsole({ console: home }: Gateway): MiddlewareHandler {
  return async (c, next) => {
    const context = contextOf(c);
    if (home === undefined) return context.fail({ reason: "not-found", path: context.path });
    return context.isAtConsole ? await next() : context.fail({ reason: "forbidden", why: "not-console" });
  };
}

const SIGN_IN = v.strictObject({ token: v.pipe(v.string(), v.minLength(1), v.maxLength(600)) });
const SIGN_IN_BYTES_MAX = 2_000;

/** Their tokens are for programs, and nothing of the console would answer them. */
const PROGRAMS: ReadonlySet<string> = new Set(["mint", "directory"]);

const END_SESSION = `${SESSION_COOKIE}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict`;

/** `/-/console`: the page, its files, and the sessions of its users. */
export const consolePage = (gateway: Gateway) => {
  const { console: home } = gateway;
  return (
    new Hono<PageEnv>()
      // Reached at the console's host only.
      .get("/", (c) => (home === undefined ? notFound(c) : redirect(PAGE)))
      .get(PAGE, (c) => {
        if (home === undefined) return notFound(c);
        const context = contextOf(c);
        return context.isAtConsole ? shell(context, home) : redirect(`${urlOf(context, home)}${PAGE}`);
      })
      .use(`${PAGE}/*`, requireConsole(gateway))
      .get(`${PAGE}/assets/:name`, (c) => (home === undefined ? notFound(c) : asset(c, home)))
      .get(`${PAGE}/session`, requireScope(gateway, "support"), async (c) => {
        const context = contextOf(c);
        const served = await openRequest(context);
        const { name, scope, by, session } = callerOf(c);
        const isoOf = (ms: number) => new Date(ms).toISOString();
        const expiresAt = session === undefined ? null : isoOf(session.untilMs);
        const endsBy = session === undefined ? null : isoOf(session.startedAtMs + SESSION_WHOLE_MS);
        const deployment = context.host;
        const revision = served instanceof Response ? null : served.table.revision;
        const environment = home?.environment ?? null;
        const view: SessionView = { name, scope, by, expiresAt, endsBy, deployment, environment, revision };
        return jsonResponse(view);
      })
      .post(`${PAGE}/session`, (c) => signIn(gateway, c))
      .delete(`${PAGE}/session`, (c) => {
        const context = contextOf(c);
        // Else another site could sign its visitors out.
        if (isCrossSite({ by: "session" }, context.request, siteOf(context)))
          return context.fail({ reason: "forbidden", why: "cross-site" });
        return new Response(null, { status: 204, headers: { "set-cookie": END_SESSION, "cache-control": "no-store" } });
      })
  );
};

/** Data of the page beside those of the gateway's other pages. */
export const consoleData = (gateway: Gateway) =>
  new Hono<PageEnv>()
    .route("/", history(gateway))
    .use(`${PAGE}/*`, requireConsole(gateway))
    .route("/", preview(gateway))
    .route("/", rule(gateway))
    .route("/", routeRevisions(gateway))
    .route("/", names(gateway));

const notFound = (c: Context): Response => contextOf(c).fail({ reason: "not-found", path: c.req.path });

const redirect = (location: string): Response =>
  new Response(null, { status: 307, headers: { location, "cache-control": "no-store" } });

/** With the port of the request where the console's host has none. */
function urlOf({ scheme, host, client }: RequestContext, home: ConsolePort): string {
  const port = home.host.includes(":") ? "" : (/:\d+$/.exec(client.host ?? host)?.[0] ?? "");
  return `${client.scheme ?? scheme}://${home.host}${port}`;
}

async function shell(context: RequestContext, home: ConsolePort): Promise<Response> {
  const file = await home.file("shell.html");
  if (file?.ok !== true) return context.fail({ reason: "console-unavailable", why: "not-built" });
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": PAGE_POLICY,
    "cache-control": "no-cache",
  };
  if (home.environment === undefined) return new Response(file.body, { headers });
  // Known before sign-in. The setting is of letters, digits and what joins them: nothing of it ends an attribute.
  const text = await new Response(file.body).text();
  return new Response(text.replace("<html ", `<html data-environment="${home.environment}" `), { headers });
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** A name of the build: no slash, no dot beyond these two. */
const ASSET = /^[A-Za-z0-9_-]{1,64}\.([A-Z0-9]{8})\.(js|css|json|svg|woff2)$/;

/** A file whose name has the hash of its content: it never changes, so it is never asked for again. */
async function asset(c: Context, home: ConsolePort): Promise<Response> {
  const context = contextOf(c);
  const [name, hash, kind = ""] = ASSET.exec(c.req.param("name") ?? "") ?? [];
  const type = TYPES[kind];
  if (name === undefined || type === undefined) return notFound(c);
  const isCoded = chooseCoding(c.req.raw.headers.get("accept-encoding")) === "gzip";
  const headers = {
    "content-type": type,
    "cache-control": "public, max-age=31536000, immutable",
    // Each coding has an etag of its own (RFC 9110 §8.8.3.3).
    etag: isCoded ? `"${hash}.gz"` : `"${hash}"`,
    vary: "accept-encoding",
  };
  const file = await home.file(isCoded ? `${name}.gz` : name);
  if (file === undefined) return context.fail({ reason: "console-unavailable", why: "not-built" });
  if (!file.ok) return notFound(c);
  if (!isCoded) return new Response(file.body, { headers });
  return new Response(file.body, { headers: { ...headers, "content-encoding": "gzip" }, encodeBody: "manual" });
}

/** A token becomes a session. It is checked, counted and limited as one in a header is. */
async function signIn(gateway: Gateway, c: Context): Promise<Response> {
  const context = contextOf(c);
  const { request, client } = context;
  if (isCrossSite({ by: "session" }, request, siteOf(context)))
    return context.fail({ reason: "forbidden", why: "cross-site" });
  const text = await readBody(request, SIGN_IN_BYTES_MAX);
  if (!text.ok) return context.fail(text.error);
  const body = v.safeParse(SIGN_IN, parseUniqueJson(text.value));
  if (!body.success) return context.fail({ reason: "malformed-request", detail: 'The body must be {"token": "…"}.' });
  const headers = { authorization: `Bearer ${body.output.token}`, host: context.host };
  const bearer = new Request(request.url, { headers });
  const caller = await gateway.authenticate({ request: bearer, client });
  if (!caller.ok) return context.fail(caller.error);
  if (PROGRAMS.has(caller.value.scope)) return context.fail({ reason: "forbidden", why: "scope", needs: "support" });
  const cookie = await gateway.console?.openSession(caller.value);
  const set: Record<string, string> = cookie === undefined ? {} : { "set-cookie": cookie };
  return new Response(null, { status: 204, headers: { "cache-control": "no-store", ...set } });
}
