import type { Field, Layout, ParseError, TextForm, Words } from "./layout/layout.ts";
import { isoTime } from "./layout/time.ts";
import { ofRole } from "./layout/words.ts";
import { textFault } from "./text/texts.ts";

/** The plausible minting times of a layout: from a fixed instant to an offset from now, both inclusive. */
export type TimeWindow = { readonly fromMs: number; readonly aheadMs: number };

/** From 2000-01-01 until tomorrow: allows imported data and fast clocks. */
export const DEFAULT_WINDOW: TimeWindow = { fromMs: 946_684_800_000, aheadMs: 86_400_000 };

/** A candidate layout and its time window, `DEFAULT_WINDOW` by default. */
export interface Recognisable {
  readonly layout: Layout;
  readonly window?: TimeWindow | undefined;
  /** Whether the text's position names this layout. All-digit texts then also match its other numerals. */
  readonly named?: boolean;
}

/** A layout and text form that can parse the text. Each reason is a sentence without a full stop. */
export interface Reading {
  readonly layout: Layout;
  readonly form: string;
  readonly words: Words;
  readonly for: readonly string[];
  readonly against: readonly string[];
  /** Whether a reason against it is decisive: wrong fixed bits, a value or a time out of range, or all-digit text. */
  readonly excluded: boolean;
}

/** All interpretations of a text. Both lists are sorted by fixed bits, descending, then by input order. */
export interface Recognition {
  readonly readings: readonly Reading[];
  /** Layouts with no text form that parses the text. */
  readonly unreadable: readonly { readonly layout: Layout; readonly error: ParseError }[];
}

/** Lists every layout and text form that can parse a text, with reasons for and against. It does not choose. */
export const recognise = (text: string, layouts: readonly Recognisable[], nowMs: number): Recognition => {
  const readings: Reading[] = [];
  const unreadable: { layout: Layout; error: ParseError }[] = [];
  for (const enabled of layouts.toSorted((a, b) => b.layout.fixedBits - a.layout.fixedBits)) {
    const { layout } = enabled;
    const own = layout.texts.flatMap((form) => {
      const words = form.read(text, 0, text.length);
      return words === undefined ? [] : [weigh(enabled, form, words, text, nowMs)];
    });
    const error = own.length === 0 ? textFault(layout, text) : undefined;
    if (error !== undefined) unreadable.push({ layout, error });
    readings.push(...own);
  }
  return { readings: readings.map((reading) => withoutOwnWord(reading, readings)), unreadable };
};

/** A layout without fixed bits and time reads every text of its form: it is out where another layout fits. */
const withoutOwnWord = (reading: Reading, readings: readonly Reading[]): Reading => {
  const { layout, excluded } = reading;
  const saysNothing = ({ layout: { fixedBits, mintedAtMs } }: Reading): boolean =>
    fixedBits === 0 && mintedAtMs === undefined;
  if (excluded || !saysNothing(reading)) return reading;
  const better = readings.find((other) => !other.excluded && !saysNothing(other));
  if (better === undefined) return reading;
  const against = [
    ...reading.against,
    `${better.layout.name} fits, and nothing in the text is of ${layout.name} alone`,
  ];
  return { ...reading, against, excluded: true };
};

/** The result of a recognition: one reading, several ambiguous ones, or none. */
export type Choice =
  | { readonly kind: "one"; readonly reading: Reading }
  | { readonly kind: "ambiguous"; readonly readings: readonly Reading[] }
  | { readonly kind: "none" };

/** The only reading not excluded; of several, that of the first layout of `priority`. Likelihood never counts. */
export const choose = ({ readings }: Recognition, priority: readonly string[] = []): Choice => {
  const left = readings.filter(({ excluded }) => !excluded);
  const [only] = left;
  if (only === undefined) return { kind: "none" };
  if (left.length === 1) return { kind: "one", reading: only };
  const preferred = priority.find((name) => left.some(({ layout }) => layout.name === name));
  const own = left.filter(({ layout }) => layout.name === preferred);
  return own.length === 1 ? { kind: "one", reading: own[0] as Reading } : { kind: "ambiguous", readings: left };
};

const weigh = (enabled: Recognisable, form: TextForm, words: Words, text: string, nowMs: number): Reading => {
  const { layout, window = DEFAULT_WINDOW, named = false } = enabled;
  const fixed = ofRole(layout.fields, "fixed");
  const { value } = layout.fixed;
  const right = fixed.filter((field) => field.read(words) === field.read(value));
  const wrong = fixed.filter((field) => field.read(words) !== field.read(value));
  const time = weighTime(layout, words, window, nowMs);
  const range = wrong.length === 0 ? weighRange(layout, words) : [];
  const digits = named ? [] : weighDigits(form, text);
  const unmarked = fixed.length === 0 ? [`layout ${layout.name} has no fixed bits`] : [];
  return {
    layout,
    form: form.name,
    words,
    for: [...right.map((field) => `${nameValue(field, words)} as in every ${layout.name}`), ...time.for],
    against: [
      ...wrong.map((field) => `${nameValue(field, words)}, but every ${layout.name} has ${field.read(value)}`),
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
  return [`${fault.field ?? "the value"} is outside ${fault.min} to ${fault.max}, the range of ${layout.name}`];
};

const DECIMAL_RADIX = 10;

const weighDigits = ({ name, numeral }: TextForm, text: string): readonly string[] =>
  (numeral?.digits.length ?? 0) <= DECIMAL_RADIX || !/^[0-9]+$/.test(text)
    ? []
    : [`digits alone are read as decimal, not ${name}`];

const nameValue = (field: Field, words: Words): string => `${field.name} is ${field.read(words)}`;

/** A time that no `number` holds exactly. */
const BEYOND = "a Unix millisecond beyond 2^53 - 1";

type Reasons = Pick<Reading, "for" | "against">;

const weighTime = ({ mintedAtMs }: Layout, words: Words, { fromMs, aheadMs }: TimeWindow, nowMs: number): Reasons => {
  if (mintedAtMs === undefined) return { for: [], against: [] };
  const mintedMs = mintedAtMs(words) ?? Number.POSITIVE_INFINITY;
  const untilMs = nowMs + aheadMs;
  const minted = `minted at ${nameTime(mintedMs)}`;
  if (mintedMs < fromMs) return { for: [], against: [`${minted}, before ${nameTime(fromMs)}`] };
  if (mintedMs > untilMs) return { for: [], against: [`${minted}, after ${nameTime(untilMs)}`] };
  if (Number.isNaN(fromMs) || Number.isNaN(untilMs))
    return { for: [], against: [`${minted}, with no window to compare it to`] };
  return { for: [`${minted}, between ${nameTime(fromMs)} and ${nameTime(untilMs)}`], against: [] };
};

const nameTime = (unixMs: number): string =>
  isoTime(unixMs) ?? (unixMs === Number.POSITIVE_INFINITY ? BEYOND : `Unix millisecond ${unixMs}`);
