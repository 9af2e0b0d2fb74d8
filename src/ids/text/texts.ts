import type { Layout, ParseError, TextForm, Words } from "../layout/layout.ts";
import { err, ok, type Result } from "../result.ts";
import { LOWER_HEX } from "./alphabets.ts";
import { writtenBy } from "./form.ts";
import { radixText } from "./radix.ts";

/** Parsing and formatting of IDs in non-canonical text forms. */

/** The layout has no text form of this name. */
export type UnknownText = { readonly reason: "unknown-text"; readonly text: string; readonly known: readonly string[] };

/** The form cannot express this value, as `longs` cannot express a half above 2^63 - 1. */
export type UnwritableText = { readonly reason: "unwritable"; readonly text: string };

/** Parses a text in the named form; strict, like the layout's own `parse`. */
export const parseAs = (layout: Layout, name: string, text: string): Result<Words, ParseError | UnknownText> => {
  const form = formOf(layout, name);
  if (form === undefined) return err(unknownText(layout, name));
  const words = form.parse(text);
  const fault = words.ok ? layout.misfit(words.value) : undefined;
  return fault === undefined ? words : err(fault);
};

export const formatAs = (layout: Layout, name: string, words: Words): Result<string, UnknownText | UnwritableText> => {
  const form = formOf(layout, name);
  if (form === undefined) return err(unknownText(layout, name));
  const text = writtenBy(form, words);
  return text === undefined ? err({ reason: "unwritable", text: name }) : ok(text);
};

/** A text of nearly the right length was meant in this form. */
const LENGTH_DISTANCE_MAX = 2;

/** Why no form of a layout reads a text: by the form that it is nearest to, else by the canonical one. `undefined` if one does. */
export const textFault = ({ texts }: Layout, text: string): ParseError | undefined => {
  const errors: ParseError[] = [];
  for (const form of texts) {
    const words = form.parse(text);
    if (words.ok) return undefined;
    errors.push(words.error);
  }
  const isNear = (error: ParseError): boolean =>
    error.reason === "length"
      ? Math.abs(Number(error.expected) - error.actual) <= LENGTH_DISTANCE_MAX
      : error.reason === "shape" && error.suggestion !== undefined;
  return errors.find(isNear) ?? errors[0];
};

/** All texts of words of the layout by form name, the canonical one first. */
export const textsOf = (layout: Layout, words: Words): Readonly<Record<string, string>> =>
  Object.fromEntries(
    layout.texts.flatMap((form) => {
      const text = writtenBy(form, words);
      return text === undefined ? [] : [[form.name, text] as const];
    }),
  );

const formOf = (layout: Layout, name: string): TextForm | undefined => layout.texts.find((form) => form.name === name);

const unknownText = ({ texts }: Layout, text: string): UnknownText => ({
  reason: "unknown-text",
  text,
  known: texts.map(({ name }) => name),
});

/**
 * The short key of an LUUID: its primary key in lower-case hexadecimal, 1 to 12 digits without leading zeros. All-digit
 * keys are hexadecimal too. A short key identifies an entity only together with the group in its path.
 */
const form = /* @__PURE__ */ radixText({ alphabet: LOWER_HEX, bits: 48 });

/** Primary keys have 48 bits. */
export const PRIMARY_KEY_MAX = 0xffff_ffff_ffff;

/** The primary key in `text` from `start` up to, but not including, `end`; `undefined` if invalid. */
export const readShortKey = (text: string, start: number, end: number): number | undefined => {
  const words = form.read(text, start, end);
  return words && numberOf(words);
};

export const parseShortKey = (text: string): Result<number, ParseError> => {
  const words = form.parse(text);
  return words.ok ? ok(numberOf(words.value)) : words;
};

const numberOf = ([high = 0, low = 0]: Words): number => high * 2 ** 32 + low;

/** The short key of a primary key, an integer from 0 to `PRIMARY_KEY_MAX`. */
export const formatShortKey = (primaryKey: number): string => primaryKey.toString(16);
