import type { ParseError, TextForm } from "../layout.ts";
import { WORD_BITS, wordsFor } from "../runs.ts";
import { explainCharacters, lastWords, shiftError, textForm } from "./form.ts";

/** Two halves of whole words, each in a text of its own. */
export interface PairOptions {
  readonly name: string;
  readonly high: TextForm;
  readonly low: TextForm;
  /** What stands between the halves: at most one character. Absent: nothing. */
  readonly separator?: string;
  /** How many characters the second half has; needed where nothing stands between them. */
  readonly lowLength?: number;
}

/** The text of two halves, one after the other. */
export const pairText = ({ name, high, low, separator = "", lowLength }: PairOptions): TextForm => {
  const lengthMax = high.lengthMax + separator.length + low.lengthMax;
  /** Where the first half ends. */
  const cut = (text: string, end: number): number =>
    lowLength === undefined ? text.lastIndexOf(separator, end - 1) : end - lowLength - separator.length;

  const read: TextForm["read"] = (text, start, end) => {
    if (end - start > lengthMax || start < 0 || end > text.length) return undefined;
    const highEnd = cut(text, end);
    if (highEnd <= start || !text.startsWith(separator, highEnd)) return undefined;
    const first = high.read(text, start, highEnd);
    const second = first && low.read(text, highEnd + separator.length, end);
    return second && [...first, ...second];
  };

  const explain = (text: string): ParseError => {
    const fault = explainCharacters(text, (code) => isAscii(code), 1, lengthMax);
    if (fault !== undefined) return fault;
    const highEnd = cut(text, text.length);
    if (highEnd <= 0) return { reason: "length", expected: `${lengthMax}`, actual: text.length };
    if (!text.startsWith(separator, highEnd)) return { reason: "shape", at: highEnd };
    const first = high.parse(text.slice(0, highEnd));
    if (!first.ok) return first.error;
    const lowStart = highEnd + separator.length;
    const second = low.parse(text.slice(lowStart));
    return second.ok ? unexplained(name) : shiftError(second.error, lowStart);
  };

  const format: TextForm["format"] = (words) => {
    const lowCount = words.length / 2;
    return high.format(words.slice(0, lowCount)) + separator + low.format(lastWords(words, lowCount));
  };

  return textForm({
    name,
    bits: WORD_BITS * (wordsFor(high.bits) + wordsFor(low.bits)),
    lengthMax,
    read,
    format,
    explain,
  });
};

/** Printable ASCII without the space. */
const isAscii = (code: number): boolean => code > 0x20 && code < 0x7f;

const unexplained = (name: string): never => {
  throw new Error(`text form ${name} was asked to explain a text that it reads`);
};
