import { compareWords, mixWords, type Words } from "../ids/index.ts";

/**
 * Values by the words of IDs of one length, found at once whatever the number of entries. Words come from outside and may
 * all have one hash, so the words of a bucket stand in order: then a search takes log2 of their number.
 */
export class WordsMap<Value> {
  readonly size: number;
  /** By bucket, then by words. */
  private readonly words: readonly Words[];
  private readonly values: readonly Value[];
  /** For each bucket the place of its first entry; the next bucket's is where it ends. */
  private readonly starts: Uint32Array;
  private readonly mask: number;

  /** Of entries with equal words the first counts. */
  constructor(entries: Iterable<readonly [Words, Value]>) {
    const all = [...entries];
    this.mask = 2 ** Math.ceil(Math.log2(Math.max(1, all.length))) - 1;
    const placed = all.map(([words, value]) => ({ bucket: mixWords(words) & this.mask, words, value }));
    placed.sort((a, b) => a.bucket - b.bucket || compareWords(a.words, b.words));
    const unique = placed.filter(({ words }, at) => {
      const before = placed[at - 1];
      return before === undefined || compareWords(before.words, words) !== 0;
    });
    this.size = unique.length;
    this.words = unique.map(({ words }) => words);
    this.values = unique.map(({ value }) => value);
    this.starts = new Uint32Array(this.mask + 2);
    let next = 0;
    for (const [place, { bucket }] of unique.entries()) {
      while (next <= bucket) this.starts[next++] = place;
    }
    this.starts.fill(unique.length, next);
  }

  get(words: Words): Value | undefined {
    const bucket = mixWords(words) & this.mask;
    let low = this.starts[bucket] as number;
    let high = (this.starts[bucket + 1] as number) - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = compareWords(this.words[middle] as Words, words);
      if (order === 0) return this.values[middle];
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }
}
