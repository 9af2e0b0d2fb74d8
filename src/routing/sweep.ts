import type { Ranges } from "./ranges.ts";

/** Going through a dimension from its least value up, with the sets that hold the value at hand. */

export interface Change {
  readonly begin: number[];
  readonly end: Set<number>;
}

/** Which sets, by their place in the list, begin and end at each number. */
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
