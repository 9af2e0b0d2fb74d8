import type { ParseError, TextForm, Words } from "../layout/layout.ts";
import { WORD_BITS, wordsFor } from "../layout/runs.ts";
import { explainCharacters, isVisibleAscii, misplacedSeparator, shiftError, textForm } from "./form.ts";
import type { RadixOptions } from "./radix.ts";
import { appendWords, chunkDigitsOf, digitValues, radixText } from "./radix.ts";

/** A text form with a constant prefix, such as `ord_`, and a constant suffix, such as the padding of base64. */
export const wrappedText = (prefix: string, form: TextForm, suffix = ""): TextForm => ({
  ...textForm({
    name: form.name,
    bits: form.bits,
    lengthMax: prefix.length + form.lengthMax + suffix.length,
    ...(form.numeral && { numeral: { ...form.numeral, ...keyWith(form, [prefix, suffix]) } }),
    read: (text, start, end) =>
      start >= 0 &&
      end - start > prefix.length + suffix.length &&
      text.startsWith(prefix, start) &&
      text.startsWith(suffix, end - suffix.length)
        ? form.read(text, start + prefix.length, end - suffix.length)
        : undefined,
    format: (words) => prefix + form.format(words) + suffix,
    explain: (text) => {
      if (text === "") return { reason: "empty" };
      if (!text.startsWith(prefix)) return { reason: "shape", at: firstDifference(text, prefix), prefix };
      const own = text.slice(prefix.length);
      const end = own.length - suffix.length;
      if (suffix !== "" && form.read(own, 0, own.length) !== undefined) {
        return { reason: "shape", at: text.length, suggestion: text + suffix };
      }
      if (!own.endsWith(suffix)) {
        return {
          reason: "shape",
          at: prefix.length + Math.max(0, end) + firstDifference(own.slice(Math.max(0, end)), suffix),
        };
      }
      const rest = form.parse(own.slice(0, end));
      return rest.ok ? { reason: "shape", at: 0 } : shiftError(rest.error, prefix, suffix);
    },
  }),
  ...(prefix !== "" && { prefix }),
});

const keyWith = ({ numeral }: TextForm, parts: readonly unknown[]) =>
  numeral?.key === undefined ? {} : { key: JSON.stringify([numeral.key, ...parts]) };

const firstDifference = (text: string, constant: string): number => {
  let at = 0;
  while (at < text.length && text.charAt(at) === constant.charAt(at)) at += 1;
  return at;
};

export interface GroupedOptions extends RadixOptions {
  readonly width: number;
  /** Number of digits in each group. */
  readonly groups: readonly number[];
  /** One character that is no digit. Defaults to a hyphen. */
  readonly separator?: string;
}

/** An integer in a numeral system whose digits stand in groups. */
export const groupedText = ({ groups, separator = "-", ...options }: GroupedOptions): TextForm => {
  const { alphabet, bits, width, padBits = 0 } = options;
  const form = radixText(options);
  const lengthMax = width + groups.length - 1;
  const ends = groups.map((_, index) => groups.slice(0, index + 1).reduce((sum, digits) => sum + digits + 1, -1));
  const separatorsAt = ends.slice(0, -1);

  const radix = alphabet.digits.length;
  const values = digitValues(alphabet);
  const separatorCode = separator.charCodeAt(0);
  const wordCount = wordsFor(bits);
  const topWordEnd = 2 ** (bits - (wordCount - 1) * WORD_BITS);
  const padScale = 2 ** padBits;
  const chunkDigits = chunkDigitsOf(radix);

  const read = (text: string, start: number, end: number): Words | undefined => {
    if (end - start !== lengthMax || start < 0 || end > text.length) return undefined;
    const words = new Array<number>(wordCount).fill(0);
    let at = start;
    for (let group = 0; group < ends.length; group++) {
      const groupEnd = start + (ends[group] as number);
      while (at < groupEnd) {
        const stop = Math.min(groupEnd, at + chunkDigits);
        let scale = 1;
        let chunk = 0;
        for (; at < stop; at++) {
          const code = text.charCodeAt(at);
          const value = code < values.length ? (values[code] as number) : -1;
          if (value < 0) return undefined;
          chunk = chunk * radix + value;
          scale *= radix;
        }
        const pad = stop === end ? padScale : 1;
        if (chunk % pad !== 0 || appendWords(words, scale / pad, chunk / pad) !== 0) return undefined;
      }
      if (groupEnd < end && text.charCodeAt(at++) !== separatorCode) return undefined;
    }
    return (words[0] as number) < topWordEnd ? words : undefined;
  };

  const explain = (text: string): ParseError => {
    const digits = text.length > 2 * lengthMax ? text : text.replaceAll(separator, "");
    const rest = form.parse(digits);
    const at = misplacedSeparator(text, separatorsAt, separator);
    if (rest.ok) return { reason: "shape", at, suggestion: group(digits) };
    const fault = explainCharacters(text, isVisibleAscii, lengthMax, lengthMax);
    if (fault !== undefined) return fault;
    const isGrouped = separatorsAt.every((place) => text.charAt(place) === separator);
    return isGrouped ? amongSeparators(rest.error) : { reason: "shape", at };
  };

  /** Shifts an error of the bare digits to its place among the groups. */
  const amongSeparators = (error: ParseError): ParseError =>
    "at" in error ? { ...error, at: error.at + ends.filter((end, index) => end - index <= error.at).length } : error;

  const group = (digits: string): string =>
    ends.map((end, index) => digits.slice(end - index - (groups[index] as number), end - index)).join(separator);

  return textForm({
    name: form.name,
    bits,
    lengthMax,
    numeral: { ...(form.numeral as NonNullable<TextForm["numeral"]>), ...keyWith(form, [groups, separator]) },
    read,
    format: (words) => group(form.format(words)),
    explain,
  });
};
