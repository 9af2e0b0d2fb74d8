import type { Context, MiddlewareHandler } from "hono";
import type { Caller, DenialReason, Scope } from "../src/auth-ports.ts";
import type { Gateway } from "../src/ports.ts";
import type { AuthError, RequestError } from "../src/problems/index.ts";
import { problemResponse } from "./problem-response.ts";
import { logFields } from "./request-log.ts";
import { isCrossSite } from "./same-site.ts";
import { type RequestTarget, readTarget } from "./target.ts";

const KEY = "caller";

type Guard = Pick<Gateway, "authenticate" | "counters">;

/** Lets in who has the scope, and remembers who it is for `callerOf`. It stands before all else that answers on a path. */
export function requireScope(gateway: Guard, scope: Scope): MiddlewareHandler {
  return async (c, next) => {
    // A host that moves the path has led the router to this page.
    const target = readTarget(c.req.raw);
    if (!target.ok) return problemResponse(noted(c, target.error));
    const caller = await gateway.authenticate(c.req.raw);
    if (caller.ok) c.set(KEY, caller.value);
    const refused = caller.ok ? denialOf(caller.value, scope, c.req.raw, target.value) : caller.error;
    if (refused !== undefined) {
      gateway.counters.count("refused_callers", reasonOf(refused));
      return problemResponse(noted(c, refused));
    }
    return await next();
  };
}

/** Who sent the request. Only behind `requireScope`. */
export function callerOf(c: Context): Caller {
  const caller = callerIfKnown(c);
  if (caller === undefined) throw new Error(`${c.req.path} asks who sent a request that was not authenticated`);
  return caller;
}

/** Who sent the request, let in or not; `undefined` for a stranger. */
export function callerIfKnown(c: Context): Caller | undefined {
  return c.get(KEY);
}

/** Whether the sender is known, on pages that say less to strangers. A wrong credential counts as one, and makes a stranger. */
export async function isKnown(gateway: Guard, request: Request): Promise<boolean> {
  const caller = await gateway.authenticate(request);
  if (!caller.ok && reasonOf(caller.error) !== "missing") {
    gateway.counters.count("refused_callers", reasonOf(caller.error));
  }
  return caller.ok;
}

type Forbidden = Extract<RequestError, { readonly reason: "forbidden" }>;

function denialOf(caller: Caller, scope: Scope, request: Request, target: RequestTarget): Forbidden | undefined {
  if (isCrossSite(caller, request, target)) return { reason: "forbidden", why: "cross-site" };
  if (scope === "operator" && caller.scope !== "operator") return { reason: "forbidden", why: "scope", needs: scope };
  return undefined;
}

const reasonOf = (error: AuthError | Forbidden): DenialReason =>
  error.reason === "unauthenticated" ? error.why : error.reason;

function noted<Failure extends { readonly reason: string }>(c: Context, error: Failure): Failure {
  logFields(c).outcome = error.reason;
  return error;
}
