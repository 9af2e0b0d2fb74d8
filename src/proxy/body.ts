import { type BodyCheck, type BodyEnd, Handover, type PumpLimits, pump } from "./pump.ts";

/**
 * A request's body on its way: none, kept whole so that it can be sent again, streamed once, or come whole and left with its
 * request, since `fetch` takes a body of GET and HEAD (RFC 9110 §9.3.1) in no other way.
 */
export type RequestBody =
  | { readonly kind: "none" }
  | { readonly kind: "own" }
  | { readonly kind: "kept"; readonly bytes: ArrayBuffer }
  /** `head`: its first bytes, where they were read from the stream already. */
  | {
      readonly kind: "stream";
      readonly stream: ReadableStream<Uint8Array>;
      readonly length: string | null;
      readonly head?: Uint8Array;
      readonly check?: BodyCheck | undefined;
    };

export type BodyError = "unmeasured" | "broken" | "late" | "coded" | "too-large";

/** A body of GET or HEAD has no meaning of its own (RFC 9110 §9.3.1); those who send one send a small query. */
export const READ_BODY_BYTES_MAX = 1024 * 1024;

/**
 * Reads what a request brings. Bodies of a known length up to `keepBytesMax` are kept; all others are streamed. An empty
 * body is none, so that it does not keep a read from being repeated.
 */
export async function readRequestBody(
  request: Request,
  keepBytesMax: number,
  idleMs: number,
  nowMs: () => number,
): Promise<RequestBody | BodyError> {
  const { method, body } = request;
  if (body === null) return NO_BODY;
  const length = request.headers.get("content-length");
  if (length === "0") return NO_BODY;
  if (isCoded(request, length)) return "coded";
  if (Number(length) > Number.MAX_SAFE_INTEGER) return "too-large";
  if (method === "GET" || method === "HEAD") return bufferBody(request, length, { idleMs, nowMs });
  if (length === null || keepBytesMax === 0 || Number(length) > keepBytesMax)
    return { kind: "stream", stream: body, length };
  const bytes = await wholeBody(body, { idleMs, nowMs });
  return typeof bytes === "string" ? bytes : { kind: "kept", bytes };
}

/** RFC 9112 §6.1: the runtime undoes the chunks and drops the name of any other coding. */
const isCoded = ({ headers }: Request, length: string | null): boolean =>
  length === null && (headers.get("transfer-encoding")?.toLowerCase() ?? "chunked") !== "chunked";

/** All of a body, of whatever length it says, up to a limit. */
export async function keepRequestBody(
  request: Request,
  bytesMax: number,
  limits: KeepLimits,
): Promise<ArrayBuffer | BodyError> {
  const { body } = request;
  if (body === null) return new ArrayBuffer(0);
  const length = request.headers.get("content-length");
  if (isCoded(request, length)) return "coded";
  // A body announced as longer is not read; it may stream on.
  if (Number(length) > bytesMax) return "too-large";
  return wholeBody(body, limits, bytesMax);
}

type KeepLimits = Pick<PumpLimits, "idleMs" | "nowMs">;

/** A body of GET or HEAD must have come whole before an origin is asked: a client that breaks it off must not look like a fault of the origin. */
async function bufferBody(
  request: Request,
  length: string | null,
  limits: KeepLimits,
): Promise<RequestBody | BodyError> {
  // Without a length the runtime would not send it on.
  if (length === null) return "unmeasured";
  if (Number(length) > READ_BODY_BYTES_MAX) return "too-large";
  const copy = request.clone().body;
  const bytes = copy === null ? new ArrayBuffer(0) : await wholeBody(copy, limits);
  return typeof bytes === "string" ? bytes : OWN_BODY;
}

/** All of a small body, as long as its parts follow each other in time. */
export async function wholeBody(
  stream: ReadableStream<Uint8Array>,
  limits: KeepLimits,
  bytesMax = Infinity,
): Promise<ArrayBuffer | BodyError> {
  const { readable, writable } = new IdentityTransformStream();
  const read = bytesMax === Infinity ? new Response(readable).arrayBuffer() : collect(readable, bytesMax);
  const kept = read.catch(() => undefined);
  const end = await pump(stream, writable, { ...limits, untilMs: undefined, handover: new Handover() });
  if (end === "idle") return "late";
  if (end === "sink-failed" && (await kept) === undefined) return "too-large";
  return (end === "complete" ? await kept : undefined) ?? "broken";
}

/** All bytes of a stream; `undefined` for more than the limit. Rejects where it breaks off. */
export async function collect(
  stream: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  bytesMax: number,
): Promise<ArrayBuffer | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return undefined;
    chunks.push(new Uint8Array(chunk));
  }
  return new Blob(chunks).arrayBuffer();
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** `undefined` for bytes that are not UTF-8. One byte order mark at the start is left out, as a reader of JSON may (RFC 8259 §8.1). */
export function decodeUtf8(bytes: ArrayBuffer | Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

export const NO_BODY: RequestBody = Object.freeze({ kind: "none" });
const OWN_BODY: RequestBody = Object.freeze({ kind: "own" });

/** Bodies that go on to an origin while its answer may come already. */
const handovers = new WeakMap<ReadableStream, Handover>();

/** The handover of a body that is locked; `undefined` for one that stays so. */
export const handoverOf = (body: ReadableStream): Handover | undefined => handovers.get(body);

/** A streamed body as an origin request takes it, and when and how it was all sent. */
export interface Upload {
  readonly body: ReadableStream<Uint8Array>;
  readonly ended: Promise<BodyEnd>;
  /** Aborts the origin request of a body that broke off: its chunks would end like those of a whole one. */
  readonly broken: AbortSignal;
}

/**
 * Sends a body on through a pump, which tells apart whose side failed: the runtime itself does not. The length is kept, so
 * that the origin sees the framing that the client chose.
 */
export function upload(
  { stream, length, head, check }: Extract<RequestBody, { kind: "stream" }>,
  { idleMs, untilMs, nowMs }: Pick<PumpLimits, "idleMs" | "untilMs" | "nowMs">,
): Upload {
  const { readable, writable } =
    length === null ? new IdentityTransformStream() : new FixedLengthStream(BigInt(length));
  const broken = new AbortController();
  const onBreak = () => broken.abort();
  const handover = new Handover();
  handovers.set(stream, handover);
  const limits = { idleMs, sinkIdleMs: idleMs, untilMs, nowMs, onBreak, head, check, handover };
  const ended = pump(stream, writable, limits);
  if (check !== undefined) void ended.then((end) => check.settle(end));
  return { body: readable, ended, broken: broken.signal };
}
