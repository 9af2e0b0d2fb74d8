/** How a body ended that was carried from one side to the other. `sink-idle`: it was no longer taken. */
export type BodyEnd = "complete" | "source-failed" | "sink-failed" | "idle" | "sink-idle" | "late" | "false-digest";

export interface PumpLimits {
  /** Longest wait for the next bytes of the source; 0 for no limit. */
  readonly idleMs: number;
  /** Longest wait for the sink to take some; absent: a client reads as slowly as it likes. */
  readonly sinkIdleMs?: number;
  /** When the whole body must have passed, Unix ms; `undefined` for no limit. */
  readonly untilMs: number | undefined;
  readonly nowMs: () => number;
  /** Aborts when the receiver has left: an idle sink may not show it. */
  readonly left?: AbortSignal | undefined;
  /**
   * Called when a body breaks off that its receiver has not refused. It comes before the receiver could take the end
   * for a good one.
   */
  readonly onBreak?: () => void;
  /** Goes before the source. */
  readonly head?: Uint8Array | undefined;
  /** Its last bytes are held back until the body has its digests. Not with a `head`. */
  readonly check?: Omit<BodyCheck, "settle"> | undefined;
  /** Takes the source over when the sink takes no more of it; without one the source is cancelled. */
  readonly handover?: Handover | undefined;
}

/** Rules that a body is held to while it passes. */
export interface BodyCheck {
  update(bytes: Uint8Array): Promise<void>;
  /** Whether the body that was given is the right one. */
  isTrue(): Promise<boolean>;
  /** Told how the body ended. */
  settle(end: BodyEnd): void;
}

/** A client's body that is being read, and may be read on when the sink takes no more: see `routes/lib/early-answer.ts`. */
export class Handover {
  /** Called with the bytes that are read meanwhile. */
  onBytes: ((bytes: number) => void) | undefined;
  /** Whether the body was read to its end, or broke off: nothing is left of it. */
  isOver = false;
  /** Settles when the body is whole, has broken off or is left. */
  readonly settled: Promise<void>;
  readonly #settle: () => void;

  constructor() {
    let settle = (): void => undefined;
    this.settled = new Promise((resolve) => {
      settle = resolve;
    });
    this.#settle = settle;
  }

  end(): void {
    this.isOver = true;
    this.#settle();
  }

  /** Leaves the source to another reader, once what was asked of it has come. */
  async leave(reader: ReadableStreamBYOBReader, asked: Promise<unknown> | undefined): Promise<void> {
    try {
      await asked;
      reader.releaseLock();
      this.#settle();
    } catch {
      this.end();
    }
  }
}

/**
 * One read takes what has arrived, up to this: fewer crossings into the runtime than chunks as they come. Most bodies are
 * small, and a buffer is zeroed and collected; so the great one comes when a small one was filled.
 */
const FIRST_READ_BYTES = 4 * 1024;
const READ_BYTES = 64 * 1024;

/**
 * Carries a body byte for byte and says how it ended. A body that does not end well is never closed: the receiver sees
 * a broken message (RFC 9112 §8). The source waits while the sink is full, so nothing is held beyond one read.
 */
export async function pump(
  source: ReadableStream<Uint8Array>,
  sink: WritableStream<Uint8Array>,
  limits: PumpLimits,
): Promise<BodyEnd> {
  const passage = new Passage(source, sink, limits);
  const cut = await passage.carry();
  return cut === undefined ? "complete" : passage.breakOff(cut);
}

/** A body on its way. */
class Passage {
  readonly #reader: ReadableStreamBYOBReader;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #limits: PumpLimits;
  readonly #watch: ReturnType<typeof watchOver>;
  #asked: Promise<unknown> | undefined;
  /** The last part, while the digests of all are not known. */
  #held: Uint8Array | undefined;

  constructor(source: ReadableStream<Uint8Array>, sink: WritableStream<Uint8Array>, limits: PumpLimits) {
    this.#reader = source.getReader({ mode: "byob" });
    this.#writer = sink.getWriter();
    this.#limits = limits;
    this.#watch = watchOver(limits);
  }

