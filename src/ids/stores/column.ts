import type { Layout, TextForm, Words } from "../layout/layout.ts";
import { bigToWords, wordsToBig } from "../layout/words.ts";
import { err, ok, type Result } from "../result.ts";
import { formatUuid } from "../text/uuid.ts";
import { type ColumnType, type Engine, type EngineName, INT64_MAX, UINT64_MAX } from "./engine.ts";
import { clickhouse } from "./engines/clickhouse.ts";
import { duckdb } from "./engines/duckdb.ts";
import { mariadb, mysql } from "./engines/mysql.ts";
import { oracle } from "./engines/oracle.ts";
import { postgresql } from "./engines/postgresql.ts";
import { redis } from "./engines/redis.ts";
import { sqlite } from "./engines/sqlite.ts";
import { sqlserver } from "./engines/sqlserver.ts";
import { type ColumnOrder, mariadbUuid, refusedValues, rises, sortsByTime } from "./order.ts";
import { byteCount, hexOf, isDecimal, isSortedText, needsBinaryOrder, numberOf, storedValue } from "./value.ts";

/** The column of an engine for the IDs of a layout. */

const ENGINES: Readonly<Record<EngineName, Engine>> = {
  mariadb,
  mysql,
  postgresql,
  sqlite,
  sqlserver,
  oracle,
  duckdb,
  clickhouse,
  redis,
};

export const engineOf = (name: EngineName): Engine => ENGINES[name];

/** A column, and how a layout's IDs stand in it. */
export interface StoreColumn {
  readonly engine: Engine;
  readonly layout: Layout;
  readonly type: ColumnType;
  /** The text that it holds; `undefined` for bytes, numbers and native UUIDs. */
  readonly form: TextForm | undefined;
  /** `undefined`: texts that do not sort as their bits do. */
  readonly order: ColumnOrder | undefined;
  readonly isRecommended: boolean;
  /** The value of an ID as a literal. */
  readonly literal: (words: Words) => string;
  /** The same in an INSERT. */
  readonly write: (words: Words) => string;
  /** The same within the bound of a partition; `undefined`: the engine has none for this type. */
  readonly bound: ((words: Words) => string) | undefined;
}

/** Why a column cannot hold IDs of a layout, or loses some of them. */
export type ColumnFault =
  | {
      readonly reason: "unknown-type";
      readonly type: string;
      readonly engine: string;
      readonly known: readonly string[];
    }
  | { readonly reason: "rounds"; readonly type: string; readonly bits: number }
  | { readonly reason: "guesses"; readonly type: string }
  | { readonly reason: "opaque"; readonly type: string }
  | { readonly reason: "not-16-bytes"; readonly type: string; readonly bytes: number }
  | { readonly reason: "byte-count"; readonly type: string; readonly bytes: number }
  | { readonly reason: "no-number"; readonly type: string; readonly layout: string }
  /** `firstMs`: when the first ID is minted that the column cannot hold; `undefined`: all exceed it, or no time says. */
  | { readonly reason: "too-great"; readonly type: string; readonly firstMs: number | undefined }
  | { readonly reason: "too-long"; readonly type: string; readonly text: string; readonly length: number }
  | { readonly reason: "caseless"; readonly type: string; readonly text: string }
  /** MariaDB's UUID. `values`: those of a field whose IDs it refuses, from 0 to `last`. */
  | {
      readonly reason: "refused-uuids";
      readonly share: "some" | "all";
      readonly values: { readonly field: string; readonly last: number } | undefined;
    };

export interface ColumnChoice {
  /** Absent: the recommended one. */
  readonly type?: string | undefined;
  /** The text that the store has instead of the canonical one. */
  readonly form?: TextForm | undefined;
}

