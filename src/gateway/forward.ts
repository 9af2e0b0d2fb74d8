import type { Gateway } from "../ports/gateway.ts";
import type { GatewayError } from "../problems/index.ts";
import { BROKEN_BODY } from "../proxy/attempt.ts";
import { type BodyError, NO_BODY, READ_BODY_BYTES_MAX, type RequestBody, readRequestBody } from "../proxy/body.ts";
import { type Delivery, deliver, METHODS } from "../proxy/deliver.ts";
import type { ProxyRequest } from "../proxy/origin-request.ts";
import { withoutPrefix } from "../proxy/path-prefix.ts";
import type { BodyCheck } from "../proxy/pump.ts";
import { type CompiledTable, type Decision, type Entity, stickyCookie, type WithoutId } from "../routing/index.ts";
import { takesMethod } from "../routing/lookup/choice.ts";
import { clientHash } from "./caller.ts";
import { noRegion } from "./decide.ts";
import type { CoreSteps, Line, Respond, Steps } from "./feature.ts";
import { limitRate } from "./rate-limit.ts";
import type { RequestContext } from "./request.ts";
import { changeable, respond } from "./respond.ts";

/** The foot of every request that goes to an origin: limits, body, the one `ProxyRequest`, the answer. */

/** The parts of a request that are known before it is sent on. `body`: as far as it was read. `ids`: of all, where it creates several. */
export interface ForwardOptions {
  /** The client's, where it goes on with other fields. */
  readonly request?: Request;
  readonly body?: RequestBody | undefined;
  readonly ids?: string | undefined;
  /** Whether it only reads, whatever its method: a query of GraphQL. */
  readonly isRead?: boolean;
  /** Whether it names other entities than the one that it is decided by. */
  readonly hasOthers?: boolean | undefined;
  /** Whether the answer is kept for a retry. */
  readonly isKept?: boolean;
  /** For a body that streams on. */
  readonly check?: BodyCheck | undefined;
}

/** Sends the request to the region of the decision, and the origin's response back. `target`: raw path and query there. */
export async function forward(
  context: RequestContext,
  decision: Decision,
  target: string,
  options?: ForwardOptions,
): Promise<Response> {
  const { gateway, request, method } = context;
  const { entity } = decision;
  const table = context.table as CompiledTable;
  const ended = ENDING.has(method) ? endHere(context, decision) : undefined;
  if (ended !== undefined) return ended;
  const limit = gateway.rateLimits.entity;
  const isEmpty = request.body === null;
  if (isEmpty) context.isBodyRead = true;
  else context.watchClientIfSlow();
  const limited = limit && (await limitRate(context, limit, "entity", decision));
  if (limited !== undefined) return limited;
  const line = context.line as Line;
  const own = line.steps.get(entity) ?? line.chooseSteps(table, entity);
  const steps = own === "none" || own.rules?.has(decision.target.rule.kind) === false ? undefined : own;
  const refused = steps?.refuse?.(context, table) ?? (gateway.mustSign ? signingError(gateway) : undefined);
  if (refused !== undefined) return context.fail(refused, decision);
  const body = isEmpty ? NO_BODY : await readBody(context, entity, options);
  if ("reason" in body) return context.fail(body, decision);
  // Before anything is sent: a client that leaves later is logged with its region.
  context.logDecision(decision);
  const proxied = proxyRequestOf(context, decision, { target, body, steps, options });
  context.watchClientLater();
  if (table.verified !== undefined) line.verify(context, table.verified, decision);
  if (steps !== undefined) return steps.send(context, proxied);
  return passOn(context, proxied, await deliver(proxied, gateway), respond);
}

/** Methods by which a request may go no further. */
const ENDING: ReadonlySet<string> = new Set(["TRACE", "OPTIONS"]);

function endHere(context: RequestContext, decision: Decision): Response | undefined {
  const { method, request } = context;
  // An origin that reflects the request would show the client what the gateway added (RFC 9110 §9.3.8).
  if (method === "TRACE") return context.fail({ reason: "method-not-allowed", method, allow: METHODS }, decision);
  // A request may end at this intermediary (RFC 9110 §7.6.2).
  if (request.headers.get("max-forwards") !== "0") return undefined;
  return new Response(null, { status: 204, headers: { allow: METHODS.join(", ") } });
}

/** An origin must not get unsigned what its operator wanted signed. */
const signingError = ({ sign }: Gateway): GatewayError | undefined =>
  sign === undefined ? { reason: "signing-unavailable" } : undefined;

/** The request's body, as far as it is read before it is sent on. */
async function readBody(
  context: RequestContext,
  { replayBytesMax }: Entity,
  { body, check }: ForwardOptions = {},
): Promise<RequestBody | GatewayError> {
  const { request, gateway } = context;
  const { idleMs } = gateway.deadlines;
  const bytesMax = check === undefined ? replayBytesMax : 0;
  const read = body ?? (await readRequestBody(request, bytesMax, idleMs, gateway.clock.nowMs));
  if (typeof read === "string") return bodyError(read, idleMs);
  context.isBodyRead = read.kind === "kept" || read.kind === "own";
  return check !== undefined && read.kind === "stream" ? { ...read, check } : read;
}

