/** A set of whole numbers as inclusive ranges, flat: `[low, high, low, high, …]`, rising, neither touching nor overlapping. */
export type Ranges = readonly number[];

/** The set that holds the given inclusive ranges, in whatever order they come and however they overlap. */
export const rangesOf = (pairs: readonly (readonly [low: number, high: number])[]): Ranges => {
  const [first] = pairs;
  // One pair is the most frequent set: an array that grows would take several times the memory.
  if (first !== undefined && pairs.length === 1) return [...first];
  const flat: number[] = [];
  for (const [low, high] of pairs.toSorted((a, b) => a[0] - b[0])) {
    const last = flat.length - 1;
    if (last > 0 && low <= (flat[last] as number) + 1) flat[last] = Math.max(flat[last] as number, high);
    else flat.push(low, high);
  }
  return flat;
};

export const pairsOf = (ranges: Ranges): readonly (readonly [low: number, high: number])[] => {
  const pairs: [number, number][] = [];
  for (let at = 0; at < ranges.length; at += 2) pairs.push([ranges[at] as number, ranges[at + 1] as number]);
  return pairs;
};

export const intersect = (a: Ranges, b: Ranges): Ranges => {
  const common: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const low = Math.max(a[i] as number, b[j] as number);
    const high = Math.min(a[i + 1] as number, b[j + 1] as number);
    if (low <= high) common.push(low, high);
    if ((a[i + 1] as number) < (b[j + 1] as number)) i += 2;
    else j += 2;
  }
  return common;
};

/** Adds a set by name, or leaves what it has in common with the one there. */
export const narrow = (sets: Map<string, Ranges>, name: string, set: Ranges): void => {
  const given = sets.get(name);
  sets.set(name, given === undefined ? set : intersect(given, set));
};

export const subtract = (a: Ranges, b: Ranges): Ranges => {
  const rest: number[] = [];
  let j = 0;
  for (let i = 0; i < a.length; i += 2) {
    let low = a[i] as number;
    const high = a[i + 1] as number;
    while (j < b.length && (b[j + 1] as number) < low) j += 2;
    for (let k = j; k < b.length && (b[k] as number) <= high && low <= high; k += 2) {
      if ((b[k] as number) > low) rest.push(low, (b[k] as number) - 1);
      low = (b[k + 1] as number) + 1;
    }
    if (low <= high) rest.push(low, high);
  }
  return rest;
};

/** The first of `count` ordered places, from `from` on, that is not below something; `count` if all are. */
export const firstNotBelow = (count: number, isBelow: (place: number) => boolean, from = 0): number => {
  let low = from;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
};

export const includes = (ranges: Ranges, value: number): boolean => {
  const at = firstNotBelow(ranges.length / 2, (pair) => (ranges[pair * 2 + 1] as number) < value);
  return at * 2 < ranges.length && value >= (ranges[at * 2] as number);
};

/** The set without what is beyond the bounds; the set itself if nothing is. */
export const clip = (ranges: Ranges, min: number, max: number): Ranges =>
  (ranges[0] ?? min) >= min && (ranges.at(-1) ?? max) <= max ? ranges : intersect(ranges, [min, max]);

export const countOf = (ranges: Ranges): number => {
  let count = 0;
  for (let at = 0; at < ranges.length; at += 2) count += (ranges[at + 1] as number) - (ranges[at] as number) + 1;
  return count;
};

/** The set as the table writes it: `5`, `0-1023`, joined by commas. */
export const formatRanges = (ranges: Ranges): string =>
  pairsOf(ranges)
    .map(([low, high]) => (low === high ? `${low}` : `${low}-${high}`))
    .join(", ");

/** Going through a dimension from its least value up, with the sets that hold the value at hand. */

export type Change = { readonly begin: number[]; readonly end: Set<number> };

/** The sets, by their place in the list, that begin and end at each number. */
export const changesOf = (sets: readonly Ranges[]): ReadonlyMap<number, Change> => {
  const changes = new Map<number, Change>();
  const at = (bound: number): Change => {
    const change = changes.get(bound) ?? { begin: [], end: new Set() };
    changes.set(bound, change);
    return change;
  };
  for (const [place, set] of sets.entries()) {
    for (const [index, bound] of set.entries()) {
      if (index % 2 === 0) at(bound).begin.push(place);
      else at(bound + 1).end.add(place);
    }
  }
  return changes;
};

/** The sets that hold a value, by rising place, after a change. */
export const applyChange = (active: readonly number[], change: Change | undefined): readonly number[] => {
  if (change === undefined) return active;
  const kept = change.end.size === 0 ? active : active.filter((place) => !change.end.has(place));
  return change.begin.length === 0 ? kept : [...kept, ...change.begin].sort((a, b) => a - b);
};
