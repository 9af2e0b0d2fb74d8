import type { ParseError, TextForm } from "../layout/layout.ts";
import { WORD_BITS, wordsFor } from "../layout/runs.ts";
import type { Err } from "../result.ts";
import { explainCharacters, isVisibleAscii, lastWords, shiftError, textForm } from "./form.ts";

/** Two halves of whole words, each with its own text form. */
export interface PairOptions {
  readonly name: string;
  readonly high: TextForm;
  readonly low: TextForm;
  /** The separator between the halves: at most one character. Defaults to none. */
  readonly separator?: string;
  /** Length of the second half; required without a separator. */
  readonly lowLength?: number;
}

export const pairText = ({ name, high, low, separator = "", lowLength }: PairOptions): TextForm => {
  const lengthMax = high.lengthMax + separator.length + low.lengthMax;
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
    const fault = explainCharacters(text, isVisibleAscii, 1, lengthMax);
    if (fault !== undefined) return fault;
    const highEnd = cut(text, text.length);
    if (highEnd <= 0) return { reason: "length", expected: `${lengthMax}`, actual: text.length };
    if (!text.startsWith(separator, highEnd)) return { reason: "shape", at: highEnd };
    const lowStart = highEnd + separator.length;
    const first = high.parse(text.slice(0, highEnd));
    const second = low.parse(text.slice(lowStart));
    // One half is wrong, or `read` would have read the text.
    if (first.ok) return shiftError((second as Err<ParseError>).error, text.slice(0, lowStart), "");
    return shiftError(first.error, "", second.ok ? text.slice(highEnd) : undefined);
  };

  const format: TextForm["format"] = (words) => {
    const lowCount = words.length / 2;
    return high.format(words.slice(0, lowCount)) + separator + low.format(lastWords(words, lowCount));
  };

  const bits = WORD_BITS * (wordsFor(high.bits) + wordsFor(low.bits));
  const numeral = high.numeral && { digits: high.numeral.digits };
  return textForm({ name, bits, lengthMax, ...(numeral && { numeral }), read, format, explain });
};
