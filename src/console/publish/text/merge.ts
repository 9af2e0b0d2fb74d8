import { canonical } from "../../../routing/diff/key-space.ts";
import { plainJson } from "../../../routing/index.ts";
import { pointerTo } from "../../../routing/schema/faults.ts";
import { parseTableText } from "../../../routing/schema/parse.ts";
import { editedTo } from "./json-edit.ts";
import { type Hunk, hunksOf } from "./sequences.ts";

/** Two changes of one table, put together. Both changed the same place: a person decides, and nothing is guessed. Pure. */

export type Side = "mine" | "theirs";

/** A place that both changed, each to something else. */
export interface Conflict {
  /** Names the place for `chosen`. */
  readonly id: string;
  /** JSON pointer of the value; in a list, of its first element that differs, in the newer text. */
  readonly pointer: string;
  /** JSON, elements of a list by commas; empty where a side has removed it. */
  readonly mine: string;
  readonly theirs: string;
}

export interface Merged {
  /**
   * `theirs` with the changes from `base` to `mine`; where sides are not chosen yet, it is as `theirs`. The text of `mine` is the one
   * that is edited where it has comments.
   */
  readonly text: string;
  readonly conflicts: readonly Conflict[];
}

/** `undefined` where one of the texts is no JSON. */
export function mergeTexts(
  base: string,
  mine: string,
  theirs: string,
  chosen: ReadonlyMap<string, Side> = new Map(),
): Merged | undefined {
  const [before, own, other] = [base, mine, theirs].map((text) => parseTableText(plainJson(text)));
  if (!before?.ok || !own?.ok || !other?.ok) return undefined;
  const context: Context = { chosen, conflicts: [] };
  const merged = mergeValues(context, [], { base: before.value, mine: own.value, theirs: other.value });
  // A published text has no comments. Those of the draft stay.
  const text = plainJson(mine) === mine ? editedTo(theirs, other.value, merged) : editedTo(mine, own.value, merged);
  return { text, conflicts: context.conflicts };
}

interface Context {
  readonly chosen: ReadonlyMap<string, Side>;
  readonly conflicts: Conflict[];
}

type Path = readonly (string | number)[];

interface Three<Value = unknown> {
  readonly base: Value;
  readonly mine: Value;
  readonly theirs: Value;
}

/** A member that a side does not have is `undefined`. */
function mergeValues(context: Context, path: Path, three: Three): unknown {
  const { base, mine, theirs } = three;
  const [was, own, other] = [base, mine, theirs].map(textOf);
  if (own === other || was === own) return theirs;
  if (was === other) return mine;
  if (isObject(base) && isObject(mine) && isObject(theirs)) return mergeMembers(context, path, { base, mine, theirs });
  if (Array.isArray(base) && Array.isArray(mine) && Array.isArray(theirs))
    return mergeElements(context, path, { base, mine, theirs });
  return choose(context, path, three, shownText);
}

const textOf = (value: unknown): string => (value === undefined ? "" : canonical(value));

/** In the order of its text. */
const shownText = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value));

function choose<Value>(
  { chosen, conflicts }: Context,
  path: Path,
  { base, mine, theirs }: Three<Value>,
  write: (value: Value) => string,
): Value {
  const pointer = pointerTo(path);
  const conflict = { pointer, mine: write(mine), theirs: write(theirs) };
  // Another revision that comes meanwhile must not take an answer that was given to other values.
  const id = [pointer, write(base), conflict.mine, conflict.theirs].join("\n");
  conflicts.push({ id, ...conflict });
  return chosen.get(id) === "mine" ? mine : theirs;
}

type Members = Readonly<Record<string, unknown>>;

