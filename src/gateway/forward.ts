import type { GatewayError } from "../problems/index.ts";
import { BROKEN_BODY } from "../proxy/attempt.ts";
import { type BodyError, READ_BODY_BYTES_MAX, type RequestBody, readRequestBody } from "../proxy/body.ts";
import { clientResponse, watchBody } from "../proxy/client-response.ts";
import { bodyLimits } from "../proxy/deadlines.ts";
import type { DeliveryDeps, OriginResponse } from "../proxy/deliver.ts";
import { deliver } from "../proxy/follow-move.ts";
import type { ProxyRequest } from "../proxy/origin-request.ts";
import { type MirrorDeps, mirrorToShadow } from "../proxy/shadow.ts";
import { canonicalText, type Decision } from "../routing/index.ts";
import { overLimit } from "./rate-limit.ts";
import { respondWithProblem, type TableRequestContext } from "./request.ts";
import { logDecision } from "./request-log.ts";
import { rewriteResponse, rewritesResponses } from "./rewrite-response.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What delivering and mirroring need of the gateway. */
export function deliveryDeps({ gateway, served, hono }: TableRequestContext): DeliveryDeps & MirrorDeps {
  return {
    clock: gateway.clock,
    fetch: gateway.fetch,
    sign: gateway.sign,
    isOnEdge: gateway.isOnEdge,
    waitUntil: (work) => hono.executionCtx.waitUntil(work),
    regions: served.table.regions,
    deadlines: gateway.deadlines,
    health: gateway.originHealth,
    budget: gateway.retryBudget,
    memory: gateway.movedMemory,
    shadows: gateway.shadows,
    chance: () => gateway.entropy.word() / 2 ** 32,
    pause,
  };
}

const PROXIED_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Sends the request to the region of the decision, and its answer back. */
export async function forward(
  context: TableRequestContext,
  decision: Decision,
  originTarget: string,
): Promise<Response> {
  const { gateway, request, served, logFields: fields } = context;
  const { entity } = decision;
  const stopped = stopsHere(request);
  if (stopped === "refused") {
    // An origin that reflects the request would show the client what the gateway added (RFC 9110 §9.3.8).
    const error = { reason: "method-not-allowed", method: "TRACE", allow: PROXIED_METHODS } as const;
    return respondWithProblem(context, error, served, decision);
  }
  if (stopped !== undefined) return stopped;
  const limit = gateway.rateLimits.entity;
  const refused = limit && (await overLimit(context, limit, "entity", decision));
  if (refused !== undefined) return refused;
  // An answer whose IDs could not be turned must not be asked for: the origin would act for nothing.
  if (rewritesResponses(entity) && !gateway.publicIds.covers(served.table)) {
    return respondWithProblem(context, { reason: "public-ids-unavailable", why: "no-keys" }, served, decision);
  }
  const { idleMs } = gateway.deadlines;
  const body = await readRequestBody(request, entity.replayBytesMax, idleMs, gateway.clock.nowMs);
  if (typeof body === "string") return respondWithProblem(context, bodyError(body, idleMs), served, decision);
  // A client may leave before there is more to note.
  logDecision(fields, decision);
  const proxyRequest = proxyRequestOf(context, decision, originTarget, body);
  const deps = deliveryDeps(context);
  const delivered = await deliver(proxyRequest, deps);
  fields.attempts = proxyRequest.attemptLog.attempts;
  fields.trace = proxyRequest.attemptLog.traceparent?.slice(3, 35);
  if (!delivered.ok) return respondWithProblem(context, delivered.error, served, decision);
  mirrorToShadow(proxyRequest, delivered.value, deps);
  return respondToClient(context, decision, delivered.value);
}

const UNMEASURED = "A body of GET or HEAD needs a content-length: without one the runtime would not send it on.";

function bodyError(error: BodyError, idleMs: number): GatewayError {
  switch (error) {
    case "unmeasured":
      return { reason: "malformed-request", detail: UNMEASURED };
    case "broken":
      return { reason: "malformed-request", detail: BROKEN_BODY };
    case "late":
      return { reason: "request-timeout", idleMs };
    case "too-large":
      return { reason: "body-too-large", bytesMax: READ_BODY_BYTES_MAX };
    case "coded":
      return { reason: "transfer-coding-unsupported" };
  }
}

/** Requests that end at this intermediary (RFC 9110 §7.6.2, §9.3.8). */
function stopsHere({ method, headers }: Request): Response | "refused" | undefined {
  if (method === "TRACE") return "refused";
  if (method !== "OPTIONS" || headers.get("max-forwards") !== "0") return undefined;
  return new Response(null, { status: 204, headers: { allow: PROXIED_METHODS.join(", ") } });
}

function proxyRequestOf(
  context: TableRequestContext,
  decision: Decision,
  originTarget: string,
  body: RequestBody,
): ProxyRequest {
  const { gateway, request, target, served, arrivedAtMs } = context;
  return {
    request,
    method: request.method,
    body,
    asksUpgrade: request.headers.has("upgrade"),
    arrivedAtMs,
    target: originTarget,
    decision,
    id: decision.id === "" ? "" : canonicalText(served.table, decision),
    revision: served.table.revision,
    client: gateway.clientOf(request),
    host: target.host,
    scheme: target.scheme,
    trustsForwarded: gateway.trustsForwarded,
    randomWord: gateway.entropy.word,
    asksReadable: decision.entity.publicFields !== undefined,
    attemptLog: { attempts: 0, traceparent: undefined },
  };
}

/** The origin's answer as the client sees it: watched to its end, with public IDs where the table wants them. */
async function respondToClient(
  context: TableRequestContext,
  decision: Decision,
  answer: OriginResponse,
): Promise<Response> {
  const { gateway, request, served, logFields: fields, arrivedAtMs } = context;
  const { entity } = decision;
  const { region } = answer;
  const isDecoded = entity.publicFields !== undefined;
  let { response } = answer;
  if (response.status !== 101) {
    response = watchBody(response, {
      limits: bodyLimits(entity, region, gateway.deadlines, arrivedAtMs, response.headers),
      nowMs: gateway.clock.nowMs,
      waitUntil: (work) => context.hono.executionCtx.waitUntil(work),
      onBroken: (end) => gateway.logBrokenBody(entity.name, end),
      left: request.signal,
      isDecoded,
    });
    if (rewritesResponses(entity)) {
      const turned = rewriteResponse(gateway, served, decision, request.url, response);
      if (!turned.ok) {
        await response.body?.cancel();
        const error = { reason: "answer-withheld", region: region.name, why: turned.error } as const;
        return respondWithProblem(context, error, served, decision);
      }
      response = turned.value;
    }
  }
  fields.region = region.name;
  fields.outcome = "answered";
  const decided = decision.target.region;
  if (region !== decided) gateway.counters.count("answers_elsewhere", decided.name, region.name);
  fields.originMs = gateway.clock.nowMs() - arrivedAtMs;
  return clientResponse(response, {
    region: region.name,
    layout: decision.layout,
    table: served.label,
    originMs: fields.originMs,
    isDecoded,
  });
}
