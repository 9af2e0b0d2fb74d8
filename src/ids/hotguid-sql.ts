import type { Words } from "./layout.ts";
import { hotguidSqlTable, hotguidTable } from "./layouts.ts";

/** The two text forms of one 128-bit value, after `ToSqlGuid` and `ToGuid` of the .NET library. Neither marks itself. */

/** The words of the SQL form of an ordinary HotGuid. */
export const toSql = (words: Words): Words => move(words, hotguidTable.octetOrder, hotguidSqlTable.octetOrder);

/** The words of the ordinary form of a HotGuid in its SQL form. */
export const fromSql = (words: Words): Words => move(words, hotguidSqlTable.octetOrder, hotguidTable.octetOrder);

/** Both orders say where each octet of the layout stands in the text, so each octet goes from one place to the other. */
const move = (words: Words, from: readonly number[], to: readonly number[]): Words => {
  const moved = [0, 0, 0, 0];
  for (const [octet, source] of from.entries()) {
    const target = to[octet] as number;
    const word = target >>> 2;
    moved[word] = ((moved[word] as number) | (octetAt(words, source) << shiftOf(target))) >>> 0;
  }
  return moved;
};

const octetAt = (words: Words, octet: number): number => ((words[octet >>> 2] as number) >>> shiftOf(octet)) & 0xff;

/** How far an octet's last bit is from the last bit of its word. */
const shiftOf = (octet: number): number => 24 - 8 * (octet & 3);
