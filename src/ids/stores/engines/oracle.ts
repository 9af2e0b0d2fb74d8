import {
  allOf,
  type Collation,
  countOf,
  digitsMax,
  driver,
  type Engine,
  inBytes,
  inNumber,
  inText,
  NOTHING,
  numberTo,
  quoted,
  ROUNDS,
  read,
  trap,
} from "../engine.ts";

const collationOf = (name = "binary"): Collation =>
  /^binary$/i.test(name) ? "binary" : /_[CA]I$/i.test(name) ? "caseless" : "language";

export const oracle: Engine = {
  name: "oracle",
  title: "Oracle",
  source: "by the manual of Oracle Database 19c, not run here",
  types: [
    [
      /^raw\((\d+)\)$/i,
      ([count]) => ({
        holds: "bytes",
        ...countOf(count),
        literal: (value) => `HEXTORAW(${quoted(value.toUpperCase())})`,
        // A bound of a partition takes no function, and reads a text in hexadecimal.
        bound: (value) => quoted(value.toUpperCase()),
      }),
    ],
    [
      /^n?(?:var)?char2?\((\d+)(?:\s+(?:byte|char))?\)(?:\s+collate\s+(\w+))?$/i,
      ([count, name]) => ({
        holds: "text",
        ...countOf(count),
        collation: collationOf(name),
        literal: quoted,
        bound: quoted,
      }),
    ],
    [/^(?:number|numeric|decimal)(?:\((\d+)(?:,\s*0)?\))?$/i, ([digits]) => numberTo(digitsMax(digits, 38))],
    [/^(?:int|integer|smallint)$/i, () => numberTo(digitsMax("38", 38))],
    [/^(?:binary_double|binary_float|float(?:\(\d+\))?|real|double precision)$/i, () => ROUNDS],
    [/^(?:blob|clob|nclob|long|long raw|json)$/i, () => NOTHING("opaque")],
  ],
  recommended: {
    uuid: "RAW(16)",
    bytes: (count) => `RAW(${count})`,
    signed: "NUMBER(19,0)",
    unsigned: "NUMBER(20,0)",
    decimal: (digits) => `NUMBER(${digits},0)`,
    text: (length) => `CHAR(${length})`,
  },
  notes: [
    read(inBytes, ({ name }) => `LOWER(RAWTOHEX(${name}))`),
    driver(inBytes, "node-oracledb takes and returns a Buffer."),
    driver(inNumber, "node-oracledb returns a rounded number: oracledb.fetchAsString = [oracledb.NUMBER]."),
    trap(inBytes, "A bound as text is read as hexadecimal: one with hyphens is an error (ORA-01465)."),
    trap(
      allOf(inText, ({ hasCases }) => hasCases),
      "Sessions with NLS_COMP = LINGUISTIC compare by a language, and may ignore case.",
    ),
    trap(inText, "A CHAR is padded with spaces: compared with a VARCHAR2 of the same text it is not equal."),
  ],
  others: [],
  partition: (_, to) => `VALUES LESS THAN (${to ?? "MAXVALUE"})`,
  define: (column, { type }) => `${column} ${type} PRIMARY KEY`,
};
