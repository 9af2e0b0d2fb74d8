import {
  allOf,
  digitsMax,
  driver,
  type Engine,
  INT64_MAX,
  inBytes,
  inNumber,
  inUuid,
  isDistributed128,
  isNamed,
  isWide,
  NOTHING,
  plain,
  quoted,
  ROUNDS,
  read,
  smallInteger,
  trap,
  typed,
  UINT64_MAX,
} from "../engine.ts";

const number = (max: bigint, literal: (value: string) => string) =>
  ({ holds: "number", max, literal, bound: undefined }) as const;

export const duckdb: Engine = {
  name: "duckdb",
  title: "DuckDB",
  source: "measured on DuckDB 1.5.6",
  types: [
    [/^uuid$/i, () => ({ holds: "uuid", order: "bits", literal: typed("UUID"), bound: undefined })],
    [
      /^(?:blob|bytea|binary|varbinary)$/i,
      () => ({ holds: "bytes", literal: (value) => `from_hex(${quoted(value)})`, bound: undefined }),
    ],
    [
      /^(?:varchar|char|bpchar|text|string)(?:\(\d+\))?(?:\s+collate\s+"?([\w.]+)"?)?$/i,
      // A length is not enforced.
      ([collation = "binary"]) => ({
        holds: "text",
        collation: /nocase/i.test(collation)
          ? "caseless"
          : /^(?:binary|c|posix)$/i.test(collation)
            ? "binary"
            : "language",
        literal: quoted,
        bound: undefined,
      }),
    ],
    [/^(?:bigint|int8|long)$/i, () => number(INT64_MAX, plain)],
    [/^ubigint$/i, () => number(UINT64_MAX, typed("UBIGINT"))],
    [/^hugeint$/i, () => number((1n << 127n) - 1n, typed("HUGEINT"))],
    [/^uhugeint$/i, () => number((1n << 128n) - 1n, typed("UHUGEINT"))],
    [/^(tinyint|smallint|integer|int)$/i, (groups) => ({ ...smallInteger(groups), bound: undefined })],
    [
      /^(?:decimal|numeric)(?:\((\d+)(?:,\s*0)?\))$/i,
      ([digits = "18"]) => number(digitsMax(digits, 18), typed(`DECIMAL(${digits},0)`)),
    ],
    [/^(?:double|float8|float4|float|real|decimal|numeric)$/i, () => ROUNDS],
    [/^(?:json|bit|variant)$/i, () => NOTHING("opaque")],
  ],
  recommended: {
    uuid: "UUID",
    bytes: () => "BLOB",
    signed: "BIGINT",
    unsigned: "UBIGINT",
    decimal: (digits) => `DECIMAL(${digits},0)`,
    text: () => "VARCHAR",
  },
  notes: [
    read(inBytes, ({ name }) => `lower(hex(${name}))`),
    driver(inUuid, "@duckdb/node-api returns a text by getRowObjectsJson()."),
    driver(
      inNumber,
      "@duckdb/node-api returns a bigint or a DuckDBDecimalValue; getRowObjectsJS() rounds a DECIMAL: use getRowObjectsJson().",
    ),
    trap(
      isNamed(/^u?hugeint$/i),
      "Parquet has no such type: the export writes a DOUBLE, and IDs are rounded. Use DECIMAL(28,0).",
    ),
    trap(
      allOf(isWide, isNamed(/^decimal/i)),
      "Never a HUGEINT, which becomes a DOUBLE in Parquet. hyparquet rounds a DECIMAL(28,0).",
    ),
    trap(
      allOf(isWide, isNamed(/^decimal/i)),
      ({ type: { type } }) =>
        `read_csv and read_json make a DOUBLE of it: types = {'id': '${type}'} of the one, columns of the other.`,
    ),
    trap(
      allOf(inNumber, isWide),
      "read_csv and read_json take 28 digits as a DOUBLE, and 1,000 neighbours became one: say types = {…}, and columns = {…}.",
    ),
    trap(
      allOf(inUuid, isDistributed128),
      "uuid_extract_timestamp says 2296 for 2026: the bits have version 7, but count from 1700.",
    ),
  ],
  others: [],
  define: (column, { type }) => `${column} ${type} PRIMARY KEY`,
};