/** The column type that an engine should have for a layout. */
export const recommendedType = (engine: Engine, layout: Layout, form?: TextForm): string => {
  const value = storedValue(layout, form);
  const { recommended } = engine;
  if (value.kind === "text") return recommended.text(value.form.lengthMax);
  const bytes = byteCount(layout);
  if (value.kind === "number") return numberType(engine, value.least, value.greatest, bytes);
  if (bytes !== UUID_BYTES) return recommended.bytes(bytes);
  if (engine.name === "redis") return isSortedText(layout, form ?? layout.table.text) ? "text" : "bytes";
  const isForSqlServer = engine.name === "sqlserver" && !rises(layout, "bits");
  return isForSqlServer ? "uniqueidentifier" : recommended.uuid;
};

const UUID_BYTES = 16;
const DIGITS_MAX = 38;

const numberType = ({ recommended }: Engine, least: bigint, greatest: bigint, bytes: number): string => {
  if (greatest <= INT64_MAX) return recommended.signed === "bytes" ? recommended.bytes(bytes) : recommended.signed;
  if (greatest <= UINT64_MAX)
    return /^(?:bytes|BLOB)$/.test(recommended.unsigned) ? recommended.bytes(bytes) : recommended.unsigned;
  const digits = `${greatest}`.length;
  const type = recommended.decimal(Math.min(digits, DIGITS_MAX));
  // Digits as text sort only if all have as many.
  return /^text$/i.test(type) && `${least}`.length !== digits ? recommended.bytes(bytes) : type;
};

/** The column of an engine, or why it is none for the layout. */
export const storeColumn = (
  name: EngineName,
  layout: Layout,
  { type: asked, form }: ColumnChoice = {},
): Result<StoreColumn, ColumnFault> => {
  const engine = engineOf(name);
  const spelling = asked ?? recommendedType(engine, layout, form);
  const type = typeNamed(engine, spelling);
  if (type === undefined) {
    const known = [recommendedType(engine, layout, form), ...engine.others];
    return err({ reason: "unknown-type", type: spelling, engine: engine.title, known });
  }
  const shared = { engine, layout, type, isRecommended: asked === undefined };
  switch (type.holds) {
    case "nothing":
      return err(
        type.why === "rounds"
          ? { reason: "rounds", type: spelling, bits: layout.table.text.bits }
          : { reason: type.why, type: spelling },
      );
    case "uuid":
      return uuidColumn({ ...shared, type }, spelling);
    case "bytes":
      return bytesColumn({ ...shared, type }, spelling, form);
    case "number":
      return numberColumn({ ...shared, type }, spelling, form);
    case "text":
      return textColumn({ ...shared, type }, spelling, textOf(layout, form));
  }
};

/** A column of a known type, before it is certain that it holds the layout's IDs. */
interface TypedColumn<Kind extends ColumnType["holds"]>
  extends Pick<StoreColumn, "engine" | "layout" | "isRecommended"> {
  readonly type: Extract<ColumnType, { readonly holds: Kind }>;
}

type Found = Result<StoreColumn, ColumnFault>;

const uuidColumn = (column: TypedColumn<"uuid">, spelling: string): Found => {
  const { layout, type } = column;
  const bytes = byteCount(layout);
  if (bytes !== UUID_BYTES) return err({ reason: "not-16-bytes", type: spelling, bytes });
  const own = type.order === "mariadb" ? mariadbUuid(layout) : undefined;
  if (own !== undefined && own.refuses !== "none") {
    const values = refusedValues(layout);
    return err({
      reason: "refused-uuids",
      share: own.refuses,
      values: values && { field: values.field.name, last: values.last },
    });
  }
  const order = type.order === "mariadb" ? own?.order : type.order;
  return ok({ ...column, form: undefined, order, ...literals(type, (words) => formatUuid(words)) });
};

const bytesColumn = (column: TypedColumn<"bytes">, spelling: string, form: TextForm | undefined): Found => {
  const { layout, type } = column;
  const bytes = byteCount(layout);
  if (type.count !== undefined && type.count !== bytes) {
    // ClickHouse has one type for bytes and for texts.
    return fixedTextColumn(column, form, type.count) ?? err({ reason: "byte-count", type: spelling, bytes });
  }
  return ok({ ...column, form: undefined, order: "bits", ...literals(type, (words) => hexOf(layout, words)) });
};

