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
  isWide,
  NOTHING,
  plain,
  quoted,
  ROUNDS,
  read,
  trap,
  UINT64_MAX,
} from "../engine.ts";

const call =
  (name: string, ...rest: readonly string[]) =>
  (value: string): string =>
    `${name}(${[quoted(value), ...rest].join(", ")})`;
const text = (value: string): string => quoted(value.replaceAll("\\", "\\\\"));
const number = (max: bigint, literal: (value: string) => string) =>
  ({ holds: "number", max, literal, bound: undefined }) as const;

/** Decimals of more digits have 256 bits. */
const DECIMAL128_DIGITS = 38;

export const clickhouse: Engine = {
  name: "clickhouse",
  title: "ClickHouse",
  source: "measured on ClickHouse 26.7.2.1 (chdb 3.4.0)",
  types: [
    [
      /^uuid$/i,
      () => ({
        holds: "uuid",
        // In the condition and in the sorting key: the type itself sorts by its second half.
        order: "bits",
        literal: call("UUIDStringToNum"),
        write: quoted,
        wrap: (column) => `UUIDToNum(${column})`,
        bound: undefined,
      }),
    ],
    [
      /^fixedstring\((\d+)\)$/i,
      ([count]) => ({ holds: "bytes", count: Number(count), literal: call("unhex"), bound: undefined }),
    ],
    [/^string$/i, () => ({ holds: "text", collation: "binary", literal: text, bound: undefined })],
    [/^(?:int64|bigint)$/i, () => number(INT64_MAX, plain)],
    [/^uint64$/i, () => number(UINT64_MAX, plain)],
    [/^int128$/i, () => number((1n << 127n) - 1n, call("toInt128"))],
    [/^uint128$/i, () => number((1n << 128n) - 1n, call("toUInt128"))],
    [/^u?int256$/i, () => number((1n << 255n) - 1n, call("toUInt256"))],
    [/^u?int(8|16|32)$/i, ([bits = "8"]) => number((1n << (BigInt(bits) - 1n)) - 1n, plain)],
    [
      /^decimal\((\d+)(?:,\s*0)?\)$/i,
      ([digits = "10"]) =>
        number(digitsMax(digits, 10), call(Number(digits) > DECIMAL128_DIGITS ? "toDecimal256" : "toDecimal128", "0")),
    ],
    [/^decimal128\(0\)$/i, () => number(digitsMax("38", 38), call("toDecimal128", "0"))],
    [/^float(?:32|64)$/i, () => ROUNDS],
    [/^(?:json|ipv6|dynamic)$/i, () => NOTHING("opaque")],
  ],
  recommended: {
    uuid: "FixedString(16)",
    bytes: (count) => `FixedString(${count})`,
    signed: "Int64",
    unsigned: "UInt64",
    decimal: (digits) => `Decimal(${digits},0)`,
    text: () => "String",
  },
  notes: [
    read(
      allOf(inBytes, ({ bytes }) => bytes === 16),
      ({ name }) => `UUIDNumToString(${name})`,
    ),
    read(
      allOf(inBytes, ({ bytes }) => bytes !== 16),
      ({ name }) => `lower(hex(${name}))`,
    ),
    driver(
      inNumber,
      "JSON formats write it without quotes: output_format_json_quote_64bit_integers = 1 and output_format_json_quote_decimals = 1.",
    ),
    trap(
      allOf(inUuid, ({ risesByBits, risesByHalves }) => risesByBits && !risesByHalves),
      ({ name }) =>
        `UUID sorts by its second half: ORDER BY ${name} is not the order of time, and BETWEEN without UUIDToNum returns other rows, or all.`,
    ),
    trap(
      allOf(inBytes, ({ bytes }) => bytes === 16),
      ({ name }) =>
        `A column UUID sorts by its second half: there ORDER BY UUIDToNum(${name}), with bounds UUIDStringToNum('…').`,
    ),
    trap(
      allOf(inNumber, isWide),
      "Always quote: an unquoted literal of 28 digits is a float. = then finds neighbours, and IN another ID and not the equal one.",
    ),
    trap(
      allOf(inNumber, isWide),
      "One unquoted integer of 2^64 or more in JSON makes JSONExtract of every field empty.",
    ),
    trap(isDistributed128, "UUIDv7ToDateTime says 2296 for 2026: the bits have version 7, but count from 1700."),
  ],
  others: ["UUID"],
  define: (column, { type }) => `${column} ${type}`,
  key: (column, { wrap }) => `ENGINE = MergeTree ORDER BY ${wrap?.(column) ?? column}`,
};
