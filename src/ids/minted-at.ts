import { NUMBER_BITS_MAX } from "./check-table.ts";
import type { Field, Layout, TimeUnit } from "./layout.ts";

/** Each unit as a fraction of whole numbers: so many milliseconds for so many ticks. */
const UNITS: Readonly<Record<TimeUnit, { readonly ms: number; readonly ticks: number }>> = {
  s: { ms: 1000, ticks: 1 },
  "10ms": { ms: 10, ticks: 1 },
  ms: { ms: 1, ticks: 1 },
  "10us": { ms: 1, ticks: 100 },
  us: { ms: 1, ticks: 1000 },
  "100ns": { ms: 1, ticks: 10_000 },
  ns: { ms: 1, ticks: 1_000_000 },
};

/** Reads a time field as Unix milliseconds, rounded down; exact up to 2^53. */
export const compileMintedAt = (field: Field, unit: TimeUnit, epochMs: number): NonNullable<Layout["mintedAtMs"]> => {
  const { ms, ticks } = UNITS[unit];
  const { read, readBig } = field;
  if (field.bits > NUMBER_BITS_MAX) {
    return (words) => Number((readBig(words) * BigInt(ms)) / BigInt(ticks) + BigInt(epochMs));
  }
  if (ticks === 1) return (words) => read(words) * ms + epochMs;
  // A quotient of whole numbers below 2^53 never rounds up to the next whole number, so rounding it down is exact.
  return (words) => Math.floor(read(words) / ticks) + epochMs;
};

/** ISO 8601 in UTC with milliseconds; `undefined` outside of the years 0 to 9999, which its four digits cannot say. */
export const isoTime = (unixMs: number): string | undefined => {
  const date = new Date(unixMs);
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
};
