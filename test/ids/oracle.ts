import type { LayoutTable, Words } from "../../src/ids/index.ts";

/** Layouts read the slow, obvious way: as strings of bits. The compiled layouts are held against this. */

/** The bits of an ID in text order, most significant first, without the unused ones in front. */
export const textBits = (words: Words, width: number): string =>
  words
    .map((word) => word.toString(2).padStart(32, "0"))
    .join("")
    .slice(-width);

/** The words of a string of bits. */
export const wordsOfBits = (bits: string): Words => {
  const padded = bits.padStart(Math.ceil(bits.length / 32) * 32, "0");
  return (padded.match(/.{32}/g) ?? []).map((word) => Number.parseInt(word, 2));
};

/** Every field of an ID by name. */
export const slowDecode = (table: LayoutTable, words: Words): Record<string, bigint> => {
  const width = table.rows.reduce((sum, row) => sum + row.bits, 0);
  const text = textBits(words, width);
  const logical = table.octetOrder?.map((octet) => text.slice(octet * 8, octet * 8 + 8)).join("") ?? text;
  const bits: Record<string, string> = {};
  let at = 0;
  for (const row of table.rows) {
    bits[row.field] = (bits[row.field] ?? "") + logical.slice(at, at + row.bits);
    at += row.bits;
  }
  return Object.fromEntries(Object.entries(bits).map(([field, value]) => [field, BigInt(`0b${value}`)]));
};

/** Whether each fixed row has its value. */
export const slowFits = (table: LayoutTable, words: Words): boolean => {
  const expected: Record<string, string> = {};
  for (const row of table.rows) {
    if (row.role !== "fixed") continue;
    expected[row.field] = (expected[row.field] ?? "") + row.value.toString(2).padStart(row.bits, "0");
  }
  const actual = slowDecode(table, words);
  return Object.entries(expected).every(([field, value]) => actual[field] === BigInt(`0b${value}`));
};
