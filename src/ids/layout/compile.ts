import { err, ok, type Result } from "../result.ts";
import { checkTable, type LayoutTableFault } from "./check-table.ts";
import type {
  EncodeError,
  Field,
  FieldValue,
  Layout,
  LayoutTable,
  LayoutWith,
  ParseError,
  TextForm,
  Words,
} from "./layout.ts";
import { bitsOf, NUMBER_BITS_MAX, piecesOf, runsOf, wordsFor } from "./runs.ts";
import { compileMintedAt, SQL_DAY, SQL_TICKS_A_DAY, timeRowOf } from "./time.ts";
import { bigToWords, compareWords, compileField, compileFits, greatestOf, holds, ofRole, wordsToBig } from "./words.ts";

/**
 * Compiles a table to word arithmetic, or reports its first fault. Nothing is interpreted at run time. `otherTexts` are
 * accepted besides the canonical text.
 */
export const compileLayout = (
  table: LayoutTable,
  otherTexts: readonly TextForm[] = [],
): Result<Layout, LayoutTableFault> => {
  const fault = checkTable(table, otherTexts);
  return fault === undefined ? ok(layoutOf<string>(table, otherTexts)) : err(fault);
};

/** Compiles a table that is known to be valid. Tests check the built-in tables, and the names that their types give. */
export const layoutOf = <Needed extends string, Optional extends string = never>(
  table: LayoutTable,
  otherTexts: readonly TextForm[] = [],
): LayoutWith<Needed, Optional> => {
  const fields = compileFields(table);
  const byName = new Map(fields.map((field) => [field.name, field]));
  const fixed = fixedWords(table, fields);
  const range = compileRange(table, fields);
  const fits = fitsWithin(fixed, range);
  const misfit: Layout["misfit"] = (words) =>
    fits(words) ? undefined : explainMisfit(fields, fixed.value, words, range);
  const { parse: parseText, format } = table.text;
  return {
    name: table.name,
    table,
    fields,
    field: (name) => byName.get(name),
    fixedBits: ofRole(fields, "fixed").reduce((sum, { bits }) => sum + bits, 0),
    fixed,
    fits,
    misfit,
    mintedAtMs: mintedAtOf(table, fields),
    texts: [table.text, ...otherTexts],
    parseText,
    parse: (text) => {
      const words = parseText(text);
      const fault = words.ok ? misfit(words.value) : undefined;
      return fault === undefined ? words : err(fault);
    },
    format,
    decode: (words) => Object.fromEntries(fields.map((field) => [field.name, fieldValue(field, words)])),
    encode: (values) => encode(fields, fixed.value, range, values),
  };
};

/** Whether words fit a layout, and one of its fields has a value. */
export const fitsWith = ({ table, fields, fixed }: Layout, field: Field, value: number): Layout["fits"] => {
  const words = fixed.value.slice();
  field.write(words, value);
  const mask = fixed.mask.map((bits, word) => (bits | (field.mask[word] as number)) >>> 0);
  return fitsWithin({ mask, value: words }, compileRange(table, fields));
};

const fitsWithin = (fixed: Layout["fixed"], range: Range | undefined): Layout["fits"] => {
  const marked = compileFits(fixed);
  return range === undefined ? marked : (words) => marked(words) && range.holds(words);
};

/** The fields of a table, in row order. Any width is allowed. */
export const compileFields = (table: LayoutTable): readonly Field[] => {
  const layoutBits = bitsOf(table);
  const runs = runsOf(table);
  const rows = new Map(table.rows.map((row) => [row.field, row]));
  return [...rows].map(([name, row]) => {
    const ownRuns = runs.filter((run) => run.field === name);
    const pieces = piecesOf(ownRuns, layoutBits);
    const max = row.role === "fixed" ? undefined : row.max;
    return compileField(name, row.role, pieces, wordsFor(layoutBits), max);
  });
};

/** A field's value: `number` up to 53 bits, `bigint` above. */
export const fieldValue = (field: Field, words: Words): FieldValue =>
  field.bits <= NUMBER_BITS_MAX ? field.read(words) : field.readBig(words);

const mintedAtOf = (table: LayoutTable, fields: readonly Field[]): Layout["mintedAtMs"] => {
  const field = fields.find(({ role }) => role === "time");
  const row = timeRowOf(table);
  return field === undefined || row === undefined ? undefined : compileMintedAt(field, row);
};

const fixedWords = (table: LayoutTable, fields: readonly Field[]): Layout["fixed"] => {
  const mask = new Array<number>(wordsFor(bitsOf(table))).fill(0);
  // Begun with fractions for the reason in `readUuid`: every ID of a minter is a copy of these words.
  const value = new Array<number>(mask.length).fill(0.5).fill(0);
  for (const field of ofRole(fields, "fixed")) {
    for (const [word, bits] of field.mask.entries()) mask[word] = ((mask[word] as number) | bits) >>> 0;
    field.write(value, fixedValue(table, field.name));
  }
  return { mask, value };
};

