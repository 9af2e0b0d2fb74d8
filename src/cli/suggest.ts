/** Names this far from what was typed are no misspelling of it. */
const DISTANCE_MAX = 3;
const SUGGESTIONS_MAX = 3;

/** `; did you mean ulid?`, or nothing when no name is like the one that was typed. */
export const suggestion = (typed: string, names: readonly string[]): string => {
  const distances = names.map((name) => ({ name, distance: distanceOf(typed, name) }));
  const near = distances
    .filter(({ name, distance }) => distance <= Math.min(DISTANCE_MAX, name.length / 2) || isPart(typed, name))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SUGGESTIONS_MAX)
    .map(({ name }) => name);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};

const PART_LENGTH_MIN = 3;

const isPart = (typed: string, name: string): boolean => typed.length >= PART_LENGTH_MIN && name.includes(typed);

/** How many characters are to be added, left out or changed (V. Levenshtein, 1966). */
const distanceOf = (a: string, b: string): number => {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, character] of [...a].entries()) {
    const line = [row + 1];
    for (let column = 1; column <= b.length; column++) {
      const changed = (above[column - 1] as number) + (character === b[column - 1] ? 0 : 1);
      line.push(Math.min(changed, (above[column] as number) + 1, (line[column - 1] as number) + 1));
    }
    above = line;
  }
  return above[b.length] as number;
};
