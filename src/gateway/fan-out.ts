import type { Gateway } from "../ports/gateway.ts";

/**
 * Requests to origins at a time, of all answers of an isolate that need several: of many IDs, lists and split operations of
 * GraphQL. An answer without any may always have one: it is slow then, and never blocked.
 */
const SHARES_MAX = 64;

/** The platform may stop an answer whose client has left: what it held counts no longer than this. */
const HELD_MS = 60_000;

const held = new Set<{ readonly untilMs: number }>();

/** Characters of results and bytes of pages that all these answers have in memory. Beyond it, each has one request at a time. */
const WEIGHT_MAX = 16 * 1024 * 1024;

/**
 * An unchanged load counts for this long, plus the time for which clients may take nothing: longer than any region's
 * deadline.
 */
const LOAD_MS = 360_000;

const loads = new Set<Load>();
let weight = 0;

export function hasShare(nowMs: number): boolean {
  const hasRoom = (): boolean => held.size < SHARES_MAX && weight < WEIGHT_MAX;
  if (hasRoom()) return true;
  for (const share of held) if (share.untilMs <= nowMs) held.delete(share);
  for (const load of loads) if (load.untilMs <= nowMs) load.end();
  return hasRoom();
}

/** The memory that one answer takes until its end. */
export class Load {
  isOver = false;
  untilMs = 0;
  #weight = 0;
  readonly #gateway: Pick<Gateway, "clock" | "deadlines">;

  constructor(gateway: Pick<Gateway, "clock" | "deadlines">) {
    this.#gateway = gateway;
  }

  /** Returns the weight of all answers. */
  add(more: number): number {
    if (this.isOver) return Infinity;
    const nowMs = this.#gateway.clock.nowMs();
    this.untilMs = nowMs + LOAD_MS + this.#gateway.deadlines.idleMs;
    this.#weight += more;
    weight += more;
    loads.add(this);
    hasShare(nowMs); // Ends loads that count no longer.
    return weight;
  }

  readonly end = (): void => {
    this.isOver = true;
    weight -= this.#weight;
    this.#weight = 0;
    loads.delete(this);
  };
}

/** Counts a request until what it returns is called. */
export function takeShare(nowMs: number): () => void {
  const share = { untilMs: nowMs + HELD_MS };
  held.add(share);
  return () => held.delete(share);
}

/** Lets a few requests of one answer go on at a time. They wait for each other alone: an answer cannot wake another one. */
export class Gate {
  readonly #max: number;
  readonly #nowMs: () => number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number, nowMs: () => number) {
    this.#max = max;
    this.#nowMs = nowMs;
  }

  get #isOpen(): boolean {
    return this.#running === 0 || (this.#running < this.#max && hasShare(this.#nowMs()));
  }

  async pass<Value>(work: () => Promise<Value>): Promise<Value> {
    while (!this.#isOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
    const giveBack = takeShare(this.#nowMs());
    try {
      return await work();
    } finally {
      this.#running--;
      giveBack();
      for (const wake of this.#waiting.splice(0)) wake();
    }
  }
}

/**
 * Request fields that are not of one of many requests to regions: conditions and parts of the answer as a whole, its form and
 * coding, and what is of a body. All else goes to each region, such as `accept-language`.
 */
const LEFT_OUT =
  /^(?:if-|content-|range$|accept$|accept-encoding$|idempotency-key$|upgrade$|expect$|transfer-encoding$)/;

/** The client's fields for one of many requests. */
export const fieldsOfPart = (headers: Headers): Headers =>
  new Headers([...headers].filter(([name]) => !LEFT_OUT.test(name)).map(([name, value]) => [name, value]));

/** A body of texts, each made when the client has taken the one before. A client that takes nothing for `idleMs` is cut off. */
export function streamTexts(
  load: Load,
  idleMs: number,
  next: () => Promise<{ readonly text: string; readonly isEnd: boolean }>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let idle: ReturnType<typeof setTimeout> | undefined;
  const stop = (controller?: ReadableStreamDefaultController<Uint8Array>, error?: unknown): void => {
    clearTimeout(idle ?? null);
    load.end();
    controller?.error(error);
  };
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    clearTimeout(idle ?? null);
    const made = await next().catch((error: unknown) => stop(controller, error));
    if (made === undefined) return;
    controller.enqueue(encoder.encode(made.text));
    // A stream that waits for its client takes memory from others.
    if (idleMs > 0) idle = setTimeout(stop, idleMs, controller, new Error("the client takes nothing"));
    if (!made.isEnd) return;
    stop();
    controller.close();
  };
  return new ReadableStream<Uint8Array>({ pull, cancel: () => stop() }, { highWaterMark: 0 });
}
