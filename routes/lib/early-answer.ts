import type { Gateway } from "../../src/ports/gateway.ts";
import { handoverOf } from "../../src/proxy/body.ts";
import type { Handover } from "../../src/proxy/pump.ts";

/**
 * Answers that come before the client has sent its whole body. The runtime closes the connection when such an answer
 * has ended. A client that still writes then sees a broken network, not the answer. So the end of the answer waits
 * while the body is read on (RFC 9112 §9.6). All but the last byte goes to the client at once; without a length, all
 * but the end.
 */

/** Statuses whose answers have no content (RFC 9110 §15): of these the whole answer waits. */
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([204, 205, 304]);

/** Ends that wait at a time in an isolate. Others end at once: those who only open uploads must not fill its memory. */
const HELD_MAX = 500;

/** A client that has stopped sending when it saw the answer waits for its end. Slow ones pause less than this. */
const IDLE_MS = 2_000;

/** A request whose answer is about to go out. */
export interface Answering {
  readonly request: Request;
  readonly method: string;
  /** `answered` by an origin. */
  readonly outcome: string;
  readonly waitUntil: (work: Promise<unknown>) => void;
  readonly gateway: Pick<Gateway, "clock" | "earlyAnswers">;
}

/** The answer as the client gets it: the same one, unless the request's body is still coming. */
export function holdEarlyAnswer(answering: Answering, response: Response): Response | Promise<Response> {
  const { request, gateway } = answering;
  const { body, headers } = request;
  const limits = gateway.earlyAnswers;
  if (body === null || response.status === 101 || limits.bytesMax === 0 || limits.holdMs === 0) return response;
  const handover = handoverOf(body);
  if (handover === undefined ? body.locked : handover.isOver) return response;
  if (headers.get("content-length") === "0") return response;
  // The runtime says 100 when the body is read. A client that waits for it must not send in vain (RFC 9110 §10.1.1).
  const isAwaiting = /\b100-continue\b/i.test(headers.get("expect") ?? "");
  if (isAwaiting && !request.bodyUsed) return response;
  return hold(answering, response, new Rest(body, handover, limits, gateway.clock.nowMs));
}

async function hold({ method, outcome, waitUntil }: Answering, response: Response, rest: Rest): Promise<Response> {
  waitUntil(rest.over);
  // Most bodies are small, and have come with the head.
  let turn: number | null = null;
  await Promise.race([rest.over, new Promise((resolve) => (turn = setTimeout(resolve, 0)))]);
  clearTimeout(turn);
  if (rest.isOver) return response;
  if (method === "HEAD" || WITHOUT_CONTENT.has(response.status)) {
    await rest.afterwards();
    return response;
  }
  const whole = outcome === "answered" || isStreamed(response) ? undefined : await response.arrayBuffer();
  const length = whole?.byteLength ?? lengthOf(response);
  const { readable, writable } = length > 0 ? new FixedLengthStream(length) : new IdentityTransformStream();
  const content = whole === undefined ? response.body : [new Uint8Array(whole)];
  waitUntil(passOn(content ?? [], writable, length, rest));
  // The answer as its own init keeps the coding of its body.
  const held = new Response(readable, response);
  // An empty answer has an end to hold only in chunks.
  if (length === 0) held.headers.delete("content-length");
  return held;
}

/** Only these of the gateway's own answers are made while they are sent. */
const isStreamed = ({ headers }: Response): boolean => headers.get("content-type") === "application/x-ndjson";

/** 0 for one that is not known. */
function lengthOf({ headers }: Response): number {
  const length = headers.get("content-length") ?? "";
  return /^\d{1,15}$/.test(length) ? Number(length) : 0;
}

/** Carries an answer to the client, and its end when the rest of the request was read. */
async function passOn(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  sink: WritableStream<Uint8Array>,
  length: number,
  rest: Rest,
): Promise<void> {
  const writer = sink.getWriter();
  let bytesLeft = length;
  let last: Uint8Array | undefined;
  try {
    for await (const chunk of content) {
      bytesLeft -= chunk.byteLength;
      if (length > 0 && bytesLeft === 0) last = chunk.slice(-1);
      const now = last === undefined ? chunk : chunk.subarray(0, -1);
      if (now.byteLength > 0) await writer.write(now);
    }
    await rest.afterwards();
    if (last !== undefined) await writer.write(last);
    await writer.close();
  } catch (error) {
    // The client must see a broken message, and the origin that its answer is not wanted (RFC 9112 §8).
    await writer.abort(error).catch(() => undefined);
  } finally {
    rest.end();
  }
}

type Limits = Gateway["earlyAnswers"];

/** Those that hold the end of an answer, the oldest first. One whose client has left may not end by itself. */
const held = new Map<Rest, number>();

/** The rest of a request's body. It is read while the answer is on its way, and for a time after that. */
class Rest {
  isOver = false;
  readonly over: Promise<void>;
  readonly #limits: Limits;
  readonly #nowMs: () => number;
  #bytesLeft: number;
  #resolve: () => void = () => undefined;
  #total: number | null = null;
  #idle: number | null = null;

  constructor(body: ReadableStream<Uint8Array>, handover: Handover | undefined, limits: Limits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#bytesLeft = limits.bytesMax;
    this.over = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const end = () => this.end();
    this.#read(body, handover).then(end, end);
  }

  /** The answer waits for its end, from now on at most as long as the limits say. */
  afterwards(): Promise<void> {
    if (this.isOver) return this.over;
    const now = this.#nowMs();
    for (const [rest, untilMs] of held) {
      if (untilMs > now) break;
      held.delete(rest);
    }
    if (held.size >= HELD_MAX) this.end();
    else {
      held.set(this, now + this.#limits.holdMs);
      this.#total = setTimeout(() => this.end(), this.#limits.holdMs);
      this.#expectMore();
    }
    return this.over;
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    held.delete(this);
    clearTimeout(this.#total);
    clearTimeout(this.#idle);
    this.#resolve();
  }

  async #read(body: ReadableStream<Uint8Array>, handover: Handover | undefined): Promise<void> {
    if (handover !== undefined) {
      // Bytes that an origin takes count once the answer waits.
      handover.onBytes = (bytes) => {
        if (this.#total !== null) this.#take(bytes);
      };
      await handover.settled;
      if (handover.isOver) return;
    }
    const reader = body.getReader({ mode: "byob" });
    let buffer = new ArrayBuffer(READ_BYTES);
    while (!this.isOver) {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) return;
      this.#take(value.byteLength);
      buffer = value.buffer;
    }
  }

  #take(bytes: number): void {
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft <= 0) this.end();
    else if (this.#total !== null) this.#expectMore();
  }

  #expectMore(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.end(), IDLE_MS);
  }
}

/** Nothing is done with what is read. */
const READ_BYTES = 4 * 1024;
