import type { Field, Layout, TextForm, TimeUnit, Words } from "../layout/layout.ts";
import { EVEN_UNITS, type TimeRow, timeRowOf, timeValue } from "../layout/time.ts";
import { bigToWords, compareWords } from "../layout/words.ts";
import { err, ok, type Result } from "../result.ts";
import { compareSqlServer } from "./sql-order.ts";

/** The IDs of a period, as bounds for database partitions or range scans. */

/**
 * The comparison that sorts IDs by time. `text`: by character code (a binary collation). `number`: as integers, since
 * shorter texts sort first. `sqlserver`: as SQL Server uniqueidentifiers.
 */
export type PeriodOrder = "text" | "number" | "sqlserver";

export interface PeriodRange {
  readonly order: PeriodOrder;
  /** The first and the last ID with a time in the period, both inclusive. */
  readonly least: Words;
  readonly greatest: Words;
}

export type PeriodRangeError =
  /** An end is not an integer, or `toMs` is not after `fromMs`. */
  | { readonly reason: "no-period"; readonly fromMs: number; readonly toMs: number }
  | { readonly reason: "no-time"; readonly layout: string }
  /** Neither the bits nor SQL Server's comparison sort by time. */
  | { readonly reason: "no-time-order"; readonly layout: string }
  /** The bits sort by time, but the digits of this text form do not sort by value. */
  | { readonly reason: "no-text-order"; readonly layout: string; readonly text: string }
  /** No ID has a time in the period. Unix ms of the first and the last possible ID; `undefined` beyond 2^53 - 1. */
  | {
      readonly reason: "no-id";
      readonly layout: string;
      readonly firstMs: number | undefined;
      readonly lastMs: number | undefined;
    };

/**
 * The smallest and the greatest ID with a time from `fromMs` up to, but not including, `toMs` (Unix ms). Adjacent
 * periods give adjacent ranges. An ID's time is the start of its tick. In a layout of whole seconds, an ID minted at
 * 12:00:00.500 therefore counts as 12:00:00.000.
 */
export const periodRange = (
  layout: Layout,
  fromMs: number,
  toMs: number,
  text: TextForm = layout.table.text,
): Result<PeriodRange, PeriodRangeError> => {
  if (!Number.isSafeInteger(fromMs) || !Number.isSafeInteger(toMs) || fromMs >= toMs) {
    return err({ reason: "no-period", fromMs, toMs });
  }
  const time = layout.fields.find(({ role }) => role === "time");
  if (time === undefined) return err({ reason: "no-time", layout: layout.name });
  const order = orderOf(layout, time, text);
  if (!order.ok) return order;
  const ids = periodIds(layout, fromMs, toMs);
  return ids.ok ? ok({ order: order.value, least: ids.value.least, greatest: ids.value.greatest }) : ids;
};

/** The first and the last ID of a period, and the first one after it unless the time ends. */
export interface PeriodIds {
  readonly least: Words;
  readonly greatest: Words;
  readonly next: Words | undefined;
}

/** The IDs of a period, for a comparison that is known to sort the layout by time. */
export const periodIds = (layout: Layout, fromMs: number, toMs: number): Result<PeriodIds, PeriodRangeError> => {
  if (!Number.isSafeInteger(fromMs) || !Number.isSafeInteger(toMs) || fromMs >= toMs) {
    return err({ reason: "no-period", fromMs, toMs });
  }
  const time = layout.fields.find(({ role }) => role === "time");
  const row = timeRowOf(layout.table);
  if (time === undefined || row === undefined) return err({ reason: "no-time", layout: layout.name });
  const ends = timeEnds(layout, time, row);
  const fromValue = timeValue(row.unit, ticksUntil(row.unit, fromMs - row.epochMs));
  const toValue = timeValue(row.unit, ticksUntil(row.unit, toMs - row.epochMs));
  const first = fromValue > 0n ? fromValue : 0n;
  const end = before(toValue, row.unit);
  // biome-ignore lint/complexity/useMathMinMax: Math.min takes no bigint.
  const last = end < ends.last ? end : ends.last;
  const lowest = bigToWords(BigInt(layout.table.least ?? 0), layout.fixed.value.length);
  const greatest = last < 0n ? undefined : fill(layout, time, last, "greatest");
  if (greatest === undefined || first > last || compareWords(greatest, lowest) < 0) {
    return err({ reason: "no-id", layout: layout.name, firstMs: ends.firstMs, lastMs: ends.lastMs });
  }
  const least = fill(layout, time, first, "least");
  const next = toValue > ends.last ? undefined : fill(layout, time, toValue, "least");
  return ok({ least: compareWords(least, lowest) < 0 ? lowest : least, greatest, next });
};

/** The first tick that starts at or after an instant. */
const ticksUntil = (unit: TimeUnit, durationMs: number): bigint => {
  // A datetime is printed as the nearest millisecond: 10 k / 3 >= d - 1/2 gives k >= (6 d - 3) / 20.
  if (unit === "sql-datetime") return ceilQuotient(6n * BigInt(durationMs) - 3n, 20n);
  const { ms, ticks } = EVEN_UNITS[unit];
  return ceilQuotient(BigInt(durationMs) * BigInt(ticks), BigInt(ms));
};

