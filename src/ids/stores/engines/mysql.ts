import {
  allOf,
  type Collation,
  countOf,
  digitsMax,
  driver,
  type Engine,
  hexLiteral,
  INT64_MAX,
  inBytes,
  inText,
  isNamed,
  MAPPER_TRAPS,
  NOTHING,
  type Note,
  numberTo,
  plain,
  quoted,
  ROUNDS,
  read,
  smallInteger,
  type TypeRow,
  trap,
  UINT64_MAX,
} from "../engine.ts";

/** MariaDB and MySQL. */

const text = (value: string): string => quoted(value.replaceAll("\\", "\\\\"));

/** Without a collation a column has the server's, which ignores case. */
const collationOf = (options = ""): Collation => {
  if (/_bin\b|\bbinary\b/i.test(options)) return "binary";
  return /_cs\b/i.test(options) ? "language" : "caseless";
};

const TEXT_OPTIONS = "((?:\\s+(?:character\\s+set|charset|collate)\\s*=?\\s*\\w+|\\s+binary)*)";

const types = (decimal: (value: string) => string): readonly TypeRow[] => [
  [
    /^(?:var)?binary\((\d+)\)$/i,
    ([count]) => ({ holds: "bytes", ...countOf(count), literal: hexLiteral, bound: hexLiteral }),
  ],
  [/^(?:tiny|medium|long)?blob$/i, () => ({ holds: "bytes", literal: hexLiteral, bound: undefined })],
  [
    new RegExp(`^(?:var)?char\\((\\d+)\\)${TEXT_OPTIONS}$`, "i"),
    ([count, options]) => ({
      holds: "text",
      ...countOf(count),
      collation: collationOf(options),
      literal: text,
      bound: text,
    }),
  ],
  [
    new RegExp(`^(?:tiny|medium|long)?text${TEXT_OPTIONS}$`, "i"),
    ([options]) => ({ holds: "text", collation: collationOf(options), literal: text, bound: undefined }),
  ],
  [/^bigint(?:\(\d+\))?$/i, () => numberTo(INT64_MAX)],
  [/^bigint(?:\(\d+\))?\s+unsigned$/i, () => numberTo(UINT64_MAX)],
  [/^(tinyint|smallint|mediumint|int|integer)(?:\(\d+\))?(?:\s+unsigned)?$/i, smallInteger],
  // A range of a DECIMAL column is refused (errors 1659 and 1697).
  [
    /^(?:decimal|dec|numeric|fixed)(?:\((\d+)(?:,\s*0)?\))?(?:\s+unsigned)?$/i,
    ([digits]) => ({ holds: "number", max: digitsMax(digits, 10), literal: decimal, bound: undefined }),
  ],
  [/^(?:double(?:\s+precision)?|float|real)$/i, () => ROUNDS],
  [/^(?:json|bit(?:\(\d+\))?|inet6)$/i, () => NOTHING("opaque")],
];

const define: Engine["define"] = (column, { type }, rises) =>
  `${column} ${type} NOT NULL ${rises ? "PRIMARY KEY" : "UNIQUE"}`;

const inDecimal = isNamed(/^(?:decimal|dec|numeric|fixed)/i);
const inBigint = isNamed(/^bigint/i);

const NOTES: readonly Note[] = [
  driver(inBytes, "mysql2 and mariadb return a Buffer; toBytes and fromBytes of waybill/ids make and read its bytes."),
  driver(inDecimal, "mysql2 and mariadb return a text."),
  driver(
    inBigint,
    "mysql2 returns a rounded number, with supportBigNumbers a text, in JSON too. mariadb 3.5.4 returns a bigint, in JSON a rounded number.",
  ),
  trap(
    inBigint,
    'Drizzle\'s bigint({ mode: "bigint" }) on mysql2 reads a rounded value and finds no row by it, unless supportBigNumbers is set; so for Knex, Kysely, Objection.',
  ),
  trap(inBytes, "A bound as text, such as '019b76da-…', selects all rows or none, without an error: write x'…'."),
  trap(inBytes, "mariadb 3.5.4 sends a Uint8Array as a JSON text: pass Buffer.from(bytes.buffer). mysql2 takes both."),
  trap(inDecimal, "There are no partitions by ranges of a DECIMAL (errors 1659, 1697)."),
  trap(
    allOf(inText, ({ isDigits }) => isDigits),
    "Always quote: a DELETE by digits without quotes compared doubles, and removed three rows.",
  ),
  trap(
    allOf(inText, ({ hasCases }) => hasCases),
    "Without COLLATE ascii_bin the server's collation ignores case: another ID is a duplicate key, and a range has other rows.",
  ),
  trap(inText, "A trailing space is equal."),
  ...MAPPER_TRAPS,
];

const shared = {
  recommended: {
    uuid: "BINARY(16)",
    bytes: (count) => `BINARY(${count})`,
    signed: "BIGINT",
    unsigned: "BIGINT UNSIGNED",
    decimal: (digits) => `DECIMAL(${digits},0)`,
    text: (length) => `CHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`,
  },
  partition: (_, to) => `VALUES LESS THAN (${to ?? "MAXVALUE"})`,
  define,
} as const satisfies Partial<Engine>;

export const mariadb: Engine = {
  ...shared,
  name: "mariadb",
  title: "MariaDB",
  source: "measured on MariaDB 10.11.19",
  types: [
    [/^uuid$/i, () => ({ holds: "uuid", order: "mariadb", literal: quoted, bound: quoted })],
    // Quoted digits compare exactly, in a text column too.
    ...types(quoted),
  ],
  notes: [
    read(inBytes, ({ name }) => `LOWER(HEX(${name}))`),
    ...NOTES,
    trap(
      inDecimal,
      ({ name }) =>
        `${name} IN ('…', '…') compares doubles, and drops IDs of the list as equal; so does a join with a text. = and BETWEEN are exact; in a list write CAST('…' AS DECIMAL(28,0)), or no quotes.`,
    ),
    trap(
      allOf(inBytes, ({ uuidRefuses }) => uuidRefuses !== "none"),
      ({ layout }) =>
        `Never the type UUID, which TypeORM's "uuid" creates: it refuses ${layout.name === "iuid" ? "every iUID of services 0 to 3" : "versions 8 to f with byte 8 from 01 to 80"}, and INSERT IGNORE stores the nil UUID.`,
    ),
  ],
  others: ["UUID"],
};

export const mysql: Engine = {
  ...shared,
  name: "mysql",
  title: "MySQL",
  source: "by the manual of MySQL 8.4, not run here",
  // A text compares with a DECIMAL as a double (manual, 14.3); digits without quotes are an exact value (11.1.2).
  types: types(plain),
  notes: [
    read(
      allOf(inBytes, ({ bytes }) => bytes === 16),
      ({ name }) => `BIN_TO_UUID(${name})`,
    ),
    read(
      allOf(inBytes, ({ bytes }) => bytes !== 16),
      ({ name }) => `LOWER(HEX(${name}))`,
    ),
    ...NOTES,
    trap(
      allOf(inBytes, ({ bytes }) => bytes === 16),
      "UUID_TO_BIN and BIN_TO_UUID with a second argument of 1 move bytes: leave it out.",
    ),
    trap(
      inDecimal,
      "A quoted literal compares as a double: write the digits without quotes, or CAST('…' AS DECIMAL(28,0)).",
    ),
  ],
  others: [],
};
