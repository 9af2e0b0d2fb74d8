import { type BodyError, type RequestBody, readRequestBody } from "../../proxy/body.ts";
import { watchOver } from "../../proxy/pump.ts";
import type { BodyHead } from "./read.ts";

/** A body whose first bytes were read, and which goes on from its first byte. */
export interface PeekedBody {
  readonly body: RequestBody;
  readonly head: BodyHead;
}

export interface PeekLimits {
  readonly peekBytes: number;
  /** Bodies up to so many bytes are kept, so that they can be sent again. */
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
  const parts: Uint8Array[] = [];
  let left = bytesMax;
  let isEnded = false;
  while (left > 0 && !isEnded) {
    const piece = await watch.within(reader.read(new Uint8Array(Math.min(left, READ_BYTES))), "source");
    if (typeof piece === "string") {
      watch.stop();
      void reader.cancel().catch(() => undefined);
      return piece === "idle" ? "late" : "broken";
    }
    if (piece.done) isEnded = true;
    else {
      parts.push(piece.value);
      left -= piece.value.byteLength;
    }
  }
  watch.stop();
  reader.releaseLock();
  const [first, second] = parts;
  if (first !== undefined && second === undefined) return { bytes: first, isEnded };
  const bytes = new Uint8Array(bytesMax - left);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return { bytes, isEnded };
}

const READ_BYTES = 16 * 1024 + 1;
