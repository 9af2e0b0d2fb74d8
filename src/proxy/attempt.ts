import { err, ok, type Result } from "../ids/result.ts";
import type { Clock, Fetch, ProxyPorts } from "../ports.ts";
import type { Entity, Region } from "../routing/table.ts";
import { type RequestBody, type Upload, upload } from "./body.ts";
import type { OriginFault, ProxyError } from "./errors.ts";
import { type OriginRequest, originRequest, type ProxyRequest, signableOf } from "./origin-request.ts";
import { type Failure, failureOf, validateResponse } from "./origin-response.ts";
import type { Attempt } from "./origins.ts";
import type { BodyEnd } from "./pump.ts";

/** The deployment's own deadlines, in milliseconds; 0 for none. */
export interface DefaultDeadlines {
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface AttemptLimits {
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** When the whole request must have ended, Unix ms, and in how many milliseconds from its start that is. */
  readonly total: { readonly untilMs: number; readonly ms: number } | undefined;
}

/** What holds for an attempt: the entity's word goes before the region's, and that before the deployment's. */
export function limitsFor(entity: Entity, region: Region, own: DefaultDeadlines, startedMs: number): AttemptLimits {
  const totalMs = entity.deadlines.totalMs ?? region.deadlines.totalMs ?? own.totalMs;
  return {
    firstByteMs: entity.deadlines.firstByteMs ?? region.deadlines.firstByteMs ?? own.firstByteMs,
    idleMs: entity.deadlines.idleMs ?? region.deadlines.idleMs ?? own.idleMs,
    total: totalMs === 0 ? undefined : { untilMs: startedMs + totalMs, ms: totalMs },
  };
}

/**
 * Limits for the response's body. An idle deadline of the table holds for every body. The deployment's holds for long
 * bodies and those of unknown length: watching a small one costs more than the rest of the proxy
 * (docs/design/performance.md). It does not hold for events, which may be far apart (HTML, "Server-sent events").
 */
export function bodyLimits(
  entity: Entity,
  region: Region,
  own: DefaultDeadlines,
  startedMs: number,
  headers: Headers,
): Pick<AttemptLimits, "idleMs" | "total"> {
  const limits = limitsFor(entity, region, own, startedMs);
  const isChosen = (entity.deadlines.idleMs ?? region.deadlines.idleMs) !== undefined;
  return isChosen || !(isSmall(headers) || isEvents(headers)) ? limits : { ...limits, idleMs: 0 };
}

const SMALL_BODY_BYTES_MAX = 64 * 1024;

function isSmall(headers: Headers): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= SMALL_BODY_BYTES_MAX;
}

const isEvents = (headers: Headers): boolean => headers.get("content-type")?.startsWith("text/event-stream") === true;

/** Why an attempt gave no answer. `fault`: what it says about the origin; absent where it says nothing. */
export interface AttemptError {
  readonly error: ProxyError;
  readonly fault: OriginFault | undefined;
  /** Whether it may have been the origin's fault all the same. */
  readonly isInDoubt?: boolean;
}

/** Sends one request to one origin. Its own answer, whatever the status, is a success. */
export async function attemptOnce(
  proxyRequest: ProxyRequest,
  at: Attempt,
  limits: AttemptLimits,
  deps: ProxyPorts,
): Promise<Result<Response, AttemptError>> {
  const region = at.region.name;
  const signature = deps.sign === undefined ? undefined : await deps.sign(signableOf(proxyRequest, at));
  const outgoing = originRequest(proxyRequest, at, deps.entropy, signature);
  if (outgoing === undefined) return err({ error: { reason: "loop-detected" }, fault: undefined });
  const { body } = proxyRequest;
  const sent = body.kind === "stream" ? startUpload(proxyRequest, body, limits, deps.clock) : undefined;
  const { asksUpgrade } = outgoing;
  const sinceMs = deps.clock.nowMs();
  try {
    const answer = dispatch(proxyRequest, at, outgoing, sent, deps.fetch);
    const response = await withDeadline(answer, sent, () => deadlineOf(limits, deps.clock));
    if (response === "late") return err(late(region, limits, sinceMs, sent, deps.clock));
    if (response === "sink-idle") return err(unread(region, limits));
    const failure = await validateResponse(response, proxyRequest.method, asksUpgrade, deps.isOnEdge);
    return failure === undefined ? ok(response) : err(unreachable(region, failure));
  } catch (thrown) {
    const end = sent && (await settled(sent.ended));
    const fromClient = clientsFault(end, limits);
    if (fromClient !== undefined) return err({ error: fromClient, fault: undefined });
    if (end === "sink-idle") return err(unread(region, limits));
    const { error, fault } = unreachable(region, failureOf(thrown, at.origin.url));
    // An origin that breaks off an upload, or ends a conversation that it does not want, may have had its reasons.
    const isInDoubt = asksUpgrade || (sent !== undefined && end !== "complete");
    return err({ error, fault: isInDoubt ? undefined : fault, isInDoubt });
  }
}

