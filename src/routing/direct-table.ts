import type { Words } from "../ids/index.ts";
import type { Dimension } from "./layout-plans.ts";

/** One or two small dimensions as one array with an entry for each of their values: a look-up is one load. */
export interface DirectTable {
  /** The lowest ordinal for each value of the first dimension, and within it for each of the second. */
  readonly ordinals: Uint32Array;
  /** Where the entry of an ID stands. */
  readonly placeOf: (words: Words) => number;
}

/** 16 bits together. */
const ENTRIES_MAX = 65_536;

/** A segment takes 8 bytes and more, an entry takes no more than 12. */
const ENTRIES_PER_SEGMENT_MAX = 8;

/**
 * The table of what `find` says about each pair of values. `undefined` where the dimensions are too many or too large, or
 * where the table would be much larger than the segments that it stands for.
 */
export const directTable = (
  dimensions: readonly Dimension[],
  segmentCount: number,
  find: (first: number, second: number) => number,
): DirectTable | undefined => {
  const [first, second, third] = dimensions;
  if (first === undefined || third !== undefined) return undefined;
  const secondCount = second === undefined ? 1 : second.max - second.min + 1;
  const count = (first.max - first.min + 1) * secondCount;
  if (count > ENTRIES_MAX || count > segmentCount * ENTRIES_PER_SEGMENT_MAX) return undefined;
  const ordinals = new Uint32Array(count);
  for (let place = 0; place < count; place++) {
    ordinals[place] = find(first.min + Math.floor(place / secondCount), (second?.min ?? 0) + (place % secondCount));
  }
  return { ordinals, placeOf: placeReader(first, second, secondCount) };
};

const placeReader = (first: Dimension, second: Dimension | undefined, secondCount: number): DirectTable["placeOf"] => {
  const { read, min } = first;
  if (second === undefined) return min === 0 ? read : (words) => read(words) - min;
  const { read: readSecond, min: secondMin } = second;
  return (words) => (read(words) - min) * secondCount + (readSecond(words) - secondMin);
};
