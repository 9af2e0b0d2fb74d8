import type { Context, MiddlewareHandler } from "hono";
import { type RequestContext, UNRESOLVED_PATH } from "../../src/gateway/request.ts";
import type { Caller, Scope, TableAction } from "../../src/ports/admin.ts";
import type { Gateway } from "../../src/ports/gateway.ts";
import type { AuthError, RequestError } from "../../src/problems/index.ts";
import { isSameOrigin } from "../../src/proxy/addresses/host.ts";
import { NOT_NORMALIZED } from "../../src/routing/lookup/paths.ts";
import { contextOf } from "./http.ts";

/** Safe methods (RFC 9110 §9.2.1). Other sites cannot read the responses: no page has CORS headers. */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Guards against cross-site request forgery: browsers send the origin of a write, and never add a bearer token on their own.
 * `atConsole`: whether the request is at the console's host; `undefined` where there is no console.
 */
export function isCrossSite(
  { by }: Pick<Caller, "by">,
  { method, headers }: Request,
  { scheme, host, atConsole }: Pick<RequestContext, "scheme" | "host"> & { readonly atConsole?: boolean | undefined },
): boolean {
  const site = headers.get("sec-fetch-site");
  // A page on another port of the host gets the cookie too, even a strict one.
  if (by === "session" && site !== null && site !== "same-origin" && site !== "none") return true;
  if (by === "token" || SAFE.has(method)) return false;
  const origin = headers.get("origin");
  if (by === "session" && (site === null || origin === null)) return true;
  if (site === null && origin === null) return by === "access";
  // A region's page at the gateway's own host could act for the operator who looks at it.
  if (atConsole === false) return true;
  // Behind a proxy that terminates TLS the gateway sees http where the browser sees https.
  const isOwn = origin === null || [`https://${host}`, `${scheme}://${host}`].some((own) => isSameOrigin(origin, own));
  return (site !== null && site !== "same-origin") || !isOwn;
}

const KEY = "caller";

type Guard = Pick<Gateway, "authenticate" | "counters">;

/** Requires one of some scopes and stores the caller for `callerOf`. It must be the first handler of a path. */
export function requireScope(gateway: Guard, ...scopes: readonly [Scope, ...Scope[]]): MiddlewareHandler {
  return async (c, next) => {
    const context = contextOf(c);
    if (NOT_NORMALIZED.test(context.path)) return context.fail(UNRESOLVED_PATH);
    const caller = await gateway.authenticate(context);
    if (caller.ok) c.set(KEY, caller.value);
    const refused = caller.ok ? denialOf(caller.value, scopes, context) : caller.error;
    if (refused !== undefined) {
      gateway.counters.count("refused_callers", reasonOf(refused));
      return context.fail(refused);
    }
    return await next();
  };
}

/** The same, if there is one: for what stands before all pages. */
export const knownCaller = (c: Context): Caller | undefined => c.get(KEY);

/** The authenticated caller. Only behind `requireScope`. */
export function callerOf(c: Context): Caller {
  const caller = knownCaller(c);
  if (caller === undefined) throw new Error(`${c.req.path} asks who sent a request that was not authenticated`);
  return caller;
}

/** Whether the sender is authenticated, for pages that say less without it. A wrong credential is counted as one. */
export async function isKnown(gateway: Guard, context: RequestContext): Promise<boolean> {
  const caller = await gateway.authenticate(context);
  if (!caller.ok && reasonOf(caller.error) !== "missing") {
    gateway.counters.count("refused_callers", reasonOf(caller.error));
  }
  return caller.ok && !["mint", "directory"].includes(caller.value.scope);
}

type Forbidden = Extract<RequestError, { readonly reason: "forbidden" }>;

function denialOf(
  caller: Caller,
  scopes: readonly [Scope, ...Scope[]],
  context: RequestContext,
): Forbidden | undefined {
  if (isCrossSite(caller, context.request, siteOf(context))) return { reason: "forbidden", why: "cross-site" };
  const isAllowed = scopes.some((scope) => INCLUDED[caller.scope].includes(scope));
  if (!isAllowed) return { reason: "forbidden", why: "scope", needs: scopes[0] };
  return undefined;
}

/** As the browser knows it: a trusted proxy may have another host before the gateway's. */
export const siteOf = ({ gateway, scheme, host, client }: RequestContext) => ({
  scheme: client.scheme ?? scheme,
  host: client.host ?? host,
  atConsole: gateway.console?.isAt(client.host ?? host),
});

const INCLUDED: Readonly<Record<Scope, readonly Scope[]>> = {
  operator: ["operator", "viewer", "support", "mint", "directory"],
  viewer: ["viewer", "support"],
  support: ["support"],
  mint: ["mint"],
  directory: ["directory"],
};

const reasonOf = (error: AuthError | Forbidden) => (error.reason === "unauthenticated" ? error.why : error.reason);

/** Rejections that happen before the control plane sees the request; it records its own. */
const REFUSED_HERE = ["forbidden", "precondition-required", "malformed-request", "body-too-large"] as const;

/** For changes of the table. Records rejected known callers in the audit; unauthenticated callers could fill it. */
export function requireOperator(
  gateway: Gateway,
  action: TableAction,
  packOf: (c: Context) => string | undefined = () => undefined,
): MiddlewareHandler {
  const guard = requireScope(gateway, "operator");
  return async (c, next) => {
    const answer = await guard(c, next);
    // Authorized or not; `undefined` without a valid credential.
    const author = knownCaller(c)?.name;
    const outcome = REFUSED_HERE.find((reason) => reason === contextOf(c).outcome);
    if (author !== undefined && outcome !== undefined) {
      const pack = packOf(c);
      c.executionCtx.waitUntil(gateway.controlPlane.recordRejection({ author, action, outcome, pack }));
    }
    return answer;
  };
}