  /** Why it was not carried to its end; `undefined` if it was. */
  async carry(): Promise<Cut | undefined> {
    const { head, check, handover } = this.#limits;
    const cut = (head && (await this.#write(head))) ?? (await this.#carrySource());
    if (cut !== undefined) return cut;
    handover?.end();
    if (check !== undefined && !(await check.isTrue())) return "false-digest";
    const unfinished = (this.#held && (await this.#write(this.#held))) ?? (await this.#taken(this.#writer.close()));
    if (unfinished === undefined) this.#watch.stop();
    return unfinished;
  }

  /** All of the source, but for the last part where its digests are checked. */
  async #carrySource(): Promise<Cut | undefined> {
    const { check, handover } = this.#limits;
    let buffer = new ArrayBuffer(FIRST_READ_BYTES);
    for (;;) {
      const piece = await this.#read(buffer);
      if (typeof piece === "string") return piece;
      if (piece.done) return undefined;
      const { value } = piece;
      handover?.onBytes?.(value.byteLength);
      const wanted = nextSize(value);
      const next = check === undefined ? value : await this.#hold(value, check);
      const cut = next && (await this.#write(next));
      if (cut !== undefined) return cut;
      buffer = next?.buffer.byteLength === wanted ? (next.buffer as ArrayBuffer) : new ArrayBuffer(wanted);
    }
  }

  /** The part that was held before. */
  async #hold(part: Uint8Array, check: NonNullable<PumpLimits["check"]>): Promise<Uint8Array | undefined> {
    const before = this.#held;
    await check.update(part);
    this.#held = part;
    return before;
  }

  #read(buffer: ArrayBuffer): Promise<ReadableStreamReadResult<Uint8Array> | Cut> {
    const asked = this.#reader.read(new Uint8Array(buffer));
    this.#asked = asked;
    return this.#watch.within(asked, "source");
  }

  #write(bytes: Uint8Array): Promise<Cut | undefined> {
    this.#asked = undefined;
    return this.#taken(this.#writer.write(bytes));
  }

  #taken(step: Promise<void>): Promise<Cut | undefined> {
    return this.#watch.within(step as Promise<undefined>, "sink");
  }

  /** Leaves neither side waiting. */
  async breakOff(end: Cut): Promise<BodyEnd> {
    const { handover, onBreak } = this.#limits;
    this.#watch.stop();
    if (end !== "sink-failed") onBreak?.();
    const reason = new Error(`the body was broken off: ${end}`);
    // A client that fell silent is expected to send nothing more.
    const isLeft = handover !== undefined && end !== "source-failed" && end !== "idle";
    if (isLeft) void handover.leave(this.#reader, this.#asked);
    else handover?.end();
    // Whichever side is left must learn of it; that the other one is gone already is no news.
    await Promise.allSettled([isLeft ? undefined : this.#reader.cancel(reason), this.#writer.abort(reason)]);
    return end;
  }
}

/** The next buffer's size follows whether the last read filled its own. */
const nextSize = ({ byteLength, buffer }: Uint8Array): number =>
  byteLength === FIRST_READ_BYTES && buffer.byteLength === FIRST_READ_BYTES ? READ_BYTES : buffer.byteLength;

type Side = "source" | "sink";
type Cut = Exclude<BodyEnd, "complete">;

const IDLE = { source: "idle", sink: "sink-idle" } as const satisfies Record<Side, Cut>;
const FAILED = { source: "source-failed", sink: "sink-failed" } as const satisfies Record<Side, Cut>;

/** Holds reads and writes to the limits. One timer for the whole body: one for each step costs more than the step. */
export function watchOver({
  idleMs,
  sinkIdleMs = 0,
  untilMs = Infinity,
  nowMs,
  left,
}: Omit<PumpLimits, "onBreak" | "head">) {
  const idle = { source: idleMs === 0 ? Infinity : idleMs, sink: sinkIdleMs === 0 ? Infinity : sinkIdleMs };
  let side: Side = "source";
  let sinceMs = nowMs();
  let cut: ((end: Cut) => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    const now = nowMs();
    if (now >= untilMs) cut?.("late");
    else if (now >= sinceMs + idle[side]) cut?.(IDLE[side]);
    else arm(now);
  };
  /** The side may change meanwhile, so the next look is when the sooner of both could be due. */
  const arm = (now: number): void => {
    const due = Math.min(sinceMs + idle[side], now + idle.source, now + idle.sink, untilMs);
    if (due !== Infinity) timer = setTimeout(look, Math.max(1, due - now));
  };
  const leave = (): void => cut?.("sink-failed");
  left?.addEventListener("abort", leave);
  arm(sinceMs);
  return {
    within<Done>(step: Promise<Done>, ofSide: Side): Promise<Done | Cut> {
      side = ofSide;
      sinceMs = nowMs();
      return new Promise((resolve) => {
        const settle = (outcome: Done | Cut): void => {
          cut = undefined;
          resolve(outcome);
        };
        cut = settle;
        step.then(settle, () => settle(FAILED[ofSide]));
        if (left?.aborted === true) settle("sink-failed");
      });
    },
    stop: () => {
      if (timer !== undefined) clearTimeout(timer);
      left?.removeEventListener("abort", leave);
    },
  };
}
