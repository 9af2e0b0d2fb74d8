import type { Field, Layout, LayoutTable, Row, TimeUnit } from "./layout.ts";
import { NUMBER_BITS_MAX } from "./runs.ts";

export type TimeRow = Extract<Row, { readonly role: "time" }>;

export const timeRowOf = ({ rows }: Pick<LayoutTable, "rows">): TimeRow | undefined =>
  rows.find((row): row is TimeRow => row.role === "time");

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

export const DAY_MS = 86_400_000;

/** SQL Server's `datetime` counts 1/300 s since midnight in its low 32 bits. */
export const SQL_TICKS_A_DAY = 25_920_000;

export const SQL_DAY = 0x1_0000_0000;

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

/** The Unix time in milliseconds of a time field's value, rounded down; `undefined` beyond 2^53 - 1. */
export const unixMsOf = ({ unit, epochMs }: TimeRow, value: bigint): number | undefined => {
  if (unit === "sql-datetime") return exactMs(sqlMs(Number(value)) + epochMs);
  const { ms, ticks } = EVEN_UNITS[unit];
  return exactMs(Number((value * BigInt(ms)) / BigInt(ticks) + BigInt(epochMs)));
};

/** The Unix time in milliseconds that an ID minted at an instant contains: the start of its unit. */
export const timeToldBy = (row: TimeRow, unixMs: number): number =>
  unixMsOf(row, timeValue(row.unit, ticksIn(row.unit, unixMs - row.epochMs))) ?? unixMs;

/** A `number` above 2^53 - 1 stands for several instants, so such a time is not told. */
export const exactMs = (unixMs: number): number | undefined => (unixMs <= Number.MAX_SAFE_INTEGER ? unixMs : undefined);

/** Rounded to the nearest millisecond, as SQL Server prints a `datetime`. */
export const sqlMs = (value: number): number => {
  const ticks = value % SQL_DAY;
  return ((value - ticks) / SQL_DAY) * DAY_MS + Math.round((ticks * 10) / 3);
};

/** Reads a time field as Unix milliseconds, rounded down; `undefined` beyond 2^53 - 1. */
export const compileMintedAt = (field: Field, row: TimeRow): NonNullable<Layout["mintedAtMs"]> => {
  const { max, read, readBig } = field;
  const { unit, epochMs } = row;
  if (field.bits > NUMBER_BITS_MAX || unixMsOf(row, BigInt(max)) === undefined) {
    return (words) => unixMsOf(row, readBig(words));
  }
  if (unit === "sql-datetime") return (words) => sqlMs(read(words)) + epochMs;
  const { ms, ticks } = EVEN_UNITS[unit];
  if (unit === "ms" && epochMs === 0) return read;
  if (ticks === 1) return (words) => read(words) * ms + epochMs;
  // A quotient of integers below 2^53 never rounds up to the next integer, so `floor` is exact.
  return (words) => Math.floor(read(words) / ticks) + epochMs;
};

/** ISO 8601 in UTC with milliseconds; `undefined` outside years 0 to 9999, which four digits cannot express, or without a time. */
export const isoTime = (unixMs: number | undefined): string | undefined => {
  const date = new Date(unixMs ?? Number.NaN);
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
};
