import type { Layout, Words } from "../layout/layout.ts";
import { wordsToBig } from "../layout/words.ts";
import { err, ok, type Result } from "../result.ts";
import { type PeriodRangeError, periodIds } from "../tools/period-range.ts";
import { type ColumnChoice, type ColumnFault, exceedsFromMs, type StoreColumn, storeColumn } from "./column.ts";
import type { EngineName } from "./engine.ts";
import { sortsByTime } from "./order.ts";
import { needsBinaryOrder } from "./value.ts";

/** The IDs of a period in a column: the condition to paste, and the bounds of a partition. */
export interface StorePeriod {
  readonly column: StoreColumn;
  readonly least: Words;
  readonly greatest: Words;
  readonly condition: string;
  /** `undefined`: the engine has no partitions by ranges of this column. */
  readonly partition: string | undefined;
}

export type StorePeriodError =
  | ColumnFault
  | PeriodRangeError
  /** The column does not sort the layout by time. `texts`: its texts do not sort as their bits. */
  | { readonly reason: "no-column-order"; readonly type: string; readonly why: "bits" | "texts" | "mixed" };

export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
  /** The column's name, as a statement has it. */
  readonly name: string;
}

export const storePeriod = (
  engine: EngineName,
  layout: Layout,
  { fromMs, toMs, name }: Period,
  choice: ColumnChoice = {},
): Result<StorePeriod, StorePeriodError> => {
  const ids = periodIds(layout, fromMs, toMs);
  if (!ids.ok && ids.error.reason !== "no-id") return ids;
  const found = storeColumn(engine, layout, choice);
  if (!found.ok) return found;
  const column = found.value;
  const { type, order } = column;
  if (order === undefined) return err({ reason: "no-column-order", type: type.type, why: "texts" });
  if (!sortsByTime(layout, order)) {
    return err({ reason: "no-column-order", type: type.type, why: order === "mixed" ? "mixed" : "bits" });
  }
  if (!ids.ok) return ids;
  const { least, greatest, next } = ids.value;
  if (type.holds === "number" && wordsToBig(greatest) > type.max) {
    return err({ reason: "too-great", type: type.type, firstMs: exceedsFromMs(type, layout) });
  }
  const from = column.literal(least);
  const to = column.literal(greatest);
  const wrapped = type.wrap?.(name) ?? name;
  const condition = column.engine.condition?.(wrapped, from, to) ?? `${wrapped} BETWEEN ${from} AND ${to}`;
  return ok({ column, least, greatest, condition, partition: partitionOf(column, least, next) });
};

/** `next`: the first ID after the period; `undefined` if there is none. */
const partitionOf = (column: StoreColumn, least: Words, next: Words | undefined): string | undefined => {
  const { type, form, layout, bound, engine } = column;
  // Bounds compare by the column's own collation.
  const isByCode = type.holds !== "text" || type.collation === "binary" || !needsBinaryOrder(form ?? layout.table.text);
  return isByCode && bound !== undefined ? engine.partition?.(bound(least), next && bound(next)) : undefined;
};
