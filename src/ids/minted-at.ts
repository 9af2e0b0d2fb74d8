import { NUMBER_BITS_MAX } from "./check-table.ts";
import type { Field, Layout, TimeUnit } from "./layout.ts";
import { EVEN_UNITS } from "./time-units.ts";

const SQL_DAY = 0x1_0000_0000;
const DAY_MS = 86_400_000;

/** Reads a time field as Unix milliseconds, rounded down. Exact up to 2^53. */
export const compileMintedAt = (field: Field, unit: TimeUnit, epochMs: number): NonNullable<Layout["mintedAtMs"]> => {
  const { read, readBig } = field;
  if (unit === "sql-datetime") return sqlDatetime(read, epochMs);
  const { ms, ticks } = EVEN_UNITS[unit];
  if (field.bits > NUMBER_BITS_MAX) {
    return (words) => Number((readBig(words) * BigInt(ms)) / BigInt(ticks) + BigInt(epochMs));
  }
  if (ticks === 1) return (words) => read(words) * ms + epochMs;
  // A quotient of integers below 2^53 never rounds up to the next integer, so `floor` is exact.
  return (words) => Math.floor(read(words) / ticks) + epochMs;
};

/** Rounded to the nearest millisecond, as SQL Server prints a `datetime`. */
const sqlDatetime =
  (read: Field["read"], epochMs: number): NonNullable<Layout["mintedAtMs"]> =>
  (words) => {
    const value = read(words);
    const ticks = value % SQL_DAY;
    return ((value - ticks) / SQL_DAY) * DAY_MS + Math.round((ticks * 10) / 3) + epochMs;
  };

/** ISO 8601 in UTC with milliseconds; `undefined` outside years 0 to 9999, which four digits cannot express. */
export const isoTime = (unixMs: number): string | undefined => {
  const date = new Date(unixMs);
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
};
