import type { Field, Layout, ParseError, TextForm, Words } from "./layout.ts";
import { isoTime } from "./minted-at.ts";

/** IDs of a layout are minted inside of this: from a fixed instant until so long after now. Both ends belong to it. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly aheadMs: number;
}

/** 2000-01-01 until tomorrow: wide enough for imported history and for clocks that are fast. */
export const DEFAULT_WINDOW: TimeWindow = { fromMs: 946_684_800_000, aheadMs: 86_400_000 };

/** A layout to try, and when its IDs are minted. Without a window: `DEFAULT_WINDOW`. */
export interface Recognisable {
  readonly layout: Layout;
  readonly window?: TimeWindow | undefined;
  /** Whether the place of the text names this layout, so that digits alone may be read in its other numerals. */
  readonly named?: boolean;
}

/** One layout that can read the text. Each reason is a sentence without its full stop. */
export interface Reading {
  readonly layout: Layout;
  /** The text form in which the text was read. */
  readonly form: string;
  readonly words: Words;
  readonly for: readonly string[];
  readonly against: readonly string[];
  /** Whether a reason against it rules it out: wrong fixed bits, a value out of range, digits that are a decimal, or a time outside of the window. */
  readonly excluded: boolean;
}

/** What a text may be: both lists have the most fixed bits first, then the order in which the layouts were given. */
export interface Recognition {
  readonly readings: readonly Reading[];
  /** The layouts whose text form the text has not. */
  readonly unreadable: readonly { readonly layout: Layout; readonly error: ParseError }[];
}

/** Every layout and text form that can read a text, with what speaks for and against each. Nothing is chosen and nothing is guessed. */
export const recognise = (text: string, layouts: readonly Recognisable[], nowMs: number): Recognition => {
  const readings: Reading[] = [];
  const unreadable: { layout: Layout; error: ParseError }[] = [];
  for (const enabled of layouts.toSorted((a, b) => b.layout.fixedBits - a.layout.fixedBits)) {
    const { layout } = enabled;
    const own = layout.texts.flatMap((form) => {
      const words = form.read(text, 0, text.length);
      return words === undefined ? [] : [weigh(enabled, form, words, text, nowMs)];
    });
    const canonical = own.length === 0 ? layout.parseText(text) : undefined;
    if (canonical !== undefined && !canonical.ok) unreadable.push({ layout, error: canonical.error });
    readings.push(...own);
  }
  return { readings, unreadable };
};

/** What a recognition leaves: one reading, several that nothing tells apart, or none. */
export type Choice =
  | { readonly kind: "one"; readonly reading: Reading }
  | { readonly kind: "ambiguous"; readonly readings: readonly Reading[] }
  | { readonly kind: "none" };

/**
 * The reading that is left when all others are excluded. Of several, the first layout of `priority`, which the configuration
 * fixes; never the likeliest.
 */
export const choose = ({ readings }: Recognition, priority: readonly string[] = []): Choice => {
  const left = readings.filter(({ excluded }) => !excluded);
  const [only] = left;
  if (only === undefined) return { kind: "none" };
  if (left.length === 1) return { kind: "one", reading: only };
  const preferred = priority.find((name) => left.some(({ layout }) => layout.name === name));
  const own = left.filter(({ layout }) => layout.name === preferred);
  return own.length === 1 ? { kind: "one", reading: own[0] as Reading } : { kind: "ambiguous", readings: left };
};

const weigh = (
  { layout, window = DEFAULT_WINDOW, named = false }: Recognisable,
  form: TextForm,
  words: Words,
  text: string,
  nowMs: number,
): Reading => {
  const fixed = layout.fields.filter((field) => field.role === "fixed");
  const wrong = fixed.filter((field) => field.read(words) !== field.read(layout.fixed.value));
  const time = weighTime(layout, words, window, nowMs);
  const range = wrong.length === 0 ? weighRange(layout, words) : [];
  const digits = named ? [] : weighDigits(form, text);
  const unmarked = fixed.length === 0 ? [`no bit marks an ID of layout ${layout.name}`] : [];
  return {
    layout,
    form: form.name,
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
      ...range,
      ...digits,
      ...time.against,
      ...unmarked,
    ],
    excluded: wrong.length + range.length + digits.length + time.against.length > 0,
  };
};

const weighRange = (layout: Layout, words: Words): readonly string[] => {
  const fault = layout.misfit(words);
  if (fault?.reason !== "range") return [];
  return [`${fault.field ?? "the value"} is outside of ${fault.min} to ${fault.max}, as in no ${layout.name}`];
};

/** Forms whose texts are decimals anyway, or that digits alone cannot be in. */
const DECIMAL_FORMS: readonly string[] = ["decimal", "longs"];

const weighDigits = ({ name }: TextForm, text: string): readonly string[] =>
  DECIMAL_FORMS.includes(name) || !/^[0-9]+$/.test(text) ? [] : [`digits alone are a decimal, and not ${name}`];

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
