import type { PackRanges } from "./pack/ranges.ts";
import { pairsOf, type Ranges } from "./ranges.ts";

/** Comparing what lists of packs hold, in one pass over their ranges. */

/** The contents of a pack by its digest, as far as they are at hand. */
export type PackContents = (sha256: string) => PackRanges | undefined;

/** So many keys that go one way. `undefined`: no pack of that side holds them, and they come to the route behind. */
export interface PackedKeys {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly keys: number;
}

/** Counts the keys of a set by where the packs of either side send them. Of several packs the first one that holds a key counts. */
export const countPackedKeys = (
  set: Ranges,
  before: readonly PackRanges[],
  after: readonly PackRanges[],
): readonly PackedKeys[] => {
  const names = [...new Set([...before, ...after].flatMap(({ regions }) => regions))];
  const cursorsOf = (side: readonly PackRanges[]) => side.map((pack) => new Cursor(pack, names));
  const [left, right] = [cursorsOf(before), cursorsOf(after)];
  const cursors = [...left, ...right];
  // Place 0 is for keys that no pack holds.
  const width = names.length + 1;
  const counts = new Float64Array(width * width);
  for (const [low, high] of pairsOf(set)) {
    for (let at = low; at <= high; ) {
      let end = high;
      for (const cursor of cursors) end = Math.min(end, cursor.goTo(at));
      const change = regionAt(left) * width + regionAt(right);
      counts[change] = (counts[change] as number) + (end - at + 1);
      at = end + 1;
    }
  }
  return [...counts].flatMap((keys, change) =>
    keys === 0 ? [] : [{ before: names[Math.floor(change / width) - 1], after: names[(change % width) - 1], keys }],
  );
};

const regionAt = (cursors: readonly Cursor[]): number => {
  for (let at = 0; at < cursors.length; at++) {
    const { region } = cursors[at] as Cursor;
    if (region !== 0) return region;
  }
  return 0;
};

/** A place in the ranges of a pack that only rises. */
class Cursor {
  /** Of the key that it was sent to: place of its name among all, from 1; 0 where the pack does not hold it. */
  region = 0;
  private readonly bounds: PackRanges["bounds"];
  private readonly numbers: Uint8Array;
  private readonly places: readonly number[];
  private at = 0;

  constructor({ bounds, numbers, regions }: PackRanges, names: readonly string[]) {
    this.bounds = bounds;
    this.numbers = numbers;
    this.places = regions.map((region) => names.indexOf(region) + 1);
  }

  /** Goes on to a key, not below the last one; tells how far what holds for it holds. */
  goTo(key: number): number {
    const { bounds, numbers } = this;
    if (this.at < numbers.length && (bounds[this.at * 2 + 1] as number) < key) this.pass(key);
    if (this.at === numbers.length) {
      this.region = 0;
      return Number.POSITIVE_INFINITY;
    }
    const first = bounds[this.at * 2] as number;
    this.region = first > key ? 0 : (this.places[numbers[this.at] as number] as number);
    return first > key ? first - 1 : (bounds[this.at * 2 + 1] as number);
  }

  /** To the first range that ends at the key or above: most often the next one, else found by halving. */
  private pass(key: number): void {
    let low = this.at + 1;
    let high = this.numbers.length;
    if (low < high && (this.bounds[low * 2 + 1] as number) >= key) high = low;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.bounds[middle * 2 + 1] as number) < key) low = middle + 1;
      else high = middle;
    }
    this.at = low;
  }
}
