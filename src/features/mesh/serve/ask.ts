import { DEBUG_FIELD } from "../../../gateway/debug.ts";
import { REFUSED_HOP } from "../../../gateway/problem-response.ts";
import { err } from "../../../ids/result.ts";
import type { Clock, Counters, Fetch, ProxyPorts } from "../../../ports/gateway.ts";
import { type AttemptError, type AttemptLimits, attemptOnce, type OriginResponse } from "../../../proxy/attempt.ts";
import {
  type Delivery,
  discard,
  misdirected,
  type Peers,
  rejectFenced,
  repeatability,
  sendToRegion,
} from "../../../proxy/deliver.ts";
import type { ProxyError } from "../../../proxy/errors.ts";
import { HOP_FIELD } from "../../../proxy/headers.ts";
import { asksUpgrade, type ProxyRequest, sentTarget } from "../../../proxy/origin-request.ts";
import type { Attempt } from "../../../proxy/origins.ts";
import type { Region } from "../../../routing/table.ts";
import type { Mesh, PeerKey } from "../port.ts";
import { digests, GATEWAYS_MAX, gatewaysIn, isOwnField, markLoop } from "./fields.ts";
import { ANSWERED, formatHop, type Hop, readError } from "./hop.ts";

/** The first gateway's side of a hop. */

export interface AskPorts {
  readonly mesh: Mesh;
  readonly clock: Clock;
  readonly counters: Counters;
  /** A gateway that believes or serves this one not, for operators. */
  readonly report: (evidence: { readonly region: string; readonly why: string }) => void;
}

/** The gateway's own origins may take their time one after the other; then it answers at once. */
const GRACE_MS = 1_000;
const ORIGINS_ASKED_MAX = 4;

/** Asks the gateway of a region: what comes back is an origin's answer, or why there is none. */
export async function askPeer(
  ports: AskPorts,
  proxyRequest: ProxyRequest,
  at: Attempt,
  limits: AttemptLimits,
  deps: ProxyPorts,
): ReturnType<Peers["ask"]> {
  const { mesh } = ports;
  const { name: region } = at.region;
  const [key] = mesh.keys;
  if (key === undefined)
    return err(disagreed(region, "cannot be asked: SELF_REGIONS, PEER_KEYS or GATEWAY_NAME of this one is invalid"));
  const names = [...gatewaysIn(proxyRequest.request.headers.get("cdn-loop")), mesh.name];
  if (names.length >= GATEWAYS_MAX) return err(told({ reason: "loop-detected", isLong: true }));
  const hop = hopOf(proxyRequest, at.region, limits, names, ports.clock.nowMs());
  const fetch = hopFetch(hop, proxyRequest.method, key, ports.clock, deps.fetch);
  proxyRequest.hop = new URL(at.origin.url).host;
  const waiting = { ...limits, firstByteMs: firstByteMsOf(limits, proxyRequest, at.region) };
  const outcome = await attemptOnce(proxyRequest, at, waiting, { ...deps, sign: undefined, fetch });
  const read = outcome.ok ? await readAnswer(outcome.value, region) : outcome.error;
  if ("response" in read) {
    ports.counters.count("hops_sent", region, "answered");
    return { ok: true, value: { ...read, limits } };
  }
  ports.counters.count("hops_sent", region, outcomeOf(read));
  if (read.error.reason === "peers-disagree" && read.error.by?.named === undefined)
    reportSeldom(ports, region, read.error.why);
  return err(read);
}

const outcomeOf = ({ error, isAnswer }: AttemptError) =>
  error.reason === "peers-disagree" || error.reason === "loop-detected"
    ? "refused"
    : isAnswer
      ? "failed"
      : "unreachable";

function firstByteMsOf({ firstByteMs }: AttemptLimits, proxyRequest: ProxyRequest, { origins }: Region): number {
  if (firstByteMs === 0) return 0;
  const used = origins.filter(({ weight }) => weight > 0).length;
  const asked = repeatability(proxyRequest).isRepeatable ? Math.min(used, ORIGINS_ASKED_MAX) : 1;
  return firstByteMs * asked + GRACE_MS;
}

