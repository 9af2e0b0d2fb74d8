import type { Layout, TextForm, Words } from "../layout/layout.ts";
import { bitsOf } from "../layout/runs.ts";
import { bigToWords, wordsToBig } from "../layout/words.ts";
import { digitOrder } from "../tools/period-range.ts";

/** An ID as a store takes it: bytes, a number or a text. */
export type StoredValue =
  | { readonly kind: "bytes"; readonly count: number }
  | { readonly kind: "number"; readonly least: bigint; readonly greatest: bigint }
  | { readonly kind: "text"; readonly form: TextForm };

/** The widest decimal of most engines. */
const DIGITS_MAX = 38;
const UUID_BYTES = 16;
const HEX_DIGITS = 32;

/** Forms that say 16 bytes digit by digit. */
const OF_BYTES: ReadonlySet<string> = new Set(["uuid", "grouped-hex", "hex"]);

export const byteCount = ({ table }: Layout): number => Math.ceil(bitsOf(table) / 8);

export const leastId = ({ table, fixed }: Layout): Words =>
  table.least === undefined ? fixed.value : bigToWords(BigInt(table.least), fixed.value.length);

export const greatestId = ({ fields, fixed }: Layout): Words => {
  const words = fixed.value.slice();
  for (const field of fields) if (field.role !== "fixed") field.write(words, field.max);
  return words;
};

/** The best kind of value for a layout's IDs in most engines. `form`: the text that the store has instead of the canonical one. */
export const storedValue = (layout: Layout, form?: TextForm): StoredValue => {
  const text = form ?? layout.table.text;
  const bytes = { kind: "bytes", count: byteCount(layout) } as const;
  if (isDecimal(layout, text)) {
    const number = numberOf(layout);
    return form !== undefined || `${number.greatest}`.length <= DIGITS_MAX ? number : bytes;
  }
  const isOfBytes = bytes.count === UUID_BYTES && OF_BYTES.has(text.name);
  if (isOfBytes && (form === undefined || text.name === "uuid")) return bytes;
  if (form !== undefined) return { kind: "text", form };
  const sorted = layout.texts.find((each) => isSortedText(layout, each));
  // A Flake in hex is 16 bytes.
  if (sorted === undefined || (bytes.count === UUID_BYTES && sorted.lengthMax === HEX_DIGITS)) return bytes;
  return { kind: "text", form: sorted };
};

/** All numbers of a layout. */
export const numberOf = (layout: Layout): Extract<StoredValue, { readonly kind: "number" }> => ({
  kind: "number",
  least: wordsToBig(leastId(layout)),
  greatest: wordsToBig(greatestId(layout)),
});

/** Whether all texts of a form have one length, and sort by code as the bits do. */
export const isSortedText = (layout: Layout, form: TextForm): boolean =>
  digitOrder(form, layout, greatestId(layout)) === "text";

/** Whether a form is the ID's bits as a decimal number, its prefix aside. */
export const isDecimal = (layout: Layout, { format, prefix = "" }: TextForm): boolean =>
  [leastId(layout), greatestId(layout)].every((words) => format(words) === `${prefix}${wordsToBig(words)}`);

export const hexOf = (layout: Layout, words: Words): string =>
  wordsToBig(words)
    .toString(16)
    .padStart(2 * byteCount(layout), "0");

/** Whether letters of both cases, or marks, tell IDs apart: a collation of a language then sorts otherwise, or merges them. */
export const needsBinaryOrder = ({ numeral }: TextForm): boolean =>
  numeral === undefined || !/^(?:[0-9a-z]*|[0-9A-Z]*)$/.test(numeral.digits);