const unreachable = (region: string, { fault, why }: Failure): AttemptError => ({
  error: { reason: "origin-unreachable", region, fault, why },
  fault,
});

function startUpload(
  { waitUntil }: ProxyRequest,
  body: Extract<RequestBody, { kind: "stream" }>,
  { idleMs, total }: AttemptLimits,
  clock: Clock,
): Upload {
  const sent = upload(body.stream, body.length, { idleMs, untilMs: total?.untilMs, nowMs: clock.nowMs });
  // An origin may answer before it has read everything.
  waitUntil(sent.ended);
  return sent;
}

function dispatch(
  { body, request }: ProxyRequest,
  { origin }: Attempt,
  { url, init }: OriginRequest,
  sent: Upload | undefined,
  fetch: Fetch,
): Promise<Response> {
  switch (body.kind) {
    case "none":
      return fetch(url, init, origin.binding);
    case "kept":
      return fetch(url, { ...init, body: body.bytes }, origin.binding);
    case "stream":
      return fetch(url, { ...init, body: sent?.body ?? null, signal: sent?.broken ?? null }, origin.binding);
    case "own": {
      // `fetch` takes no body for GET and HEAD in an init, though a request may have one: there it is kept whole.
      const { method: _, ...rest } = init;
      // The copy has come whole, so that the next attempt can have one as well.
      return fetch(new Request(new Request(url, request.clone()), rest), undefined, origin.binding);
    }
  }
}

/** The time that is left for the answer to begin; 0 for no limit. */
function deadlineOf({ firstByteMs, total }: AttemptLimits, clock: Clock): number {
  if (total === undefined) return firstByteMs;
  const left = Math.max(1, total.untilMs - clock.nowMs());
  return firstByteMs === 0 ? left : Math.min(firstByteMs, left);
}

function late(
  region: string,
  { firstByteMs, total }: AttemptLimits,
  sinceMs: number,
  sent: Upload | undefined,
  clock: Clock,
): AttemptError {
  const nowMs = clock.nowMs();
  if (total === undefined || nowMs < total.untilMs) {
    const error = { reason: "origin-timeout", region, which: "first-byte", deadlineMs: firstByteMs } as const;
    return { error, fault: "http_response_timeout" };
  }
  // What others before it, or the client, took of the time is not this origin's to answer for.
  const isOwn = sent === undefined && nowMs - sinceMs >= total.ms / 2;
  const error = { reason: "origin-timeout", region, which: "total", deadlineMs: total.ms } as const;
  return { error, fault: isOwn ? "http_response_timeout" : undefined };
}

/** An origin that takes nothing more of a body, and does not answer either. */
const unread = (region: string, { idleMs }: AttemptLimits): AttemptError => ({
  error: { reason: "origin-timeout", region, which: "upload", deadlineMs: idleMs },
  fault: "connection_write_timeout",
});

/** The answer, or why it did not begin. An abort signal would cut the body as well, so there is none. */
function withDeadline(
  answer: Promise<Response>,
  sent: Upload | undefined,
  deadlineMs: () => number,
): Promise<Response | "late" | "sink-idle"> {
  if (sent === undefined && deadlineMs() === 0) return answer;
  return new Promise((resolve, reject) => {
    let isLate = false;
    const giveUp = (): void => {
      isLate = true;
      resolve("late");
    };
    const start = (): void => {
      const ms = deadlineMs();
      // Never cleared: it ends with the request, and clearing costs more than setting (docs/design/performance.md).
      if (ms > 0) setTimeout(giveUp, ms);
    };
    // An origin cannot be expected to answer what it has not got: an upload has its own limits.
    if (sent === undefined) start();
    else {
      void sent.ended.then((end) => {
        if (end === "late") giveUp();
        else if (end === "sink-idle") resolve(end);
        else start();
      });
    }
    answer.then((response) => {
      // An answer that comes too late must not hold its connection.
      if (isLate) void response.body?.cancel();
      else resolve(response);
    }, reject);
  });
}

/** How long the end of an upload is waited for, once its request has failed: it follows at once, or not for this reason. */
const UPLOAD_SETTLES_MS = 50;

const settled = (ended: Promise<BodyEnd>): Promise<BodyEnd | undefined> =>
  Promise.race([ended, new Promise<undefined>((resolve) => setTimeout(resolve, UPLOAD_SETTLES_MS, undefined))]);

function clientsFault(end: BodyEnd | undefined, { idleMs }: AttemptLimits): ProxyError | undefined {
  if (end === "source-failed") return { reason: "malformed-request", detail: BROKEN_BODY };
  return end === "idle" ? { reason: "request-timeout", idleMs } : undefined;
}

export const BROKEN_BODY = "The body is incomplete, or its framing is invalid.";