interface Sent {
  readonly target: string;
  readonly body: RequestBody;
  readonly steps: Steps | undefined;
  readonly options: ForwardOptions | undefined;
}

function proxyRequestOf(
  context: RequestContext,
  decision: Decision,
  { target, body, steps, options }: Sent,
): ProxyRequest {
  const { client, gateway } = context;
  const { removePrefix } = decision.entity;
  const { revision, regions } = context.table as CompiledTable;
  return {
    request: options?.request ?? context.request,
    method: context.method,
    isRead: options?.isRead,
    hasOthers: options?.hasOthers === true || options?.ids !== undefined,
    scheme: client.scheme ?? context.scheme,
    host: client.host ?? context.host,
    arrivedAtMs: context.arrivedAtMs,
    client,
    waitUntil: context.waitUntil,
    watchClient: () => context.watchClient(),
    trustsForwarded: gateway.trustsForwarded,
    asksReadable: steps?.readsAnswers === true,
    hidesAuthorization: context.hidesAuthorization,
    passesBody: !(steps?.holdsAnswer(context) === true || options?.isKept === true),
    body,
    target: removePrefix === undefined ? target : withoutPrefix(target, removePrefix),
    decision,
    ids: options?.ids,
    revision,
    regions,
    attempts: 0,
    traceparent: context.span?.traceparent,
  };
}

/** Passes the origin's answer on, or says why there is none. */
function passOn(
  context: RequestContext,
  proxied: ProxyRequest,
  delivered: Delivery,
  respondWith: Respond,
): Response | Promise<Response> {
  const { decision } = proxied;
  context.attempts = proxied.attempts;
  context.trace = proxied.traceparent?.slice(3, 35);
  if (proxied.hop !== undefined) context.doubt = { ...context.doubt, hop: proxied.hop };
  if (!delivered.ok) return context.fail(delivered.error, decision);
  if (decision.target.shadow !== undefined) {
    (context.line as Line).mirror(proxied, delivered.value, context.gateway);
  }
  return respondWith(context, context.table as CompiledTable, decision, delivered.value);
}

/** The steps on which those of features stand. */
export const CORE_STEPS: CoreSteps = {
  deliver: (_, proxied, ports) => deliver(proxied, ports),
  respond: (steps) => (context, table, decision, answer) => respond(context, table, decision, answer, steps),
  send: (deliverWith, respondWith) => async (context, proxied) =>
    passOn(context, proxied, await deliverWith(context, proxied, context.gateway), respondWith),
};

const UNMEASURED = "A body of GET or HEAD needs a content-length: without one the runtime would not send it on.";

export function bodyError(error: BodyError, idleMs: number): GatewayError {
  return error === "late" ? { reason: "request-timeout", idleMs } : BODY_ERRORS[error];
}

const BODY_ERRORS: Readonly<Record<Exclude<BodyError, "late">, GatewayError>> = {
  unmeasured: { reason: "malformed-request", detail: UNMEASURED },
  broken: { reason: "malformed-request", detail: BROKEN_BODY },
  "too-large": { reason: "body-too-large", bytesMax: READ_BODY_BYTES_MAX },
  coded: { reason: "transfer-coding-unsupported" },
};

/** Forwards a request on a path that no entity owns, to the region that the table's sources name. */
export async function forwardWithoutId(
  context: RequestContext,
  entry: WithoutId,
  options?: ForwardOptions,
): Promise<Response> {
  const { method, path, query, scheme, table } = context;
  const { entity, methods, sources, sticky } = entry;
  context.entity = entity.name;
  if (!takesMethod(entry, context)) {
    return context.fail({ reason: "method-not-allowed", method, allow: methods ?? [] });
  }
  const choice = context.chooseRegion(entity.name, sources);
  if (!choice.ok) {
    const { error } = choice;
    return context.fail(noRegion(entry, error, path));
  }
  const { region, isAssumed } = choice.value;
  const target = table?.withoutId.targets.get(region);
  if (target === undefined) throw new Error(`region ${region} was not checked`);
  const decision: Decision = { by: "region", entity, identity: clientHash(context), target };
  const response = await forward(context, decision, path + query, options);
  // A problem says nothing about the client's home region, and the 101 of a WebSocket cannot be changed.
  if (sticky !== undefined && isAssumed && context.outcome === "answered" && response.status !== 101) {
    const own = changeable(response, decision);
    own.headers.append("set-cookie", stickyCookie(sticky, region, (context.client.scheme ?? scheme) === "https"));
    return own;
  }
  return response;
}
