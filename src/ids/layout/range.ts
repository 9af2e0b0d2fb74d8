import type { EncodeError, Field, LayoutTable, ParseError, Words } from "./layout.ts";
import { bitsOf, NUMBER_BITS_MAX, wordsFor } from "./runs.ts";
import { SQL_DAY, SQL_TICKS_A_DAY } from "./time.ts";
import { bigToWords, compareWords, wordsToBig } from "./words.ts";

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
  const { name, bits, max, read } = field;
  const row = table.rows.find((candidate) => candidate.field === name);
  if (row?.role === "time" && row.unit === "sql-datetime") {
    const holds = (words: Words): boolean => read(words) % SQL_DAY < SQL_TICKS_A_DAY;
    return [{ holds, field, min: "0", max: `${SQL_TICKS_A_DAY - 1} in the last 32 bits` }];
  }
  if (bits > NUMBER_BITS_MAX || max === 2 ** bits - 1) return [];
  return [{ holds: (words) => read(words) <= max, field, min: "0", max: max.toString() }];
};

const leastBound = (table: LayoutTable): readonly Bound[] => {
  if (table.least === undefined) return [];
  const least = bigToWords(BigInt(table.least), wordsFor(bitsOf(table)));
  return [
    {
      holds: (words) => compareWords(words, least) >= 0,
      field: undefined,
      min: table.least,
      max: `2^${bitsOf(table)} - 1`,
    },
  ];
};
