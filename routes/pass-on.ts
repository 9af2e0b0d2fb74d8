import { clientResponse } from "../src/proxy/client-response.ts";
import { send } from "../src/proxy/send.ts";
import type { Decision } from "../src/routing/index.ts";
import { type Received, refuse } from "./receive.ts";
import { noteDecision } from "./request-log.ts";

/** Sends the request to the region of the decision, and its answer back. */
export async function passOn(received: Received, decision: Decision, originTarget: string): Promise<Response> {
  const { gateway, request, target, served } = received;
  const { method, body } = request;
  if (method === "TRACE") {
    // An origin that reflects the request would show the client what the gateway added (RFC 9110 §9.3.8).
    return refuse(
      received,
      { reason: "method-not-allowed", method: "TRACE", allow: PROXIED_METHODS },
      served,
      decision,
    );
  }
  const answer = await send(
    {
      request,
      method,
      body,
      target: originTarget,
      decision,
      revision: served.table.revision,
      client: gateway.clientOf(request),
      host: target.host,
      scheme: target.scheme,
      randomWord: gateway.entropy.word,
    },
    { fetch: gateway.fetch, regions: served.table.regions, firstByteDeadlineMs: gateway.firstByteDeadlineMs },
  );
  if (!answer.ok) return refuse(received, answer.error, served, decision);
  const { response, region } = answer.value;
  noteDecision(received, decision.layout, region.name);
  return clientResponse(response, {
    region: region.name,
    layout: decision.layout,
    table: served.label,
    originMs: gateway.clock.nowMs() - received.arrivedAtMs,
  });
}

const PROXIED_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
