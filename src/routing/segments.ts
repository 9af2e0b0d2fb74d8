/** No route: the ordinal of a cell that none covers. */
export const NO_ROUTE = -1;

/** One dimension, cut into segments; each leads to segments of the next dimension or, at the last one, to a route. */
export class Segments {
  readonly starts: Float64Array;
  /** Empty at the last dimension. */
  readonly next: readonly Segments[];
  /** Lowest ordinal of the routes that cover each segment. Empty above the last dimension. */
  readonly ordinals: Int32Array;
  /** For each bucket of equal width the segment at which a search begins; the next bucket's is where it ends. */
  readonly buckets: Uint32Array;
  readonly bucketsFrom: number;
  readonly bucketsPerUnit: number;

  /** `starts` rises, and the first one is minus infinity. */
  constructor(starts: readonly number[], next: readonly Segments[], ordinals: readonly number[]) {
    this.starts = Float64Array.from(starts);
    this.next = next;
    this.ordinals = Int32Array.from(ordinals);
    const first = starts[1] ?? 0;
    const last = starts.at(-1) as number;
    const count = bucketCount(starts.length);
    this.bucketsFrom = first;
    this.bucketsPerUnit = last > first ? count / (last - first) : 0;
    this.buckets = new Uint32Array(count + 1).fill(starts.length - 1);
    let segment = 0;
    for (let bucket = 0; bucket < count; bucket++) {
      while (segment < starts.length && this.bucketOf(starts[segment] as number) < bucket) segment++;
      // The segment before may reach into this bucket.
      this.buckets[bucket] = Math.max(0, segment - 1);
    }
  }

  private bucketOf(value: number): number {
    const bucket = Math.floor((value - this.bucketsFrom) * this.bucketsPerUnit);
    return bucket > 0 ? Math.min(bucket, this.buckets.length - 2) : 0;
  }

  /** The segment that holds a value. */
  find(value: number): number {
    const { starts, buckets } = this;
    const bucket = this.bucketOf(value);
    let low = buckets[bucket] as number;
    let high = buckets[bucket + 1] as number;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((starts[middle] as number) <= value) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** A few segments are found sooner by search alone. */
const BUCKETS_FROM_SEGMENTS = 8;
const BUCKET_BITS_MAX = 16;

const bucketCount = (segments: number): number =>
  segments < BUCKETS_FROM_SEGMENTS ? 1 : 2 ** Math.min(BUCKET_BITS_MAX, Math.ceil(Math.log2(segments)));
