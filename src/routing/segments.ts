/** No route: the ordinal of a segment that none covers. It comes after every route's. */
export const NO_ROUTE = 0xffffffff;

/**
 * One dimension, cut into segments. Each leads to segments of the next dimension or, at the last one, to a route.
 * A search begins in the bucket of its value, so its length depends on how unevenly the segments lie, not on their number.
 */
export class Segments {
  /**
   * Two cells for each segment, side by side so that one cache line has both: where it starts, and the lowest ordinal of
   * the routes that cover it, or the place in `next`. At 32 bits a cell, where that is enough, twice as many stay in cache.
   */
  private readonly cells: Uint32Array | Float64Array;
  /** Empty at the last dimension. */
  readonly next: readonly Segments[];
  /** For each bucket of equal width the segment at which a search begins; the next bucket's is where it ends. */
  private readonly buckets: Uint32Array;
  private readonly bucketCount: number;
  private readonly bucketsFrom: number;
  private readonly bucketsPerUnit: number;

  /**
   * `starts` rises from the least value of the dimension; `max` is its greatest. `leads` holds ordinals, or places in
   * `next` if that is not empty.
   */
  constructor(starts: Float64Array, leads: Float64Array, next: readonly Segments[], max: number) {
    const count = starts.length;
    const isNarrow = (starts[0] as number) >= 0 && max <= 0xffffffff;
    this.cells = isNarrow ? new Uint32Array(count * 2) : new Float64Array(count * 2);
    for (let segment = 0; segment < count; segment++) {
      this.cells[segment * 2] = starts[segment] as number;
      this.cells[segment * 2 + 1] = leads[segment] as number;
    }
    this.next = next;
    const first = starts[1] ?? 0;
    const last = starts.at(-1) as number;
    this.bucketCount = bucketCountFor(count);
    this.bucketsFrom = first;
    this.bucketsPerUnit = last > first ? this.bucketCount / (last - first) : 0;
    this.buckets = new Uint32Array(this.bucketCount + 1).fill(count - 1);
    let segment = 0;
    for (let bucket = 0; bucket < this.bucketCount; bucket++) {
      while (segment < count && this.bucketOf(starts[segment] as number) < bucket) segment++;
      // The segment before may reach into this bucket.
      this.buckets[bucket] = Math.max(0, segment - 1);
    }
  }

  /** How many segments there are, those of the next dimensions included. */
  get size(): number {
    return this.next.reduce((sum, inner) => sum + inner.size, this.cells.length / 2);
  }

  private bucketOf(value: number): number {
    const bucket = (value - this.bucketsFrom) * this.bucketsPerUnit;
    if (bucket >= this.bucketCount) return this.bucketCount - 1;
    return bucket > 0 ? bucket | 0 : 0;
  }

  /** Where the segment of a value leads. */
  find(value: number): number {
    const { cells, buckets } = this;
    const bucket = this.bucketOf(value);
    let low = buckets[bucket] as number;
    let high = buckets[bucket + 1] as number;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((cells[middle * 2] as number) <= value) low = middle;
      else high = middle - 1;
    }
    return cells[low * 2 + 1] as number;
  }
}

/** A few segments are found sooner by search alone. */
const BUCKETS_FROM_SEGMENTS = 8;
const BUCKET_BITS_MAX = 18;

const bucketCountFor = (segments: number): number =>
  segments < BUCKETS_FROM_SEGMENTS ? 1 : 2 ** Math.min(BUCKET_BITS_MAX, Math.ceil(Math.log2(segments)));