const numberColumn = (column: TypedColumn<"number">, spelling: string, form: TextForm | undefined): Found => {
  const { layout, type } = column;
  const texts = [layout.table.text, ...layout.texts, ...(form === undefined ? [] : [form])];
  if (!texts.some((each) => isDecimal(layout, each))) {
    return err({ reason: "no-number", type: spelling, layout: layout.name });
  }
  if (numberOf(layout).least > type.max) return err({ reason: "too-great", type: spelling, firstMs: undefined });
  return ok({ ...column, form: undefined, order: "bits", ...literals(type, (words) => `${wordsToBig(words)}`) });
};

const textColumn = (column: TypedColumn<"text">, spelling: string, text: TextForm): Found => {
  const { layout, type } = column;
  const length = text.lengthMax;
  if (type.count !== undefined && type.count < length) {
    return err({ reason: "too-long", type: spelling, text: text.name, length });
  }
  if (type.collation === "caseless" && needsBinaryOrder(text)) {
    return err({ reason: "caseless", type: spelling, text: text.name });
  }
  return ok({ ...column, form: text, order: textOrder(type, layout, text), ...literals(type, text.format) });
};

/** A text in a column of as many bytes. */
const fixedTextColumn = (
  column: TypedColumn<"bytes">,
  form: TextForm | undefined,
  count: number,
): Found | undefined => {
  const { engine, layout, type } = column;
  const text = textOf(layout, form);
  if (engine.name !== "clickhouse" || text.lengthMax !== count || !isSortedText(layout, text)) return undefined;
  const ofText = typeNamed(engine, engine.recommended.text(count));
  if (ofText === undefined) return undefined;
  const asText: ColumnType = { ...ofText, type: type.type };
  return ok({ ...column, type: asText, form: text, order: "bits", ...literals(asText, text.format) });
};

/** The text that a column of texts holds: the layout's first whose order is that of its bits, else the canonical one. */
const textOf = (layout: Layout, form: TextForm | undefined): TextForm =>
  form ?? layout.texts.find((each) => isSortedText(layout, each)) ?? layout.table.text;

/** A collation of a language sorts the texts of digits and letters of one case as their codes do. */
const textOrder = (type: ColumnType, layout: Layout, text: TextForm): ColumnOrder | undefined => {
  if (!isSortedText(layout, text)) return undefined;
  const isByCode = type.wrap !== undefined || (type.holds === "text" && type.collation === "binary");
  return isByCode || !needsBinaryOrder(text) ? "bits" : undefined;
};

const literals = (
  type: ColumnType,
  write: (words: Words) => string,
): Pick<StoreColumn, "literal" | "write" | "bound"> => {
  const { literal, bound } = type;
  const inserted = type.write ?? literal;
  return {
    literal: (words) => literal(write(words)),
    write: (words) => inserted(write(words)),
    bound: bound && ((words) => bound(write(words))),
  };
};

/** Text that may follow a type in `CREATE TABLE`, and wraps of ClickHouse. */
const CONSTRAINTS = /(?: (?:not null|null|primary key|unique))+$/i;
const WRAP = /^(?:nullable|lowcardinality)\((.+)\)$/i;

const typeNamed = ({ types }: Engine, spelling: string): ColumnType | undefined => {
  const type = spelling.trim().replace(/\s+/g, " ").replace(CONSTRAINTS, "");
  const bare = type
    .replace(WRAP, "$1")
    .replace(WRAP, "$1")
    .replace(/ ?([(),]) ?/g, "$1")
    .replace(/\)(?=\w)/g, ") ");
  for (const [shape, make] of types) {
    const match = shape.exec(bare);
    if (match !== null) return { ...make(match.slice(1)), type };
  }
  return undefined;
};

/** When a layout's numbers begin to exceed a column; `undefined`: never, or the layout has no time. */
export const exceedsFromMs = (type: ColumnType, layout: Layout): number | undefined => {
  const { greatest } = numberOf(layout);
  if (type.holds !== "number" || greatest <= type.max || !sortsByTime(layout, "bits")) return undefined;
  return layout.mintedAtMs?.(bigToWords(type.max + 1n, layout.fixed.value.length));
};
