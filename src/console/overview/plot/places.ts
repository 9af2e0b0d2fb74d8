/** Where things stand in a chart, in pixels from the left and the top of its plot. Pure. */

export interface Flag {
  /** Unix seconds. */
  readonly at: number;
  /** A revision. */
  readonly text: string;
  readonly isCanary: boolean;
  readonly href: string;
  /** The publication in words. */
  readonly title?: string | undefined;
}

export interface Span {
  /** Unix seconds. */
  readonly from: number;
  readonly to: number;
}

export const leftOf = (at: number, { from, to }: Span, width: number): number =>
  to === from ? 0 : ((at - from) / (to - from)) * width;

export const timeAt = (left: number, { from, to }: Span, width: number): number =>
  from + (Math.min(Math.max(left, 0), width) / Math.max(1, width)) * (to - from);

/** Index of the time that is nearest. */
export function nearest(at: readonly number[], time: number): number {
  const after = at.findIndex((each) => each >= time);
  if (after <= 0) return after === 0 ? 0 : at.length - 1;
  const before = after - 1;
  return time - (at[before] ?? 0) <= (at[after] ?? 0) - time ? before : after;
}

/** About as wide as a flag is: digits of 11 px and its sides, and no less than a finger needs. */
const flagWidth = (text: string): number => Math.max(26, text.length * 7 + 14);

export interface PlacedFlag {
  readonly left: number;
  readonly text: string;
  /** All of them are canaries. */
  readonly isCanary: boolean;
  readonly href: string;
  readonly title: string;
}

interface Joined extends PlacedFlag {
  readonly first: string;
}

/** Flags that would cover each other become one: `41–42`. None reaches beyond the plot. */
export function placeFlags(flags: readonly Flag[], span: Span, width: number): readonly PlacedFlag[] {
  const joined: Joined[] = [];
  const shown = flags.filter(({ at }) => at >= span.from && at <= span.to).toSorted((a, b) => a.at - b.at);
  for (const { at, text, isCanary, href, title = "" } of shown) {
    let own: Joined = {
      left: withinPlot(leftOf(at, span, width), text, width),
      first: text,
      text,
      isCanary,
      href,
      title,
    };
    // One that grew, or that was moved in from the edge, may cover the one before it.
    for (
      let last = joined.at(-1);
      last !== undefined && own.left < last.left + flagWidth(last.text);
      last = joined.at(-1)
    ) {
      joined.pop();
      const both = `${last.first}–${text}`;
      own = {
        left: withinPlot(last.left, both, width),
        first: last.first,
        text: both,
        isCanary: last.isCanary && own.isCanary,
        href,
        title: [last.title, own.title].filter((each) => each !== "").join("; "),
      };
    }
    joined.push(own);
  }
  return joined.map(({ first, ...flag }) => flag);
}

const withinPlot = (left: number, text: string, width: number): number =>
  Math.max(0, Math.min(left, width - flagWidth(text)));

/** The same places, moved apart so far that none covers another; in the order that they came in. */
export function moveApart(tops: readonly number[], gap: number, most: number): readonly number[] {
  const order = tops.map((top, place) => ({ top, place })).toSorted((a, b) => a.top - b.top || a.place - b.place);
  let least = 0;
  const down = order.map(({ top, place }) => {
    const own = Math.max(top, least);
    least = own + gap;
    return { top: own, place };
  });
  let limit = most;
  const placed = down.toReversed().map(({ top, place }) => {
    const own = Math.min(top, limit);
    limit = own - gap;
    return { top: own, place };
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ top }) => top);
}

/** The upper end of an axis: a little above the highest value within the span. */
export function topOf(
  at: readonly number[],
  lines: readonly { readonly values: readonly (number | null)[] }[],
  { from, to }: Span,
): number {
  let most = 0;
  for (const { values } of lines) {
    for (const [place, value] of values.entries()) {
      const time = at[place] ?? 0;
      if (value !== null && value > most && time >= from && time <= to) most = value;
    }
  }
  return (most > 0 ? most : 1) * 1.1;
}
