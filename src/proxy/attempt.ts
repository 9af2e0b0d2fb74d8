import { err, type Result } from "../ids/result.ts";
import type { Clock, ProxyPorts } from "../ports/gateway.ts";
import type { Entity, Region } from "../routing/table.ts";
import { type RequestBody, type Upload, upload, wholeBody } from "./body.ts";
import type { OriginFault, ProxyError } from "./errors.ts";
import { type ResponseFields, readResponseFields } from "./headers.ts";
import { type OriginRequest, originRequest, type ProxyRequest, signableOf } from "./origin-request.ts";
import { edgeFailure, type Failure, failureOf, isFailedHandshake } from "./origin-response.ts";
import type { Attempt } from "./origins.ts";
import type { BodyEnd } from "./pump.ts";

export interface AttemptLimits {
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** Whether the table chose the idle deadline: then it holds for every body. */
  readonly isIdleChosen: boolean;
  /** Whether the body of an answer is read whole or watched to its end; otherwise it passes as it comes. */
  readonly isBodyWatched: boolean;
  /** Whether the table wants that, with a deadline or without one. */
  readonly isWholeChosen: boolean;
  /** When the whole request must have ended, Unix ms, and in how many milliseconds from its start that is. */
  readonly total: { readonly untilMs: number; readonly ms: number } | undefined;
}

/** The limits of an attempt: the entity's go before the region's, and those before the deployment's. */
export function limitsFor(
  { deadlines: first, wholeAnswers, fields }: Entity,
  { deadlines: second, wholeAnswers: wholeByRegion }: Region,
  own: ProxyPorts["deadlines"],
  startedMs: number,
  passesBody = false,
): AttemptLimits {
  const totalMs = first.totalMs ?? second.totalMs ?? own.totalMs;
  const chosenIdleMs = first.idleMs ?? second.idleMs;
  const isWhole = wholeAnswers ?? wholeByRegion;
  return {
    firstByteMs: first.firstByteMs ?? second.firstByteMs ?? own.firstByteMs,
    idleMs: chosenIdleMs ?? own.idleMs,
    isIdleChosen: chosenIdleMs !== undefined,
    isBodyWatched: !passesBody || (isWhole ?? fields === "full") || (chosenIdleMs ?? 0) > 0 || totalMs > 0,
    isWholeChosen: isWhole === true,
    total: totalMs === 0 ? undefined : { untilMs: startedMs + totalMs, ms: totalMs },
  };
}

/**
 * Idle deadline for the response's body. The deployment's does not hold for events, which may be far apart (HTML,
 * "Server-sent events"); one of the table does.
 */
export const bodyIdleMs = ({ idleMs, isIdleChosen }: AttemptLimits, { isEvents }: ResponseFields): number =>
  isEvents && !isIdleChosen ? 0 : idleMs;

/** Why an attempt gave no answer. `fault`: what it says about the origin; absent where it says nothing. */
export interface AttemptError {
  readonly error: ProxyError;
  readonly fault: OriginFault | undefined;
  /** Whether it may have been the origin's fault all the same. */
  readonly isInDoubt?: boolean;
  /** Whether the origin did answer, though not so that it can be passed on. */
  readonly isAnswer?: boolean;
}

/** An answer that began: a small one is here as a whole. */
type Begun = Readonly<{ response: Response; fields: ResponseFields; bytes: ArrayBuffer | undefined }>;

/** An origin's own answer, whatever its status. */
export interface OriginResponse extends Begun {
  /** The region that answered; another one than decided after failover or a move. */
  readonly region: Region;
  readonly limits: AttemptLimits;
}

/** One attempt under way. */
interface Sending {
  readonly proxyRequest: ProxyRequest;
  readonly at: Attempt;
  readonly limits: AttemptLimits;
  readonly deps: ProxyPorts;
  readonly outgoing: OriginRequest;
  /** The upload of a body that streams on. */
  readonly sent: Upload | undefined;
  /** Unix ms. */
  readonly sinceMs: number;
}

