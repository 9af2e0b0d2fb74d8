import {
  allOf,
  driver,
  type Engine,
  hexLiteral,
  INT64_MAX,
  inBytes,
  inNumber,
  inText,
  NOTHING,
  plain,
  quoted,
  ROUNDS,
  read,
  trap,
} from "../engine.ts";

/** A type whose name contains a word: all words before a collation count. */
const affinity = (part: string): RegExp =>
  new RegExp(
    `^(?:(?! collate )[\\w ])*?(?:${part})(?:(?! collate )[\\w ])*(?:\\([\\d,]+\\))?(?: collate (\\w+))?$`,
    "i",
  );

/** Types by their affinity, in the order in which SQLite decides (datatype3.html, 3.1). */
export const sqlite: Engine = {
  name: "sqlite",
  title: "SQLite",
  source: "measured on SQLite 3.53.4 (node:sqlite), 3.54.1 (better-sqlite3), 3.45.1 (libsql) and 3.49.1 (sql.js)",
  types: [
    [affinity("int"), () => ({ holds: "number", max: INT64_MAX, literal: plain, bound: undefined })],
    [
      affinity("char|clob|text"),
      // A length is not enforced.
      ([collation = "binary"]) => ({
        holds: "text",
        collation: /^nocase$/i.test(collation) ? "caseless" : "binary",
        literal: quoted,
        bound: undefined,
      }),
    ],
    [affinity("blob"), () => ({ holds: "bytes", literal: hexLiteral, bound: undefined })],
    [affinity("real|floa|doub"), () => ROUNDS],
    [affinity(""), () => NOTHING("guesses")],
  ],
  recommended: {
    uuid: "BLOB",
    bytes: () => "BLOB",
    signed: "INTEGER",
    unsigned: "BLOB",
    decimal: () => "TEXT",
    text: () => "TEXT",
  },
  notes: [
    read(inBytes, ({ name }) => `lower(hex(${name}))`),
    driver(
      inBytes,
      "node:sqlite and better-sqlite3 return a Uint8Array or Buffer, libsql an ArrayBuffer: fromBytes of waybill/ids reads all.",
    ),
    driver(
      inNumber,
      'node:sqlite and libsql throw above 2^53, better-sqlite3 rounds: setReadBigInts(true), intMode "bigint", safeIntegers(true).',
    ),
    trap(inBytes, "Every BLOB is greater than every TEXT: bounds as text select all rows or none, without an error."),
    trap(
      ({ bytes, type, isHex }) => isHex || (bytes === 16 && type.holds === "bytes"),
      "A column declared UUID is numeric: hex without hyphens that reads as a number is stored as one, or as Infinity.",
    ),
    trap(
      allOf(inText, ({ isDigits }) => isDigits),
      "Always quote: without quotes SQLite stores a double, such as 1.11920485563658e+27.",
    ),
    trap(inNumber, "Above 2^63 - 1 a primary key is an error, and a column of another integer type takes a REAL."),
    trap(inNumber, "TypeORM reads keys as numbers, and merges neighbouring rows into one entity."),
  ],
  others: [],
  define: (column, { type }) => `${column} ${type} NOT NULL PRIMARY KEY`,
};
