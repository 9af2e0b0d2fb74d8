import type { LayoutTable, Row, TimeUnit, Words } from "../../src/ids/index.ts";

/** A slow, obvious implementation of layouts on strings of bits: the oracle for compiled layouts. */

/** The bits of an ID in text order, most significant first, without unused leading bits. */
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
  const logical = table.octetOrder?.map((byte) => text.slice(byte * 8, byte * 8 + 8)).join("") ?? text;
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

/** Whether the ID and all its fields are in range. */
export const slowInRange = (table: LayoutTable, words: Words): boolean => {
  const values = slowDecode(table, words);
  const whole = BigInt(`0x${words.map((word) => word.toString(16).padStart(8, "0")).join("")}`);
  return whole >= BigInt(table.least ?? 0) && table.rows.every((row) => slowHolds(row, values[row.field] as bigint));
};

/** Whether the field that starts with this row can have this value. */
export const slowHolds = (row: Row, value: bigint): boolean => {
  if (row.role === "fixed") return true;
  if (row.role === "time" && row.unit === "sql-datetime") return value % 2n ** 32n < 300n * 86_400n;
  return row.max === undefined || value <= BigInt(row.max);
};

const NANOSECONDS: Readonly<Record<Exclude<TimeUnit, "sql-datetime">, bigint>> = {
  s: 1_000_000_000n,
  "10ms": 10_000_000n,
  ms: 1_000_000n,
  "10us": 10_000n,
  us: 1_000n,
  "100ns": 100n,
  ns: 1n,
};

/** The time field as Unix milliseconds, rounded down; 1/300 s rounded to the nearest. `undefined` without a time. */
export const slowMintedAtMs = ({ rows }: LayoutTable, fields: Readonly<Record<string, bigint>>): bigint | undefined => {
  const row = rows.find(({ role }) => role === "time");
  if (row?.role !== "time") return undefined;
  const value = fields[row.field] as bigint;
  const epochMs = BigInt(row.epochMs);
  if (row.unit !== "sql-datetime") return epochMs + (value * NANOSECONDS[row.unit]) / 1_000_000n;
  const days = value / 2n ** 32n;
  const ticks = value % 2n ** 32n;
  return epochMs + days * 86_400_000n + (ticks * 20n + 3n) / 6n;
};
