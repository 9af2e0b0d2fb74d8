import type { TimeUnit } from "./layout.ts";

/** Each even unit as a ratio of integers: `ms` milliseconds per `ticks` ticks. */
export const EVEN_UNITS: Readonly<
  Record<Exclude<TimeUnit, "sql-datetime">, { readonly ms: number; readonly ticks: number }>
> = {
  s: { ms: 1000, ticks: 1 },
  "10ms": { ms: 10, ticks: 1 },
  ms: { ms: 1, ticks: 1 },
  "10us": { ms: 1, ticks: 100 },
  us: { ms: 1, ticks: 1000 },
  "100ns": { ms: 1, ticks: 10_000 },
  ns: { ms: 1, ticks: 1_000_000 },
};

/** SQL Server's `datetime` counts 1/300 s since midnight. */
export const SQL_TICKS_A_DAY = 25_920_000;

/** Whole units in a duration, rounded down. An SQL Server `datetime` counts in 1/300 s. */
export const ticksIn = (unit: TimeUnit, durationMs: number): bigint => {
  if (unit === "sql-datetime") return BigInt(Math.floor((durationMs * 3) / 10));
  const { ms, ticks } = EVEN_UNITS[unit];
  return ms === 1 ? BigInt(durationMs) * BigInt(ticks) : BigInt(Math.floor(durationMs / ms));
};

/** The value of a time field after this many units. */
export const timeValue = (unit: TimeUnit, ticks: bigint): bigint => {
  if (unit !== "sql-datetime" || ticks < 0n) return ticks;
  const ticksADay = BigInt(SQL_TICKS_A_DAY);
  return ((ticks / ticksADay) << 32n) | (ticks % ticksADay);
};
