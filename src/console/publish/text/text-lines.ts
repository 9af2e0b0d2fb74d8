import { type Hunk, hunksOf } from "./sequences.ts";

/** Lines of two texts, with those that went and came. Pure. */

export type Line =
  | { readonly is: "same" | "went" | "came"; readonly number: number; readonly text: string; readonly mark?: Mark }
  /** Lines in between that are the same. */
  | { readonly is: "cut"; readonly count: number };

/** The part of a line that differs from the one beside it. */
export interface Mark {
  readonly from: number;
  readonly to: number;
}

const AROUND = 2;

export interface TextDiff {
  readonly lines: readonly Line[];
  /** Lines that differ: a changed line counts once. */
  readonly differ: number;
}

export function diffTexts(before: string, after: string): TextDiff {
  const [left, right] = [before, after].map((text) => text.replace(/\n$/, "").split("\n")) as [string[], string[]];
  const hunks = hunksOf(left, right);
  const lines: Line[] = [];
  let differ = 0;
  /** The first line of the text after that is not shown yet. */
  let shown = 0;
  for (const [at, hunk] of hunks.entries()) {
    const from = Math.max(shown, hunk.afterAt - AROUND);
    if (from > shown) lines.push({ is: "cut", count: from - shown });
    const end = Math.min(hunk.afterEnd + AROUND, hunks[at + 1]?.afterAt ?? right.length);
    lines.push(
      ...sameLines(right, from, hunk.afterAt),
      ...changedLines(left, right, hunk),
      ...sameLines(right, hunk.afterEnd, end),
    );
    differ += Math.max(hunk.end - hunk.at, hunk.afterEnd - hunk.afterAt);
    shown = end;
  }
  if (lines.length > 0 && shown < right.length) lines.push({ is: "cut", count: right.length - shown });
  return { lines, differ };
}

const sameLines = (texts: readonly string[], from: number, to: number): readonly Line[] =>
  texts.slice(from, to).map((text, at) => ({ is: "same", number: from + at + 1, text }));

function changedLines(
  left: readonly string[],
  right: readonly string[],
  { at, end, afterAt, afterEnd }: Hunk,
): readonly Line[] {
  const [went, came] = [left.slice(at, end), right.slice(afterAt, afterEnd)];
  const isPaired = went.length === came.length;
  return [
    ...went.map(
      (text, step): Line => ({ is: "went", number: at + step + 1, text, ...(isPaired && markOf(text, came[step])) }),
    ),
    ...came.map(
      (text, step): Line => ({
        is: "came",
        number: afterAt + step + 1,
        text,
        ...(isPaired && markOf(text, went[step])),
      }),
    ),
  ];
}

function markOf(text: string, other = ""): { readonly mark: Mark } {
  const most = Math.min(text.length, other.length);
  let from = 0;
  while (from < most && text[from] === other[from]) from++;
  let end = 0;
  while (end < most - from && text[text.length - 1 - end] === other[other.length - 1 - end]) end++;
  return { mark: { from, to: text.length - end } };
}
