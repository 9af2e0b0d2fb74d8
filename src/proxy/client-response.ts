import type { AttemptLimits } from "./attempt.ts";
import { GATEWAY_PREFIX, namedByConnection, RESPONSE_HOP_BY_HOP } from "./headers.ts";
import { VIA } from "./origin-request.ts";
import { type BodyEnd, pump } from "./pump.ts";

/** What the gateway says about an answer that it passes on. */
export interface ResponseLabels {
  readonly region: string;
  readonly layout: string;
  readonly table: string;
  /** From the first byte of the request at the gateway to the origin's header. */
  readonly originMs: number;
  /** Whether the body was decoded to be read; any other is passed on as it came. */
  readonly isDecoded: boolean;
}

/**
 * The origin's answer for the client: status, end-to-end fields and body stream as they came. The body is handed over
 * untouched, so that a coded one stays coded.
 */
export function clientResponse(answer: Response, label: ResponseLabels): Response {
  if (answer.status === 101) return upgraded(answer);
  const { status, statusText, headers: own } = answer;
  const encodeBody = label.isDecoded ? "automatic" : "manual";
  const response = new Response(answer.body, { status, statusText, headers: own, encodeBody });
  const headers = response.headers;
  const connection = own.get("connection");
  if (connection !== null) for (const name of namedByConnection(connection)) headers.delete(name);
  for (const name of RESPONSE_HOP_BY_HOP) headers.delete(name);
  own.forEach((_, name) => {
    if (name.startsWith(GATEWAY_PREFIX)) headers.delete(name);
  });
  headers.set("waybill-region", label.region);
  if (label.layout !== "") headers.set("waybill-layout", label.layout);
  headers.set("waybill-table", label.table);
  headers.append("server-timing", `origin;dur=${label.originMs}`);
  headers.append("via", VIA);
  return response;
}

/** A 101 with its conversation. Most have no header that stops here and pass as they are. */
function upgraded(answer: Response): Response {
  const connection = answer.headers.get("connection");
  const stopped = [...(connection === null ? [] : namedByConnection(connection)), ...RESPONSE_HOP_BY_HOP];
  const names = [...answer.headers.keys()].filter((name) => stopped.includes(name) || name.startsWith(GATEWAY_PREFIX));
  if (names.length === 0) return answer;
  const headers = new Headers(answer.headers);
  for (const name of names) headers.delete(name);
  return new Response(null, { status: 101, headers, webSocket: answer.webSocket });
}

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