/** `fields` are those of the origin's request once it is made. */
function hopOf(
  { decision, copyOf, revision, regions, client, isRead }: ProxyRequest,
  region: Region,
  limits: AttemptLimits,
  names: readonly string[],
  nowMs: number,
): Omit<Hop, "fields"> {
  const { entity, identity, target } = decision;
  const { fields } = entity;
  return {
    names,
    region: region.name,
    revision,
    table: digests.get(regions) ?? null,
    epoch: target.move?.epoch ?? 0,
    entity: entity.name,
    id: decision.by === "id" ? { layout: decision.layout, text: decision.canonical, words: decision.words } : undefined,
    identity,
    copyOf,
    address: client.address,
    isRead: isRead === true ? true : undefined,
    shown: fields,
    replayBytesMax: entity.replayBytesMax,
    isWhole: entity.wholeAnswers ?? region.wholeAnswers ?? fields === "full",
    firstByteMs: limits.firstByteMs,
    idleMs: limits.isIdleChosen ? limits.idleMs : undefined,
    totalMs: limits.total === undefined ? 0 : Math.max(1, limits.total.untilMs - nowMs),
  };
}

/** Sends the request with its hop in place of the fields that the gateway made for the origin: those are in it. */
const hopFetch =
  (hop: Omit<Hop, "fields">, method: string, key: PeerKey, clock: Clock, send: Fetch): Fetch =>
  async (target, init, binding) => {
    const isWhole = typeof target !== "string";
    const headers = new Headers(init?.headers ?? (isWhole ? target.headers : undefined));
    const own = [...headers].filter(([name]) => isOwnField(name));
    for (const [name] of own) headers.delete(name);
    markLoop(headers);
    const signed = { method, target: sentTarget(isWhole ? target.url : target) };
    headers.set(HOP_FIELD, await formatHop({ ...hop, fields: Object.fromEntries(own) }, signed, key, clock.nowMs()));
    headers.set(DEBUG_FIELD, HOP_FIELD);
    return send(target, { ...init, headers }, binding);
  };

/** An answer without the gateway's word is some other server's: of a proxy whose gateway is gone, or of a wrong address. */
async function readAnswer(answer: OriginResponse, region: string): Promise<OriginResponse | AttemptError> {
  const word = answer.response.headers.get(HOP_FIELD);
  if (word === ANSWERED) return answer;
  await discard(answer);
  if (word === null) return UNKNOWN_SERVER(region);
  return toldBy(word === REFUSED_HOP ? { reason: "hop-refused", why: "no-keys" } : readError(word), region);
}

const UNKNOWN_SERVER = (region: string): AttemptError => ({
  error: {
    reason: "origin-unreachable",
    region,
    fault: "http_protocol_error",
    why: "is behind a gateway that did not answer as one of the mesh",
  },
  fault: "http_protocol_error",
});

const told = (error: ProxyError): AttemptError => ({ error, fault: undefined, isAnswer: true });

const RETRY_AFTER_MS = 2_000;

const disagreed = (region: string, why: string, by?: Misdirected): AttemptError =>
  told({ reason: "peers-disagree", region, why, retryAfterMs: RETRY_AFTER_MS, ...(by && { by }) });

type Misdirected = Extract<ProxyError, { readonly reason: "hop-misdirected" }>;

const HOP_FAULTS = {
  "no-keys": "has no valid PEER_KEYS",
  form: "does not understand this one's hops: its version is another",
  "unknown-key": "does not have this one's key of PEER_KEYS",
  changed: "did not get the request as it was sent: its key of PEER_KEYS, or a proxy between them, is another one's",
  late: "has a clock that is more than 60 s away from this one's",
} as const;

const MISDIRECTIONS = {
  "not-served": "does not serve it: its SELF_REGIONS, or its table, says so",
  moved: "has a newer table, in which the entity has moved",
  gone: "has a newer table, in which the entity is gone",
} as const;