function mergeMembers(context: Context, path: Path, { base, mine, theirs }: Three<Members>): Members {
  const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
  const entries = [...names].flatMap((name) => {
    const of = (members: Members) => (Object.hasOwn(members, name) ? members[name] : undefined);
    const value = mergeValues(context, [...path, name], { base: of(base), mine: of(mine), theirs: of(theirs) });
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

type Elements = readonly unknown[];

/** Stretches that one side changed are that side's. Changes that touch are one place: in a list, what is next to what counts. */
function mergeElements(context: Context, path: Path, { base, mine, theirs }: Three<Elements>): Elements {
  const texts = base.map(canonical);
  const own = hunksOf(texts, mine.map(canonical));
  const others = hunksOf(texts, theirs.map(canonical));
  if (isMoved({ texts, mine: mine.map(canonical), theirs: theirs.map(canonical) }, own, others))
    return choose(context, path, { base, mine, theirs }, shownList);
  const merged: unknown[] = [];
  let at = 0;
  for (const { from, to, mine: left, theirs: right } of stretchesOf(own, others)) {
    merged.push(...base.slice(at, from));
    const was = base.slice(from, to);
    const [inMine, inTheirs] = [partOf(mine, left, from, to), partOf(theirs, right, from, to)];
    if (right.length === 0) merged.push(...inMine);
    else if (left.length === 0 || listText(inMine) === listText(inTheirs)) merged.push(...inTheirs);
    else {
      const place = [...path, right[0]?.afterAt ?? from];
      merged.push(...choose(context, place, { base: was, mine: inMine, theirs: inTheirs }, shownList));
    }
    at = to;
  }
  return [...merged, ...base.slice(at)];
}

/** Whether a side puts an element at another place that the other side changes too: no stretch would show it. */
function isMoved(
  { texts, mine, theirs }: { texts: readonly string[]; mine: readonly string[]; theirs: readonly string[] },
  own: readonly Hunk[],
  others: readonly Hunk[],
): boolean {
  const touchedBy = (side: readonly string[], hunks: readonly Hunk[]): Touched => {
    const gone = new Set(hunks.flatMap(({ at, end }) => texts.slice(at, end)));
    const come = new Set(hunks.flatMap(({ afterAt, afterEnd }) => side.slice(afterAt, afterEnd)));
    return { touched: gone.union(come), moved: gone.intersection(come) };
  };
  const left = touchedBy(mine, own);
  const right = touchedBy(theirs, others);
  return !(left.moved.isDisjointFrom(right.touched) && right.moved.isDisjointFrom(left.touched));
}

interface Touched {
  readonly touched: ReadonlySet<string>;
  readonly moved: ReadonlySet<string>;
}

const shownList = (elements: Elements): string => elements.map(shownText).join(",\n");

const listText = (elements: Elements): string => elements.map(canonical).join(", ");

interface Stretch {
  from: number;
  to: number;
  readonly mine: Hunk[];
  readonly theirs: Hunk[];
}

function stretchesOf(mine: readonly Hunk[], theirs: readonly Hunk[]): readonly Stretch[] {
  const all = [
    ...mine.map((hunk) => ({ hunk, side: "mine" as const })),
    ...theirs.map((hunk) => ({ hunk, side: "theirs" as const })),
  ].toSorted((a, b) => a.hunk.at - b.hunk.at || a.hunk.end - b.hunk.end);
  const stretches: Stretch[] = [];
  for (const { hunk, side } of all) {
    let last = stretches.at(-1);
    if (last === undefined || hunk.at > last.to) {
      last = { from: hunk.at, to: hunk.end, mine: [], theirs: [] };
      stretches.push(last);
    }
    last.to = Math.max(last.to, hunk.end);
    last[side].push(hunk);
  }
  return stretches;
}

/** Elements of one side for a stretch of the base: around its hunks they are those of the base. */
function partOf(side: Elements, hunks: readonly Hunk[], from: number, to: number): Elements {
  const [first] = hunks;
  const last = hunks.at(-1);
  if (first === undefined || last === undefined) return [];
  return side.slice(first.afterAt - (first.at - from), last.afterEnd + (to - last.end));
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
