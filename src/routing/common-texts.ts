import type { ParseError, TextForm } from "../ids/index.ts";
import { type SampleText, sampleTexts, type TimedLayout } from "./sample-texts.ts";

/**
 * Texts that may be IDs of two layouts: those of each, and those that come of them when each character that a form of the other
 * does not take gives way to one that both forms take. So a numeral in hex with nothing but digits is found among 2,000.
 */
export function* commonTexts(a: TimedLayout, b: TimedLayout): Generator<string> {
  const own = [...sampleTexts(a)];
  const others = [...sampleTexts(b)];
  for (const { text } of own) yield text;
  for (const { text } of others) yield text;
  yield* adapted(own, others);
  yield* adapted(others, own);
}

/** Where so many texts of a form cannot be made ones of another, none can. */
const FAILURES_MAX = 4;

function* adapted(samples: readonly SampleText[], others: readonly SampleText[]): Generator<string> {
  const forms = [...new Set(samples.map(({ form }) => form))];
  const otherForms = [...new Set(others.map(({ form }) => form))];
  for (const form of forms) {
    for (const other of otherForms) {
      if (other === form) continue;
      const lengths = lengthsOf(others, other);
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

const lengthsOf = (samples: readonly SampleText[], of: TextForm): ReadonlySet<number> =>
  new Set(samples.filter(({ form }) => form === of).map(({ text }) => text.length));

/** All characters of all forms. */
const CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_~,";

/** A text that both forms read, as like to the given one as can be; `turn` varies what stands in for a character. */
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
  for (let step = 0; step < CHARACTERS.length; step++) {
    const character = CHARACTERS.charAt((turn + step) % CHARACTERS.length);
    const better = text.slice(0, at) + character + text.slice(at + 1);
    if (form.read(better, 0, better.length) === undefined) continue;
    if ((placeOfFault(other, better) ?? 0) > at) return better;
  }
  return undefined;
};

/** The length of a text without fault; `undefined` when it is not a character that is at fault. */
const placeOfFault = (form: TextForm, text: string): number | undefined => {
  const parsed = form.parse(text);
  return parsed.ok ? text.length : placeIn(parsed.error);
};

const placeIn = (error: ParseError): number | undefined => ("at" in error ? error.at : undefined);
