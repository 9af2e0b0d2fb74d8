import { PRIMARY_KEY_MAX } from "../text/texts.ts";

/** Primary keys that one gateway, or a group of gateways with one Durable Object, may give. Both ends belong to it. */
export interface KeyRange {
  readonly first: number;
  readonly last: number;
  /** The part has each key from `from` on whose remainder by `parts` is `part`; absent: it has all. */
  readonly interleaved?: Interleaved | undefined;
}

export interface Interleaved {
  readonly from: number;
  readonly part: number;
  readonly parts: number;
}

/** More parts than a company has regions; each still has 2^38 keys. */
export const KEY_PARTS_MAX = 1024;

/**
 * Reads `1/4`: part 1 of 4 equal parts, of which the first is 0; or `1/4 from 5000`: of the keys from 5000 on, each fourth. Parts of one
 * count never overlap, and `4/4` is refused, so that counting from 1 is noticed.
 */
export const parseKeyRange = (text: string): KeyRange | undefined => {
  const [, ...said] = /^(0|[1-9]\d{0,3})\/([1-9]\d{0,3})(?: from ([1-9]\d{0,14}))?$/.exec(text) ?? [];
  const [part, parts] = said.map(Number);
  if (part === undefined || parts === undefined || parts > KEY_PARTS_MAX || part >= parts) return undefined;
  if (said[2] !== undefined) return interleave({ from: Number(said[2]), part, parts });
  const size = Math.floor((PRIMARY_KEY_MAX + 1) / parts);
  // Sequences begin at 1.
  return { first: Math.max(1, part * size), last: part === parts - 1 ? PRIMARY_KEY_MAX : (part + 1) * size - 1 };
};

/** Every part has a key. */
const interleave = (interleaved: Interleaved): KeyRange | undefined => {
  const { from, part, parts } = interleaved;
  if (from + parts - 1 > PRIMARY_KEY_MAX) return undefined;
  const first = from + remainder(part - from, parts);
  return { first, last: PRIMARY_KEY_MAX - remainder(PRIMARY_KEY_MAX - part, parts), interleaved };
};

const remainder = (value: number, divisor: number): number => ((value % divisor) + divisor) % divisor;

/** The distance of two keys of a range that follow each other. */
export const stepOf = ({ interleaved }: KeyRange): number => interleaved?.parts ?? 1;

export const hasKey = (range: KeyRange, key: number): boolean =>
  key >= range.first && key <= range.last && (key - range.first) % stepOf(range) === 0;

/** The first key that two ranges share. */
export function sharedKey(one: KeyRange, other: KeyRange): number | undefined {
  const least = Math.max(one.first, other.first);
  const step = stepOf(one);
  // Remainders by the other's step repeat after this many keys, and each that they share is among them.
  const triesMax = stepOf(other) / commonDivisor(step, stepOf(other));
  let key = least + remainder(one.first - least, step);
  for (let tries = 0; tries < triesMax && key <= one.last; tries++, key += step) {
    if (hasKey(other, key)) return key;
  }
  return undefined;
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));
