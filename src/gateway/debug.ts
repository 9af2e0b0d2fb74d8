import type { GatewayError } from "../problems/index.ts";
import type { FieldSet } from "../routing/table.ts";
import type { RequestContext } from "./request.ts";

/**
 * A client's ask to be told how its request was decided: `1`, by the credential that the request has for the gateway's own
 * pages; or a bearer token in the field itself, for a request whose `authorization` is the application's.
 */
export const DEBUG_FIELD = "waybill-debug";

const ASKED = "1";
const BEARER = /^bearer /i;

/**
 * Whether the request's answer shows what `full` fields show. Gives the error of a token that is the gateway's for certain, and
 * is wrong; another `authorization` may be the application's, so its request goes on as if nothing had been asked.
 */
export async function admitDebug(context: RequestContext, asked: string): Promise<GatewayError | undefined> {
  const { gateway, request, client } = context;
  const isBearer = BEARER.test(asked);
  if (!isBearer && asked !== ASKED) return undefined;
  const caller = await gateway.authenticate({ request: isBearer ? withToken(request, asked) : request, client });
  if (!caller.ok) {
    if (caller.error.reason === "unauthenticated" && caller.error.why === "missing") return undefined;
    gateway.counters.count(
      "refused_callers",
      caller.error.reason === "unauthenticated" ? caller.error.why : caller.error.reason,
    );
    return isBearer ? caller.error : undefined;
  }
  const { scope, by } = caller.value;
  if (scope !== "operator" && scope !== "viewer") {
    return isBearer ? { reason: "forbidden", why: "scope", needs: "viewer" } : undefined;
  }
  context.isDebugged = true;
  // The gateway's token is not for origins.
  context.hidesAuthorization = by === "token" && !isBearer;
  return undefined;
}

function withToken({ url, headers }: Request, token: string): Request {
  const own = new Headers(headers);
  own.set("authorization", token);
  return new Request(url, { headers: own });
}

/** A cache that gets a 304 takes its fields over into the stored answer (RFC 9111 §4.3.4). */
const NOT_MODIFIED = 304;
const SWITCHING = 101;

/** The fields that an origin's answer to such a request shows. */
export const fieldsShown = ({ status }: Response, declared: FieldSet): FieldSet =>
  status === NOT_MODIFIED ? declared : "full";

/** Fields that tell caches what to do (RFC 9111 §5.2, RFC 9213 §2, and what some had before it). */
const CACHE_FIELD = /(?:^|-)cache-control$|^(?:edge|surrogate)-control$/;

/** Seconds that nginx keeps an answer, whatever its `cache-control` says; 0: it does not. */
const ACCEL_EXPIRES = "x-accel-expires";

/** No cache may keep an answer with fields that another client did not ask for; its origin's own word is still there to read. */
export function forbidStoring({ status, headers }: Response): void {
  if (status === NOT_MODIFIED || status === SWITCHING) return;
  const names = [...headers.keys()].filter((name) => CACHE_FIELD.test(name));
  for (const name of new Set(["cache-control", ...names])) headers.append(name, "no-store");
  if (headers.has(ACCEL_EXPIRES)) headers.set(ACCEL_EXPIRES, "0");
}
