import { allOf, always, driver, type Engine, inBytes, ROUNDS, trap } from "../engine.ts";

const escaped = (value: string): string => value.replace(/["\\]/g, (mark) => `\\${mark}`);

/** Members of a sorted set, all with score 0: Redis then sorts them by their bytes. */
export const redis: Engine = {
  name: "redis",
  title: "Redis",
  source: "measured on Redis 7.0.15",
  types: [
    [
      /^text$/i,
      () => ({ holds: "text", collation: "binary", literal: (value) => `"${escaped(value)}"`, bound: undefined }),
    ],
    [
      /^bytes$/i,
      () => ({
        holds: "bytes",
        literal: (value) => `"${value.replace(/../g, (byte) => `\\x${byte}`)}"`,
        bound: undefined,
      }),
    ],
    [/^score$/i, () => ROUNDS],
  ],
  recommended: {
    uuid: "text",
    bytes: () => "bytes",
    signed: "bytes",
    unsigned: "bytes",
    decimal: () => "text",
    text: () => "text",
  },
  notes: [
    driver(inBytes, "ioredis: zrangebylexBuffer; redis: withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })."),
    trap(always, "All members need score 0. A score is a double: that of one Snowflake found three."),
    trap(
      ({ bytes }) => bytes === 8,
      "INCR of 19 digits is exact in Redis, and rounded by ioredis 6.0.0 and redis 6.3.1; ZSCORE rounds.",
    ),
    trap(({ bytes }) => bytes === 8, "XADD with a Snowflake as its ID works, and later XADD * stay at it."),
    trap(
      allOf(inBytes, ({ isDigits }) => isDigits),
      "Not the decimal text: shorter texts would sort among longer ones.",
    ),
  ],
  others: [],
  condition: (column, from, to) => `ZRANGEBYLEX ${column} "[${from.slice(1)} "[${to.slice(1)}`,
  define: (column, _type, _rises, value) => `ZADD ${column} 0 ${value}`,
};
