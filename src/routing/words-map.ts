import { mixWords, type Words } from "../ids/index.ts";

/** Gathers the entries of a `WordsMap`, in arrays of numbers: there may be 100,000. */
export class WordsMapBuilder {
  private readonly width: number;
  private words: Uint32Array<ArrayBuffer>;
  private hashes = new Uint32Array(ENTRIES_AT_FIRST);
  private values = new Uint32Array(ENTRIES_AT_FIRST);
  size = 0;

  /** `width`: how many words an ID has. */
  constructor(width: number) {
    this.width = width;
    this.words = new Uint32Array(ENTRIES_AT_FIRST * width);
  }

  /** `value`: of 32 bits. */
  add(words: Words, value: number): void {
    if (this.size === this.values.length) {
      this.words = twiceAsLong(this.words);
      this.hashes = twiceAsLong(this.hashes);
      this.values = twiceAsLong(this.values);
    }
    this.words.set(words, this.size * this.width);
    this.hashes[this.size] = mixWords(words);
    this.values[this.size] = value;
    this.size++;
  }

  /** Of entries with equal words the first counts. */
  build(): WordsMap {
    const { width, words, hashes, values, size } = this;
    const mask = 2 ** Math.ceil(Math.log2(Math.max(1, size))) - 1;
    const order = orderByBucket(hashes.subarray(0, size), mask);
    const compare = (a: number, b: number): number => compareRows(words, a * width, b * width, width) || a - b;
    const sorted = new Uint32Array(size * width);
    const sortedValues = new Uint32Array(size);
    const starts = new Uint32Array(mask + 2);
    let kept = 0;
    for (let bucket = 0, from = 0; bucket <= mask; bucket++) {
      starts[bucket] = kept;
      let to = from;
      while (to < size && ((hashes[order[to] as number] as number) & mask) === bucket) to++;
      const own = order.subarray(from, to);
      if (own.length > 1) own.sort(compare);
      for (const [at, row] of own.entries()) {
        if (at > 0 && compareRows(words, row * width, (own[at - 1] as number) * width, width) === 0) continue;
        sorted.set(words.subarray(row * width, (row + 1) * width), kept * width);
        sortedValues[kept++] = values[row] as number;
      }
      from = to;
    }
    starts[mask + 1] = kept;
    return new WordsMap(width, sorted.slice(0, kept * width), sortedValues.slice(0, kept), starts);
  }
}

const ENTRIES_AT_FIRST = 64;

const twiceAsLong = (array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> => {
  const longer = new Uint32Array(array.length * 2);
  longer.set(array);
  return longer;
};

/** The entries by rising bucket, and in each as they came. */
const orderByBucket = (hashes: Uint32Array, mask: number): Uint32Array => {
  const ends = new Uint32Array(mask + 1);
  for (const hash of hashes) ends[hash & mask] = (ends[hash & mask] as number) + 1;
  for (let bucket = 1; bucket <= mask; bucket++) {
    ends[bucket] = (ends[bucket] as number) + (ends[bucket - 1] as number);
  }
  const order = new Uint32Array(hashes.length);
  for (let entry = hashes.length - 1; entry >= 0; entry--) {
    const bucket = (hashes[entry] as number) & mask;
    const place = (ends[bucket] as number) - 1;
    ends[bucket] = place;
    order[place] = entry;
  }
  return order;
};

/** Below, equal to or above 0: the order of the rows that begin at two places. */
const compareRows = (words: Uint32Array, a: number, b: number, width: number): number => {
  for (let word = 0; word < width; word++) {
    const difference = (words[a + word] as number) - (words[b + word] as number);
    if (difference !== 0) return difference;
  }
  return 0;
};

/**
 * Numbers by the words of IDs of one length, found at once whatever the number of entries. Words come from outside and may
 * all have one hash, so the words of a bucket stand in order: then a search takes log2 of their number.
 */
export class WordsMap {
  private readonly width: number;
  /** By bucket, then in order, row after row. */
  private readonly words: Uint32Array;
  private readonly values: Uint32Array;
  /** For each bucket the place of its first entry; the next bucket's is where it ends. */
  private readonly starts: Uint32Array;

  constructor(width: number, words: Uint32Array, values: Uint32Array, starts: Uint32Array) {
    this.width = width;
    this.words = words;
    this.values = values;
    this.starts = starts;
  }

  get size(): number {
    return this.values.length;
  }

  get(words: Words): number | undefined {
    const bucket = mixWords(words) & (this.starts.length - 2);
    let low = this.starts[bucket] as number;
    let high = (this.starts[bucket + 1] as number) - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = this.compare(middle, words);
      if (order === 0) return this.values[middle];
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  private compare(entry: number, words: Words): number {
    const { width } = this;
    for (let word = 0; word < width; word++) {
      const difference = (this.words[entry * width + word] as number) - (words[word] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}
