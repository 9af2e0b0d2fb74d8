import type { Layout, TextForm } from "../ids/index.ts";
import { ticksIn, timeValue } from "../ids/time-units.ts";
import { HORIZON_MS } from "./limits.ts";
import { isPlausibleNumeral } from "./readings.ts";
import type { TimeWindow } from "./table.ts";

/** Texts of layouts, to see who else can read them. The same each time, so that a check says the same each time. */

const SAMPLES = 128;

/** A layout with the time in which its IDs are minted. */
export interface TimedLayout {
  readonly layout: Layout;
  readonly window: TimeWindow | undefined;
}

/** Times that double from the first one on, since texts of few digits are of the first days only. */
const DOUBLINGS = 42;

/** A text of a layout, in one of its forms. */
export interface SampleText {
  readonly text: string;
  readonly form: TextForm;
}

/** IDs of the layout in all of its text forms, over the times of its window: evenly, and denser towards the first. */
export function* sampleTexts(timed: TimedLayout): Generator<SampleText> {
  const { layout } = timed;
  const next = sequence();
  for (const unixMs of sampleTimes(timed)) {
    const words = randomWords(layout, next);
    if (unixMs !== undefined) setTime(layout, words, unixMs);
    if (!layout.fits(words)) continue;
    for (const form of layout.texts) yield { text: form.format(words), form };
  }
}

const sampleTimes = ({ layout, window }: TimedLayout): readonly (number | undefined)[] => {
  const row = layout.table.rows.find(({ role }) => role === "time");
  if (window === undefined || row?.role !== "time") return new Array<undefined>(SAMPLES).fill(undefined);
  const fromMs = Math.max(window.fromMs, row.epochMs);
  const spanMs = HORIZON_MS - fromMs;
  const even = Array.from({ length: SAMPLES }, (_, at) => fromMs + (spanMs * at) / SAMPLES);
  return [...even, ...Array.from({ length: DOUBLINGS }, (_, at) => fromMs + spanMs / 2 ** at)];
};

/** Whether both can read a text at some time until the horizon, and nothing in it says which one is meant. */
export const bothReadings = (a: TimedLayout, b: TimedLayout, text: string): boolean => {
  const [first, second] = [formsOf(a, text), formsOf(b, text)];
  if (first.length === 0 || second.length === 0) return false;
  const isUsual = (forms: readonly TextForm[]): boolean => forms.some((form) => isPlausibleNumeral(form, text));
  return isUsual(first) === isUsual(second);
};

/** The forms in which a text is an ID of the layout. */
const formsOf = ({ layout, window }: TimedLayout, text: string): readonly TextForm[] =>
  layout.texts.filter((form) => {
    const words = form.read(text, 0, text.length);
    if (words === undefined || !layout.fits(words)) return false;
    if (window === undefined || layout.mintedAtMs === undefined) return true;
    const mintedMs = layout.mintedAtMs(words);
    return mintedMs >= window.fromMs && mintedMs <= HORIZON_MS;
  });

const randomWords = ({ fields, fixed }: Layout, next: () => number): number[] => {
  const words = fixed.value.slice();
  for (const field of fields) {
    if (field.role === "fixed") continue;
    let value = 0n;
    for (let random = 0; random < field.bits; random += 32) value = (value << 32n) | BigInt(next());
    field.write(words, BigInt.asUintN(field.bits, value) % (BigInt(field.max) + 1n));
  }
  return words;
};

const setTime = (layout: Layout, words: number[], unixMs: number): void => {
  const row = layout.table.rows.find(({ role }) => role === "time");
  const field = row && layout.field(row.field);
  if (row?.role !== "time" || field === undefined) return;
  const value = timeValue(row.unit, ticksIn(row.unit, Math.floor(unixMs) - row.epochMs));
  if (value >= 0n && value <= BigInt(field.max)) field.write(words, value);
};

/** Numbers of 32 bits that look random (xorshift of G. Marsaglia, 2003). */
const sequence = (): (() => number) => {
  let state = 0x9e37_79b9;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
};
