/**
 * Requests to origins at a time, of all answers of an isolate that need several: of many IDs, lists and split operations of
 * GraphQL. An answer without any may always have one: it is slow then, and never stands still.
 */
const SHARES_MAX = 64;

/** The platform may stop an answer whose client has left: what it held counts no longer than this. */
const HELD_MS = 60_000;

const held = new Set<{ readonly untilMs: number }>();

export function hasShare(nowMs: number): boolean {
  if (held.size < SHARES_MAX) return true;
  for (const share of held) if (share.untilMs <= nowMs) held.delete(share);
  return held.size < SHARES_MAX;
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