/** Sends one request to one origin. Its own answer, whatever the status, is a success. */
export async function attemptOnce(
  proxyRequest: ProxyRequest,
  at: Attempt,
  limits: AttemptLimits,
  deps: ProxyPorts,
): Promise<Result<OriginResponse, AttemptError>> {
  const signature = deps.sign === undefined ? undefined : await deps.sign(signableOf(proxyRequest, at));
  const outgoing = originRequest(proxyRequest, at, deps, signature);
  if (typeof outgoing === "string") return err({ error: { reason: outgoing }, fault: undefined });
  const { body } = proxyRequest;
  const sent = body.kind === "stream" ? startUpload(proxyRequest, body, limits, deps.clock) : undefined;
  const sending: Sending = { proxyRequest, at, limits, deps, outgoing, sent, sinceMs: deps.clock.nowMs() };
  try {
    const sentTo =
      body.kind === "none" ? deps.fetch(outgoing.url, outgoing.init, at.origin.binding) : dispatchBody(sending, body);
    const head = sent && (await beginsAfterUpload(sentTo, sent, () => leftMs(limits, deps.clock.nowMs())));
    const begun = typeof head === "string" ? head : await begins(sending, Promise.resolve(head ?? sentTo));
    if (typeof begun === "string") return err(await withoutAnswer(sending, begun, sentTo));
    const { response, fields, bytes } = begun;
    const refused =
      refusal(sending, begun) ?? (outgoing.asksUpgrade ? await handshakeRefusal(at, response) : undefined);
    if (refused === undefined) return { ok: true, value: { response, fields, bytes, region: at.region, limits } };
    if (bytes === undefined) void response.body?.cancel();
    return err(refused);
  } catch (thrown) {
    return err(await failed(sending, failureOf(thrown, at.origin.url)));
  }
}

/** Why an answer did not begin, or not in time. */
type Unbegun = "late" | "silent" | "broken" | "sink-idle";

async function withoutAnswer(sending: Sending, why: Unbegun, sentTo: Promise<Response>): Promise<AttemptError> {
  const { at, limits } = sending;
  const region = at.region.name;
  if (why === "broken") return failed(sending, BROKE_OFF);
  // The rest of a small answer never came.
  if (why === "silent") return timeout(region, "body", limits.idleMs, "http_response_timeout");
  // An answer that comes too late must not hold its connection.
  void sentTo.then(({ body }) => body?.cancel()).catch(() => undefined);
  return why === "late" ? late(sending) : unread(region, limits);
}

/** Why an answer cannot be passed on; `undefined` for a valid one (RFC 9110 §15, RFC 9112 §6.1). */
function refusal({ at, deps, proxyRequest, outgoing }: Sending, { response, fields }: Begun): AttemptError | undefined {
  const { status } = response;
  const { transferEncoding: coding, contentLength: length } = fields;
  const failure = deps.isOnEdge && status >= 520 ? edgeFailure(status) : undefined;
  if (failure !== undefined) return unreachable(at.region.name, failure);
  // No `Response` can be made of other statuses.
  if (!(status >= 200 && status <= 599) && !(status === 101 && outgoing.asksUpgrade)) {
    return invalidResponse(at, `the status ${status}`);
  }
  // The runtime takes what it should not: what it has undone must not be dropped without a word.
  if (coding !== undefined && proxyRequest.method !== "HEAD") {
    if (coding.toLowerCase() !== "chunked") return invalidResponse(at, "a transfer coding other than chunked");
    if (length !== undefined) return invalidResponse(at, "two framings of its body");
  }
  // A longer one is not exact as a number, and no body is that long.
  const isUnreadable = length !== undefined && Number(length) > Number.MAX_SAFE_INTEGER;
  return isUnreadable ? invalidResponse(at, "a length that cannot be read") : undefined;
}

const handshakeRefusal = async (at: Attempt, response: Response): Promise<AttemptError | undefined> =>
  (await isFailedHandshake(response)) ? invalidResponse(at, "an invalid handshake") : undefined;

