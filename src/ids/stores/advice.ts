import type { Layout, TextForm, Words } from "../layout/layout.ts";
import { DAY_MS } from "../layout/time.ts";
import { ok, type Result } from "../result.ts";
import { periodIds } from "../tools/period-range.ts";
import { type ColumnChoice, type ColumnFault, exceedsFromMs, type StoreColumn, storeColumn } from "./column.ts";
import type { EngineName, Note, NoteFacts } from "./engine.ts";
import { leadingField, mariadbUuid, rises, sortsByTime } from "./order.ts";
import { byteCount, greatestId, isDecimal, leastId, needsBinaryOrder } from "./value.ts";

/** How to declare, write and read a column, and what goes wrong in it. */
export interface ColumnAdvice {
  readonly column: StoreColumn;
  /** The column in `CREATE TABLE`. */
  readonly definition: string;
  /** The rest of `CREATE TABLE` that makes it the key, if the definition does not. */
  readonly key: string | undefined;
  /** An ID as an INSERT has it. */
  readonly written: string;
  /** An expression that reads it as text, if it is no text. */
  readonly read: string | undefined;
  readonly drivers: readonly string[];
  readonly traps: readonly string[];
  /** IDs of one minter rise; `false` where they are random. */
  readonly rises: boolean;
  /** The IDs of a period stand together, so that `waybill id range` has a condition. */
  readonly sortsByTime: boolean;
  /** When numbers begin to exceed the column; `undefined`: never, or no time says. */
  readonly exceedsFromMs: number | undefined;
}

export const columnAdvice = (
  engine: EngineName,
  layout: Layout,
  name: string,
  choice: ColumnChoice = {},
): Result<ColumnAdvice, ColumnFault> => {
  const found = storeColumn(engine, layout, choice);
  if (!found.ok) return found;
  const column = found.value;
  const facts = factsOf(column, name);
  const written = column.write(sampleOf(layout));
  const { notes, define } = column.engine;
  const said = (kind: Note["kind"]): readonly string[] =>
    notes
      .filter((note) => note.kind === kind && note.when(facts))
      .map(({ says }) => (typeof says === "string" ? says : says(facts)));
  return ok({
    column,
    definition: define(name, column.type, facts.rises, written),
    key: column.engine.key?.(name, column.type),
    written,
    read: said("read")[0],
    drivers: said("driver"),
    traps: [...said("trap"), ...layoutTraps(facts, column)],
    rises: facts.rises,
    sortsByTime: column.order !== undefined && sortsByTime(layout, column.order),
    exceedsFromMs: exceedsFromMs(column.type, layout),
  });
};

const factsOf = (column: StoreColumn, name: string): NoteFacts => {
  const { layout, type, form, order } = column;
  return {
    layout,
    type,
    name,
    bytes: byteCount(layout),
    isDigits: isDecimal(layout, form ?? layout.table.text),
    isHex: form !== undefined && isHexText(layout, form),
    hasCases: form !== undefined && needsBinaryOrder(form),
    rises: order !== undefined && rises(layout, order),
    risesByBits: rises(layout, "bits"),
    risesByHalves: byteCount(layout) === 16 && rises(layout, "halves"),
    uuidRefuses: byteCount(layout) === 16 ? mariadbUuid(layout).refuses : "none",
  };
};

/** 2026-01-01, for a day. */
const SAMPLE_MS = 1_767_225_600_000;

/** The first ID of that day, else the least of all. */
const sampleOf = (layout: Layout): Words => {
  const ids = periodIds(layout, SAMPLE_MS, SAMPLE_MS + DAY_MS);
  return ids.ok ? ids.value.least : leastId(layout);
};

/** Faults in every engine. */
const layoutTraps = ({ layout, type, isHex, rises: isRising }: NoteFacts, { form }: StoreColumn): readonly string[] => [
  ...(isRising ? [] : ["IDs are not in the order of minting here: inserts touch pages all over the index."]),
  ...(isRising && leadingField(layout)?.name === "interval"
    ? ["The interval starts over, for one of a minute after 45 days: IDs then stand before older ones."]
    : []),
  ...(type.holds !== "text" && prefixOf(layout) !== undefined
    ? [`It holds no prefix: write and read without "${prefixOf(layout)}".`]
    : []),
  ...(isHex
    ? ["Some hex texts read as a number with an exponent: readers of YAML and CSV make a number of them. Quote there."]
    : []),
  ...(layout.texts.some(({ name }) => name === "uuid") &&
  (form === undefined ? type.holds !== "number" : form.name === "uuid") &&
  !hasVersion(layout)
    ? [
        "Validators such as npm uuid's validate() are false for its IDs: not all have a version and variant of RFC 9562.",
      ]
    : []),
];

const prefixOf = ({ table }: Layout): string | undefined => table.text.prefix;

/** Such a text can read as a number: `1e5`. */
const isHexText = (layout: Layout, { format, name }: TextForm): boolean =>
  name === "hex" && /^[0-9a-f]+$/i.test(format(greatestId(layout)));

/** Bits 48 to 51, and 64 to 65: a version of 1 to 8 with the variant of RFC 9562. */
const hasVersion = ({ fixed, name }: Layout): boolean => {
  const isFixed = (fixed.mask[1] as number) % 0x1_0000 >= 0xf000 && (fixed.mask[2] as number) >>> 30 === 0b11;
  const version = ((fixed.value[1] as number) >>> 12) & 15;
  const isKnown = version >= 1 && version <= 8 && (fixed.value[2] as number) >>> 30 === 0b10;
  return name === "uuid-nil" || name === "uuid-max" || (isFixed && isKnown);
};
