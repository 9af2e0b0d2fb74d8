import type { ParseError, TextForm, Words } from "../layout.ts";
import { WORD_BITS, wordsFor } from "../runs.ts";
import type { Alphabet } from "./alphabets.ts";
import { explainCharacters, textForm } from "./form.ts";

/** How a whole number is written in some numeral system, most significant digit first. */
export interface RadixOptions {
  readonly alphabet: Alphabet;
  /** Values of more bits are refused. */
  readonly bits: number;
  /** Exactly so many digits, zeros in front included. Absent: as few as the value needs. */
  readonly width?: number;
  /** Without a width: values of fewer digits are refused. */
  readonly digitsMin?: number;
  /** Without a width: values of more digits are refused. */
  readonly digitsMax?: number;
  /** With a width: so many zero bits follow the last one, which fill up the last digit. */
  readonly padBits?: number;
}

const WORD_VALUES = 0x1_0000_0000;

/** A whole number in a numeral system. One value has one text: zeros in front are all there or none is. */
export const radixText = (options: RadixOptions): TextForm => {
  const { alphabet, bits, width, padBits = 0 } = options;
  const { name, digits } = alphabet;
  const radix = digits.length;
  const lengthMin = width ?? options.digitsMin ?? 1;
  const lengthMax = width ?? options.digitsMax ?? digitsFor(bits, radix);
  const wordCount = wordsFor(bits);
  const topWordEnd = 2 ** (bits - (wordCount - 1) * WORD_BITS);
  const values = digitValues(alphabet);
  const digitAt = (code: number): number => (code < values.length ? (values[code] as number) : -1);
  const zero = digits.charCodeAt(0);
  const padScale = 2 ** padBits;

  const read = (text: string, start: number, end: number): Words | undefined => {
    const length = end - start;
    if (length < lengthMin || length > lengthMax || start < 0 || end > text.length) return undefined;
    if (width === undefined && length > 1 && text.charCodeAt(start) === zero) return undefined;
    const words = new Array<number>(wordCount).fill(0);
    for (let at = start; at < end; at++) {
      const value = digitAt(text.charCodeAt(at));
      const scale = at === end - 1 ? padScale : 1;
      if (value < 0 || value % scale !== 0 || append(words, radix / scale, value / scale) !== 0) return undefined;
    }
    return (words[0] as number) < topWordEnd ? words : undefined;
  };

  const format = (words: Words): string => {
    const rest = words.slice();
    let text = "";
    for (let done = 0; done < lengthMax; done++) {
      const scale = done === 0 ? padScale : 1;
      text = digits.charAt(takeLast(rest, radix / scale) * scale) + text;
      if (text.length >= lengthMin && width === undefined && rest.every((word) => word === 0)) break;
    }
    return text;
  };

  const explain = (text: string): ParseError => {
    const fault = explainCharacters(text, (code) => digitAt(code) >= 0, lengthMin, lengthMax);
    if (fault !== undefined) return fault;
    if (width === undefined && text.length > 1 && text.charCodeAt(0) === zero)
      return withoutZeros(text, digits, lengthMin);
    const lastValue = digitAt(text.charCodeAt(text.length - 1));
    if (lastValue % padScale !== 0) return { reason: "shape", at: text.length - 1 };
    return { reason: "range", min: "0", max: `2^${bits} - 1` };
  };

  return textForm({ name, bits, lengthMax, read, format, explain });
};

/** Multiplies by the radix and adds a digit, in place; gives what no longer fits. Products stay below 2^53: a radix has 6 bits. */
const append = (words: number[], radix: number, digit: number): number => {
  let carry = digit;
  for (let word = words.length - 1; word >= 0; word--) {
    const value = (words[word] as number) * radix + carry;
    words[word] = value >>> 0;
    carry = Math.floor(value / WORD_VALUES);
  }
  return carry;
};

/** Divides by the radix in place; gives the remainder, which is the last digit. */
const takeLast = (words: number[], radix: number): number => {
  let rest = 0;
  for (let word = 0; word < words.length; word++) {
    const value = rest * WORD_VALUES + (words[word] as number);
    words[word] = Math.floor(value / radix);
    rest = value % radix;
  }
  return rest;
};

/** The value of each ASCII code as a digit, -1 for the rest. */
const digitValues = ({ digits, folded }: Alphabet): Int8Array => {
  const values = new Int8Array(128).fill(-1);
  for (let value = 0; value < digits.length; value++) {
    values[digits.charCodeAt(value)] = value;
    if (folded) {
      values[digits.charAt(value).toLowerCase().charCodeAt(0)] = value;
      values[digits.charAt(value).toUpperCase().charCodeAt(0)] = value;
    }
  }
  return values;
};

/** How many digits the greatest value of so many bits needs. */
export const digitsFor = (bits: number, radix: number): number => {
  const words = new Array<number>(wordsFor(bits)).fill(0xffffffff);
  words[0] = 2 ** (bits - (words.length - 1) * WORD_BITS) - 1;
  let count = 0;
  while (words.some((word) => word !== 0)) {
    takeLast(words, radix);
    count += 1;
  }
  return count;
};

const withoutZeros = (text: string, digits: string, lengthMin: number): ParseError => {
  let significant = 0;
  while (significant < text.length - 1 && text.charAt(significant) === digits.charAt(0)) significant += 1;
  const suggestion = text.slice(significant);
  return suggestion.length < lengthMin ? { reason: "shape", at: 0 } : { reason: "shape", at: 0, suggestion };
};
