import type { Field, Layout } from "./layout.ts";
import { NUMBER_BITS_MAX } from "./runs.ts";
import { EVEN_UNITS, sqlMs, type TimeRow, unixMsOf } from "./time-units.ts";

/** Reads a time field as Unix milliseconds, rounded down. Exact up to 2^53. */
export const compileMintedAt = ({ bits, read, readBig }: Field, row: TimeRow): NonNullable<Layout["mintedAtMs"]> => {
  const { unit, epochMs } = row;
  if (bits > NUMBER_BITS_MAX) return (words) => unixMsOf(row, readBig(words));
  if (unit === "sql-datetime") return (words) => sqlMs(read(words)) + epochMs;
  const { ms, ticks } = EVEN_UNITS[unit];
  if (ticks === 1) return (words) => read(words) * ms + epochMs;
  // A quotient of integers below 2^53 never rounds up to the next integer, so `floor` is exact.
  return (words) => Math.floor(read(words) / ticks) + epochMs;
};

/** ISO 8601 in UTC with milliseconds; `undefined` outside years 0 to 9999, which four digits cannot express. */
export const isoTime = (unixMs: number): string | undefined => {
  const date = new Date(unixMs);
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
};
