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

export type BodyError = "unmeasured" | "broken" | "late" | "coded";

/**
 * Reads what a request brings. Bodies of a known length up to `keepBytesMax` are kept; all others are streamed. An empty
 * body is none, so that it does not keep a read from being repeated.
 */
export async function passageBody(
  request: Request,
  keepBytesMax: number,
  idleMs: number,
): Promise<PassageBody | BodyError> {
  const { method, body } = request;
  if (body === null) return NO_BODY;
  const length = request.headers.get("content-length");
  if (length === "0") return NO_BODY;
  // RFC 9112 §6.1: the runtime undoes the chunks and drops the name of any other coding.
  if (length === null && request.headers.get("transfer-encoding")?.toLowerCase() !== "chunked") {
    if (request.headers.has("transfer-encoding")) return "coded";
  }
  // Without a length the runtime would not send it on.
  if (method === "GET" || method === "HEAD") return length === null ? "unmeasured" : OWN_BODY;
  if (length === null || keepBytesMax === 0 || Number(length) > keepBytesMax)
    return { kind: "stream", stream: body, length };
  return keep(request, idleMs);
}

/** The whole of a small body. It must come within one idle deadline: there is no telling its parts apart. */
async function keep(request: Request, idleMs: number): Promise<PassageBody | BodyError> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    if (idleMs > 0) timer = setTimeout(resolve, idleMs, "late");
  });
  try {
    const octets = await Promise.race([request.arrayBuffer(), late]);
    return octets === "late" ? octets : { kind: "kept", octets };
  } catch {
    return "broken";
  } finally {
    if (timer !== undefined) clearTimeout(timer);
  }
}

const NO_BODY: PassageBody = Object.freeze({ kind: "none" });
const OWN_BODY: PassageBody = Object.freeze({ kind: "own" });

/** A streamed body as an origin request takes it, and when and how it was all sent. */
export interface Upload {
  readonly body: ReadableStream<Uint8Array>;
  readonly ended: Promise<BodyEnd>;
  /** Aborts the origin request of a body that broke off: its chunks would end like those of a whole one. */
  readonly broken: AbortSignal;
  /** Whether any of it was taken. */
  readonly hasBegun: () => boolean;
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
  const broken = new AbortController();
  let hasBegun = false;
  const ended = pump(stream, writable, {
    idleMs,
    sinkIdleMs: idleMs,
    untilMs: undefined,
    nowMs,
    onTaken: () => {
      hasBegun = true;
    },
    onBreak: () => broken.abort(),
  });
  return { body: readable, ended, broken: broken.signal, hasBegun: () => hasBegun };
}