const invalidResponse = ({ region }: Attempt, what: string): AttemptError => ({
  error: { reason: "invalid-response", region: region.name, what },
  fault: undefined,
  isAnswer: true,
});

/** Whose fault it was that there is no answer: a client's, whose upload broke off, or the origin's. */
async function failed({ at, sent, limits, outgoing }: Sending, failure: Failure): Promise<AttemptError> {
  const region = at.region.name;
  const end = sent && (await settled(sent.ended));
  if (end === "source-failed") return { error: { reason: "malformed-request", detail: BROKEN_BODY }, fault: undefined };
  if (end === "false-digest") return { error: { reason: "digest-mismatch" }, fault: undefined };
  if (end === "idle") return { error: { reason: "request-timeout", idleMs: limits.idleMs }, fault: undefined };
  if (end === "sink-idle") return unread(region, limits);
  const { error, fault } = unreachable(region, failure);
  // An origin may have its reasons to break off an upload, or to end an unwanted conversation.
  const isInDoubt = outgoing.asksUpgrade || (sent !== undefined && end !== "complete");
  return { error, fault: isInDoubt ? undefined : fault, isInDoubt };
}

const BROKE_OFF: Failure = { fault: "http_response_incomplete", why: "broke off its response" };

/** Small answers come whole in nearly one piece; to read one costs less than to watch it (docs/design/performance.md). */
const SMALL_BODY_BYTES_MAX = 64 * 1024;

/** Those that have no body, whatever they say of its length (RFC 9110 §15), and a 421, which is followed. */
const UNREAD_STATUSES: ReadonlySet<number> = new Set([204, 205, 304, 421]);

/**
 * The answer, a small one as a whole, or why there is none: a broken or silent origin is found out here. An abort signal
 * would cut the body as well, so there is none. The timer ends with the request: clearing it costs more than setting it
 * (docs/design/performance.md).
 */
function begins(
  { proxyRequest, outgoing, limits, deps: { clock, fieldRules }, sinceMs }: Sending,
  answer: Promise<Response>,
): Promise<Begun | "late" | "silent" | "broken"> {
  const { method, watchClient } = proxyRequest;
  const { idleMs, total } = limits;
  const ms = total === undefined ? limits.firstByteMs : leftMs(limits, sinceMs);
  const isHeld = limits.isBodyWatched && (idleMs > 0 || limits.isWholeChosen);
  // The other side of a conversation has no end to wait for. An answer to HEAD has the length of another one's body.
  const mayRead = isHeld && !outgoing.asksUpgrade && method !== "HEAD";
  return new Promise((resolve, reject) => {
    let isReading = false;
    let silenceMs = idleMs;
    const expire = (): void => {
      const totalMs = total === undefined ? Infinity : total.untilMs - clock.nowMs();
      if (!isReading || totalMs <= 0) resolve("late");
      else if (silenceMs > 0 && silenceMs < totalMs) setTimeout(resolve, silenceMs, "silent");
      else if (totalMs !== Infinity) setTimeout(resolve, totalMs, "late");
    };
    const watch = (): void => {
      watchClient();
      if (ms > 0) setTimeout(expire, ms - SLOW_MS);
    };
    if (ms > 0 && ms <= SLOW_MS) setTimeout(expire, ms);
    else setTimeout(watch, SLOW_MS);
    answer.then((response) => {
      const fields = readResponseFields(response.headers, fieldRules);
      if (!mayRead) {
        resolve({ response, fields, bytes: undefined });
        return;
      }
      const { contentLength = Infinity, transferEncoding, isEvents } = fields;
      const isSmall = Number(contentLength) <= SMALL_BODY_BYTES_MAX && transferEncoding === undefined && !isEvents;
      if (!isSmall || UNREAD_STATUSES.has(response.status)) {
        resolve({ response, fields, bytes: undefined });
        return;
      }
      isReading = true;
      const { body } = response;
      // Silence that would be over before the timer is: counted from part to part, which costs more.
      if (idleMs > 0 && idleMs < ms && body !== null) {
        silenceMs = 0;
        wholeBody(body, { idleMs, nowMs: clock.nowMs }).then((bytes) => {
          if (typeof bytes === "string") resolve(bytes === "late" ? "silent" : "broken");
          else resolve({ response, fields, bytes });
        }, reject);
        return;
      }
      if (ms === 0) expire();
      response.arrayBuffer().then(
        (bytes) => resolve({ response, fields, bytes }),
        () => resolve("broken"),
      );
    }, reject);
  });
}