/** The word of another gateway, as this one's clients are told. Only known parts of it go on. */
function toldBy(error: ProxyError | undefined, region: string): AttemptError {
  switch (error?.reason) {
    case "loop-detected":
      return told({ reason: "loop-detected", isLong: error.isLong === true });
    case "hop-refused":
      return disagreed(region, HOP_FAULTS[error.why] ?? HOP_FAULTS.form);
    case "hop-misdirected":
      return disagreed(region, MISDIRECTIONS[error.why] ?? MISDIRECTIONS["not-served"], error);
    default: {
      const known = error && passedOn(error, region);
      return known === undefined
        ? disagreed(region, `answered with ${String(error?.reason).slice(0, 64)}`)
        : told(known);
    }
  }
}

const TEXT = /^[ -~]{1,300}$/;
const TOKEN = /^[a-z_]{1,64}$/;

/** Errors between a gateway and its origins are the same to clients wherever they asked. */
function passedOn(error: ProxyError, region: string): ProxyError | undefined {
  const { reason } = error;
  const is = (form: RegExp, text: string) => typeof text === "string" && form.test(text);
  const isTime = (ms: number) => typeof ms === "number" && ms >= 0;
  if (reason === "origin-unreachable" && is(TOKEN, error.fault) && is(TEXT, error.why)) {
    return { reason, region, fault: error.fault, why: error.why };
  }
  if (
    reason === "origin-timeout" &&
    is(/^(?:first-byte|body|upload|total)$/, error.which) &&
    isTime(error.deadlineMs)
  ) {
    return { reason, region, which: error.which, deadlineMs: error.deadlineMs };
  }
  if (reason === "origin-open-circuit" && isTime(error.retryAfterMs)) {
    return { reason, region, retryAfterMs: error.retryAfterMs };
  }
  if (reason === "invalid-response" && is(TEXT, error.what)) return { reason, region, what: error.what };
  if (reason === "malformed-request" && is(TEXT, error.detail)) return { reason, detail: error.detail };
  if (reason === "request-timeout" && isTime(error.idleMs)) return { reason, idleMs: error.idleMs };
  return reason === "too-many-fields" ? { reason } : undefined;
}

/** Between two lines of one region: what differs is said once, however many requests it concerns. */
const REPORT_MS = 10_000;
const reportedAtMs = new Map<string, number>();

function reportSeldom({ clock, report }: AskPorts, region: string, why: string): void {
  const nowMs = clock.nowMs();
  if (Math.abs(nowMs - (reportedAtMs.get(region) ?? Number.NEGATIVE_INFINITY)) < REPORT_MS) return;
  reportedAtMs.set(region, nowMs);
  report({ region, why });
}

/** Follows the table of a gateway that knows a newer move of the entity, or another region for it. Once: what comes then is final. */
export function decideAnew(
  proxyRequest: ProxyRequest,
  refused: ProxyError,
  deps: ProxyPorts,
): Promise<Delivery> | undefined {
  const { decision, regions, hasOthers } = proxyRequest;
  if (refused.reason !== "peers-disagree" || refused.by?.named === undefined) return undefined;
  if (decision.by !== "id" || hasOthers === true) return undefined;
  const { named, move } = refused.by;
  const region = regions.get(named);
  if (region === undefined) return undefined;
  const anew = { ...decision, target: { ...decision.target, region, move } };
  return sendAnew({ ...proxyRequest, decision: anew }, region, refused.region, deps).then(({ answer, sent }) => {
    proxyRequest.attempts = sent.attempts;
    proxyRequest.traceparent = sent.traceparent;
    if (sent.hop !== undefined) proxyRequest.hop = sent.hop;
    return answer;
  });
}

async function sendAnew(sent: ProxyRequest, region: Region, before: string, deps: ProxyPorts) {
  const { decision, body, method } = sent;
  const fenced = rejectFenced(decision, method, asksUpgrade(sent));
  if (fenced !== undefined) return { sent, answer: err(fenced) };
  if (body.kind === "stream") {
    const bytesMax = decision.entity.replayBytesMax;
    return { sent, answer: err({ reason: "body-too-large-to-replay", region: before, bytesMax } as const) };
  }
  const answer = await sendToRegion(sent, region, deps);
  const isFinal = !answer.ok || answer.value.response.status !== 421;
  return { sent, answer: isFinal ? answer : await misdirected(sent, answer.value, region, true, deps) };
}
