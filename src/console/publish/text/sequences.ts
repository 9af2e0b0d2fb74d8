/** The difference of two lists of texts, by the greedy algorithm of Myers (1986). Pure. */

/** `before` from `at` to `end` becomes `after` from `afterAt` to `afterEnd`: one of the two may be empty. */
export interface Hunk {
  readonly at: number;
  readonly end: number;
  readonly afterAt: number;
  readonly afterEnd: number;
}

/** Beyond this many differences the rest is one hunk: the way back through them takes memory by their square. */
const DISTANCE_MAX = 1_000;

/** Hunks in order; they neither touch nor overlap. */
export function hunksOf(before: readonly string[], after: readonly string[]): readonly Hunk[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = before.length;
  let afterEnd = after.length;
  while (end > start && afterEnd > start && before[end - 1] === after[afterEnd - 1]) {
    end--;
    afterEnd--;
  }
  if (start === end && start === afterEnd) return [];
  if (start === end || start === afterEnd) return [{ at: start, end, afterAt: start, afterEnd }];
  const [left, right] = numbered(before.slice(start, end), after.slice(start, afterEnd));
  return joined(stepsOf(left, right)).map((hunk) => ({
    at: hunk.at + start,
    end: hunk.end + start,
    afterAt: hunk.afterAt + start,
    afterEnd: hunk.afterEnd + start,
  }));
}

/** Numbers compare faster than texts. */
function numbered(before: readonly string[], after: readonly string[]): readonly [Int32Array, Int32Array] {
  const known = new Map<string, number>();
  const numbersOf = (texts: readonly string[]) =>
    Int32Array.from(texts, (text) => {
      const number = known.get(text) ?? known.size;
      known.set(text, number);
      return number;
    });
  return [numbersOf(before), numbersOf(after)];
}

/** Single removals and insertions, in order. */
function stepsOf(before: Int32Array, after: Int32Array): readonly Hunk[] {
  const most = Math.min(before.length + after.length, DISTANCE_MAX);
  const middle = most + 1;
  const furthest = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let distance = 0; distance <= most; distance++) {
    trace.push(furthest.slice(middle - distance - 1, middle + distance + 2));
    for (let line = -distance; line <= distance; line += 2) {
      const isDown =
        line === -distance || (line !== distance && at(furthest, middle + line - 1) < at(furthest, middle + line + 1));
      let x = isDown ? at(furthest, middle + line + 1) : at(furthest, middle + line - 1) + 1;
      let y = x - line;
      while (x < before.length && y < after.length && before[x] === after[y]) {
        x++;
        y++;
      }
      furthest[middle + line] = x;
      if (x >= before.length && y >= after.length) return wayBack(trace, before.length, after.length);
    }
  }
  return [{ at: 0, end: before.length, afterAt: 0, afterEnd: after.length }];
}

const at = (numbers: Int32Array, place: number): number => numbers[place] as number;

function wayBack(trace: readonly Int32Array[], length: number, afterLength: number): readonly Hunk[] {
  const steps: Hunk[] = [];
  let x = length;
  let y = afterLength;
  for (let distance = trace.length - 1; distance > 0; distance--) {
    const known = trace[distance] as Int32Array;
    const middle = distance + 1;
    const line = x - y;
    const isDown =
      line === -distance || (line !== distance && at(known, middle + line - 1) < at(known, middle + line + 1));
    const from = isDown ? line + 1 : line - 1;
    const startX = at(known, middle + from);
    const startY = startX - from;
    steps.push(
      isDown
        ? { at: startX, end: startX, afterAt: startY, afterEnd: startY + 1 }
        : { at: startX, end: startX + 1, afterAt: startY, afterEnd: startY },
    );
    x = startX;
    y = startY;
  }
  return steps.reverse();
}

function joined(steps: readonly Hunk[]): readonly Hunk[] {
  const hunks: Hunk[] = [];
  for (const step of steps) {
    const last = hunks.at(-1);
    if (last !== undefined && last.end === step.at && last.afterEnd === step.afterAt)
      hunks[hunks.length - 1] = { ...last, end: step.end, afterEnd: step.afterEnd };
    else hunks.push(step);
  }
  return hunks;
}
