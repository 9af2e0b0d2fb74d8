import type { FieldSet } from "../routing/table.ts";
import type { AttemptLimits } from "./attempt.ts";
import { dropSession, type ResponseFields } from "./headers.ts";
import { type BodyEnd, pump } from "./pump.ts";

/** Labels of an answer that the gateway passes on. */
export interface ResponseLabels {
  readonly region: string;
  /** Layout of the ID; `undefined` for a request without one. */
  readonly layout: string | undefined;
  readonly table: string;
  /** From the first byte of the request at the gateway to the origin's header. */
  readonly originMs: number;
  readonly fields: FieldSet;
  readonly via: string;
  /** Coding of the body: `own` for the origin's, passed on as it came; else the runtime's option for a new body. */
  readonly encodeBody: "own" | "manual" | "automatic";
}

/**
 * The origin's answer for the client: status, end-to-end fields and body stream as they came. The body is handed over
 * untouched, so that a coded one stays coded. `body`: what replaces the answer's own; `undefined` for nothing.
 */
export function clientResponse(
  answer: Response,
  body: ReadableStream | ArrayBuffer | null | undefined,
  { dropped }: ResponseFields,
  label: ResponseLabels,
): Response {
  if (answer.status === 101) return dropped === undefined ? answer : upgraded(answer, dropped);
  if (label.fields === "minimal" && dropped === undefined && body === undefined) return answer;
  const { encodeBody } = label;
  // The answer as its own init keeps the coding of its body, and costs least (docs/design/performance.md).
  const init = encodeBody === "own" ? answer : { ...headOf(answer), encodeBody };
  const response = new Response(body === undefined ? answer.body : body, init);
  const headers = response.headers;
  if (dropped !== undefined) dropFields(headers, dropped);
  if (label.fields === "minimal") return response;
  headers.set("waybill-region", label.region);
  if (label.fields === "standard") return response;
  headers.set("waybill-table", label.table);
  if (label.layout !== undefined) headers.set("waybill-layout", label.layout);
  headers.append("server-timing", `origin;dur=${label.originMs}`);
  headers.append("via", label.via);
  return response;
}

const headOf = ({ status, statusText, headers }: Response) => ({ status, statusText, headers });

function dropFields(headers: Headers, dropped: readonly string[]): void {
  for (const name of dropped) {
    if (name === "set-cookie") dropSession(headers);
    else headers.delete(name);
  }
}

/** A 101 with its conversation and without the fields that stop here. */
function upgraded(answer: Response, dropped: readonly string[]): Response {
  const headers = new Headers(answer.headers);
  dropFields(headers, dropped);
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
  /** Length of the body, `undefined` where it is not known: the runtime may decode the body as it is read. */
  readonly length: string | undefined;
}

/**
 * A body that ends when its time is over, and of which it is known how it ended. An origin that breaks off or falls silent
 * breaks the client's message too (RFC 9112 §8).
 */
export function watchBody(
  body: ReadableStream<Uint8Array>,
  { limits, nowMs, waitUntil, onBroken, left, length }: WatchOptions,
): ReadableStream<Uint8Array> {
  const { readable, writable } =
    length !== undefined && /^\d{1,18}$/.test(length)
      ? new FixedLengthStream(BigInt(length))
      : new IdentityTransformStream();
  const ended = pump(body, writable, { idleMs: limits.idleMs, untilMs: limits.total?.untilMs, nowMs, left });
  waitUntil(ended.then((end) => (end === "complete" ? undefined : onBroken(end))));
  return readable;
}
