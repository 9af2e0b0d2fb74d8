import {
  allOf,
  type ColumnSpec,
  countOf,
  digitsMax,
  driver,
  type Engine,
  INT64_MAX,
  inBytes,
  inNumber,
  inText,
  inUuid,
  isDistributed128,
  isNamed,
  MAPPER_TRAPS,
  NOTHING,
  numberTo,
  quoted,
  ROUNDS,
  read,
  smallInteger,
  trap,
  typed,
} from "../engine.ts";

const bytea = (value: string): string => `'\\x${value}'`;
const sortedByCode = (column: string): string => `${column} COLLATE "C"`;

/** Without a collation a column has the database's, by default one of a language. */
const text = ([count, collation]: readonly (string | undefined)[]): ColumnSpec => {
  const isBinary = /^"?(?:C|POSIX|ucs_basic|pg_c_utf8|C\.utf-?8)"?$/i.test(collation ?? "");
  return {
    holds: "text",
    ...countOf(count),
    collation: isBinary ? "binary" : "language",
    literal: quoted,
    wrap: sortedByCode,
    bound: quoted,
  };
};

const COLLATE = '(?:\\s+collate\\s+("?[\\w.-]+"?))?';

const inBigint = isNamed(/^(?:bigint|int8|bigserial)/i);
const inNumeric = isNamed(/^(?:numeric|decimal)/i);

export const postgresql: Engine = {
  name: "postgresql",
  title: "PostgreSQL",
  source: "measured on PostgreSQL 15.18 with ICU, 18.4 and PGlite 0.5.16",
  types: [
    [/^uuid$/i, () => ({ holds: "uuid", order: "bits", literal: typed("uuid"), bound: quoted })],
    [/^bytea$/i, () => ({ holds: "bytes", literal: (value) => `${bytea(value)}::bytea`, bound: bytea })],
    [new RegExp(`^text()${COLLATE}$`, "i"), ([, collation]) => text([undefined, collation])],
    [new RegExp(`^(?:varchar|character varying|char|character|bpchar)(?:\\((\\d+)\\))?${COLLATE}$`, "i"), text],
    [/^citext$/i, () => ({ holds: "text", collation: "caseless", literal: quoted, bound: quoted })],
    [/^(?:bigint|int8|bigserial)$/i, () => numberTo(INT64_MAX)],
    [/^(smallint|integer|int|int2|int4)$/i, smallInteger],
    [/^(?:numeric|decimal)(?:\((\d+)(?:,\s*0)?\))?$/i, ([digits]) => numberTo(digitsMax(digits, 131_072))],
    [/^(?:double precision|float8|float4|real|float(?:\(\d+\))?|money)$/i, () => ROUNDS],
    [/^jsonb?$/i, () => NOTHING("opaque")],
  ],
  recommended: {
    uuid: "uuid",
    bytes: () => "bytea",
    signed: "bigint",
    unsigned: "numeric(20,0)",
    decimal: (digits) => `numeric(${digits},0)`,
    text: () => 'text COLLATE "C"',
  },
  notes: [
    read(inBytes, ({ name }) => `encode(${name}, 'hex')`),
    driver(inUuid, "pg and postgres return a text."),
    driver(inBytes, "pg takes a Uint8Array or Buffer, and returns a Buffer."),
    driver(inBigint, "pg returns a text, in bigint[] too; in json_agg a rounded number: cast to text."),
    driver(inNumeric, "pg returns a text; in numeric[], array_agg and json_agg a rounded number: cast to text."),
    trap(inUuid, ({ name }) => `min(${name}) and max(${name}) do not exist in 15 to 18.4: ORDER BY ${name} LIMIT 1.`),
    trap(
      allOf(inUuid, isDistributed128),
      "uuid_extract_timestamp of 18.4 is NULL: the bits have version 7, but another variant.",
    ),
    trap(
      allOf(inText, ({ hasCases }) => hasCases),
      ({ name }) =>
        `Without COLLATE "C" a database of a language sorts otherwise: 215 to 256 of 300 IDs were misplaced. Write it in the column, or in each ORDER BY and range of ${name}.`,
    ),
    trap(inNumber, "json_agg, to_json and row_to_json write a number, which JavaScript rounds: cast to text first."),
    ...MAPPER_TRAPS,
  ],
  others: [],
  partition: (from, to) => `FOR VALUES FROM (${from}) TO (${to ?? "MAXVALUE"})`,
  define: (column, { type }) => `${column} ${type} PRIMARY KEY`,
};
