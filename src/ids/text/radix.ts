import type { Numeral, ParseError, TextForm, Words } from "../layout/layout.ts";
import { WORD_BITS, wordsFor } from "../layout/runs.ts";
import type { Alphabet } from "./alphabets.ts";
import { explainCharacters, textForm } from "./form.ts";

/** How an integer is written in a numeral system, most significant digit first. */
export interface RadixOptions {
  readonly alphabet: Alphabet;
  /** Values of more bits are rejected. */
  readonly bits: number;
  /** The exact number of digits, zero-padded. Absent: as few as needed. */
  readonly width?: number;
  /** Without a width: the fewest and the most digits. */
  readonly digitsMin?: number;
  readonly digitsMax?: number;
  /** With a width: number of zero bits after the last bit, which fill the last digit. */
  readonly padBits?: number;
}

const WORD_VALUES = 0x1_0000_0000;
/** Digits are processed in chunks. A chunk times a word value stays below 2^53, so it is exact. */
const CHUNK_VALUES_MAX = 0x20_0000;

export const chunkDigitsOf = (radix: number): number => Math.floor(Math.log(CHUNK_VALUES_MAX) / Math.log(radix));

/** An integer in a numeral system. Each value has one text: leading zeros are all required or all forbidden. */
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
  const chunkDigits = chunkDigitsOf(radix);
  const chunkEnd = radix ** chunkDigits;

  const read = (text: string, start: number, end: number): Words | undefined => {
    const length = end - start;
    if (length < lengthMin || length > lengthMax || start < 0 || end > text.length) return undefined;
    if (width === undefined && length > 1 && text.charCodeAt(start) === zero) return undefined;
    const words = new Array<number>(wordCount).fill(0);
    for (let at = start; at < end; ) {
      const stop = Math.min(end, at + chunkDigits);
      const scale = stop - at === chunkDigits ? chunkEnd : radix ** (stop - at);
      let chunk = 0;
      for (; at < stop; at++) {
        const value = digitAt(text.charCodeAt(at));
        if (value < 0) return undefined;
        chunk = chunk * radix + value;
      }
      const pad = stop === end ? padScale : 1;
      if (chunk % pad !== 0 || appendWords(words, scale / pad, chunk / pad) !== 0) return undefined;
    }
    return (words[0] as number) < topWordEnd ? words : undefined;
  };

  const format = (words: Words): string => {
    const rest = words.slice();
    const codes = new Array<number>(lengthMax);
    let chunk = takeLast(rest, chunkEnd / padScale) * padScale;
    for (let at = lengthMax - 1, left = chunkDigits; at >= 0; at--, left--) {
      if (left === 0) {
        chunk = takeLast(rest, chunkEnd);
        left = chunkDigits;
      }
      const next = Math.floor(chunk / radix);
      codes[at] = digits.charCodeAt(chunk - next * radix);
      chunk = next;
    }
    const text = String.fromCharCode(...codes);
    return width === undefined ? text.slice(leadingZeros(text, lengthMin)) : text;
  };

  const leadingZeros = (text: string, lengthKept: number): number => {
    let count = 0;
    while (count < text.length - lengthKept && text.charCodeAt(count) === zero) count += 1;
    return count;
  };

  const explain = (text: string): ParseError => {
    const fault = explainCharacters(text, (code) => digitAt(code) >= 0, lengthMin, lengthMax);
    if (fault !== undefined) return fault;
    if (width === undefined && text.length > 1 && text.charCodeAt(0) === zero) {
      const suggestion = text.slice(leadingZeros(text, 1));
      return { reason: "shape", at: 0, ...(suggestion.length >= lengthMin && { suggestion }) };
    }
    const lastValue = digitAt(text.charCodeAt(text.length - 1));
    if (lastValue % padScale !== 0) return { reason: "shape", at: text.length - 1 };
    return { reason: "range", min: "0", max: `2^${bits} - 1` };
  };

  const numeral = { ...alphabet, key: [bits, lengthMin, lengthMax, width, padBits].join() };
  return textForm({ name, bits, lengthMax, numeral, read, format, explain });
};

/** Multiplies by a scale and adds, in place. Returns the overflow. */
export const appendWords = (words: number[], scale: number, added: number): number => {
  let carry = added;
  for (let word = words.length - 1; word >= 0; word--) {
    const value = (words[word] as number) * scale + carry;
    carry = Math.floor(value / WORD_VALUES);
    words[word] = value - carry * WORD_VALUES;
  }
  return carry;
};

/** Divides by a scale, in place. Returns the remainder. */
const takeLast = (words: number[], scale: number): number => {
  let rest = 0;
  for (let word = 0; word < words.length; word++) {
    const value = rest * WORD_VALUES + (words[word] as number);
    const quotient = Math.floor(value / scale);
    words[word] = quotient;
    rest = value - quotient * scale;
  }
  return rest;
};

/** The digit value of each ASCII code, or -1. */
export const digitValues = ({ digits, folded }: Numeral): Int8Array => {
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
