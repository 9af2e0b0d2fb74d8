import {
  allOf,
  type Collation,
  countOf,
  digitsMax,
  driver,
  type Engine,
  INT64_MAX,
  inBytes,
  inNumber,
  inText,
  inUuid,
  MAPPER_TRAPS,
  NOTHING,
  numberTo,
  plain,
  quoted,
  ROUNDS,
  read,
  smallInteger,
  trap,
} from "../engine.ts";

const hex = (value: string): string => `0x${value}`;
const cast =
  (type: string) =>
  (value: string): string =>
    `CAST(${value} AS ${type})`;
const guid = (value: string): string => `CAST(${quoted(value)} AS uniqueidentifier)`;

const collationOf = (name = ""): Collation => {
  if (/_BIN2?(?:_UTF8)?$/i.test(name)) return "binary";
  return /_CI(?:_|$)/i.test(name) ? "caseless" : "language";
};

export const sqlserver: Engine = {
  name: "sqlserver",
  title: "SQL Server",
  source: "by the manual of SQL Server 2022, not run here",
  types: [
    [/^uniqueidentifier$/i, () => ({ holds: "uuid", order: "sqlserver", literal: guid, bound: guid })],
    [/^(?:var)?binary\((\d+)\)$/i, ([count]) => ({ holds: "bytes", ...countOf(count), literal: hex, bound: hex })],
    [/^varbinary\(max\)$/i, () => ({ holds: "bytes", literal: hex, bound: undefined })],
    [
      /^n?(?:var)?char\((\d+|max)\)(?:\s+collate\s+(\w+))?$/i,
      ([count = "", name]) => ({
        holds: "text",
        ...countOf(/^max$/i.test(count) ? undefined : count),
        collation: collationOf(name),
        literal: quoted,
        wrap: (column) => `${column} COLLATE Latin1_General_BIN2`,
        bound: /^max$/i.test(count) ? undefined : quoted,
      }),
    ],
    // A longer literal is a numeric, in which the column would be compared.
    [/^bigint$/i, () => ({ holds: "number", max: INT64_MAX, literal: cast("bigint"), bound: plain })],
    [/^(tinyint|smallint|int)$/i, smallInteger],
    [/^(?:decimal|dec|numeric)(?:\((\d+)(?:,\s*0)?\))?$/i, ([digits]) => numberTo(digitsMax(digits, 18))],
    [/^(?:float(?:\(\d+\))?|real|double precision)$/i, () => ROUNDS],
    [/^(?:sql_variant|xml|json)$/i, () => NOTHING("opaque")],
  ],
  recommended: {
    uuid: "BINARY(16)",
    bytes: (count) => `BINARY(${count})`,
    signed: "BIGINT",
    unsigned: "DECIMAL(20,0)",
    decimal: (digits) => `DECIMAL(${digits},0)`,
    text: (length) => `CHAR(${length}) COLLATE Latin1_General_BIN2`,
  },
  notes: [
    read(inBytes, ({ name }) => `CONVERT(varchar(max), ${name}, 2)`),
    driver(
      inBytes,
      "tedious and mssql take and return a Buffer; EF Core: Guid.ToByteArray(true) and new Guid(bytes, true).",
    ),
    driver(inNumber, "tedious returns bigint as a text, and decimal as a rounded number: CAST to varchar."),
    trap(
      inUuid,
      "It compares bytes 10 to 15 of the text first: only HotGuids in SQL form and COMBs with a suffix rise.",
    ),
    trap(inUuid, "CONVERT(uniqueidentifier, 0x…) reads other bytes than the text's: convert texts."),
    trap(
      allOf(inBytes, ({ bytes }) => bytes === 16),
      "CAST of a uniqueidentifier to binary(16) reverses bytes 0 to 3, 4 to 5 and 6 to 7: write 0x with the text's digits.",
    ),
    trap(
      allOf(inText, ({ hasCases }) => hasCases),
      "Without a binary collation the database's ignores case: two IDs become equal, and others stand elsewhere.",
    ),
    trap(inText, "Trailing spaces are equal."),
    ...MAPPER_TRAPS,
  ],
  others: ["uniqueidentifier"],
  partition: (from, to) => `AS RANGE RIGHT FOR VALUES (${from}${to === undefined ? "" : `, ${to}`})`,
  define: (column, { type }, rises) => `${column} ${type} NOT NULL PRIMARY KEY${rises ? "" : " NONCLUSTERED"}`,
};
