import type { ParseError, TextForm, Words } from "../layout/layout.ts";
import { err, ok } from "../result.ts";

/** The parts of a text form. `explain` is called only for texts that `read` rejects. */
export interface FormParts extends Omit<TextForm, "parse"> {
  readonly explain: (text: string) => ParseError;
}

export const textForm = ({ explain, ...form }: FormParts): TextForm => ({
  ...form,
  parse: (text) => {
    const words = form.read(text, 0, text.length);
    return words === undefined ? err(explain(text)) : ok(words);
  },
});

/** Invalid characters are searched only this far, so that a long hostile text costs no more. */
export const EXPLAINED_CHARACTERS_MAX = 256;

/** The first error: empty, invalid character, or length. `undefined` if there is none. */
export const explainCharacters = (
  text: string,
  belongs: (code: number) => boolean,
  lengthMin: number,
  lengthMax: number,
): ParseError | undefined => {
  if (text === "") return { reason: "empty" };
  const end = Math.min(text.length, EXPLAINED_CHARACTERS_MAX);
  for (let at = 0; at < end; at++) {
    if (!belongs(text.charCodeAt(at))) return characterError(text, at);
  }
  if (text.length >= lengthMin && text.length <= lengthMax) return undefined;
  const expected = lengthMin === lengthMax ? `${lengthMax}` : `${lengthMin} to ${lengthMax}`;
  return { reason: "length", expected, actual: text.length };
};

export const characterError = (text: string, at: number): ParseError => ({
  reason: /\s/.test(text.charAt(at)) ? "whitespace" : "alphabet",
  at,
});

/** The first place with a digit instead of a separator, or the reverse. */
export const misplacedSeparator = (text: string, separatorsAt: readonly number[], separator = "-"): number => {
  let at = 0;
  while (at < text.length && (text.charAt(at) === separator) === separatorsAt.includes(at)) at += 1;
  return at;
};

/** Printable ASCII except space. */
export const isVisibleAscii = (code: number): boolean => code > 0x20 && code < 0x7f;

/**
 * Converts the error of a substring to one of the whole text, which has `before` and `after` around it. `after` is
 * `undefined` if that is wrong as well: nothing is suggested then.
 */
export const shiftError = (error: ParseError, before: string, after: string | undefined): ParseError => {
  if (!("at" in error)) return error;
  const at = before.length + error.at;
  if (error.reason !== "shape") return { ...error, at };
  const { suggestion, ...rest } = error;
  return suggestion === undefined || after === undefined
    ? { ...rest, at }
    : { ...rest, at, suggestion: before + suggestion + after };
};

/** A form may be unable to hold the words, such as a half above 2^63 - 1 as a signed long. Its text then reads as others. */
export const writtenBy = (form: TextForm, words: Words): string | undefined => {
  const text = form.format(words);
  const read = form.read(text, 0, text.length);
  return read?.every((word, index) => word === words[index]) ? text : undefined;
};

export const lastWords = (words: Words, count: number): Words => words.slice(words.length - count);
