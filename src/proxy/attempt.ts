import { err, ok, type Result } from "../ids/result.ts";
import type { Clock, Fetch, Sign } from "../ports.ts";
import { type Upload, upload } from "./body.ts";
import { isPassableStatus } from "./client-response.ts";
import type { OriginFault, ProxyError } from "./errors.ts";
import { edgeFailure, type Failure, failureOf } from "./failure.ts";
import type { Attempt } from "./origin-choice.ts";
import { type OriginRequest, originRequest, type Passage, signableOf } from "./origin-request.ts";
import type { BodyEnd } from "./pump.ts";

export interface AttemptWorld {
  readonly clock: Clock;
  readonly fetch: Fetch;
  /** Absent: origins are not told by a signature that it is the gateway that asks. */
  readonly sign: Sign | undefined;
  /** Whether the statuses of Cloudflare's edge stand for connections that failed. */
  readonly isOnEdge: boolean;
  /** Keeps work alive that outlives the answer. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

export interface AttemptLimits {
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** When the whole request must have ended, Unix ms, and in how many milliseconds from its start that is. */
  readonly total: { readonly untilMs: number; readonly ms: number } | undefined;
}

/** Why an attempt gave no answer. `fault`: what it says about the origin; absent where it says nothing. */
export interface AttemptError {
  readonly error: ProxyError;
  readonly fault: OriginFault | undefined;
}

/** Sends one request to one origin. Its own answer, whatever the status, is a success. */
export async function attemptOnce(
  passage: Passage,
  at: Attempt,
  limits: AttemptLimits,
  world: AttemptWorld,
): Promise<Result<Response, AttemptError>> {
  const region = at.region.name;
  const signature = world.sign === undefined ? undefined : await world.sign(signableOf(passage, at));
  const outgoing = originRequest(passage, at, signature);
  if (outgoing === undefined) return err({ error: { reason: "loop-detected" }, fault: undefined });
  const sent = startUpload(passage, limits, world);
  try {
    const answer = dispatch(passage, at, outgoing, sent, world.fetch);
    const response = await withDeadline(answer, sent, deadlineOf(limits, world.clock));
    if (response === "late") return err(late(region, limits, world.clock));
    if (response === "sink-idle") return err(unread(region, limits));
    return judge(response, region, passage, outgoing, world);
  } catch (thrown) {
    const end = sent && (await settled(sent.ended));
    const fromClient = clientsFault(end, limits);
    if (fromClient !== undefined) return err({ error: fromClient, fault: undefined });
    if (end === "sink-idle") return err(unread(region, limits));
    const { fault, why } = failureOf(thrown, at.origin.url);
    // An origin that breaks off an upload may have had its reasons: the body was not one that it takes.
    const isUntold = sent?.hasBegun() === true && end !== "complete";
    return err({ error: { reason: "origin-unreachable", region, fault, why }, fault: isUntold ? undefined : fault });
  }
}

function startUpload(
  { body }: Passage,
  { idleMs }: AttemptLimits,
  { clock, waitUntil }: AttemptWorld,
): Upload | undefined {
  if (body.kind !== "stream") return undefined;
  const sent = upload(body.stream, body.length, idleMs, clock.nowMs);
  // An origin may answer before it has read everything.
  waitUntil(sent.ended);
  return sent;
}

function dispatch(
  { body, request }: Passage,
  { origin }: Attempt,
  { url, init }: OriginRequest,
  sent: Upload | undefined,
  fetch: Fetch,
): Promise<Response> {
  switch (body.kind) {
    case "none":
      return fetch(url, init, origin.binding);
    case "kept":
      return fetch(url, { ...init, body: body.octets }, origin.binding);
    case "stream":
      return fetch(url, { ...init, body: sent?.body ?? null, signal: sent?.broken ?? null }, origin.binding);
    case "own": {
      // `fetch` takes no body for GET and HEAD in an init, though a request may have one: there it is kept whole.
      const { method: _, ...rest } = init;
      return fetch(new Request(new Request(url, request), rest), undefined, origin.binding);
    }
  }
}

async function judge(
  response: Response,
  region: string,
  { method }: Passage,
  { asksUpgrade }: OriginRequest,
  { isOnEdge }: AttemptWorld,
): Promise<Result<Response, AttemptError>> {
  const failure =
    (isOnEdge ? edgeFailure(response.status) : undefined) ??
    (isPassableStatus(response, asksUpgrade) ? undefined : impossible(`the impossible status ${response.status}`)) ??
    (isFramedWell(response, method)
      ? undefined
      : impossible("two framings of its body, or one that nobody can read")) ??
    (asksUpgrade && (await isFailedHandshake(response)) ? impossible("a handshake that is none") : undefined);
  if (failure === undefined) return ok(response);
  void response.body?.cancel();
  const { fault, why } = failure;
  return err({ error: { reason: "origin-unreachable", region, fault, why }, fault });
}

const impossible = (what: string): Failure => ({ fault: "http_protocol_error", why: `answered with ${what}` });

/** RFC 9112 §6.1: the runtime takes what it should not. What it has undone must not be dropped without a word. */
function isFramedWell({ headers }: Response, method: string): boolean {
  const coding = headers.get("transfer-encoding");
  if (coding === null || method === "HEAD") return true;
  return coding.toLowerCase() === "chunked" && !headers.has("content-length");
}

/** What the runtime writes itself when an origin's answer to a WebSocket's handshake is wrong (RFC 6455 §4.1). */
const FAILED_HANDSHAKE = "Server failed WebSocket handshake";
const OWN_TEXT_BYTES_MAX = 1000;

async function isFailedHandshake(response: Response): Promise<boolean> {
  if (response.status !== 502 || !(Number(response.headers.get("content-length")) <= OWN_TEXT_BYTES_MAX)) return false;
  return (await response.clone().text()).startsWith(FAILED_HANDSHAKE);
}

/** The time that is left for the answer to begin; 0 for no limit. */
function deadlineOf({ firstByteMs, total }: AttemptLimits, clock: Clock): number {
  if (total === undefined) return firstByteMs;
  const left = Math.max(1, total.untilMs - clock.nowMs());
  return firstByteMs === 0 ? left : Math.min(firstByteMs, left);
}

function late(region: string, { firstByteMs, total }: AttemptLimits, clock: Clock): AttemptError {
  const isTotal = total !== undefined && clock.nowMs() >= total.untilMs;
  const error: ProxyError = isTotal
    ? { reason: "origin-timeout", region, which: "total", deadlineMs: total.ms }
    : { reason: "origin-timeout", region, which: "first-byte", deadlineMs: firstByteMs };
  return { error, fault: "http_response_timeout" };
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
  deadlineMs: number,
): Promise<Response | "late" | "sink-idle"> {
  if (deadlineMs === 0 && sent === undefined) return answer;
  return new Promise((resolve, reject) => {
    let isLate = false;
    const start = (): void => {
      // Never cleared: it ends with the request, and clearing costs more than setting (docs/performance.md).
      setTimeout(() => {
        isLate = true;
        resolve("late");
      }, deadlineMs);
    };
    // An origin cannot be expected to answer what it has not got: an upload may take as long as it takes.
    if (sent === undefined) start();
    else {
      void sent.ended.then((end) => {
        if (end === "sink-idle") resolve(end);
        else if (deadlineMs > 0) start();
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

export const BROKEN_BODY = "The body broke off, or its framing is wrong.";
