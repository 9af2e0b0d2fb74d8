/** How a body ended that was carried from one side to the other. */
export type BodyEnd = "complete" | "source-failed" | "sink-failed" | "idle" | "late";

export interface PumpLimits {
  /** Longest wait for the next octets of the source; 0 for no limit. Waiting for the sink does not count. */
  readonly idleMs: number;
  /** When the whole body must have passed, Unix ms; `undefined` for no limit. */
  readonly untilMs: number | undefined;
  readonly nowMs: () => number;
}

/**
 * One read takes what has arrived, up to this: fewer crossings into the runtime than chunks as they come. Most bodies are
 * small, and a buffer is zeroed and collected; so the great one comes when a small one was filled.
 */
const FIRST_READ_BYTES = 4 * 1024;
const READ_BYTES = 64 * 1024;

/**
 * Carries a body octet for octet and says how it ended. A body that does not end well is never closed: the receiver sees
 * a broken message (RFC 9112 §8). The source waits while the sink is full, so nothing is held beyond one read.
 */
export async function pump(
  source: ReadableStream<Uint8Array>,
  sink: WritableStream<Uint8Array>,
  limits: PumpLimits,
): Promise<BodyEnd> {
  const reader = source.getReader({ mode: "byob" });
  const writer = sink.getWriter();
  const watch = watchOver(limits);
  let buffer = new ArrayBuffer(FIRST_READ_BYTES);
  const breakOff = async (end: BodyEnd): Promise<BodyEnd> => {
    watch.stop();
    const reason = new Error(`the body was broken off: ${end}`);
    // Whichever side is left must learn of it; that the other one is gone already is no news.
    await Promise.allSettled([reader.cancel(reason), writer.abort(reason)]);
    return end;
  };
  for (;;) {
    const piece = await watch.within(reader.read(new Uint8Array(buffer)), "read");
    if (piece === "failed") return breakOff("source-failed");
    if (piece === "idle" || piece === "late") return breakOff(piece);
    if (piece.done) break;
    const wasFilled = piece.value.byteLength === FIRST_READ_BYTES;
    const written = await watch.within(writer.write(piece.value), "write");
    if (written === "failed") return breakOff("sink-failed");
    if (written === "idle" || written === "late") return breakOff(written);
    buffer = wasFilled ? new ArrayBuffer(READ_BYTES) : piece.value.buffer;
  }
  watch.stop();
  return writer.close().then(
    () => "complete",
    () => "sink-failed",
  );
}

type Cut = "idle" | "late";

/** Holds reads and writes to the limits. One timer for the whole body: one for each read costs more than the read. */
function watchOver({ idleMs, untilMs = Infinity, nowMs }: PumpLimits) {
  let readsSinceMs: number | undefined;
  let cut: ((end: Cut) => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** A read may begin any time, so the next look is no later than an idle time from now. */
  const dueMs = (now: number): number => Math.min(idleMs === 0 ? Infinity : (readsSinceMs ?? now) + idleMs, untilMs);
  const look = (): void => {
    const now = nowMs();
    if (now >= untilMs) cut?.("late");
    else if (now >= dueMs(now)) cut?.("idle");
    else arm(now);
  };
  const arm = (now: number): void => {
    const due = dueMs(now);
    if (due !== Infinity) timer = setTimeout(look, Math.max(1, due - now));
  };
  arm(nowMs());
  return {
    within<Done>(step: Promise<Done>, kind: "read" | "write"): Promise<Done | Cut | "failed"> {
      if (kind === "read") readsSinceMs = nowMs();
      return new Promise((resolve) => {
        const settle = (outcome: Done | Cut | "failed"): void => {
          cut = undefined;
          readsSinceMs = undefined;
          resolve(outcome);
        };
        cut = settle;
        step.then(settle, () => settle("failed"));
      });
    },
    stop: () => {
      if (timer !== undefined) clearTimeout(timer);
    },
  };
}
