import type { ServeFeature } from "../../gateway/feature.ts";
import type { ProxyPorts } from "../../ports/gateway.ts";
import { limitsFor, type OriginResponse } from "../../proxy/attempt.ts";
import { asksUpgrade, originRequest, type ProxyRequest, signableOf } from "../../proxy/origin-request.ts";
import { edgeFailure } from "../../proxy/origin-response.ts";
import { type Attempt, chooseOrigin } from "../../proxy/origins.ts";
import type { Region } from "../../routing/table.ts";

/** The shape in which two regions' answers to one request must agree: the status, and parts of some fields. */
export type ResponseShape = Readonly<{ status: number; fields: Readonly<Record<string, string>> }>;

/** Absence is a value too. */
const ABSENT = "absent";

/**
 * The fields that a client acts on, with the part of a value that must be the same. Others differ between sound
 * answers: dates, cookies, server names.
 */
const COMPARED_FIELDS: Readonly<Record<string, (value: string) => string>> = {
  // Parameters as well: another charset reads other text. Case and white space mean nothing (RFC 9110 §8.3.1).
  "content-type": (value) => value.toLowerCase().replace(/\s/g, ""),
  "content-encoding": (value) => value.toLowerCase(),
  "content-length": (value) => value,
  // Each region may write its own, but a client that gets none cannot ask for changes (RFC 9110 §8.8.3).
  etag: () => "present",
  // A list whose order means nothing (RFC 9111 §5.2).
  "cache-control": (value) =>
    value
      .toLowerCase()
      .split(",")
      .map((directive) => directive.trim())
      .toSorted()
      .join(),
  location: (value) => locationShape(value),
};

/** Taken at once, before anybody changes the answer's fields. */
export function shapeOf({ status, headers }: Response): ResponseShape {
  const shapes = Object.entries(COMPARED_FIELDS).map(([name, shape]) => {
    const value = headers.get(name);
    return [name, value === null ? ABSENT : shape(value)];
  });
  return { status, fields: Object.fromEntries(shapes) };
}

/** The names of the fields in which two answers differ. */
export function differingFields({ fields: a }: ResponseShape, { fields: b }: ResponseShape): readonly string[] {
  return Object.keys(COMPARED_FIELDS).filter((name) => {
    // A server may leave the length out of any answer, and chunk it (RFC 9110 §8.6).
    const mayBeAbsent = name === "content-length" && (a[name] === ABSENT || b[name] === ABSENT);
    return a[name] !== b[name] && !mayBeAbsent;
  });
}

/**
 * Whether it leads to another host, how deep its path is, and which names its query has: hosts differ by region, and what
 * stands in the path may be new for each request.
 */
function locationShape(value: string): string {
  const [target = "", ...fragment] = value.split("#");
  const [place = "", query = ""] = target.split("?", 2);
  const [, authority, path = ""] = /^(?:[a-z][a-z0-9+.-]*:)?(\/\/[^/]*)?(.*)$/i.exec(place) ?? [];
  const names = [...new URLSearchParams(query).keys()].toSorted();
  return JSON.stringify([authority !== undefined, path.split("/").length, names, fragment.length > 0]);
}

/** A slower shadow has shown enough; no client waits for it. */
const SHADOW_DEADLINE_MS = 5_000;

export const shadow: ServeFeature = { name: "shadow", mirror: (...all) => mirrorToShadow(...all) };

/**
 * Sends a sample of reads to their route's shadow too, once the client's answer is on its way. To be called with the
 * origin's answer as it came: what is compared of it is taken at once. It never throws and never waits.
 */
export function mirrorToShadow(
  proxyRequest: ProxyRequest,
  { response, region }: Pick<OriginResponse, "response" | "region">,
  deps: ProxyPorts,
  deadlineMs = SHADOW_DEADLINE_MS,
): void {
  const { method, body, decision } = proxyRequest;
  const { shadow } = decision.target;
  if (shadow === undefined || shadow.region === region || response.status === 101) return;
  if ((method !== "GET" && method !== "HEAD") || body.kind !== "none" || asksUpgrade(proxyRequest)) return;
  if (deps.entropy.word() >= shadow.share * 2 ** 32) return;
  const { name } = shadow.region;
  if (!deps.shadows.admit(name)) return;
  const answered = shapeOf(response);
  const work = async (): Promise<void> => {
    // Lets the handler hand over the client's answer before anything is sent.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const answer = await sendToShadow(proxyRequest, shadow.region, deps, deadlineMs).catch(() => undefined);
    if (answer === undefined) return deps.shadows.report(name, "failed");
    const fields = differingFields(answered, answer);
    const isSameStatus = answer.status === answered.status;
    if (isSameStatus && fields.length === 0) return deps.shadows.report(name, "match");
    const { entity } = decision;
    deps.shadows.report(name, isSameStatus ? "headers-differ" : "status-differs", {
      entity: entity.name,
      id: decision.by === "id" && entity.reading?.hides !== true ? decision.id : undefined,
      method,
      region: region.name,
      status: answered.status,
      shadowStatus: answer.status,
      fields,
    });
  };
  proxyRequest.waitUntil(work());
}

const lateAt = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** Tells the origin that its response is not read. */
const SHADOW_FIELDS = { "waybill-shadow": "1" } as const;

/** The shadow stands behind another gateway. */
async function askPeer(proxyRequest: ProxyRequest, at: Attempt, deps: ProxyPorts): Promise<Response> {
  const { decision, arrivedAtMs } = proxyRequest;
  const limits = limitsFor(decision.entity, at.region, deps.deadlines, arrivedAtMs, true);
  const outcome = await deps.peers?.ask(proxyRequest, at, limits, deps);
  if (outcome?.ok !== true) throw new Error("the shadow cannot be reached");
  return outcome.value.response;
}

/** Rejects where there is no answer in time, or none of the origin's own. */
async function sendToShadow(
  proxyRequest: ProxyRequest,
  region: Region,
  deps: ProxyPorts,
  deadlineMs: number,
): Promise<ResponseShape> {
  const at = { region, origin: chooseOrigin(region, proxyRequest.decision.identity) };
  const { fetch, isOnEdge } = deps;
  const mirrored = { ...proxyRequest, more: SHADOW_FIELDS };
  if (at.origin.isPeer === true) {
    const answer = await Promise.race([askPeer(mirrored, at, deps), lateAt(AbortSignal.timeout(deadlineMs))]);
    void answer.body?.cancel().catch(() => undefined);
    return shapeOf(answer);
  }
  const signature = deps.sign && (await deps.sign(signableOf(mirrored, at)));
  const outgoing = originRequest(mirrored, at, deps, signature);
  if (typeof outgoing === "string") throw new Error(outgoing);
  const signal = AbortSignal.timeout(deadlineMs);
  const sent = fetch(outgoing.url, { ...outgoing.init, signal }, at.origin.binding);
  const response = await Promise.race([sent, lateAt(signal)]);
  void response.body?.cancel().catch(() => undefined);
  if (isOnEdge && edgeFailure(response.status) !== undefined) throw new Error("the shadow cannot be reached");
  return shapeOf(response);
}
