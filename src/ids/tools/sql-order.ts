import type { Words } from "../layout/layout.ts";
import { SQL_ORDER } from "../layout/words.ts";
import { hotguidSqlTable, hotguidTable } from "../layouts/builtin.ts";

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

const IN_ORDER = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] as const;
const SHORT_SWAPPED = [10, 11, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 12, 13, 14, 15] as const;
const SWAPPED = [10, 11, 12, 13, 14, 15, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5] as const;

/** Converts a short prefix COMB to a short suffix COMB and back: swaps bytes 0 and 1 with 10 and 11. */
export const swapShortComb = (words: Words): Words => move(words, IN_ORDER, SHORT_SWAPPED);

/** Converts a prefix COMB to a suffix COMB and back: swaps the first six bytes with the last six. */
export const swapComb = (words: Words): Words => move(words, IN_ORDER, SWAPPED);

const byteAt = (words: Words, byte: number): number => ((words[byte >>> 2] as number) >>> shiftOf(byte)) & 0xff;

const shiftOf = (byte: number): number => 24 - 8 * (byte & 3);

/** The two text forms of a HotGuid, as `ToSqlGuid` and `ToGuid` of its library convert them. No bit tells which. */

export const toSql = (words: Words): Words => move(words, hotguidTable.octetOrder, hotguidSqlTable.octetOrder);

export const fromSql = (words: Words): Words => move(words, hotguidSqlTable.octetOrder, hotguidTable.octetOrder);

/** Each byte from its place in one order to its place in the other. */
const move = (words: Words, from: readonly number[], to: readonly number[]): Words => {
  const moved = [0, 0, 0, 0];
  for (const [byte, source] of from.entries()) {
    const target = to[byte] as number;
    const word = target >>> 2;
    moved[word] = ((moved[word] as number) | (byteAt(words, source) << shiftOf(target))) >>> 0;
  }
  return moved;
};
