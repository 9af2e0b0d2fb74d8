import { clientResponse } from "../src/proxy/client-response.ts";
import { send } from "../src/proxy/send.ts";
import type { Decision } from "../src/routing/index.ts";
import { type Received, refuse } from "./receive.ts";
import { noteDecision } from "./request-log.ts";
import { isTurned, turnAnswer } from "./turn-answer.ts";

/** Sends the request to the region of the decision, and its answer back. */
export async function passOn(received: Received, decision: Decision, originTarget: string): Promise<Response> {
  const { gateway, request, target, served, notes } = received;
  const { method } = request;
  const body = bodyOf(request);
  if (body === "lost") return refuse(received, { reason: "malformed-request", detail: UNMEASURED }, served, decision);
  if (method === "TRACE") {
    // An origin that reflects the request would show the client what the gateway added (RFC 9110 §9.3.8).
    return refuse(
      received,
      { reason: "method-not-allowed", method: "TRACE", allow: PROXIED_METHODS },
      served,
      decision,
    );
  }
  const { entity } = decision;
  // An answer whose IDs could not be turned must not be asked for: the origin would act for nothing.
  if (isTurned(entity) && !gateway.publicIds.covers(served.table)) {
    return refuse(received, { reason: "public-ids-unavailable", why: "no-keys" }, served, decision);
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
      asksReadable: entity.publicFields !== undefined,
    },
    { fetch: gateway.fetch, regions: served.table.regions, firstByteDeadlineMs: gateway.firstByteDeadlineMs },
  );
  if (!answer.ok) return refuse(received, answer.error, served, decision);
  const { region } = answer.value;
  let { response } = answer.value;
  if (isTurned(entity) && response.status !== 101) {
    const turned = turnAnswer(gateway, served, entity, request.url, response);
    if (!turned.ok) {
      await response.body?.cancel();
      const error = { reason: "answer-withheld", region: region.name, why: turned.error } as const;
      return refuse(received, error, served, decision);
    }
    response = turned.value;
  }
  noteDecision(notes, decision);
  notes.region = region.name;
  notes.outcome = "answered";
  return clientResponse(response, {
    region: region.name,
    layout: decision.layout,
    table: served.label,
    originMs: gateway.clock.nowMs() - received.arrivedAtMs,
  });
}

const UNMEASURED = "A body of GET or HEAD needs a content-length: without one the runtime would not send it on.";

/** The request's body; `null` for none and for an empty one, which must not keep a read from being repeated. */
function bodyOf({ method, body, headers }: Request): Request["body"] | "lost" {
  if (body === null || (method !== "GET" && method !== "HEAD")) return body;
  const length = headers.get("content-length");
  if (length === null) return "lost";
  return length === "0" ? null : body;
}

const PROXIED_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
