import type { Layout, Row, TextForm, Words } from "../../ids/index.ts";
import { ticksIn, timeRowOf, timeValue } from "../../ids/layout/time.ts";
import { HORIZON_MS } from "../limits.ts";
import { isInWindow, isPlausibleNumeral } from "../resolve/match.ts";
import type { TimedLayout } from "../table.ts";
import { readingsOf } from "./fields.ts";

/** Sample texts of layouts, to find which others can parse them. They are the same each time, and so are the faults. */
const SAMPLES = 128;

/** Times that double from the first one on: texts of few digits occur in the first days only. */
const DOUBLINGS = 42;

type SampleText = { readonly text: string; readonly form: TextForm };

/** IDs of the layout in all of its text forms. Their times are spread over its window, and denser at its start. */
function* sampleTexts(timed: TimedLayout): Generator<SampleText> {
  const { layout } = timed;
  const next = sequence();
  for (const unixMs of sampleTimes(timed)) {
    const words = randomWords(layout, next);
    if (unixMs !== undefined) setTime(layout, words, unixMs);
    if (!layout.fits(words)) continue;
    for (const form of layout.texts) yield { text: form.format(words), form };
  }
}

const sampleTimes = (timed: TimedLayout): readonly (number | undefined)[] => {
  const even = evenTimes(timed, SAMPLES);
  const [fromMs] = even;
  if (fromMs === undefined) return even;
  const spanMs = HORIZON_MS - fromMs;
  return [...even, ...Array.from({ length: DOUBLINGS }, (_, at) => fromMs + spanMs / 2 ** at)];
};

const evenTimes = ({ layout, window }: TimedLayout, count: number): readonly (number | undefined)[] => {
  const row = timeRowOf(layout.table);
  if (window === undefined || row === undefined) return new Array<undefined>(count).fill(undefined);
  const fromMs = Math.max(window.fromMs, row.epochMs);
  const spanMs = HORIZON_MS - fromMs;
  return Array.from({ length: count }, (_, at) => fromMs + (spanMs * at) / count);
};

/** Whether some text until the horizon fits both, and nothing in it tells them apart. */
export const bothReadings = (a: TimedLayout, b: TimedLayout, text: string): boolean => {
  const first = formsOf(a, text);
  const second = formsOf(b, text);
  if (first.length === 0 || second.length === 0) return false;
  const isUsual = (forms: readonly TextForm[]): boolean => forms.some((form) => isPlausibleNumeral(form, text));
  return isUsual(first) === isUsual(second);
};

const formsOf = (timed: TimedLayout, text: string): readonly TextForm[] => {
  const lastMs = HORIZON_MS - (timed.window?.aheadMs ?? 0);
  return readingsOf(timed.layout, text).flatMap(({ form, words }) =>
    timed.layout.fits(words) && isInWindow(timed, words, lastMs) ? [form] : [],
  );
};

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
  const row = timeRowOf(layout.table);
  const field = row && layout.field(row.field);
  if (row === undefined || field === undefined) return;
  const value = timeValue(row.unit, ticksIn(row.unit, Math.floor(unixMs) - row.epochMs));
  if (value >= 0n && value <= BigInt(field.max)) field.write(words, value);
};

/** Pseudo-random numbers of 32 bits (xorshift of G. Marsaglia, 2003). */
const sequence = (): (() => number) => {
  let state = 0x9e37_79b9;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
};

/** Texts that may be IDs of both: samples of each, and samples whose characters are replaced by those that both forms allow. */
function* commonTexts(a: TimedLayout, b: TimedLayout): Generator<string> {
  const own = [...sampleTexts(a)];
  const others = [...sampleTexts(b)];
  for (const { text } of own) yield text;
  for (const { text } of others) yield text;
  yield* adapted(own, others);
  yield* adapted(others, own);
}

/** A pair of forms is given up after this many samples of one without a text of the other. */
const FAILURES_MAX = 4;

function* adapted(samples: readonly SampleText[], others: readonly SampleText[]): Generator<string> {
  const forms = [...new Set(samples.map(({ form }) => form))];
  const otherForms = [...new Set(others.map(({ form }) => form))];
  for (const form of forms) {
    for (const other of otherForms) {
      if (other === form) continue;
      const lengths = new Set(others.filter(({ form }) => form === other).map(({ text }) => text.length));
      let failures = 0;
      for (const [turn, sample] of samples.entries()) {
        if (sample.form !== form || !lengths.has(sample.text.length) || failures > FAILURES_MAX) continue;
        const both = adapt(sample.text, form, other, turn);
        if (both === undefined) failures++;
        else yield both;
      }
    }
  }
}

/** The digits of a form, in both cases where it reads both. */
const charactersOf = ({ numeral }: TextForm): string => {
  const { digits = "", folded } = numeral ?? {};
  return folded ? [...new Set(digits.toLowerCase() + digits.toUpperCase())].join("") : digits;
};

/** A text that both forms parse, close to the given one; `turn` varies the replacements. */
const adapt = (given: string, form: TextForm, other: TextForm, turn: number): string | undefined => {
  let text = given;
  let at = placeOfFault(other, text);
  while (at !== undefined && at < text.length) {
    const better = replaceAt(text, at, form, other, turn + at);
    if (better === undefined) return undefined;
    text = better;
    at = placeOfFault(other, text);
  }
  return at === undefined ? undefined : text;
};

const replaceAt = (text: string, at: number, form: TextForm, other: TextForm, turn: number): string | undefined => {
  const characters = charactersOf(form);
  for (let step = 0; step < characters.length; step++) {
    const character = characters.charAt((turn + step) % characters.length);
    const better = text.slice(0, at) + character + text.slice(at + 1);
    if (form.read(better, 0, better.length) === undefined) continue;
    if ((placeOfFault(other, better) ?? 0) > at) return better;
  }
  return undefined;
};

