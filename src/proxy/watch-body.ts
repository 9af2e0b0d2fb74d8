import type { AttemptLimits } from "./attempt.ts";
import { type BodyEnd, pump } from "./pump.ts";

export interface WatchOptions {
  readonly limits: Pick<AttemptLimits, "idleMs" | "total">;
  readonly nowMs: () => number;
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** Told once how the body ended, unless it is whole. */
  readonly onBroken: (end: Exclude<BodyEnd, "complete">) => void;
  /** Aborts when the client has left. */
  readonly left: AbortSignal | undefined;
  /** Whether the runtime decodes the body as it is read: then its length is not known. */
  readonly isDecoded: boolean;
}

/**
 * The answer with a body that ends when its time is over, and of which it is known how it ended. An origin that breaks off
 * or falls silent breaks the client's message too (RFC 9112 §8).
 */
export function watchBody(answer: Response, options: WatchOptions): Response {
  const { body } = answer;
  const { limits, nowMs, waitUntil, onBroken, left, isDecoded } = options;
  if (body === null || (limits.idleMs === 0 && limits.total === undefined)) return answer;
  const length = isDecoded ? null : answer.headers.get("content-length");
  const { readable, writable } = isLength(length)
    ? new FixedLengthStream(BigInt(length))
    : new IdentityTransformStream();
  const ended = pump(body, writable, { idleMs: limits.idleMs, untilMs: limits.total?.untilMs, nowMs, left });
  waitUntil(ended.then((end) => (end === "complete" ? undefined : onBroken(end))));
  return new Response(readable, {
    status: answer.status,
    statusText: answer.statusText,
    headers: answer.headers,
    encodeBody: "manual",
  });
}

const isLength = (text: string | null): text is string => text !== null && /^\d{1,18}$/.test(text);
