import type { Field, Layout, Words } from "../layout/layout.ts";
import { compareWords } from "../layout/words.ts";
import { standsByTime } from "../tools/period-range.ts";
import { compareSqlServer } from "../tools/sql-order.ts";

/**
 * How columns compare. `bits`: most significant first, which is also the order of sorted texts. `sqlserver`: a
 * uniqueidentifier. `halves`: a UUID of ClickHouse, its second half first. `groups`: a UUID of MariaDB whose groups are
 * stored in reverse. `mixed`: a UUID of MariaDB that stores some IDs so, and others not.
 */
export type ColumnOrder = "bits" | "sqlserver" | "halves" | "groups" | "mixed";

const byBytes =
  (order: readonly number[]) =>
  (a: Words, b: Words): -1 | 0 | 1 => {
    for (const byte of order) {
      const difference = byteAt(a, byte) - byteAt(b, byte);
      if (difference !== 0) return difference < 0 ? -1 : 1;
    }
    return 0;
  };

const byteAt = (words: Words, byte: number): number => ((words[byte >>> 2] as number) >>> (24 - 8 * (byte & 3))) & 0xff;

const COMPARISONS: Readonly<Record<Exclude<ColumnOrder, "mixed">, (a: Words, b: Words) => number>> = {
  bits: compareWords,
  sqlserver: compareSqlServer,
  halves: /* @__PURE__ */ byBytes([8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]),
  groups: /* @__PURE__ */ byBytes([10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3]),
};

export const compareIn = (order: Exclude<ColumnOrder, "mixed">): ((a: Words, b: Words) => number) => COMPARISONS[order];

/** Whether the IDs of a period stand together in a column. */
export const sortsByTime = (layout: Layout, order: ColumnOrder): boolean => {
  const time = layout.fields.find(({ role }) => role === "time");
  return time !== undefined && order !== "mixed" && standsByTime(layout, time, COMPARISONS[order]);
};

/** Whether the IDs that one minter makes rise: its keys and its node are the same in all of them. */
export const rises = (layout: Layout, order: ColumnOrder): boolean => {
  const leading = leadingField(layout);
  if (leading === undefined || order === "mixed") return false;
  const constant = layout.fields.filter(
    (field) => field !== leading && (field.role === "key" || field.role === "node"),
  );
  return standsByTime(layout, leading, COMPARISONS[order], constant);
};

/** The field that a minter counts up by: the time, the key of an LUUID, or the interval of a short COMB. */
export const leadingField = (layout: Layout): Field | undefined =>
  layout.fields.find(({ role }) => role === "time") ?? layout.field("primaryKey") ?? layout.field("interval");

/** MariaDB's rules for a UUID, by bytes 6 and 8 (plugin/type_uuid/sql_type_uuid.h). */

/** It refuses version 8 and above with byte 8 from 01 to 80: stored, they would read as an ID in reverse. */
export const isRefusedByMariadb = (byte6: number, byte8: number): boolean =>
  byte6 >= 0x80 && byte8 >= 0x01 && byte8 <= 0x80;

/** It stores versions 1 to 5 with their groups in reverse. */
const isReversed = (byte6: number, byte8: number): boolean => byte6 > 0 && byte6 < 0x60 && byte8 >= 0x80;

export type Share = "none" | "some" | "all";

export interface MariadbUuid {
  readonly refuses: Share;
  readonly order: ColumnOrder;
}

/** How MariaDB's UUID treats the IDs of a layout. The two bytes are taken as independent. */
export const mariadbUuid = (layout: Layout): MariadbUuid => {
  const pairs = possible(layout, 6).flatMap((byte6) => possible(layout, 8).map((byte8) => [byte6, byte8] as const));
  const refused = pairs.filter(([byte6, byte8]) => isRefusedByMariadb(byte6, byte8));
  const taken = pairs.filter(([byte6, byte8]) => !isRefusedByMariadb(byte6, byte8));
  const reversed = taken.filter(([byte6, byte8]) => isReversed(byte6, byte8));
  const share = (part: readonly unknown[], whole: readonly unknown[]): Share =>
    part.length === 0 ? "none" : part.length === whole.length ? "all" : "some";
  const orders = { none: "bits", some: "mixed", all: "groups" } as const;
  return { refuses: share(refused, pairs), order: orders[share(reversed, taken)] };
};

const possible = ({ fixed }: Layout, byte: number): readonly number[] =>
  Array.from({ length: 256 }, (_, value) => value).filter(
    (value) => ((value ^ byteAt(fixed.value, byte)) & byteAt(fixed.mask, byte)) === 0,
  );

/** A field that byte 8 holds the top of, and the values of it that MariaDB refuses, such as services 0 to 3 of an iUID. */
export const refusedValues = (layout: Layout): { readonly field: Field; readonly last: number } | undefined => {
  const fields = layout.fields.filter(({ role, mask }) => role !== "fixed" && byteAt(mask, 8) !== 0);
  const [field] = fields;
  if (field === undefined || fields.length > 1 || field.bits > 32) return undefined;
  const values = possible(layout, 8).filter((byte8) => isRefusedByMariadb(0x80, byte8));
  const [first] = values;
  if (first === undefined || values.length !== 1) return undefined;
  const words = layout.fixed.value.slice();
  field.write(words, field.max);
  words[2] = (((words[2] as number) & 0xff_ffff) | (first << 24)) >>> 0;
  return field.read(layout.fixed.value) === 0 ? { field, last: field.read(words) } : undefined;
};