/** Index of the first wrong character, or the length; `undefined` where no single character is wrong. */
const placeOfFault = (form: TextForm, text: string): number | undefined => {
  const parsed = form.parse(text);
  if (parsed.ok) return text.length;
  return "at" in parsed.error ? parsed.error.at : undefined;
};

/** Two layouts can parse the same text: one of these, where the search found one. */
export type Overlap = { readonly example: string | undefined };

/** Layouts of one text form are told apart by fixed bits or leading times. Others overlap only if a common text is found. */
export const overlapOf = (a: TimedLayout, b: TimedLayout): Overlap | undefined => {
  const forms = a.layout.texts;
  const otherForms = b.layout.texts;
  const isApart = fixedBitsDiffer(a.layout, b.layout) || beginningsDiffer(a, b);
  const isShared = !isApart && forms.some((form) => otherForms.includes(form));
  if (isApart && forms.length === 1 && otherForms.length === 1 && forms[0] === otherForms[0]) return undefined;
  for (const example of commonTexts(a, b)) if (bothReadings(a, b, example)) return { example };
  return isShared ? { example: undefined } : undefined;
};

/** More than of two layouts, since the fixed bits of a layout exclude most chance readings of its own texts. */
const OWN_SAMPLES = 512;

/** A text of a layout's ID that another of its texts reads as another ID: with the places of both among the texts. */
export interface OwnOverlap {
  readonly example: string;
  readonly of: number;
  readonly as: number;
}

/** Only IDs over the whole of the time are tried: decimals of the first days have few digits, and may be anything. */
export const ownOverlapOf = (timed: TimedLayout): OwnOverlap | undefined => {
  const { layout } = timed;
  const { texts } = layout;
  if (texts.length < 2) return undefined;
  const next = sequence();
  for (const unixMs of evenTimes(timed, OWN_SAMPLES)) {
    const words = randomWords(layout, next);
    if (unixMs !== undefined) setTime(layout, words, unixMs);
    if (!layout.fits(words)) continue;
    for (const [of, form] of texts.entries()) {
      const example = form.format(words);
      const other = formsOf(timed, example).find(
        (each) => each !== form && isOther(each, example, words) && isPlausibleNumeral(each, example),
      );
      if (other !== undefined && isPlausibleNumeral(form, example)) return { example, of, as: texts.indexOf(other) };
    }
  }
  return undefined;
};

const isOther = (form: TextForm, text: string, words: Words): boolean =>
  form.read(text, 0, text.length)?.some((word, at) => word !== words[at]) === true;

/** Whether fixed bits tell every ID of one layout from every ID of the other. */
export const fixedBitsDiffer = ({ fixed: a }: Layout, { fixed: b }: Layout): boolean =>
  a.mask.some(
    (bits, at) => (bits & (b.mask[at] as number) & ((a.value[at] as number) ^ (b.value[at] as number))) !== 0,
  );

/** Whether the leading bits of the two never agree, as far as their bytes have the same order. */
const beginningsDiffer = (a: TimedLayout, b: TimedLayout): boolean => {
  const first = beginningOf(a);
  const second = beginningOf(b);
  const bits = Math.min(first.bits, second.bits, commonBits(a.layout, b.layout));
  const cut = ({ low, high, bits: own }: Beginning) => [low >> BigInt(own - bits), high >> BigInt(own - bits)] as const;
  const [low, high] = cut(first);
  const [otherLow, otherHigh] = cut(second);
  return high < otherLow || otherHigh < low;
};

/** How many leading bits of the rows have the same places in both texts. */
const commonBits = (a: Layout, b: Layout): number => {
  const placeOf = ({ table }: Layout, byte: number): number => table.octetOrder?.[byte] ?? byte;
  const bytes = Math.ceil(a.table.text.bits / 8);
  for (let byte = 0; byte < bytes; byte++) if (placeOf(a, byte) !== placeOf(b, byte)) return byte * 8;
  return a.table.text.bits;
};

/** The range of the first `bits` bits: those of the leading fixed rows and of the next one. */
type Beginning = { readonly bits: number; readonly low: bigint; readonly high: bigint };

const beginningOf = (timed: TimedLayout): Beginning => {
  let beginning: Beginning = { bits: 0, low: 0n, high: 0n };
  for (const row of timed.layout.table.rows) {
    const [low, high] = valuesOf(row, timed);
    const shift = BigInt(row.bits);
    beginning = {
      bits: beginning.bits + row.bits,
      low: (beginning.low << shift) | low,
      high: (beginning.high << shift) | high,
    };
    if (row.role !== "fixed") break;
  }
  return beginning;
};

const valuesOf = (row: Row, { layout, window }: TimedLayout): readonly [low: bigint, high: bigint] => {
  const all = (1n << BigInt(row.bits)) - 1n;
  if (row.role === "fixed") return [BigInt(row.value), BigInt(row.value)];
  const fieldBits = layout.field(row.field)?.bits ?? row.bits;
  if (row.role !== "time" || window === undefined || row.unit === "sql-datetime") return [0n, all];
  const { unit, epochMs } = row;
  // The first of a time's several rows has the most significant bits.
  const at = (unixMs: number): bigint => ticksIn(unit, unixMs - epochMs) >> BigInt(fieldBits - row.bits);
  const from = at(window.fromMs);
  const to = at(HORIZON_MS);
  return [from < 0n ? 0n : from, to > all ? all : to];
};
