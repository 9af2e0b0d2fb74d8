/** Streams of requests by the time of the next of each: the earliest is at hand, and gets a later time in its place. */
export class RequestQueue {
  readonly #atSeconds: Float64Array;
  /** A binary heap of streams. */
  readonly #heap: Int32Array;

  /** `atSeconds`: the first request of each stream. */
  constructor(atSeconds: Float64Array) {
    this.#atSeconds = atSeconds;
    this.#heap = Int32Array.from(atSeconds.keys());
    for (let at = (this.#heap.length >>> 1) - 1; at >= 0; at--) this.#sink(at);
  }

  /** The stream with the earliest request. */
  get stream(): number {
    return this.#heap[0] as number;
  }

  get seconds(): number {
    return this.#atSeconds[this.stream] as number;
  }

  /** Its next request comes so much later. */
  postpone(bySeconds: number): void {
    const { stream } = this;
    this.#atSeconds[stream] = (this.#atSeconds[stream] as number) + bySeconds;
    this.#sink(0);
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const times = this.#atSeconds;
    const stream = heap[from] as number;
    const seconds = times[stream] as number;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && (times[heap[right] as number] as number) < (times[heap[child] as number] as number)) {
        child = right;
      }
      if ((times[heap[child] as number] as number) >= seconds) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = stream;
  }
}
