import type { Layout, ParseError, TextForm, Words } from "../layout/layout.ts";
import { err, ok, type Result } from "../result.ts";

/** Parsing and formatting of IDs in non-canonical text forms. */

/** The layout has no text form of this name. */
export interface UnknownText {
  readonly reason: "unknown-text";
  readonly text: string;
  readonly known: readonly string[];
}

/** The form cannot express this value, as `longs` cannot express a half above 2^63 - 1. */
export interface UnwritableText {
  readonly reason: "unwritable";
  readonly text: string;
}

/** Parses a text in the named form; strict, like the layout's own `parse`. */
export const parseAs = (layout: Layout, name: string, text: string): Result<Words, ParseError | UnknownText> => {
  const form = formOf(layout, name);
  if (form === undefined) return err(unknownText(layout, name));
  const words = form.parse(text);
  const fault = words.ok ? layout.misfit(words.value) : undefined;
  return fault === undefined ? words : err(fault);
};

/** Formats words of the layout in the named form. */
export const formatAs = (layout: Layout, name: string, words: Words): Result<string, UnknownText | UnwritableText> => {
  const form = formOf(layout, name);
  if (form === undefined) return err(unknownText(layout, name));
  const text = writtenBy(form, words);
  return text === undefined ? err({ reason: "unwritable", text: name }) : ok(text);
};

/** All texts of words of the layout by form name, the canonical one first. */
export const textsOf = (layout: Layout, words: Words): Readonly<Record<string, string>> =>
  Object.fromEntries(
    layout.texts.flatMap((form) => {
      const text = writtenBy(form, words);
      return text === undefined ? [] : [[form.name, text] as const];
    }),
  );

/** A form that cannot hold the words formats a text that does not parse back to them. */
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
