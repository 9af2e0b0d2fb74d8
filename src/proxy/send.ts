import { err, ok, type Result } from "../ids/result.ts";
import type { Fetch } from "../ports.ts";
import type { Region } from "../routing/table.ts";
import { isPassableStatus } from "./client-response.ts";
import type { ProxyError } from "./errors.ts";
import { type Attempt, chooseOrigin, readAttempts } from "./origin-choice.ts";
import { type OriginRequest, originRequest, type Passage } from "./origin-request.ts";

export interface OriginAnswer {
  readonly response: Response;
  /** The region that answered; another one than decided only after failover. */
  readonly region: Region;
}

export interface SendOptions {
  readonly fetch: Fetch;
  readonly regions: ReadonlyMap<string, Region>;
  /** How long an origin may take to begin its answer; 0 for no limit. */
  readonly firstByteDeadlineMs: number;
}

/**
 * Sends a request to the origin that owns its ID. Only a read without a body is ever sent twice: to the next origin,
 * when the one before did not answer at all (RFC 9110 §9.2.2). An origin's own answer is final, whatever its status.
 */
export async function send(passage: Passage, options: SendOptions): Promise<Result<OriginAnswer, ProxyError>> {
  const { region } = passage.decision.target;
  const words = passage.decision.words;
  if (!isRead(passage.method) || passage.body !== null) {
    return attemptOnce(passage, { region, origin: chooseOrigin(region, words) }, options);
  }
  let last: Result<OriginAnswer, ProxyError> | undefined;
  let slow: Attempt | undefined;
  for (const attempt of readAttempts(region, options.regions, words)) {
    // One that took too long is not waited for again.
    if (attempt === slow) break;
    last = await attemptOnce(passage, attempt, options);
    if (last.ok || last.error.reason === "loop-detected") return last;
    if (last.error.reason === "origin-timeout") slow = attempt;
  }
  return (
    last ??
    err({
      reason: "origin-unreachable",
      region: region.name,
      fault: "proxy_configuration_error",
      why: "has no address",
    })
  );
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

async function attemptOnce(
  passage: Passage,
  attempt: Attempt,
  options: SendOptions,
): Promise<Result<OriginAnswer, ProxyError>> {
  const region = attempt.region.name;
  const outgoing = originRequest(passage, attempt);
  if (outgoing === undefined) return err({ reason: "loop-detected" });
  try {
    const response = await withDeadline(dispatch(passage, outgoing, options.fetch), options.firstByteDeadlineMs);
    if (response === undefined) {
      return err({ reason: "origin-timeout", region, which: "first-byte", deadlineMs: options.firstByteDeadlineMs });
    }
    if (!isPassableStatus(response, outgoing.asksUpgrade)) {
      return err({
        reason: "origin-unreachable",
        region,
        fault: "http_protocol_error",
        why: `answered with the impossible status ${response.status}`,
      });
    }
    return ok({ response, region: attempt.region });
  } catch {
    // The runtime gives one kind of error for refused, reset and malformed; its text may name addresses.
    return err({ reason: "origin-unreachable", region, fault: "connection_terminated", why: "did not answer" });
  }
}

/** `fetch` takes no body for GET and HEAD in an init, though a request may have one (RFC 9110 §9.3.1): there it is kept whole. */
function dispatch(passage: Passage, { url, init }: OriginRequest, fetch: Fetch): Promise<Response> {
  if (passage.body === null || !isRead(passage.method)) return fetch(url, init);
  const { headers = {} } = init;
  return fetch(new Request(new Request(url, passage.request), { headers }));
}

/** The answer, or `undefined` when it did not begin in time. An abort signal would cut the body as well, so there is none. */
function withDeadline(answer: Promise<Response>, deadlineMs: number): Promise<Response | undefined> {
  if (deadlineMs === 0) return answer;
  return new Promise((resolve, reject) => {
    let isLate = false;
    // Never cleared: it ends with the request, and clearing costs more than setting (docs/performance.md).
    setTimeout(() => {
      isLate = true;
      resolve(undefined);
    }, deadlineMs);
    answer.then((response) => {
      // An answer that comes too late must not hold its connection.
      if (isLate) void response.body?.cancel();
      else resolve(response);
    }, reject);
  });
}