/** Most answers begin sooner. From then on it is worth its cost to notice at once that the client leaves. */
export const SLOW_MS = 250;

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
  const sent = upload(body, { idleMs, untilMs: total?.untilMs, nowMs: clock.nowMs });
  // An origin may answer before it has read everything.
  waitUntil(sent.ended);
  return sent;
}

function dispatchBody(
  { proxyRequest: { request }, at, outgoing: { url, init }, sent, deps: { fetch } }: Sending,
  body: Exclude<RequestBody, { kind: "none" }>,
): Promise<Response> {
  const { binding } = at.origin;
  switch (body.kind) {
    case "kept":
      return fetch(url, { ...init, body: body.bytes }, binding);
    case "stream":
      return fetch(url, { ...init, body: sent?.body ?? null, signal: sent?.broken ?? null }, binding);
    case "own": {
      // `fetch` takes no body for GET and HEAD in an init, though a request may have one: there it is kept whole.
      const { method: _, ...rest } = init;
      // The copy has come whole, so that the next attempt can have one as well.
      return fetch(new Request(new Request(url, request.clone()), rest), undefined, binding);
    }
  }
}

/** The time that is left for the answer to begin; 0 for no limit. */
function leftMs({ firstByteMs, total }: AttemptLimits, nowMs: number): number {
  if (total === undefined) return firstByteMs;
  const left = Math.max(1, total.untilMs - nowMs);
  return firstByteMs === 0 ? left : Math.min(firstByteMs, left);
}

function late({ at, limits, sinceMs, sent, deps: { clock } }: Sending): AttemptError {
  const region = at.region.name;
  const { firstByteMs, total } = limits;
  const nowMs = clock.nowMs();
  if (total === undefined || nowMs < total.untilMs) {
    return timeout(region, "first-byte", firstByteMs, "http_response_timeout");
  }
  // Time that others before it, or the client, took is not this origin's fault.
  const isOwn = sent === undefined && nowMs - sinceMs >= total.ms / 2;
  return timeout(region, "total", total.ms, isOwn ? "http_response_timeout" : undefined);
}

/** An origin that takes nothing more of a body, and does not answer either. */
const unread = (region: string, { idleMs }: AttemptLimits): AttemptError =>
  timeout(region, "upload", idleMs, "connection_write_timeout");

type TimeoutError = Extract<ProxyError, { readonly reason: "origin-timeout" }>;

function timeout(
  region: string,
  which: TimeoutError["which"],
  deadlineMs: number,
  fault: OriginFault | undefined,
): AttemptError {
  return { error: { reason: "origin-timeout", region, which, deadlineMs }, fault };
}

/** An origin cannot be expected to answer what it has not got, and an upload has its own limits. */
function beginsAfterUpload(
  answer: Promise<Response>,
  { ended }: Upload,
  leftMs: () => number,
): Promise<Response | "late" | "sink-idle"> {
  return new Promise((resolve, reject) => {
    answer.then(resolve, reject);
    void ended.then((end) => {
      if (end === "late" || end === "sink-idle") resolve(end);
      else if (leftMs() > 0) setTimeout(resolve, leftMs(), "late");
    });
  });
}

/** How long the end of an upload is waited for, once its request has failed: it follows at once, or not for this reason. */
const UPLOAD_SETTLES_MS = 50;

const settled = (ended: Promise<BodyEnd>): Promise<BodyEnd | undefined> =>
  Promise.race([ended, new Promise<undefined>((resolve) => setTimeout(resolve, UPLOAD_SETTLES_MS, undefined))]);

export const BROKEN_BODY = "The body is incomplete, or its framing is invalid.";
