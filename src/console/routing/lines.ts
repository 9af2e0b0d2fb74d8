/** Lines of texts. */

/** More changes are not told apart: the rest of the text stands for them. */
const CHANGES_MAX = 2_000;

/** How many lines of the texts differ, at most of the longer one. By the greedy algorithm of Myers (1986), without the path. */
export function changedLines(before: string, after: string): number {
  if (before === after) return 0;
  const [a, b] = trimmed(before.split("\n"), after.split("\n"));
  const changes = distance(a, b);
  return changes === undefined ? Math.max(a.length, b.length) : (changes + Math.abs(a.length - b.length)) / 2;
}

/** Without the lines that both begin and end with. */
function trimmed(a: readonly string[], b: readonly string[]): readonly [readonly string[], readonly string[]] {
  const most = Math.min(a.length, b.length);
  let from = 0;
  while (from < most && a[from] === b[from]) from++;
  let end = 0;
  while (end < most - from && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return [a.slice(from, a.length - end), b.slice(from, b.length - end)];
}

/** Lines that go and lines that come, together; `undefined` beyond the limit. */
function distance(a: readonly string[], b: readonly string[]): number | undefined {
  const furthest = new Map<number, number>([[1, 0]]);
  for (let changes = 0; changes <= CHANGES_MAX; changes++) {
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      const [down = -1, right = -1] = [furthest.get(diagonal + 1), furthest.get(diagonal - 1)];
      const isDown = diagonal === -changes || (diagonal !== changes && right < down);
      let x = isDown ? down : right + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      if (x >= a.length && x - diagonal >= b.length) return changes;
      furthest.set(diagonal, x);
    }
  }
  return undefined;
}

/** From 1. */
export function lineAndColumn(text: string, offset: number): readonly [line: number, column: number] {
  const lines = text.slice(0, offset).split("\n");
  return [lines.length, (lines.at(-1)?.length ?? 0) + 1];
}
