import { type BodyEnd, pump } from "./pump.ts";

/**
 * A request's body on its way: none, kept whole so that it can be sent again, streamed once, or left with its request,
 * since `fetch` takes a body of GET and HEAD (RFC 9110 §9.3.1) in no other way.
 */
export type PassageBody =
  | { readonly kind: "none" }
  | { readonly kind: "own" }
  | { readonly kind: "kept"; readonly octets: ArrayBuffer }
  | { readonly kind: "stream"; readonly stream: ReadableStream<Uint8Array>; readonly length: string | null };

export type BodyError = "unmeasured" | "broken";

/**
 * Reads what a request brings. Bodies of a known length up to `keepBytesMax` are kept; all others are streamed. An empty
 * body is none, so that it does not keep a read from being repeated.
 */
export async function passageBody(request: Request, keepBytesMax: number): Promise<PassageBody | BodyError> {
  const { method, body } = request;
  if (body === null) return NO_BODY;
  const length = request.headers.get("content-length");
  if (length === "0") return NO_BODY;
  // Without a length the runtime would not send it on.
  if (method === "GET" || method === "HEAD") return length === null ? "unmeasured" : OWN_BODY;
  if (length === null || keepBytesMax === 0 || Number(length) > keepBytesMax)
    return { kind: "stream", stream: body, length };
  try {
    return { kind: "kept", octets: await request.arrayBuffer() };
  } catch {
    return "broken";
  }
}

const NO_BODY: PassageBody = Object.freeze({ kind: "none" });
const OWN_BODY: PassageBody = Object.freeze({ kind: "own" });

/** A streamed body as an origin request takes it, and when and how it was all sent. */
export interface Upload {
  readonly body: ReadableStream<Uint8Array>;
  readonly ended: Promise<BodyEnd>;
}

/**
 * Sends a body on through a pump, which tells apart whose side failed: the runtime itself does not. The length is kept, so
 * that the origin sees the framing that the client chose.
 */
export function upload(
  stream: ReadableStream<Uint8Array>,
  length: string | null,
  idleMs: number,
  nowMs: () => number,
): Upload {
  const { readable, writable } =
    length === null ? new IdentityTransformStream() : new FixedLengthStream(BigInt(length));
  return { body: readable, ended: pump(stream, writable, { idleMs, untilMs: undefined, nowMs }) };
}
