import type { ParseError, TextForm } from "../layout/layout.ts";
import { explainCharacters, isVisibleAscii, misplacedHyphen, shiftError, textForm } from "./form.ts";

/** A text form with a constant prefix, such as `ord_`. */
export const prefixedText = (prefix: string, form: TextForm): TextForm => ({
  ...textForm({
    name: form.name,
    bits: form.bits,
    lengthMax: prefix.length + form.lengthMax,
    read: (text, start, end) =>
      end - start > prefix.length && text.startsWith(prefix, start)
        ? form.read(text, start + prefix.length, end)
        : undefined,
    format: (words) => prefix + form.format(words),
    explain: (text) => {
      if (text === "") return { reason: "empty" };
      if (!text.startsWith(prefix)) return { reason: "shape", at: firstDifference(text, prefix), prefix };
      const rest = form.parse(text.slice(prefix.length));
      return rest.ok ? { reason: "shape", at: 0 } : shiftError(rest.error, prefix, "");
    },
  }),
  prefix,
});

const firstDifference = (text: string, prefix: string): number => {
  let at = 0;
  while (at < text.length && text.charAt(at) === prefix.charAt(at)) at += 1;
  return at;
};

const HYPHEN = "-";

/** Groups the digits of a fixed-width text form with hyphens. */
export const groupedText = (name: string, form: TextForm, groups: readonly number[]): TextForm => {
  const lengthMax = form.lengthMax + groups.length - 1;
  const ends = groups.map((_, index) => groups.slice(0, index + 1).reduce((sum, digits) => sum + digits + 1, -1));
  const hyphensAt = ends.slice(0, -1);
  const digitsOf = (text: string): string =>
    ends.map((end, index) => text.slice(end - (groups[index] as number), end)).join("");

  const explain = (text: string): ParseError => {
    const digits = text.length > 2 * lengthMax ? text : text.replaceAll(HYPHEN, "");
    const rest = form.parse(digits);
    if (rest.ok) return { reason: "shape", at: misplacedHyphen(text, hyphensAt), suggestion: group(digits) };
    const fault = explainCharacters(text, isVisibleAscii, lengthMax, lengthMax);
    if (fault !== undefined) return fault;
    const grouped = hyphensAt.every((at) => text.charAt(at) === HYPHEN);
    return grouped ? amongHyphens(rest.error) : { reason: "shape", at: misplacedHyphen(text, hyphensAt) };
  };

  /** Shifts an error of the bare digits to its place among the groups. */
  const amongHyphens = (error: ParseError): ParseError =>
    "at" in error ? { ...error, at: error.at + ends.filter((end, index) => end - index <= error.at).length } : error;

  const group = (digits: string): string =>
    ends.map((end, index) => digits.slice(end - index - (groups[index] as number), end - index)).join(HYPHEN);

  return textForm({
    name,
    bits: form.bits,
    lengthMax,
    read: (text, start, end) => {
      if (end - start !== lengthMax || start < 0 || end > text.length) return undefined;
      const own = text.slice(start, end);
      if (hyphensAt.some((at) => own.charAt(at) !== HYPHEN)) return undefined;
      return form.read(digitsOf(own), 0, form.lengthMax);
    },
    format: (words) => group(form.format(words)),
    explain,
  });
};
