import type { Words } from "../layout/layout.ts";
import { hotguidSqlTable, hotguidTable } from "../layouts/builtin.ts";
import { SQL_ORDER } from "../layouts/comb.ts";

/**
 * SQL Server's order of uniqueidentifiers, and byte swaps that move a time to where a database sorts first. Source:
 * Microsoft SQL programmability blog, 6 November 2006; `SqlGuid`. Words are those of the UUID text.
 */

/** -1, 0 or 1: the order of `a` and `b` in an index of SQL Server. */
export const compareSqlServer = (a: Words, b: Words): -1 | 0 | 1 => {
  for (const byte of SQL_ORDER) {
    const difference = byteAt(a, byte) - byteAt(b, byte);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return 0;
};

/** Converts a short prefix COMB to a short suffix COMB and back: swaps bytes 0 and 1 with 10 and 11. */
export const swapShortComb = ([a, b, c, d]: Words): Words => {
  const [first, third] = [a as number, c as number];
  return [(first & 0xffff) | (third << 16), b as number, (third & 0xffff0000) | (first >>> 16), d as number].map(
    (word) => word >>> 0,
  );
};

/** Converts a prefix COMB to a suffix COMB and back: swaps the first six bytes with the last six. */
export const swapComb = ([a, b, c, d]: Words): Words => {
  const [first, second, third, fourth] = [a as number, b as number, c as number, d as number];
  return [
    (third << 16) | (fourth >>> 16),
    (fourth << 16) | (second & 0xffff),
    (third & 0xffff0000) | (first >>> 16),
    (first << 16) | (second >>> 16),
  ].map((word) => word >>> 0);
};

const byteAt = (words: Words, byte: number): number => ((words[byte >>> 2] as number) >>> shiftOf(byte)) & 0xff;

/** The shift of a byte within its word. */
const shiftOf = (byte: number): number => 24 - 8 * (byte & 3);

/**
 * The two text forms of a HotGuid, as `ToSqlGuid` and `ToGuid` of the .NET library convert them. No bit distinguishes
 * them.
 */

/** Converts an ordinary HotGuid to its SQL form. */
export const toSql = (words: Words): Words => move(words, hotguidTable.octetOrder, hotguidSqlTable.octetOrder);

/** Converts a HotGuid in SQL form to the ordinary form. */
export const fromSql = (words: Words): Words => move(words, hotguidSqlTable.octetOrder, hotguidTable.octetOrder);

/** Both orders map a byte of the layout to its place in the text. */
const move = (words: Words, from: readonly number[], to: readonly number[]): Words => {
  const moved = [0, 0, 0, 0];
  for (const [byte, source] of from.entries()) {
    const target = to[byte] as number;
    const word = target >>> 2;
    moved[word] = ((moved[word] as number) | (byteAt(words, source) << shiftOf(target))) >>> 0;
  }
  return moved;
};
