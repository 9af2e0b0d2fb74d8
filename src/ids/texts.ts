import type { Layout, ParseError, TextForm, Words } from "./layout.ts";
import { err, ok, type Result } from "./result.ts";

/** Reading and printing IDs in texts other than the canonical one. */

/** The layout has no text form of this name. */
export interface UnknownText {
  readonly reason: "unknown-text";
  readonly text: string;
  readonly known: readonly string[];
}

/** The form has no text for this value, as two signed longs have none for a half above 2^63 - 1. */
export interface UnwritableText {
  readonly reason: "unwritable";
  readonly text: string;
}

/** The words of a text in the named form; strict, as the layout's own `parse` is. */
export const parseAs = (layout: Layout, name: string, text: string): Result<Words, ParseError | UnknownText> => {
  const form = formOf(layout, name);
  if (form === undefined) return err(unknownText(layout, name));
  const words = form.parse(text);
  const fault = words.ok ? layout.misfit(words.value) : undefined;
  return fault === undefined ? words : err(fault);
};

/** The text in the named form of words that fit the layout. */
export const formatAs = (layout: Layout, name: string, words: Words): Result<string, UnknownText | UnwritableText> => {
  const form = formOf(layout, name);
  if (form === undefined) return err(unknownText(layout, name));
  const text = writtenBy(form, words);
  return text === undefined ? err({ reason: "unwritable", text: name }) : ok(text);
};

/** Every text of words that fit the layout, by the form's name, the canonical one first. */
export const textsOf = (layout: Layout, words: Words): Readonly<Record<string, string>> =>
  Object.fromEntries(
    layout.texts.flatMap((form) => {
      const text = writtenBy(form, words);
      return text === undefined ? [] : [[form.name, text] as const];
    }),
  );

/** A form that cannot hold the words prints a text that it does not read back. */
const writtenBy = (form: TextForm, words: Words): string | undefined => {
  const text = form.format(words);
  const read = form.read(text, 0, text.length);
  return read?.every((word, index) => word === words[index]) ? text : undefined;
};

const formOf = (layout: Layout, name: string): TextForm | undefined => layout.texts.find((form) => form.name === name);

const unknownText = ({ texts }: Layout, text: string): UnknownText => ({
  reason: "unknown-text",
  text,
  known: texts.map(({ name }) => name),
});
