/** Reserved numbers, from `next` up to, but not including, `end`. */
export interface Block {
  next: number;
  readonly end: number;
  /** The distance of two numbers; absent: 1. */
  readonly step?: number;
}

/** A sequence that needs a block more often than this is under load: its blocks grow, and are fetched ahead. */
const FAST_MS = 1_000;
const SLOW_MS = 10_000;

/** The numbers of one sequence that this isolate has reserved and not given out: rising, whatever order blocks come in. */
export class ReservedNumbers {
  readonly #sizeMin: number;
  readonly #sizeMax: number;
  #size: number;
  /** Rising, none of them empty. */
  #blocks: Block[] = [];
  /** The last number that was given out. */
  #given = 0;
  #reservedAtMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;
  /** Numbers given out since blocks last grew: many requests at once, which each wait for the first block, use none. */
  #used = 0;
  /** Until then a block may come that was asked for ahead. */
  aheadUntilMs = 0;

  constructor(sizeMin: number, sizeMax: number) {
    this.#sizeMin = sizeMin;
    this.#sizeMax = sizeMax;
    this.#size = sizeMin;
  }

  /** The next number to be given out, if there is one. */
  peek(): number | undefined {
    return this.#blocks[0]?.next;
  }

  /** A block that begins below what was given out is dropped: its numbers are a gap. */
  add(block: Block): void {
    if (block.next <= this.#given || block.next >= block.end) return;
    this.#blocks.push({ ...block });
    this.#blocks.sort((a, b) => a.next - b.next);
  }

  /** The next numbers, over the ends of blocks; `undefined`, and none is taken, where there are fewer. */
  take(count: number): readonly number[] | undefined {
    if (this.#left() < count) return undefined;
    const numbers: number[] = [];
    for (const block of this.#blocks) {
      for (; numbers.length < count && block.next < block.end; block.next += block.step ?? 1) numbers.push(block.next);
    }
    this.#blocks = this.#blocks.filter(({ next, end }) => next < end);
    this.#given = numbers.at(-1) ?? this.#given;
    this.#used += count;
    return numbers;
  }

  /** Whether the second block should be fetched now. */
  isLow(nowMs: number): boolean {
    return this.#isBusy && nowMs >= this.aheadUntilMs && this.#left() <= this.#size / 2;
  }

  /** The size of a block that is reserved now. */
  nextSize(nowMs: number): number {
    const sinceMs = nowMs - this.#reservedAtMs;
    this.#reservedAtMs = nowMs;
    this.#isBusy = sinceMs < SLOW_MS;
    if (sinceMs < FAST_MS && this.#used >= this.#size / 2) {
      this.#size = Math.min(this.#size * 2, this.#sizeMax);
      this.#used = 0;
    } else if (!this.#isBusy) this.#size = Math.max(this.#size / 2, this.#sizeMin);
    return this.#size;
  }

  #left(): number {
    return this.#blocks.reduce((sum, { next, end, step = 1 }) => sum + (end - next) / step, 0);
  }
}