const ceilQuotient = (dividend: bigint, divisor: bigint): bigint => {
  const quotient = dividend / divisor;
  return dividend > 0n && dividend % divisor !== 0n ? quotient + 1n : quotient;
};

const SQL_DAY = 1n << 32n;
const SQL_LAST_TICK = 25_919_999n;

const before = (value: bigint, unit: TimeUnit): bigint =>
  unit === "sql-datetime" && value > 0n && value % SQL_DAY === 0n ? value - SQL_DAY + SQL_LAST_TICK : value - 1n;

/** The last time value, and the times of the first and the last possible ID in Unix ms. */
const timeEnds = (layout: Layout, time: Field, { unit }: TimeRow) => {
  const max = BigInt(time.max);
  const isMidnight = unit === "sql-datetime" && max % SQL_DAY > SQL_LAST_TICK;
  const last = isMidnight ? max - (max % SQL_DAY) + SQL_LAST_TICK : max;
  const least = layout.table.least;
  const first =
    least === undefined ? fill(layout, time, 0n, "least") : bigToWords(BigInt(least), layout.fixed.value.length);
  const mintedAtMs = layout.mintedAtMs as NonNullable<Layout["mintedAtMs"]>;
  return { last, firstMs: mintedAtMs(first), lastMs: mintedAtMs(fill(layout, time, last, "greatest")) };
};

/** An ID with this time, and all other fields at their minimum or maximum. */
const fill = (layout: Layout, time: Field, value: bigint, end: "least" | "greatest"): Words => {
  const words = layout.fixed.value.slice();
  time.write(words, value);
  for (const field of layout.fields) {
    if (end === "greatest" && field.role !== "fixed" && field !== time) field.write(words, field.max);
  }
  return words;
};

const orderOf = (layout: Layout, time: Field, text: TextForm): Result<PeriodOrder, PeriodRangeError> => {
  if (standsByTime(layout, time, compareWords)) return textOrder(layout, time, text);
  const isUuid = text.name === "uuid" && text.bits === UUID_BITS;
  if (isUuid && standsByTime(layout, time, compareSqlServer)) return ok("sqlserver");
  return err({ reason: "no-time-order", layout: layout.name });
};

const UUID_BITS = 128;

/** Whether a comparison weighs all time bits, in order, before any other variable bit, those of `constant` fields aside. */
export const standsByTime = (
  layout: Layout,
  time: Field,
  compare: (a: Words, b: Words) => number,
  constant: readonly Field[] = [],
): boolean => {
  const weighed = layout.fields
    .filter((field) => field.role !== "fixed" && !constant.includes(field))
    .flatMap((field) => bitsOf(field, layout.fixed.value.length))
    .toSorted((a, b) => compare(b.words, a.words));
  const inOrder = layout.fields.every((field) => field === time || isFull(field) || descends(weighed, field));
  return inOrder && weighed.slice(0, time.bits).every(({ field }) => field === time) && descends(weighed, time);
};

type Bit = ReturnType<typeof bitsOf>[number];

/** Each bit: an ID with only this bit set, and the bit's value within its field. */
const bitsOf = (field: Field, wordCount: number) =>
  Array.from({ length: field.bits }, (_, place) => {
    const words = new Array<number>(wordCount).fill(0);
    const value = 1n << BigInt(place);
    field.write(words, value);
    return { field, words, value };
  });

const isFull = ({ bits, max }: Field): boolean => BigInt(max) === (1n << BigInt(bits)) - 1n;

const descends = (weighed: readonly Bit[], field: Field): boolean => {
  const values = weighed.filter((bit) => bit.field === field).map(({ value }) => value);
  return values.every((value, index) => index === 0 || value < (values[index - 1] as bigint));
};

const textOrder = (layout: Layout, time: Field, text: TextForm): Result<PeriodOrder, PeriodRangeError> => {
  const order = digitOrder(text, layout, fill(layout, time, BigInt(time.max), "greatest"));
  return order === undefined ? err({ reason: "no-text-order", layout: layout.name, text: text.name }) : ok(order);
};

/**
 * Texts of equal length sort by value if each digit sorts by its value: constant characters stand in the same places of all.
 * `undefined`: the digits do not. `number`: the texts differ in length.
 */
export const digitOrder = (text: TextForm, { fixed }: Layout, greatest: Words): "text" | "number" | undefined => {
  if (!sortsByValue(text)) return undefined;
  const lowest = text.format(bigToWords(0n, fixed.value.length));
  return lowest.length === text.format(greatest).length ? "text" : "number";
};

/** Whether the digits of a form are in the order of their codes. */
export const sortsByValue = ({ numeral }: TextForm): boolean => {
  const digits = Array.from(numeral?.digits ?? "");
  return numeral !== undefined && digits.every((digit, at) => at === 0 || digit > (digits[at - 1] as string));
};
