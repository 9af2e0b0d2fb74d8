import type { GatewayError } from "../problems/index.ts";
import { BROKEN_BODY } from "../proxy/attempt.ts";
import { type BodyError, READ_BODY_BYTES_MAX, type RequestBody, readRequestBody } from "../proxy/body.ts";
import { clientResponse, watchBody } from "../proxy/client-response.ts";
import { bodyLimits } from "../proxy/deadlines.ts";
import type { OriginResponse } from "../proxy/deliver.ts";
import { deliver } from "../proxy/follow-move.ts";
import type { ProxyRequest } from "../proxy/origin-request.ts";
import { mirrorToShadow } from "../proxy/shadow.ts";
import { type CompiledTable, canonicalText, type Decision } from "../routing/index.ts";
import { limitRate } from "./rate-limit.ts";
import type { RequestContext } from "./request.ts";
import { rewriteResponse, rewritesResponses } from "./rewrite-response.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Sends the request to the region of the decision, and the origin's response back. `target`: raw path and query there. */
export async function forward(context: RequestContext, decision: Decision, target: string): Promise<Response> {
  const { gateway, request, method } = context;
  const { entity } = decision;
  const table = context.table as CompiledTable;
  // An origin that reflects the request would show the client what the gateway added (RFC 9110 §9.3.8).
  if (method === "TRACE") return context.fail({ reason: "method-not-allowed", method, allow: METHODS }, decision);
  // A request may end at this intermediary (RFC 9110 §7.6.2).
  if (method === "OPTIONS" && request.headers.get("max-forwards") === "0") {
    return new Response(null, { status: 204, headers: { allow: METHODS.join(", ") } });
  }
  const limit = gateway.rateLimits.entity;
  const limited = limit && (await limitRate(context, limit, "entity", decision));
  if (limited !== undefined) return limited;
  // A response whose IDs could not be rewritten must not be asked for: the origin would act for nothing.
  if (rewritesResponses(entity) && !gateway.publicIds.covers(table)) {
    return context.fail({ reason: "public-ids-unavailable", why: "no-keys" }, decision);
  }
  const { idleMs } = gateway.deadlines;
  const body = await readRequestBody(request, entity.replayBytesMax, idleMs, gateway.clock.nowMs);
  if (typeof body === "string") return context.fail(bodyError(body, idleMs), decision);
  // Before anything is sent: a client that leaves later is logged with its region.
  context.logDecision(decision);
  const proxied = proxyRequest(context, table, decision, target, body);
  const delivered = await deliver(proxied, gateway);
  context.attempts = proxied.attempts;
  context.trace = proxied.traceparent?.slice(3, 35);
  if (!delivered.ok) return context.fail(delivered.error, decision);
  mirrorToShadow(proxied, delivered.value, gateway);
  return respond(context, table, decision, delivered.value);
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

const proxyRequest = (
  { gateway, request, method, scheme, host, arrivedAtMs, client, waitUntil }: RequestContext,
  table: CompiledTable,
  decision: Decision,
  target: string,
  body: RequestBody,
): ProxyRequest => ({
  request,
  method,
  scheme,
  host,
  client,
  arrivedAtMs,
  waitUntil,
  trustsForwarded: gateway.trustsForwarded,
  asksUpgrade: request.headers.has("upgrade"),
  asksReadable: decision.entity.publicFields !== undefined,
  body,
  target,
  decision,
  id: decision.id === "" ? "" : canonicalText(table, decision),
  revision: table.revision,
  regions: table.regions,
  attempts: 0,
  traceparent: undefined,
});

/** The origin's response as the client sees it: watched to its end, with public IDs where the table wants them. */
async function respond(
  context: RequestContext,
  table: CompiledTable,
  decision: Decision,
  { response: original, region }: OriginResponse,
): Promise<Response> {
  const { gateway, request, arrivedAtMs, waitUntil } = context;
  const { entity } = decision;
  const isDecoded = entity.publicFields !== undefined;
  let response = original;
  if (response.status !== 101) {
    response = watchBody(response, {
      limits: bodyLimits(entity, region, gateway.deadlines, arrivedAtMs, response.headers),
      nowMs: gateway.clock.nowMs,
      waitUntil,
      onBroken: (end) => gateway.logBrokenBody(entity.name, end),
      left: request.signal,
      isDecoded,
    });
    if (rewritesResponses(entity)) {
      const rewritten = rewriteResponse(gateway, table, decision, request.url, response);
      if (!rewritten.ok) {
        await response.body?.cancel();
        return context.fail({ reason: "answer-withheld", region: region.name, why: rewritten.error }, decision);
      }
      response = rewritten.value;
    }
  }
  context.region = region.name;
  context.outcome = "answered";
  const decided = decision.target.region;
  if (region !== decided) gateway.counters.count("answers_elsewhere", decided.name, region.name);
  context.originMs = gateway.clock.nowMs() - arrivedAtMs;
  return clientResponse(response, {
    region: region.name,
    layout: decision.layout,
    table: context.tableLabel ?? "",
    originMs: context.originMs,
    isDecoded,
  });
}
