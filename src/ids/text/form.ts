import type { ParseError, TextForm, Words } from "../layout.ts";
import { err, ok } from "../result.ts";

/** What a text form is made of. `explain` is asked only about texts that `read` refuses. */
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

/** Strangers are looked for in this many characters, so that a hostile text costs no more for being long. */
const EXPLAINED_CHARACTERS_MAX = 256;

/** The fault of an empty text, of a foreign character or of the length, in this order; `undefined` when there is none of them. */
export const explainCharacters = (
  text: string,
  belongs: (code: number) => boolean,
  lengthMin: number,
  lengthMax: number,
): ParseError | undefined => {
  if (text === "") return { reason: "empty" };
  const end = Math.min(text.length, EXPLAINED_CHARACTERS_MAX);
  for (let at = 0; at < end; at++) {
    if (!belongs(text.charCodeAt(at))) return { reason: /\s/.test(text.charAt(at)) ? "whitespace" : "alphabet", at };
  }
  if (text.length >= lengthMin && text.length <= lengthMax) return undefined;
  const expected = lengthMin === lengthMax ? `${lengthMax}` : `${lengthMin} to ${lengthMax}`;
  return { reason: "length", expected, actual: text.length };
};

/** The error of a part of a text, with its place counted from the start of the whole. */
export const shiftError = (error: ParseError, by: number): ParseError =>
  "at" in error ? { ...error, at: error.at + by } : error;

/** The words of the end of an ID, so many of them. */
export const lastWords = (words: Words, count: number): Words => words.slice(words.length - count);
