import type { Layout, Row } from "../ids/index.ts";
import { ticksIn } from "../ids/time-units.ts";
import { commonTexts } from "./common-texts.ts";
import { HORIZON_MS } from "./limits.ts";
import { bothReadings, type TimedLayout } from "./sample-texts.ts";

/** Whether one text can be an ID of two layouts. */

/** Two layouts that some text can be of. */
export interface Overlap {
  /** Such a text, where the search came upon one. */
  readonly example: string | undefined;
}

/**
 * Where layouts share a text form, their fixed bits or the times that they begin with must differ, or some text is of both.
 * Where the forms are not the same, they overlap only if a text is found that both read.
 */
export const overlapOf = (a: TimedLayout, b: TimedLayout): Overlap | undefined => {
  const [forms, otherForms] = [a.layout.texts, b.layout.texts];
  const isApart = fixedBitsDiffer(a.layout, b.layout) || beginningsDiffer(a, b);
  const isShared = !isApart && forms.some((form) => otherForms.includes(form));
  if (isApart && forms.length === 1 && otherForms.length === 1 && forms[0] === otherForms[0]) return undefined;
  const example = find(commonTexts(a, b), (text) => bothReadings(a, b, text));
  return isShared || example !== undefined ? { example } : undefined;
};

const find = (texts: Iterable<string>, is: (text: string) => boolean): string | undefined => {
  for (const text of texts) if (is(text)) return text;
  return undefined;
};

const fixedBitsDiffer = (a: Layout, b: Layout): boolean =>
  a.fixed.mask.some((mask, word) => {
    const both = mask & (b.fixed.mask[word] as number);
    return (((a.fixed.value[word] as number) ^ (b.fixed.value[word] as number)) & both) !== 0;
  });

/** Whether the leading bits of the two can never agree, as far as their bytes stand in one order. */
const beginningsDiffer = (a: TimedLayout, b: TimedLayout): boolean => {
  const [first, second] = [beginningOf(a), beginningOf(b)];
  const bits = Math.min(first.bits, second.bits, commonBits(a.layout, b.layout));
  const cut = ({ low, high, bits: own }: Beginning) => [low >> BigInt(own - bits), high >> BigInt(own - bits)] as const;
  const [low, high] = cut(first);
  const [otherLow, otherHigh] = cut(second);
  return high < otherLow || otherHigh < low;
};

/** How many leading bits of the rows stand at the same places of both texts. */
const commonBits = (a: Layout, b: Layout): number => {
  const placeOf = ({ table }: Layout, byte: number): number => table.octetOrder?.[byte] ?? byte;
  const bytes = Math.ceil(a.table.text.bits / 8);
  for (let byte = 0; byte < bytes; byte++) if (placeOf(a, byte) !== placeOf(b, byte)) return byte * 8;
  return a.table.text.bits;
};

/** Which values the first `bits` bits of the rows can have: all fixed ones, and the first that are not. */
interface Beginning {
  readonly bits: number;
  readonly low: bigint;
  readonly high: bigint;
}

const beginningOf = (timed: TimedLayout): Beginning => {
  let beginning: Beginning = { bits: 0, low: 0n, high: 0n };
  for (const row of timed.layout.table.rows) {
    const [low, high] = valuesOf(row, timed);
    const shift = BigInt(row.bits);
    beginning = {
      bits: beginning.bits + row.bits,
      low: (beginning.low << shift) | low,
      high: (beginning.high << shift) | high,
    };
    if (row.role !== "fixed") break;
  }
  return beginning;
};

const valuesOf = (row: Row, { layout, window }: TimedLayout): readonly [low: bigint, high: bigint] => {
  const all = (1n << BigInt(row.bits)) - 1n;
  if (row.role === "fixed") return [BigInt(row.value), BigInt(row.value)];
  const fieldBits = layout.field(row.field)?.bits ?? row.bits;
  if (row.role !== "time" || window === undefined || row.unit === "sql-datetime") return [0n, all];
  const { unit, epochMs } = row;
  // Of a time in several rows the first has the most significant bits.
  const at = (unixMs: number): bigint => ticksIn(unit, unixMs - epochMs) >> BigInt(fieldBits - row.bits);
  const [from, to] = [at(window.fromMs), at(HORIZON_MS)];
  return [from < 0n ? 0n : from, to > all ? all : to];
};