/** The values of all rows of a fixed field, concatenated in row order. */
const fixedValue = (table: LayoutTable, name: string): number => {
  let value = 0;
  for (const row of table.rows) {
    if (row.role === "fixed" && row.field === name) value = value * 2 ** row.bits + row.value;
  }
  return value;
};

const explainMisfit = (fields: readonly Field[], fixed: Words, words: Words, range?: Range): ParseError | undefined => {
  for (const field of ofRole(fields, "fixed")) {
    const expected = field.read(fixed);
    const actual = field.read(words);
    if (actual !== expected) return { reason: "fixed-bits", field: field.name, expected, actual };
  }
  return range?.parseError(words);
};

export type FieldValues = Readonly<Record<string, FieldValue>>;
type Encoded = Result<Words, EncodeError>;

const encode = (fields: readonly Field[], fixed: Words, range: Range | undefined, values: FieldValues): Encoded => {
  const unknown = Object.keys(values).find((name) => fields.every((field) => field.name !== name));
  if (unknown !== undefined) return err({ reason: "unknown-field", field: unknown });
  const words = fixed.slice();
  for (const field of fields) {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    const fault = field.role === "fixed" ? checkFixed(field, fixed, value) : checkGiven(field, value);
    if (fault !== undefined) return err(fault);
    if (value !== undefined) field.write(words, value);
  }
  return range === undefined || range.holds(words) ? ok(words) : err(range.encodeError(words));
};

const checkGiven = (field: Field, value: FieldValue | undefined): EncodeError | undefined => {
  if (value === undefined) return { reason: "missing-field", field: field.name };
  if (holds(field, value)) return undefined;
  return { reason: "out-of-range", field: field.name, value: String(value), max: greatestOf(field) };
};

const checkFixed = (field: Field, fixed: Words, value: FieldValue | undefined): EncodeError | undefined => {
  const expected = field.read(fixed);
  if (value === undefined || value === expected || value === BigInt(expected)) return undefined;
  return { reason: "fixed-field", field: field.name, expected, value: String(value) };
};

/** Range checks beyond bit widths: a field's maximum, a time of day before midnight, the smallest ID. */
export interface Range {
  readonly holds: (words: Words) => boolean;
  /** The first error of words out of range. */
  readonly parseError: (words: Words) => ParseError;
  readonly encodeError: (words: Words) => EncodeError;
}

interface Bound {
  readonly holds: (words: Words) => boolean;
  /** `undefined`: the whole ID. */
  readonly field: Field | undefined;
  readonly min: string;
  readonly max: string;
}

/** `undefined` if every bit pattern is valid. */
export const compileRange = (table: LayoutTable, fields: readonly Field[]): Range | undefined => {
  const bounds = [...fields.flatMap((field) => fieldBounds(table, field)), ...leastBound(table)];
  if (bounds.length === 0) return undefined;
  const broken = (words: Words): Bound => bounds.find(({ holds }) => !holds(words)) as Bound;
  return {
    holds: (words) => bounds.every(({ holds }) => holds(words)),
    parseError: (words) => {
      const { field, min, max } = broken(words);
      return { reason: "range", ...(field === undefined ? {} : { field: field.name }), min, max };
    },
    encodeError: (words) => {
      const { field, max } = broken(words);
      const value = field === undefined ? wordsToBig(words) : field.readBig(words);
      return { reason: "out-of-range", field: field?.name ?? "id", value: value.toString(), max };
    },
  };
};

const fieldBounds = (table: LayoutTable, field: Field): readonly Bound[] => {
  const { name, bits, max, read, readBig } = field;
  const row = table.rows.find((candidate) => candidate.field === name);
  const bounds: Bound[] = [];
  if (row?.role === "time" && row.unit === "sql-datetime") {
    const holds = (words: Words): boolean => read(words) % SQL_DAY < SQL_TICKS_A_DAY;
    bounds.push({ holds, field, min: "0", max: `${SQL_TICKS_A_DAY - 1} in the last 32 bits` });
  }
  if (BigInt(max) < (1n << BigInt(bits)) - 1n) {
    const value = bits > NUMBER_BITS_MAX ? readBig : read;
    bounds.push({ holds: (words) => value(words) <= max, field, min: "0", max: `${max}` });
  }
  return bounds;
};

const leastBound = (table: LayoutTable): readonly Bound[] => {
  if (table.least === undefined) return [];
  const least = bigToWords(BigInt(table.least), wordsFor(bitsOf(table)));
  const holds = (words: Words): boolean => compareWords(words, least) >= 0;
  return [{ holds, field: undefined, min: table.least, max: `2^${bitsOf(table)} - 1` }];
};
