import { type BodyError, type RequestBody, readRequestBody } from "../../../proxy/body.ts";
import { watchOver } from "../../../proxy/pump.ts";
import type { BodyHead } from "./read.ts";

/** A body whose first bytes were read, and which goes on from its first byte. */
export interface PeekedBody {
  readonly body: RequestBody;
  readonly head: BodyHead;
}

export interface PeekLimits {
  readonly peekBytes: number;
  /** Larger bodies are not kept; a kept one can be sent again. */
  readonly keepBytesMax: number;
  readonly idleMs: number;
  readonly nowMs: () => number;
}

/** Reads the first bytes of a body. Whether it ends there does not depend on the chunks in which it comes. */
export async function peekBody(request: Request, limits: PeekLimits): Promise<PeekedBody | BodyError> {
  const { peekBytes, keepBytesMax, idleMs, nowMs } = limits;
  const body = await readRequestBody(request, keepBytesMax, idleMs, nowMs);
  if (typeof body === "string") return body;
  if (body.kind === "kept") {
    const isWhole = body.bytes.byteLength <= peekBytes;
    return {
      body,
      head: { bytes: new Uint8Array(body.bytes, 0, Math.min(body.bytes.byteLength, peekBytes)), isWhole },
    };
  }
  if (body.kind !== "stream") return { body, head: { bytes: new Uint8Array(0), isWhole: true } };
  // One byte more tells whether the body goes on.
  const read = await readUpTo(body.stream, peekBytes + 1, { idleMs, nowMs });
  if (typeof read === "string") return read;
  const { bytes, isEnded } = read;
  const head = { bytes: bytes.subarray(0, peekBytes), isWhole: isEnded && bytes.byteLength <= peekBytes };
  const mayKeep = isEnded && bytes.byteLength <= keepBytesMax && body.length === null;
  if (mayKeep) return { body: { kind: "kept", bytes: new Uint8Array(bytes).buffer }, head };
  return { body: { ...body, head: bytes }, head };
}

/** The first bytes of a stream, which is left open behind them. */
async function readUpTo(
  stream: ReadableStream<Uint8Array>,
  bytesMax: number,
  limits: Pick<PeekLimits, "idleMs" | "nowMs">,
): Promise<{ readonly bytes: Uint8Array; readonly isEnded: boolean } | BodyError> {
  const reader = stream.getReader({ mode: "byob" });
  const watch = watchOver({ ...limits, untilMs: undefined });
  // Read bytes are copied: a chunk of one byte would keep the whole buffer that it was read into.
  let kept = new Uint8Array(Math.min(bytesMax, FIRST_BYTES));
  let scratch = new ArrayBuffer(FIRST_BYTES);
  let at = 0;
  let isEnded = false;
  while (at < bytesMax && !isEnded) {
    const view = new Uint8Array(scratch, 0, Math.min(bytesMax - at, scratch.byteLength));
    const piece = await watch.within(reader.read(view), "source");
    if (typeof piece === "string") {
      watch.stop();
      void reader.cancel().catch(() => undefined);
      return piece === "idle" ? "late" : "broken";
    }
    if (piece.done) {
      isEnded = true;
      continue;
    }
    const { value } = piece;
    if (at + value.byteLength > kept.byteLength) {
      const more = new Uint8Array(Math.min(bytesMax, Math.max(at + value.byteLength, kept.byteLength * 4)));
      more.set(kept.subarray(0, at));
      kept = more;
    }
    kept.set(value, at);
    at += value.byteLength;
    const wasFilled = value.byteLength === FIRST_BYTES && value.buffer.byteLength === FIRST_BYTES;
    scratch = wasFilled ? new ArrayBuffer(READ_BYTES) : value.buffer;
  }
  watch.stop();
  reader.releaseLock();
  return { bytes: kept.subarray(0, at), isEnded };
}

/** Most bodies are small, and a client that sends nothing holds such a buffer. */
const FIRST_BYTES = 4 * 1024;
const READ_BYTES = 16 * 1024;
