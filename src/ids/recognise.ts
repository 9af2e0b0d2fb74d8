import type { Field, Layout, ParseError, Words } from "./layout.ts";
import { isoTime } from "./minted-at.ts";

/** IDs of a layout are minted inside of this: from a fixed instant until so long after now. Both ends belong to it. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly aheadMs: number;
}

/** 2000-01-01 until tomorrow: wide enough for imported history and for clocks that are fast. */
export const DEFAULT_WINDOW: TimeWindow = { fromMs: Date.UTC(2000, 0, 1), aheadMs: 24 * 60 * 60 * 1000 };

/** A layout to try, and when its IDs are minted. Without a window: `DEFAULT_WINDOW`. */
export interface Recognisable {
  readonly layout: Layout;
  readonly window?: TimeWindow | undefined;
}

/** One layout that can read the text. Each reason is a sentence without its full stop. */
export interface Reading {
  readonly layout: Layout;
  readonly words: Words;
  readonly for: readonly string[];
  readonly against: readonly string[];
  /** Whether a reason against it rules it out: wrong fixed bits, or minted outside of the window. */
  readonly excluded: boolean;
}

/** What a text may be: both lists have the most fixed bits first, then the order in which the layouts were given. */
export interface Recognition {
  readonly readings: readonly Reading[];
  /** The layouts whose text form the text has not. */
  readonly unreadable: readonly { readonly layout: Layout; readonly error: ParseError }[];
}

/** Every layout that can read a text, with what speaks for and against each. Nothing is chosen and nothing is guessed. */
export const recognise = (text: string, layouts: readonly Recognisable[], nowMs: number): Recognition => {
  const readings: Reading[] = [];
  const unreadable: { layout: Layout; error: ParseError }[] = [];
  for (const { layout, window } of layouts.toSorted((a, b) => b.layout.fixedBits - a.layout.fixedBits)) {
    const words = layout.parseText(text);
    if (words.ok) readings.push(weigh(layout, words.value, window ?? DEFAULT_WINDOW, nowMs));
    else unreadable.push({ layout, error: words.error });
  }
  return { readings, unreadable };
};

const weigh = (layout: Layout, words: Words, window: TimeWindow, nowMs: number): Reading => {
  const fixed = layout.fields.filter((field) => field.role === "fixed");
  const wrong = fixed.filter((field) => field.read(words) !== field.read(layout.fixed.value));
  const time = weighTime(layout, words, window, nowMs);
  const unmarked = fixed.length === 0 ? [`no bit marks an ID of layout ${layout.name}`] : [];
  return {
    layout,
    words,
    for: [
      ...fixed
        .filter((field) => !wrong.includes(field))
        .map((field) => `${nameValue(field, words)} as in every ${layout.name}`),
      ...time.for,
    ],
    against: [
      ...wrong.map(
        (field) => `${nameValue(field, words)}, but every ${layout.name} has ${field.read(layout.fixed.value)}`,
      ),
      ...time.against,
      ...unmarked,
    ],
    excluded: wrong.length > 0 || time.against.length > 0,
  };
};

const nameValue = (field: Field, words: Words): string => `${field.name} is ${field.read(words)}`;

const weighTime = (
  { mintedAtMs }: Layout,
  words: Words,
  { fromMs, aheadMs }: TimeWindow,
  nowMs: number,
): Pick<Reading, "for" | "against"> => {
  if (mintedAtMs === undefined) return { for: [], against: [] };
  const mintedMs = mintedAtMs(words);
  const untilMs = nowMs + aheadMs;
  const minted = `minted at ${nameTime(mintedMs)}`;
  if (mintedMs < fromMs) return { for: [], against: [`${minted}, before ${nameTime(fromMs)}`] };
  if (mintedMs > untilMs) return { for: [], against: [`${minted}, after ${nameTime(untilMs)}`] };
  return { for: [`${minted}, between ${nameTime(fromMs)} and ${nameTime(untilMs)}`], against: [] };
};

const nameTime = (unixMs: number): string => isoTime(unixMs) ?? `Unix millisecond ${unixMs}`;
