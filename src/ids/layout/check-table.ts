import type { FieldValue, LayoutTable, Row, TextForm, TimeUnit } from "./layout.ts";
import { bitsOf, NUMBER_BITS_MAX } from "./runs.ts";
import { EVEN_UNITS } from "./time.ts";

export type LayoutTableFault =
  | { readonly reason: "field-name"; readonly field: string }
  | { readonly reason: "row-bits"; readonly field: string; readonly bits: number; readonly max: number }
  | { readonly reason: "total-bits"; readonly expected: number; readonly actual: number }
  | { readonly reason: "octet-order"; readonly octets: number }
  | { readonly reason: "fixed-bits"; readonly field: string; readonly bits: number; readonly max: number }
  | { readonly reason: "fixed-value"; readonly field: string; readonly bits: number; readonly value: number }
  | { readonly reason: "max-value"; readonly field: string; readonly bits: number; readonly max: number | string }
  | { readonly reason: "least-value"; readonly bits: number; readonly least: string }
  | { readonly reason: "text-bits"; readonly text: string; readonly expected: number; readonly actual: number }
  | { readonly reason: "unit"; readonly field: string; readonly unit: string }
  | { readonly reason: "sql-datetime-bits"; readonly field: string; readonly bits: number; readonly max: number }
  | { readonly reason: "epoch"; readonly field: string; readonly epochMs: number }
  | { readonly reason: "split-field"; readonly field: string }
  | { readonly reason: "two-times"; readonly fields: readonly [string, string] };

/** KSUIDs have 160 bits, a few other IDs 168 or 192, and a hash 256. */
export const LAYOUT_BITS_MAX = 256;

export const checkTable = (table: LayoutTable, otherTexts: readonly TextForm[] = []): LayoutTableFault | undefined =>
  firstOf(table.rows, checkRow) ?? checkFields(table) ?? checkWidth(table, otherTexts) ?? checkLeast(table);

type RowOf<Role extends Row["role"]> = Extract<Row, { readonly role: Role }>;

const checkRow = (row: Row): LayoutTableFault | undefined => {
  const { field, bits } = row;
  if (!/^[a-z][A-Za-z0-9]{0,31}$/.test(field)) return { reason: "field-name", field };
  if (!Number.isInteger(bits) || bits < 1 || bits > LAYOUT_BITS_MAX) {
    return { reason: "row-bits", field, bits, max: LAYOUT_BITS_MAX };
  }
  if (row.role === "time") return checkTime(row) ?? checkMax(row);
  return row.role === "fixed" ? checkFixed(row) : checkMax(row);
};

const checkTime = ({ field, epochMs, unit }: RowOf<"time">): LayoutTableFault | undefined => {
  if (!Number.isSafeInteger(epochMs)) return { reason: "epoch", field, epochMs };
  return Object.hasOwn(EVEN_UNITS, unit) || unit === "sql-datetime" ? undefined : { reason: "unit", field, unit };
};

const checkFixed = ({ field, bits, value }: RowOf<"fixed">): LayoutTableFault | undefined =>
  Number.isSafeInteger(value) && value >= 0 && value < 2 ** bits
    ? undefined
    : { reason: "fixed-value", field, bits, value };

const checkMax = (row: Row): LayoutTableFault | undefined => {
  const { field, bits } = row;
  const max = maxOf(row);
  if (max === undefined) return undefined;
  const isExact = typeof max === "bigint" || Number.isSafeInteger(max);
  if (isExact && max > 0 && BigInt(max) >> BigInt(bits) === 0n) return undefined;
  // JSON has no bigint.
  return { reason: "max-value", field, bits, max: typeof max === "bigint" ? `${max}` : max };
};

/** Rows with the same name form one field, without a `max`. At most one field is a time. Fixed values must be exact. */
const checkFields = ({ rows }: LayoutTable): LayoutTableFault | undefined => {
  const first = new Map<string, Row>();
  const bits = new Map<string, number>();
  for (const row of rows) {
    const before = first.get(row.field) ?? row;
    const parted = before !== row && (maxOf(before) ?? maxOf(row)) !== undefined;
    if (parted || !sameField(before, row)) return { reason: "split-field", field: row.field };
    first.set(row.field, before);
    bits.set(row.field, (bits.get(row.field) ?? 0) + row.bits);
  }
  const fields = [...first.values()];
  const [time, otherTime] = fields.filter((row) => row.role === "time");
  if (time !== undefined && otherTime !== undefined) {
    return { reason: "two-times", fields: [time.field, otherTime.field] };
  }
  return firstOf(fields, (row) => {
    const { field } = row;
    const wide = { field, bits: bits.get(field) as number, max: NUMBER_BITS_MAX };
    if (wide.bits <= NUMBER_BITS_MAX) return undefined;
    if (row.role === "fixed") return { reason: "fixed-bits", ...wide };
    return unitOf(row) === "sql-datetime" ? { reason: "sql-datetime-bits", ...wide } : undefined;
  });
};

const sameField = (a: Row, b: Row): boolean =>
  a.role === b.role && unitOf(a) === unitOf(b) && epochOf(a) === epochOf(b);

const unitOf = (row: Row): TimeUnit | undefined => (row.role === "time" ? row.unit : undefined);
const maxOf = (row: Row): FieldValue | undefined => (row.role === "fixed" ? undefined : row.max);
const epochOf = (row: Row): number | undefined => (row.role === "time" ? row.epochMs : undefined);

const checkWidth = (table: LayoutTable, otherTexts: readonly TextForm[]): LayoutTableFault | undefined => {
  const actual = bitsOf(table);
  const expected = table.text.bits;
  if (actual !== expected) return { reason: "total-bits", expected, actual };
  const other = otherTexts.find(({ bits }) => bits !== actual);
  if (other !== undefined) return { reason: "text-bits", text: other.name, expected: actual, actual: other.bits };
  return table.octetOrder === undefined || isPermutation(table.octetOrder, actual / 8)
    ? undefined
    : { reason: "octet-order", octets: actual / 8 };
};

const checkLeast = (table: LayoutTable): LayoutTableFault | undefined => {
  const { least } = table;
  const bits = bitsOf(table);
  if (least === undefined || (/^[1-9][0-9]{0,77}$/.test(least) && BigInt(least) >> BigInt(bits) === 0n))
    return undefined;
  return { reason: "least-value", bits, least };
};

const isPermutation = (order: readonly number[], count: number): boolean =>
  order.length === count && order.toSorted((a, b) => a - b).every((byte, index) => byte === index);

const firstOf = <Item>(items: readonly Item[], check: (item: Item) => LayoutTableFault | undefined) =>
  items.map(check).find((fault) => fault !== undefined);
