import type { Words } from "./layout.ts";
import { hotguidSqlTable, hotguidTable } from "./layouts.ts";

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

const byteAt = (words: Words, byte: number): number => ((words[byte >>> 2] as number) >>> shiftOf(byte)) & 0xff;

/** The shift of a byte within its word. */
const shiftOf = (byte: number): number => 24 - 8 * (byte & 3);
